"""Which handler answers a method and a path: a tree of path segments, one dictionary look-up each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar
from urllib.parse import unquote

T = TypeVar("T")


class _Node(Generic[T]):
    __slots__ = ("children", "methods", "names", "parameter")

    def __init__(self) -> None:
        self.children: dict[str, _Node[T]] = {}
        self.parameter: _Node[T] | None = None
        self.methods: dict[str, T] = {}
        self.names: tuple[str, ...] = ()


class Match(Generic[T]):
    """The route of a path: what answers which method, and the values of the path's parameters."""

    __slots__ = ("methods", "params")

    def __init__(self, methods: Mapping[str, T], params: Mapping[str, str]) -> None:
        self.methods = methods
        self.params = params


class Router(Generic[T]):
    """Routes are (method, template, target). In a template `{name}` stands for one segment that is not empty.

    A literal segment is preferred over a parameter, and there is no way back from it: the templates of one level must
    agree on where a parameter may stand.
    """

    def __init__(self, routes: Iterable[tuple[str, str, T]]) -> None:
        self._root: _Node[T] = _Node()
        for method, template, target in routes:
            self._add(method, template, target)

    def _add(self, method: str, template: str, target: T) -> None:
        node, names = self._root, []
        for segment in template.split("/")[1:]:
            if segment.startswith("{"):
                names.append(segment[1:-1])
                if node.parameter is None:
                    node.parameter = _Node()
                node = node.parameter
            else:
                node = node.children.setdefault(segment, _Node())
        if method in node.methods or (node.methods and node.names != tuple(names)):
            raise ValueError(f"{method} {template} is routed already, or its parameters have other names")
        node.methods[method] = target
        node.names = tuple(names)

    def match(self, path: str, raw_path: bytes | None = None) -> Match[T] | None:
        """The route of a path, None when there is none.

        `raw_path`: as it was sent. A slash that is escaped in it is part of a segment and separates nothing.
        """
        if raw_path is not None and b"%" in raw_path:
            segments = [unquote(segment) for segment in raw_path.decode("ascii").split("/")]
        else:
            segments = path.split("/")
        node: _Node[T] | None = self._root
        values: list[str] = []
        for segment in segments[1:]:
            child = node.children.get(segment)  # type: ignore[union-attr]  # the loop ends when it is None
            if child is None:
                child = node.parameter if segment else None  # type: ignore[union-attr]
                if child is None:
                    return None
                values.append(segment)
            node = child
        if node is None or not node.methods:
            return None
        return Match(node.methods, dict(zip(node.names, values, strict=True)) if values else {})
