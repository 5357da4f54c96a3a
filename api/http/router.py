"""The router from method and path to handler: a tree of path segments, with one dictionary look-up per segment."""

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
    """The route of a path: the targets by method, and the values of the path's parameters."""

    __slots__ = ("methods", "params")

    def __init__(self, methods: Mapping[str, T], params: Mapping[str, str]) -> None:
        self.methods = methods
        self.params = params


class Router(Generic[T]):
    """A router. Routes are (method, template, target). `{name}` in a template matches one non-empty segment.

    A literal segment has precedence over a parameter. The router does not backtrack, so the templates of one level must
    agree on the place of a parameter.
    """

    def __init__(self, routes: Iterable[tuple[str, str, T]]) -> None:
        self._root: _Node[T] = _Node()
        self._literal: dict[str, Match[T]] = {}
        """By path, of those without parameters: one dictionary look-up finds them."""
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
        if not names:
            self._literal[template] = Match(node.methods, {})

    def match(self, path: str, raw_path: bytes | None = None) -> Match[T] | None:
        """The route of a path; None if there is none.

        `raw_path` is the path with its escapes. An escaped slash in it is part of a segment and not a separator.
        """
        if raw_path is None or b"%" not in raw_path:
            literal = self._literal.get(path)
            if literal is not None:
                return literal
            segments = path.split("/")
        else:
            segments = [unquote(segment) for segment in raw_path.decode("ascii").split("/")]
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
