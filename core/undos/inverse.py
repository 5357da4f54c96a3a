"""The inverse of an operation, from its events. It is exact: what is alive is as before, under the same keys.

Elements that a modification terminated begin again under new keys, with their waits, variables and due dates. All
else has the keys of before. It refuses if there is something that it cannot restore. Everything that an operation
began ends as terminated, and stays in the history.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from enum import StrEnum
from typing import NamedTuple

from vivero.core.bpmn.elements.ad_hoc import INNER_TYPE
from vivero.core.records.base import Command, Event
from vivero.core.records.instances import (
    ElementActivated,
    ElementActivating,
    ElementTerminated,
    ElementTerminating,
    IncidentRaised,
    IncidentResolved,
    VariableSet,
    WorkDeferred,
    WorkResumed,
)
from vivero.core.records.jobs import JobCanceled, JobCreated, JobErrorThrown, JobFailed
from vivero.core.records.messages import SubscriptionClosed, SubscriptionOpened
from vivero.core.records.migrations import RENAME_PAGE, ElementsRenamed, InstanceMigrated, MigrateInstance
from vivero.core.records.modifications import (
    ElementRestored,
    InstanceModified,
    ModifyInstance,
    Restoring,
    TerminateInstruction,
)
from vivero.core.records.suspensions import InstanceResumed, InstanceSuspended, ResumeInstance, SuspendInstance
from vivero.core.records.timers import TimerCanceled, TimerFailed, TimerScheduled
from vivero.core.records.user_tasks import UserTaskCreated, UserTaskEnded


class Operation(StrEnum):
    """The operations that can be undone, by their names in the audit log."""

    MODIFY = "MODIFY"
    MIGRATE = "MIGRATE"
    SUSPEND = "SUSPEND"
    RESUME = "RESUME"


class Undo(NamedTuple):
    """The command that takes the operation back. `untaken`: jobs that no worker may have got meanwhile. `never_taken`:
    ended jobs that no worker may have had when they ended."""

    command: Command
    untaken: tuple[int, ...] = ()
    never_taken: tuple[int, ...] = ()


class Surroundings(NamedTuple):
    """The state of the tree beside the events of the operation."""

    live: frozenset[int]
    """The process instances that have not ended, except those in loops that are loaded in pages."""
    suspended: frozenset[int]
    """Those of them that are suspended."""
    jobs: tuple[int, ...]
    """The open jobs of the process instance."""
    earlier: Sequence[Event]
    """Events before those of the operation, the latest last. The oldest may be missing."""


NOTHING_AROUND = Surroundings(frozenset(), frozenset(), (), ())
"""Enough for the undo of a modification, which its own events decide."""


REFUSED = "Expected to undo the latest operation on process instance with key '{}', but {}"
"""The text of a refusal: the key, and the reason."""
NO_OPERATION = "the latest change of its instance tree is not an operation on this process instance"
HAS_HAPPENED = "something else has happened since"


class NotExact(Exception):
    """The operation cannot be undone exactly. The message says why, as it follows after "because"."""


def operation_of(events: Sequence[Event], key: int) -> Operation | None:
    """The operation on the process instance of which these are all events; None: it was another command."""
    if not events or getattr(events[0], "key", None) != key:
        return None
    return OPERATIONS.get(type(events[0]))


OPERATIONS: dict[type[Event], Operation] = {
    InstanceModified: Operation.MODIFY,
    InstanceMigrated: Operation.MIGRATE,
    InstanceSuspended: Operation.SUSPEND,
    InstanceResumed: Operation.RESUME,
}


def inverse_of(operation: Operation, events: Sequence[Event], key: int, around: Surroundings) -> Undo:
    """The undo of the operation with these events. Raises NotExact."""
    return _INVERSE[operation](events, key, around)


# ---- suspension and resumption


def _of_suspension(events: Sequence[Event], key: int, around: Surroundings) -> Undo:
    suspended = _all_of(InstanceSuspended, events)
    if len(suspended) > 1 and suspended != around.suspended:
        raise NotExact("other process instances of the tree were suspended before, and would be resumed, too")
    return Undo(ResumeInstance(key, len(suspended) > 1))


def _of_resumption(events: Sequence[Event], key: int, around: Surroundings) -> Undo:
    if any(isinstance(event, InstanceResumed) and event.items for event in events):
        raise NotExact("work that had waited for the resumption has been done")
    resumed = _all_of(InstanceResumed, events)
    if len(resumed) > 1 and resumed != around.live:
        raise NotExact("other process instances of the tree were not suspended, and would be suspended, too")
    before = [one for one in around.earlier if isinstance(one, InstanceSuspended) and one.key == key]
    if not before:
        raise NotExact("the log does not show the reason of the suspension any more")
    return Undo(SuspendInstance(key, len(resumed) > 1, before[-1].reason), around.jobs)


def _all_of(kind: type[InstanceSuspended] | type[InstanceResumed], events: Sequence[Event]) -> frozenset[int]:
    """The process instances of the events, all of which must be of this kind."""
    for event in events:
        if not isinstance(event, kind):
            raise NotExact(_more(event))
    return frozenset(event.key for event in events if isinstance(event, kind))


# ---- migration


def _of_migration(events: Sequence[Event], key: int, around: Surroundings) -> Undo:
    first, *others = events
    assert isinstance(first, InstanceMigrated), "the first event names the operation"
    for event in others:
        if isinstance(event, InstanceMigrated):
            raise NotExact("it has migrated called process instances, too")
        if type(event) not in (SubscriptionOpened, TimerScheduled) and not _is_of_page(event):
            raise NotExact(_more(event))
    if first.former is None:
        raise NotExact("an older version of Vivero has done it, which did not record the former definition")
    former_key, former_id = first.former
    back = {after: before for before, after in first.ids.items()}
    if len(back) < len(first.ids):
        raise NotExact("it has mapped several elements to the same one")
    mappings = tuple((after, before) for after, before in back.items() if before != former_id)
    return Undo(MigrateInstance(key, former_key, mappings), around.jobs)


def _is_of_page(event: Event) -> bool:
    """Whether the event belongs to the pages of the migration."""
    if isinstance(event, WorkDeferred | WorkResumed):
        return all(stage == RENAME_PAGE for _, stage, _ in event.items)
    return isinstance(event, ElementsRenamed)


# ---- modification


def _of_modification(events: Sequence[Event], key: int, around: Surroundings) -> Undo:
    first, *others = events
    assert isinstance(first, InstanceModified), "the first event names the operation"
    if first.lost is not None:
        raise NotExact(first.lost)
    if first.terminated and not first.former:
        raise NotExact("an older version of Vivero has done it, which did not record what it has terminated")
    begun = {event.key: event for event in others if isinstance(event, ElementActivating | ElementRestored)}
    former = {event.key for event in first.former}
    if not begun and not former:
        raise NotExact("it has begun nothing")
    for event in others:
        if isinstance(event, WorkDeferred | WorkResumed) or _is_end_of(former, event):
            continue  # what the deferred work does has events of its own
        if type(event) not in _BEGINS:
            raise NotExact(_more(event))
        _check_begin(event, begun)
    elements = {event.key for event in first.former if isinstance(event, ElementRestored)}
    if elements != {event.key for event in others if isinstance(event, ElementTerminated)}:
        raise NotExact("the elements that it has terminated have not ended yet")
    outermost = [one for one in begun.values() if one.scope not in begun]
    jobs = tuple(event.key for event in others if isinstance(event, JobCreated))
    ending = tuple(TerminateInstruction(key=one.key) for one in outermost)
    return Undo(ModifyInstance(key, (), ending, is_undo=True, restore=first.former), jobs, _open_jobs(first.former))


def _check_begin(event: Event, begun: Mapping[int, ElementActivating | ElementRestored]) -> None:
    """Raises NotExact for an event that is about another element than one that has begun by the modification."""
    if isinstance(event, VariableSet) and event.scope not in begun:
        raise NotExact(f"it has set the variable '{event.name}'")
    if isinstance(event, ElementActivating | ElementRestored):
        if event.type == INNER_TYPE:
            raise NotExact("it has begun activities of an ad-hoc sub-process")
        if event.index >= 0 and event.scope not in begun:
            raise NotExact("a loop has gone on")
        if isinstance(event, ElementActivating) and event.consumed:
            raise NotExact("a token has gone on")
    element = getattr(event, "element", None)
    if isinstance(element, int) and element not in begun:
        raise NotExact(_more(event))


def _is_end_of(former: Set[int], event: Event) -> bool:
    """Whether something ends that the undo restores."""
    if isinstance(event, UserTaskEnded) and event.state != "CANCELED":
        return False
    return isinstance(event, _ENDS) and event.key in former


def _open_jobs(former: Sequence[Restoring]) -> tuple[int, ...]:
    """The jobs that a worker may have had when they ended: all but those that waited for an incident."""
    closed = {event.key for event in former if isinstance(event, JobFailed) and event.retries <= 0}
    closed |= {event.key for event in former if isinstance(event, JobErrorThrown)}
    return tuple(event.key for event in former if isinstance(event, JobCreated) and event.key not in closed)


_ENDS = (
    *(ElementTerminating, ElementTerminated, JobCanceled, UserTaskEnded, TimerCanceled, SubscriptionClosed),
    IncidentResolved,
)
"""Events of elements that a modification terminates."""
_BEGINS = (
    *(ElementActivating, ElementActivated, JobCreated, UserTaskCreated, TimerScheduled, SubscriptionOpened),
    *(IncidentRaised, VariableSet, ElementRestored, JobFailed, JobErrorThrown, TimerFailed),
)
"""Events of elements that have begun, and wait. The last ones are those of elements that an undo has restored."""


def _more(event: Event) -> str:
    return f"it has led to more than can be taken back: {type(event).__name__}"


_INVERSE = {
    Operation.MODIFY: _of_modification,
    Operation.MIGRATE: _of_migration,
    Operation.SUSPEND: _of_suspension,
    Operation.RESUME: _of_resumption,
}
