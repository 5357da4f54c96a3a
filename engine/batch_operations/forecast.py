"""The forecast of a batch operation: what would become of its items. Nothing is sent, changed or deleted.

Commands are tried on copies of the instance trees; deletions are judged where the trees are.

Portions of what the filter selects are read and tried, one after the other, until all are tried or a bound is reached.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec
import trio

from vivero.engine.batch_operations.items import Plan, command_of, end_state, error_of
from vivero.engine.dry_runs.copies import Verdict
from vivero.engine.dry_runs.judging import Attempt
from vivero.storage.access.tenants import Tenants
from vivero.storage.postgres.driver import Connection
from vivero.storage.search import candidates
from vivero.storage.work.batch_operations import Candidate, ItemEnd, Operation

MOST_INSTANCES = 1_000
"""Process instances, incidents or jobs that one forecast tries."""
MOST_SECONDS = 10.0
"""No portion begins later than this after the first one."""
PORTION = 20
"""Items that are tried together. Others have their turn in between."""
MOST_REASONS = 50
"""Different reasons of a kind in a forecast. The most frequent ones come first."""
EXAMPLES = 5
"""Keys that a reason names."""
_KEYS = re.compile(r"'\d+'")

Read = Callable[[Callable[[Connection, Tenants], Awaitable[list[Candidate]]]], Awaitable[list[Candidate]]]
"""Runs a query on a connection that shows the rows of the caller's tenants."""
Judge = Callable[[Sequence[Candidate]], Awaitable[list[ItemEnd]]]
"""The ends of some items, in their order, if it were their turn now."""
NOT_TRIED = "NOT_TRIED"
"""The state of an item whose end nobody knows."""


class Bound(StrEnum):
    """The bounds of a forecast."""

    INSTANCES = "INSTANCES"
    SECONDS = "SECONDS"


class StoppedAt(NamedTuple):
    """The bound that ended a forecast before everything was tried, and its value."""

    bound: Bound
    value: float


class Reason(msgspec.Struct, rename="camel", gc=False):
    """Why some commands would not be done. Keys in its text are masked, so that equal reasons are one."""

    reason: str
    count: int = 0
    example_keys: list[str] = []


class Forecast(NamedTuple):
    """`not_tried`: nobody knows what would become of these. `stopped_at` None: everything was tried."""

    total: int
    succeed: int
    skip: list[Reason]
    fail: list[Reason]
    not_tried: list[Reason]
    stopped_at: StoppedAt | None


async def forecast(operation: Operation, filter: Mapping[str, Any], read: Read, judge: Judge) -> Forecast:
    """The forecast of a batch operation that has not been created.

    Raises:
        BadQuery: the filter cannot be evaluated.
        NotComputed: no compute process can try the commands now.
    """
    since, tally = trio.current_time(), _Tally()
    while (stopped := _stopped(tally.total, trio.current_time() - since)) is None:
        found = await read(_portion(operation, filter))
        if not found:
            break
        tally.add(await judge(found))
        operation = msgspec.structs.replace(operation, scan_cursor=found[-1].key, scan_at=found[-1].at)
        if len(found) < PORTION:
            break
    return tally.forecast(stopped)


def _stopped(tried: int, seconds: float) -> StoppedAt | None:
    if tried >= MOST_INSTANCES:
        return StoppedAt(Bound.INSTANCES, MOST_INSTANCES)
    return StoppedAt(Bound.SECONDS, MOST_SECONDS) if seconds >= MOST_SECONDS else None


def _portion(
    operation: Operation, filter: Mapping[str, Any]
) -> Callable[[Connection, Tenants], Awaitable[list[Candidate]]]:
    async def query(connection: Connection, _tenants: Tenants) -> list[Candidate]:
        found, _ = await candidates.find(connection, operation, filter, PORTION)
        return found

    return query


def trying(type: str, plan: Plan | None, verdicts: Callable[[Sequence[Attempt]], Awaitable[list[Verdict]]]) -> Judge:
    """Judges the items of a batch by the verdicts on their commands."""

    async def judge(found: Sequence[Candidate]) -> list[ItemEnd]:
        tried = await verdicts([_attempt(type, one, plan) for one in found])
        return [_end(one.key, verdict) for one, verdict in zip(found, tried, strict=True)]

    return judge


def _attempt(type: str, candidate: Candidate, plan: Plan | None) -> Attempt:
    instance = candidate.process_instance_key
    assert instance is not None, "only evaluations of decisions have none, and they need no command"
    return Attempt(command_of(type, candidate.key, plan), instance, candidate.tenant)


def _end(key: int, verdict: Verdict) -> ItemEnd:
    if verdict.untried is not None:
        return ItemEnd(key, NOT_TRIED, verdict.untried)
    if verdict.rejection is None:
        return ItemEnd(key, "COMPLETED")
    return ItemEnd(key, end_state(verdict.rejection), error_of(verdict.rejection))


class _Tally:
    """The counts so far."""

    def __init__(self) -> None:
        self.total = self._succeed = 0
        self._reasons: dict[str, dict[str, Reason]] = {"SKIPPED": {}, "FAILED": {}, NOT_TRIED: {}}

    def add(self, ends: Sequence[ItemEnd]) -> None:
        self.total += len(ends)
        for end in ends:
            if end.error is None:
                self._succeed += 1
            else:
                self._note(end.state, end.error, end.key)

    def _note(self, kind: str, text: str, key: int) -> None:
        masked = _KEYS.sub("'…'", text)
        reason = self._reasons[kind].setdefault(masked, Reason(masked))
        reason.count += 1
        if len(reason.example_keys) < EXAMPLES:
            reason.example_keys.append(str(key))

    def forecast(self, stopped: StoppedAt | None) -> Forecast:
        skip, fail, not_tried = map(_most_frequent, self._reasons.values())
        return Forecast(self.total, self._succeed, skip, fail, not_tried, stopped)


def _most_frequent(reasons: Mapping[str, Reason]) -> list[Reason]:
    return sorted(reasons.values(), key=lambda one: (-one.count, one.reason))[:MOST_REASONS]
