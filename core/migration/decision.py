"""The decision of a migration: all checks and expressions, before anything happens (docs/adr/0088).

A command decides what is cheap at once. Pages decide the rest, while the tree is held.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from vivero.core.migration import catching, checks
from vivero.core.migration.moves import Move
from vivero.core.migration.plan import Plan
from vivero.core.needs import Need, NeedKind, NotLoaded
from vivero.core.records.effects import Reject, RejectionCode, Violation
from vivero.core.records.migrations import Deciding
from vivero.core.rules import STAGE_CHANGES
from vivero.core.state.migrations import last_of_page, page_of, preceding_pages
from vivero.core.view import View

PROBLEM_CHARACTERS = 250_000
"""Characters of different problems after which a migration is refused, although other elements may have more. Each page
writes those of the pages before."""
ELEMENTS_PER_CHANGE = 4
"""Checks of elements that cost as much as a wait that opens."""
MAPPINGS_PER_CHANGE = 20
"""Given mappings, for each instance, that cost as much."""
CHANGES_OF_INSTANCE = 3
"""An instance costs as much as so many waits besides."""


class Decided(NamedTuple):
    """An instance that may move."""

    plan: Plan
    changes: catching.Changes


def check(
    deciding: Deciding, moves: Sequence[Move], view: View, most: int | None, *, is_trial: bool = False
) -> tuple[Deciding, list[Decided], bool]:
    """Check the next instances, until about `most` changes of waits are known; None: all of them. `is_trial`: the
    changes are not used.

    Returns the progress, the instances of this page that may move, and whether all have been checked.

    Raises:
        NotLoaded: completed activities are not in memory.
        Reject: there are too many changes.
    """
    decided: list[Decided] = []
    left = None if most is None else most
    for move in moves:
        if move.instance.key < deciding.instance:
            continue
        if (left is not None and left <= 0) or is_full(deciding):
            return msgspec.structs.replace(deciding, instance=move.instance.key), decided, False
        if move.instance.key > deciding.instance:
            deciding = msgspec.structs.replace(deciding, instance=move.instance.key, after=None)
        if deciding.after is not None:
            deciding, is_done = _check_elements(deciding, move, view)
            left = 0
        else:
            before = deciding
            deciding, found, is_done = _check_instance(deciding, move, view, left, is_trial)
            if not is_done and left != most:  # a whole page may have room for it
                return before, decided, False
            if left is not None:
                left -= cost_of_check(move, found, view)
            decided += [] if found is None else [found]
        if not is_done:
            return deciding, decided, False
    return deciding, decided, True


def _check_instance(
    deciding: Deciding, move: Move, view: View, most: int | None, is_trial: bool
) -> tuple[Deciding, Decided | None, bool]:
    """The events that its elements catch are not looked at if mappings or elements have problems."""
    plan = move.plan(view)
    wrong = [*checks.violations(plan), *violations_inside(plan, view)]
    if wrong and deciding.of_events:
        deciding = msgspec.structs.replace(deciding, problems=(), of_events=False)
    if not deciding.of_events:
        return _with(deciding, plan, wrong), None, True
    changes = catching.changes(plan, view, most, is_trial=is_trial)
    deciding = msgspec.structs.replace(deciding, changes=deciding.changes + changes.weight)
    if deciding.changes >= STAGE_CHANGES:
        text = f"it would open and close {deciding.changes} waits at once, and {STAGE_CHANGES} is the limit"
        raise _too_large(plan, text)
    if not changes.is_complete:
        return msgspec.structs.replace(deciding, after=0, waits=changes.waits), Decided(plan, changes), False
    return _with(deciding, plan, changes.violations), Decided(plan, changes), True


def _check_elements(deciding: Deciding, move: Move, view: View) -> tuple[Deciding, bool]:
    """The next elements of a large instance, by key. Nothing is kept but the problems: it is evaluated once more."""
    instance, after = move.instance, deciding.after or 0
    last = last_of_page(instance, after, elements_per_page(deciding.waits, view.tree_rules.migration_page))
    first = [] if after else preceding_pages(view.state, instance)
    plan = move.plan(view, first + page_of(view.state, instance, after, last))
    deciding = _with(deciding, plan, catching.changes(plan, view, is_trial=True).violations)
    return msgspec.structs.replace(deciding, after=last), last is None


def elements_per_page(waits: int, page: int) -> int:
    """The elements of a page of which each closes and opens so many waits."""
    return max(1, page // max(1, waits))


def cost_of_check(move: Move, found: Decided | None, view: View) -> int:
    """The cost of an instance, in waits that open. The elements of a large one are checked by kind."""
    elements = 0 if found is None else len(found.plan.elements)
    if elements > view.tree_rules.migration_page:
        elements = 0
    effects = 0 if found is None else len(found.changes.effects)
    return CHANGES_OF_INSTANCE + elements // ELEMENTS_PER_CHANGE + len(move.mappings) // MAPPINGS_PER_CHANGE + effects


# ---- problems


def _with(deciding: Deciding, plan: Plan, violations: Iterable[Violation]) -> Deciding:
    """The progress with further problems, with the key of their instance: the tree may have several."""
    found = Counter(violations)
    if not found:
        return deciding
    known = Counter(dict(deciding.problems))
    for one, number in found.items():
        known[msgspec.structs.replace(one, instance=plan.instance.key)] += number
    return msgspec.structs.replace(deciding, problems=tuple(known.items()))


def is_full(deciding: Deciding) -> bool:
    """Whether the problems are too many to be written again with each page."""
    return sum(len(one.message) for one, _ in deciding.problems) > PROBLEM_CHARACTERS


def problems_of(deciding: Deciding) -> list[Violation]:
    return [one for one, number in deciding.problems for _ in range(number)]


def refuse(code: RejectionCode, found: Sequence[Violation]) -> None:
    if found:
        raise Reject(code, found[0].message, tuple(found))


def _too_large(plan: Plan, text: str) -> Reject:
    return Reject(RejectionCode.INVALID_STATE, checks.begin(plan.instance) + text)


def _too_many(plan: Plan, most: int) -> Reject:
    return _too_large(plan, f"it has more than {most} completed elements that can be compensated")


# ---- completed activities


def violations_inside(plan: Plan, view: View) -> Iterator[Violation]:
    """Problems of what is registered inside of completed scopes, all of which must be in memory to be renamed.

    Raises:
        Reject: there are too many.
        NotLoaded: some of them are in the database only.
    """
    pending = [(element.key, element.registered) for element in plan.registering()]
    most, known = view.tree_rules.max_whole_rows, 0
    while pending:
        scope, registered = pending.pop()
        known += sum(registered.values())
        if known > most:
            raise _too_many(plan, most)
        for name, number in registered.items():
            rows = view.state.registrations.group(scope, name).values()
            if len(rows) < number:
                _require_registrations(plan, view)
            for row in rows:
                if row.registered:
                    yield from checks.of_registered_inside(name, list(row.registered), plan)
                    pending.append((row.activity, row.registered))


def _require_registrations(plan: Plan, view: View) -> None:
    """Have all completed activities of the instance loaded, unless there are more than an operation may load."""
    most = view.tree_rules.max_whole_rows
    if sum(row.instance is plan.instance for row in view.state.registrations.by_key.values()) > most:
        raise _too_many(plan, most)
    raise NotLoaded(Need(NeedKind.ALL_REGISTRATIONS, (plan.instance.key, most + 1)))
