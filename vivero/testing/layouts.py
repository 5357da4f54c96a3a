"""Places for the elements of a process whose file has none: columns by the longest way from the start, row by row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

from vivero.core.bpmn.model import Flow, Node, Process
from vivero.core.bpmn.reading.places import Bounds, DiagramPlaces
from vivero.testing.diagrams import kind_of

SIZES = {"event": (36.0, 36.0), "gateway": (50.0, 50.0), "activity": (120.0, 80.0)}
"""Width and height of elements without others inside."""
COLUMN_GAP, ROW_GAP, PADDING = 60.0, 50.0, 40.0
"""Between columns, between rows, and around the content of a sub-process; the same units as of diagrams."""

Nodes = Mapping[str | None, list[Node]]
Flows = Mapping[str | None, list[Flow]]
"""Elements and sequence flows by the scope in which they stand."""


def laid_out(process: Process) -> DiagramPlaces:
    """The layout of a process: every element has a place, every sequence flow a way."""
    inside: dict[str | None, list[Node]] = defaultdict(list)
    for node in process.nodes.values():
        inside[node.scope].append(node)
    scope_of = {node.id: node.scope for node in process.nodes.values()}
    flows = process.flows.values()
    leaving: dict[str | None, list[Flow]] = defaultdict(list)
    for flow in flows:
        leaving[scope_of[flow.source]].append(flow)
    shapes = _Scope(process.id, inside, leaving).shapes(0, 0)
    return DiagramPlaces(shapes, {flow.id: list(_way(shapes[flow.source], shapes[flow.target])) for flow in flows})


class _Scope:
    """The elements of a process or sub-process in columns and rows. `width` and `height`: of all of it."""

    def __init__(self, scope: str, inside: Nodes, flows: Flows) -> None:
        nodes = inside[scope]
        self._hosts = {boundary: node.id for node in nodes for boundary in node.boundaries}
        inner = [node for node in nodes if node.id not in self._hosts]
        self._scopes = {node.id: _Scope(node.id, inside, flows) for node in inner if node.id in inside}
        self._sizes = {node.id: self._size(node.id, node.type) for node in inner}
        followers: dict[str, list[str]] = defaultdict(list)
        for flow in flows.get(scope, ()):
            source = self._hosts.get(flow.source, flow.source)
            if source in self._sizes and flow.target in self._sizes:
                followers[source].append(flow.target)
        self._columns = _columns(self._sizes, followers)
        self._rows = _rows(self._columns)
        widths, heights = _largest(self._columns, self._sizes, 0), _largest(self._rows, self._sizes, 1)
        self._lefts = [0.0, *accumulate(width + COLUMN_GAP for width in widths)]
        self._tops = [0.0, *accumulate(height + ROW_GAP for height in heights)]
        self._heights = heights
        self.width, self.height = self._lefts[-1] - COLUMN_GAP, self._tops[-1] - ROW_GAP

    def _size(self, id: str, type: str) -> tuple[float, float]:
        inside = self._scopes.get(id)
        return SIZES[kind_of(type)] if inside is None else (inside.width + 2 * PADDING, inside.height + 2 * PADDING)

    def shapes(self, left: float, top: float) -> dict[str, Bounds]:
        """The places of all elements, those of inner scopes included, if the scope begins here."""
        found: dict[str, Bounds] = {}
        for id, (width, height) in self._sizes.items():
            row = self._rows[id]
            x, y = left + self._lefts[self._columns[id]], top + self._tops[row] + (self._heights[row] - height) / 2
            found[id] = Bounds(x, y, width, height)
            if id in self._scopes:
                found |= self._scopes[id].shapes(x + PADDING, y + PADDING)
        placed: dict[str, int] = defaultdict(int)
        width, height = SIZES["event"]
        for boundary, host in self._hosts.items():
            at = found[host]
            found[boundary] = Bounds(at.x + 20 + placed[host] * 46, at.y + at.height - height / 2, width, height)
            placed[host] += 1
        return found


def _columns(ids: Iterable[str], followers: dict[str, list[str]]) -> dict[str, int]:
    """The length of the longest way to each element that visits none twice, as far as a walk in depth finds it."""
    columns = dict.fromkeys(ids, 0)
    targets = {target for of_one in followers.values() for target in of_one}
    begins = [id for id in columns if id not in targets] or list(columns)[:1]
    order: list[str] = []
    back: set[tuple[str, str]] = set()
    state: dict[str, int] = {}
    for begin in [*begins, *columns]:
        if begin in state:
            continue
        state[begin] = 1
        open_: list[tuple[str, Iterator[str]]] = [(begin, iter(followers[begin]))]
        while open_:
            id, rest = open_[-1]
            following = next(rest, None)
            if following is None:
                state[id] = 2
                order.append(open_.pop()[0])
            elif state.get(following) == 1:
                back.add((id, following))
            elif following not in state:
                state[following] = 1
                open_.append((following, iter(followers[following])))
    for id in reversed(order):
        for following in followers[id]:
            if (id, following) not in back:
                columns[following] = max(columns[following], columns[id] + 1)
    return columns


def _rows(columns: dict[str, int]) -> dict[str, int]:
    taken: dict[int, int] = defaultdict(int)
    rows: dict[str, int] = {}
    for id, column in columns.items():
        rows[id] = taken[column]
        taken[column] += 1
    return rows


def _largest(lines: dict[str, int], sizes: dict[str, tuple[float, float]], side: int) -> list[float]:
    """The largest width or height of each column or row."""
    found = [0.0] * (max(lines.values(), default=-1) + 1)
    for id, line in lines.items():
        found[line] = max(found[line], sizes[id][side])
    return found


def _way(source: Bounds, target: Bounds) -> Iterator[tuple[float, float]]:
    """From the right side to the left side; backwards below both."""
    begin = source.x + source.width, source.y + source.height / 2
    end = target.x, target.y + target.height / 2
    yield begin
    if end[0] > begin[0]:
        middle = end[0] - COLUMN_GAP / 2
        yield from ((middle, begin[1]), (middle, end[1]))
    else:
        below = max(source.y + source.height, target.y + target.height) + ROW_GAP / 2
        out, back = begin[0] + COLUMN_GAP / 3, end[0] - COLUMN_GAP / 3
        yield from ((out, begin[1]), (out, below), (back, below), (back, end[1]))
    yield end
