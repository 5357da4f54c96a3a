"""The report of a dry run: the trace lines of its events, the effects, and the problems. It is JSON for clients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

import msgspec

from vivero.core.dry_runs.live_rows import Kind, LiveRow
from vivero.core.dry_runs.starving_joins import StarvingJoin
from vivero.core.records.base import Event
from vivero.core.records.effects import Rejection, Violation
from vivero.core.trace import Trace

MOST_LINES = 1_000
"""Trace lines in a report."""
MOST_ITEMS = 1_000
"""Single effects in a report. Those that open or close something come first."""

COUNTED = {
    Kind.ELEMENT: "elements",
    Kind.JOB: "jobs",
    Kind.USER_TASK: "userTasks",
    Kind.TIMER: "timers",
    Kind.SUBSCRIPTION: "subscriptions",
    Kind.INCIDENT: "incidents",
}
"""The names of the counts."""


class Effect(StrEnum):
    """The effect of a command on one thing of the tree."""

    OPENS = "OPENS"
    CLOSES = "CLOSES"
    STAYS = "STAYS"


class _Document(msgspec.Struct, frozen=True, rename="camel", gc=False):
    pass


class Counts(msgspec.Struct, rename="camel", gc=False):
    """The numbers of things of a kind that open, close and stay."""

    opens: int = 0
    closes: int = 0
    stays: int = 0


class Item(_Document, frozen=True):
    """One thing, and the effect on it. A new one has no key yet."""

    effect: Effect
    kind: Kind
    element_id: str
    former_element_id: str | None
    element_instance_key: str | None
    process_instance_key: str | None
    key: str | None
    detail: str


class Starving(_Document, frozen=True):
    """A join that would wait for ever for tokens on some of its flows."""

    element_id: str
    scope_element_id: str
    missing_flow_ids: tuple[str, ...]


class Effects(_Document, frozen=True):
    """The things that a command opens, closes and leaves."""

    counts: dict[str, Counts]
    items: list[Item]
    item_count: int
    starving_joins: list[Starving]


class ReportedProblem(_Document, frozen=True):
    """A problem as a refusal has it. Only those of migrations have the key of their instance."""

    element_id: str | None
    message: str
    process_instance_key: str | msgspec.UnsetType = msgspec.UNSET


def reported(one: Violation) -> ReportedProblem:
    """The problem as clients see it."""
    instance = msgspec.UNSET if one.instance is None else str(one.instance)
    return ReportedProblem(one.element, one.message, instance)


class DryRunReport(_Document, frozen=True):
    """`state` is that of the instance afterwards: ACTIVE, SUSPENDED or TERMINATED."""

    version: int
    state: str
    lines: list[str]
    line_count: int
    effects: Effects
    problems: list[ReportedProblem]
    refusal: None = None
    """The shell names the status of a refusal."""


def report_of(
    version: int,
    state: str,
    events: list[Event],
    before: Mapping[int, LiveRow],
    after: Mapping[int, LiveRow],
    starving: Iterable[StarvingJoin],
) -> DryRunReport:
    """The report of a command that would be done. `starving`: the joins that starve because of it."""
    shown = events[:MOST_LINES]
    effects = _effects(before, after, starving)
    return DryRunReport(version, state, _trace_of(before).lines(shown), len(events), effects, [])


def refused(version: int, state: str, rejection: Rejection) -> DryRunReport:
    """The report of a command that would be refused, with all problems."""
    problems = [reported(one) for one in rejection.violations]
    return DryRunReport(
        version, state, [], 0, _effects({}, {}, ()), problems or [ReportedProblem(None, rejection.reason)]
    )


def _trace_of(before: Mapping[int, LiveRow]) -> Trace:
    """A trace that knows the names of all that is there."""
    trace = Trace()
    for key in sorted(before):
        place = before[key]
        if place.kind is Kind.ELEMENT:
            trace.learn(key, place.element)
        elif place.kind is Kind.SUBSCRIPTION:
            trace.learn(key, f"{place.noun}({place.element})")
        elif place.noun:
            trace.learn(key, f"{place.noun}({trace.name(place.element_key)})")
    return trace


def _effects(before: Mapping[int, LiveRow], after: Mapping[int, LiveRow], starving: Iterable[StarvingJoin]) -> Effects:
    counts = {name: Counts() for name in COUNTED.values()}
    opens, closes, stays = list[Item](), list[Item](), list[Item]()
    for key in sorted(after.keys() | before.keys()):
        one, former = after.get(key), before.get(key)
        if one is None:
            assert former is not None, "each key is of one of the two"
            _count(counts, former.kind).closes += 1
            closes.append(_item(Effect.CLOSES, key, former, former))
        elif former is None:
            _count(counts, one.kind).opens += 1
            opens.append(_item(Effect.OPENS, None, one, None, before))
        else:
            _count(counts, one.kind).stays += 1
            stays.append(_item(Effect.STAYS, key, one, former))
    items = [*opens, *closes, *stays]
    joins = [Starving(one.join, one.scope, one.missing) for one in sorted(starving)]
    return Effects(counts, items[:MOST_ITEMS], len(items), joins)


def _count(counts: Mapping[str, Counts], kind: Kind) -> Counts:
    return counts[COUNTED[kind]]


def _item(
    effect: Effect, key: int | None, place: LiveRow, former: LiveRow | None, known: Mapping[int, LiveRow] | None = None
) -> Item:
    """`known`: the keys that exist already; None: all of this place do."""
    return Item(
        effect,
        place.kind,
        place.element,
        former.element if former is not None and former.element != place.element else None,
        _if_known(place.element_key, known),
        _if_known(place.instance, known),
        None if key is None else str(key),
        place.detail,
    )


def _if_known(key: int, known: Mapping[int, LiveRow] | None) -> str | None:
    return str(key) if known is None or key in known else None
