"""Relations between points and ranges (DMN 1.5, 10.3.4.9, table 80), and the function `range`.

Points are numbers, dates, times, dates with time or durations, and strings in the DMN standard; all points of a call
have one type. A range may lack an end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import total_ordering
from typing import Any

from vivero.core.feel import temporal
from vivero.core.feel.builtins.arguments import string
from vivero.core.feel.grammar.lexer import unescape
from vivero.core.feel.semantics import kind
from vivero.core.feel.values import FunctionFailure, IllegalArguments, Overload, Range, Run, is_number


@total_ordering
@dataclass(frozen=True, slots=True)
class Edge:
    """An end of a range, or a point, on the line from -infinity (`side` -1) to +infinity (`side` 1)."""

    side: int
    value: Any = None

    def __lt__(self, other: Edge) -> bool:
        if self.side or other.side:
            return self.side < other.side
        return bool(self.value < other.value)


@dataclass(frozen=True, slots=True)
class Span:
    """A range as two edges. The edges of a point are equal."""

    start: Edge
    end: Edge
    start_included: bool = True
    end_included: bool = True
    is_point: bool = False


def _span(value: Any) -> Span:
    if not isinstance(value, Range):
        return Span(Edge(0, value), Edge(0, value), is_point=True)
    start = Edge(-1) if value.start is None else Edge(0, value.start)
    end = Edge(1) if value.end is None else Edge(0, value.end)
    return Span(start, end, value.start_included and not start.side, value.end_included and not end.side)


def _points(value: Any) -> list[Any]:
    """The point itself, or the ends of a range, without missing ones."""
    if not isinstance(value, Range):
        return [value]
    return [end for end in (value.start, value.end) if end is not None]


def _check_comparable(a: Any, b: Any, ordered: tuple[type, ...]) -> None:
    """Raise IllegalArguments for values that are neither numbers nor `ordered`, and for points of different types."""
    points = _points(a) + _points(b)
    if len({kind(point) for point in points}) > 1:
        raise IllegalArguments
    if not all(is_number(point) or isinstance(point, ordered) for point in points):
        raise IllegalArguments


def before(a: Span, b: Span) -> bool:
    both_included = a.end_included and b.start_included
    return a.end < b.start or (a.end == b.start and not both_included)


def meets(a: Span, b: Span) -> bool:
    return a.end_included and b.start_included and a.end == b.start


def overlaps(a: Span, b: Span) -> bool:
    return not before(a, b) and not before(b, a)


def _starts_before(a: Span, b: Span) -> bool:
    return a.start < b.start or (a.start == b.start and a.start_included and not b.start_included)


def _ends_before(a: Span, b: Span) -> bool:
    return a.end < b.end or (a.end == b.end and not a.end_included and b.end_included)


def overlaps_before(a: Span, b: Span) -> bool:
    return _starts_before(a, b) and overlaps(a, b) and not _ends_before(b, a)


def overlaps_after(a: Span, b: Span) -> bool:
    return _starts_before(b, a) and overlaps(a, b) and not _ends_before(a, b)


def finishes(a: Span, b: Span) -> bool:
    return a.end == b.end and a.end_included == b.end_included and not _starts_before(a, b)


def includes(a: Span, b: Span) -> bool:
    return not _starts_before(b, a) and not _ends_before(a, b)


def starts(a: Span, b: Span) -> bool:
    return a.start == b.start and a.start_included == b.start_included and not _ends_before(b, a)


def coincides(a: Span, b: Span) -> bool:
    return (a.start, a.end, a.start_included, a.end_included) == (b.start, b.end, b.start_included, b.end_included)


Relation = Callable[[Span, Span], bool]


def _converse(relation: Relation) -> Relation:
    return lambda a, b: relation(b, a)


def _function(relation: Relation, shapes: Sequence[tuple[str, str]], ordered: tuple[type, ...]) -> tuple[Overload, ...]:
    """The overloads of a relation. Each shape names the two arguments; a name says whether it is a point or a range."""
    accepted = {tuple(name.startswith("point") for name in shape) for shape in shapes}

    def call(run: Run, a: Any, b: Any) -> Any:
        run.spend(60)
        _check_comparable(a, b, ordered)
        left, right = _span(a), _span(b)
        if (left.is_point, right.is_point) not in accepted:
            raise IllegalArguments
        return relation(left, right)

    return tuple(Overload(shape, call) for shape in shapes)


_PARSING_STEPS = 50
_NUMBER = r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
_STRING = r'"(?:[^"\\]|\\.)*"'
_ENDPOINT = (
    rf"\s*(?:({_NUMBER})|({_STRING})|@({_STRING})|(date and time|date|time|duration)\s*\(\s*({_STRING})\s*\))?\s*"
)
_RANGE = re.compile(rf"\s*([\[(\]]){_ENDPOINT}\.\.{_ENDPOINT}([\])\[])\s*", re.ASCII | re.DOTALL)
_PARSERS: dict[str, Callable[[str], Any]] = {
    "date and time": temporal.parse_date_time,
    "date": temporal.parse_date,
    "time": temporal.parse_time,
    "duration": temporal.parse_duration,
}


def range_from(run: Run, text: Any) -> Any:
    """The range of a text such as `[1..3]` or `(..@"2026-01-01"]`. Its ends are literals (DMN 1.5, table 74)."""
    run.spend(_PARSING_STEPS)
    match = _RANGE.fullmatch(string(run, text))
    if match is None:
        raise _no_range(run, text)
    opening, closing = match[1], match[12]
    try:
        start, end = _endpoint(run, *match.groups()[1:6]), _endpoint(run, *match.groups()[6:11])
    except temporal.TemporalError:
        raise _no_range(run, text) from None
    result = Range(start, end, opening == "[", closing == "]")
    if not _is_valid(result):
        raise _no_range(run, text)
    return result


def _no_range(run: Run, text: str) -> FunctionFailure:
    return FunctionFailure(f"Failed to parse range from '{text[: run.limits.message_size]}'")


def _endpoint(
    run: Run, number: str | None, text: str | None, at: str | None, function: str | None, argument: str | None
) -> Any:
    if number is not None:
        return run.math.plus(Decimal(number))
    if text is not None:
        return unescape(text[1:-1])
    if function is not None and argument is not None:
        return _PARSERS[function](unescape(argument[1:-1]))
    value = None if at is None else temporal.parse_temporal(unescape(at[1:-1]))
    if at is not None and value is None:
        raise temporal.TemporalError(f"Failed to parse {at}")
    return value


def _is_valid(interval: Range) -> bool:
    """False for ends of different types or in the wrong order, two missing ends, and a missing end that is included."""
    start, end = interval.start, interval.end
    if start is None or end is None:
        missing_included = interval.start_included if start is None else interval.end_included
        return not missing_included and start is not end
    return kind(start) == kind(end) and bool(start <= end)


_RANGES = ("range1", "range2")
_POINTS = ("point1", "point2")
_POINT_RANGE = ("point", "range")
_RANGE_POINT = ("range", "point")

_RELATIONS: Mapping[str, tuple[Relation, Sequence[tuple[str, str]]]] = {
    "before": (before, (_POINTS, _POINT_RANGE, _RANGE_POINT, _RANGES)),
    "after": (_converse(before), (_POINTS, _POINT_RANGE, _RANGE_POINT, _RANGES)),
    "meets": (meets, (_RANGES,)),
    "met by": (_converse(meets), (_RANGES,)),
    "overlaps": (overlaps, (_RANGES,)),
    "overlaps before": (overlaps_before, (_RANGES,)),
    "overlaps after": (overlaps_after, (_RANGES,)),
    "finishes": (finishes, (_POINT_RANGE, _RANGES)),
    "finished by": (_converse(finishes), (_RANGE_POINT, _RANGES)),
    "includes": (includes, (_RANGE_POINT, _RANGES)),
    "during": (_converse(includes), (_POINT_RANGE, _RANGES)),
    "starts": (starts, (_POINT_RANGE, _RANGES)),
    "started by": (_converse(starts), (_RANGE_POINT, _RANGES)),
    "coincides": (coincides, (_POINTS, _RANGES)),
}


def relations(ordered: tuple[type, ...]) -> dict[str, tuple[Overload, ...]]:
    """The relations between numbers, and between values of the types that are `ordered`."""
    return {name: _function(relation, shapes, ordered) for name, (relation, shapes) in _RELATIONS.items()}


FUNCTIONS = {**relations(temporal.TEMPORAL_TYPES), "range": (Overload(("from",), range_from),)}
