"""Draws the diagram of a process as SVG, with marks for what tests have reached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from textwrap import wrap

from vivero.core.bpmn.reading.places import Bounds, DiagramPlaces

MARGIN = 30.0
"""Around the diagram, in its units (pixels of 96 to the inch)."""
LABEL_WIDTH, LINE_HEIGHT = 15, 14
"""Characters in a line of a label; the units between two lines."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """An element or a flow to draw. `kind`: `event`, `gateway` or `activity`, and `flow`."""

    id: str
    kind: str
    name: str
    reached: bool


def kind_of(type: str) -> str:
    """The form of an element of this type: `event`, `gateway` or `activity`."""
    if type.endswith("_GATEWAY"):
        return "gateway"
    return "event" if type.endswith("_EVENT") else "activity"


def svg_of(places: DiagramPlaces, drawn: list[Drawn], title: str) -> str:
    """The diagram of all elements that have a place."""
    placed = [(one, places.bounds[one.id]) for one in drawn if one.id in places.bounds]
    ways = [(one, places.ways[one.id]) for one in drawn if len(places.ways.get(one.id, ())) > 1]
    placed.sort(key=lambda pair: -pair[1].width * pair[1].height)
    behind = [pair for pair in placed if _contains_others(*pair)]
    before = [pair for pair in placed if not _contains_others(*pair)]
    lines = [line for one, shape in behind for line in _element(one, shape)]
    lines += [line for one, points in ways for line in _flow(one, points)]
    lines += [line for one, shape in before for line in _element(one, shape)]
    left, top, width, height = _frame([shape for _, shape in placed], [point for _, way in ways for point in way])
    box = f'viewBox="{left:g} {top:g} {width:g} {height:g}" width="{width:g}"'
    head = f'<svg role="img" aria-label="{escape(title)}" {box}>'
    return "\n".join((head, *lines, "</svg>"))


def _frame(shapes: list[Bounds], points: list[tuple[float, float]]) -> tuple[float, float, float, float]:
    xs = [x for one in shapes for x in (one.x, one.x + one.width)] + [x for x, _ in points]
    ys = [y for one in shapes for y in (one.y, one.y + one.height + 2 * LINE_HEIGHT)] + [y for _, y in points]
    left, top = min(xs) - MARGIN, min(ys) - MARGIN
    return left, top, max(xs) + MARGIN - left, max(ys) + MARGIN - top


def _element(one: Drawn, at: Bounds) -> Iterator[str]:
    mark = "reached" if one.reached else "missed"
    middle, below = at.x + at.width / 2, at.y + at.height
    yield f'<g class="{one.kind} {mark}"><title>{escape(one.name or one.id)}: {mark}</title>'
    if one.kind == "event":
        yield f'<ellipse cx="{middle:g}" cy="{at.y + at.height / 2:g}" rx="{at.width / 2:g}" ry="{at.height / 2:g}"/>'
    elif one.kind == "gateway":
        center = at.y + at.height / 2
        corners = (middle, at.y), (at.x + at.width, center), (middle, below), (at.x, center)
        yield f'<polygon points="{" ".join(f"{x:g},{y:g}" for x, y in corners)}"/>'
    else:
        yield f'<rect x="{at.x:g}" y="{at.y:g}" width="{at.width:g}" height="{at.height:g}" rx="10"/>'
    lines = wrap(one.name, LABEL_WIDTH)
    first = below + LINE_HEIGHT
    if _contains_others(one, at):
        first = at.y + LINE_HEIGHT + 4
    elif one.kind == "activity":
        first = at.y + at.height / 2 - (len(lines) - 1) * LINE_HEIGHT / 2 + 4
    for number, line in enumerate(lines):
        yield f'<text x="{middle:g}" y="{first + number * LINE_HEIGHT:g}">{escape(line)}</text>'
    yield "</g>"


def _contains_others(one: Drawn, at: Bounds) -> bool:
    """Whether it looks like an expanded sub-process: modelers draw tasks with 100 by 80 units."""
    return one.kind == "activity" and (at.width > 150 or at.height > 120)


def _flow(one: Drawn, points: list[tuple[float, float]]) -> Iterator[str]:
    mark = "reached" if one.reached else "missed"
    way = " ".join(f"{x:g},{y:g}" for x, y in points)
    yield f'<g class="flow {mark}"><title>{escape(one.name or one.id)}: {mark}</title>'
    yield f'<polyline points="{way}" marker-end="url(#arrow-{mark})"/></g>'
