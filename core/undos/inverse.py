"""The inverse of an operation, from its events. It is exact: what is alive is as before, under the same keys.

Elements that a modification terminated begin again under new keys, with their waits, variables and due dates. All
else has the keys of before. It refuses if there is something that it cannot restore. Everything that an operation
began ends as terminated, and stays in the history.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from enum import StrEnum
from itertools import dropwhile
from typing import NamedTuple

from msgspec.structs import replace

from vivero.core.bpmn.elements.ad_hoc import INNER_TYPE
from vivero.core.records.base import Command, Event
from vivero.core.records.business_ids import AssignBusinessId, BusinessIdAssigned
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
from vivero.core.records.migrations import (
    CHECK_PAGE,
    MOVE_PAGE,
    RENAME_PAGE,
    CalledMigration,
    ElementsRenamed,
    InstanceMigrated,
    MigrateInstance,
)
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
    """The operations that can be undone."""

    MODIFY = "MODIFY"
    MIGRATE = "MIGRATE"
    SUSPEND = "SUSPEND"
    RESUME = "RESUME"
    ASSIGN_BUSINESS_ID = "ASSIGN_BUSINESS_ID"


class Undo(NamedTuple):
    """The command that takes the operation back. `untaken`: jobs that no worker may have got meanwhile. `never_taken`:
    ended jobs that no worker may have had when they ended."""

    command: Command
    untaken: tuple[int, ...] = ()
    never_taken: tuple[int, ...] = ()


class Surroundings(NamedTuple):
    """The state of the tree beside the events of the operation."""

    jobs: tuple[int, ...]
    """The open jobs of the process instances of the operation (`instances_of`)."""
    earlier: Sequence[Event]
    """Events before those of the operation, the latest last. The oldest may be missing."""


MOST_CALLED = 1_000
"""Called instances that an undo names. The command has the keys of all of them."""
MOST_MAPPED = 100_000
"""Ids in the migrations of called instances, all together. Each of them is compared."""
NOTHING_AROUND = Surroundings((), ())
"""Enough for the undo of a modification, which its own events decide."""


REFUSED = "Expected to undo the latest operation on process instance with key '{}', but {}"
"""The text of a refusal: the key, and the reason."""
NO_OPERATION = "the latest change of its instance tree is not an operation on this process instance"
HAS_HAPPENED = "something else has happened since"
HAS_LISTENERS = "the listeners of the cancellation of user task '{}' would have to agree first"
"""Events do not show these listeners: the command that takes a modification back finds them."""


class NotExact(Exception):
    """The operation cannot be undone exactly. The message says why, as it follows after "because"."""


def operation_of(events: Sequence[Event], key: int) -> Operation | None:
    """The operation on the process instance of which these are all events; None: it was another command.

    The pages of a migration's decision come before it.
    """
    events = [*dropwhile(_is_of_page, events)]
    if not events or getattr(events[0], "key", None) != key:
        return None
    if isinstance(events[0], BusinessIdAssigned) and len(events) > 1:
        return None  # the completion of a job, which assigned the id first
    return OPERATIONS.get(type(events[0]))


OPERATIONS: dict[type[Event], Operation] = {
    InstanceModified: Operation.MODIFY,
    InstanceMigrated: Operation.MIGRATE,
    InstanceSuspended: Operation.SUSPEND,
    InstanceResumed: Operation.RESUME,
    BusinessIdAssigned: Operation.ASSIGN_BUSINESS_ID,
}


def inverse_of(operation: Operation, events: Sequence[Event], key: int, around: Surroundings) -> Undo:
    """The undo of the operation with these events. Raises NotExact."""
    return _INVERSE[operation](events, key, around)


def instances_of(events: Sequence[Event]) -> tuple[int, ...]:
    """The process instances that an operation has migrated, suspended or resumed: the one of the command first."""
    kinds = InstanceMigrated | InstanceSuspended | InstanceResumed
    return tuple(event.key for event in events if isinstance(event, kinds))


# ---- suspension and resumption


def _of_suspension(events: Sequence[Event], key: int, around: Surroundings) -> Undo:
    called = _called_in(InstanceSuspended, events)
    return Undo(ResumeInstance(key, bool(called), called))


def _of_resumption(events: Sequence[Event], key: int, around: Surroundings) -> Undo:
    if any(isinstance(event, InstanceResumed) and event.items for event in events):
        raise NotExact("work that had waited for the resumption has been done")
    called = _called_in(InstanceResumed, events)
    latest = {one.key: one.reason for one in around.earlier if isinstance(one, InstanceSuspended)}
    if not latest.keys() >= {key, *called}:
        raise NotExact("the log does not show the reason of the suspension any more")
    if any(latest[one] != latest[key] for one in called):
        raise NotExact("called process instances were suspended for other reasons")
    return Undo(SuspendInstance(key, bool(called), latest[key], called), around.jobs)


def _called_in(kind: type[InstanceSuspended] | type[InstanceResumed], events: Sequence[Event]) -> tuple[int, ...]:
    """The called process instances of the events, all of which must be of this kind."""
    for event in events:
        if not isinstance(event, kind):
            raise NotExact(_more(event))
    return _named(instances_of(events)[1:])


def _named(called: tuple[int, ...]) -> tuple[int, ...]:
    if len(called) > MOST_CALLED:
        raise NotExact(f"it included more than {MOST_CALLED:,} called process instances")
    return called


# ---- business id


def _of_business_id(events: Sequence[Event], key: int, around: Surroundings) -> Undo:
    """Nothing carries a business id that was assigned late, but what begins afterwards."""
    (assigned,) = events
    assert isinstance(assigned, BusinessIdAssigned), "the event names the operation"
    if assigned.business_id is not None:
        return Undo(AssignBusinessId(key, None))
    former = [one.business_id for one in around.earlier if isinstance(one, BusinessIdAssigned) and one.key == key]
    if not former:
        raise NotExact("the log does not show the former business id any more")
    return Undo(AssignBusinessId(key, former[-1]))


# ---- migration


def _of_migration(events: Sequence[Event], key: int, around: Surroundings) -> Undo:
    for event in events:
        if type(event) not in (InstanceMigrated, SubscriptionOpened, TimerScheduled) and not _is_of_page(event):
            raise NotExact(_more(event))
    first, *others = (event for event in events if isinstance(event, InstanceMigrated))
    _named(tuple(one.key for one in others))
    if sum(len(one.ids) for one in others) > MOST_MAPPED:
        raise NotExact(f"it has mapped more than {MOST_MAPPED:,} elements of called process instances")
    called: dict[CalledMigration, list[int]] = {}
    for other in others:
        called.setdefault(CalledMigration(other.definition_key, *_way_back(other)), []).append(other.key)
    back = tuple(replace(one, only=tuple(keys)) for one, keys in called.items())
    return Undo(MigrateInstance(key, *_way_back(first), called=back), around.jobs)


def _way_back(migrated: InstanceMigrated) -> tuple[int, tuple[tuple[str, str], ...]]:
    """The definition before, and the inverse mappings."""
    if migrated.former is None:
        raise NotExact("an older version of Vivero has done it, which did not record the former definition")
    former_key, former_id = migrated.former
    back = {after: before for before, after in migrated.ids.items()}
    if len(back) < len(migrated.ids):
        raise NotExact("it has mapped several elements to the same one")
    return former_key, tuple((after, before) for after, before in back.items() if before != former_id)


def _is_of_page(event: Event) -> bool:
    """Whether the event belongs to the pages of the migration."""
    if isinstance(event, WorkDeferred | WorkResumed):
        return all(stage in (CHECK_PAGE, MOVE_PAGE, RENAME_PAGE) for _, stage, _ in event.items)
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
    Operation.ASSIGN_BUSINESS_ID: _of_business_id,
}
