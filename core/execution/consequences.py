"""The work that follows an event, as a table (docs/design/execution.md §4).

A function gets the row that the event is about, which may have ended by then.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import starmap
from operator import attrgetter
from typing import Any

from vivero.core.execution.lifecycle import LISTENERS, STAGES, first_stage_of_activation, first_stage_of_completion
from vivero.core.execution.outcomes import Ended, LastVariable
from vivero.core.execution.work import Work
from vivero.core.records.ad_hoc import AdHocActivationsAdded, AdHocFulfilled
from vivero.core.records.base import Event
from vivero.core.records.catalogue import RetireDefinition
from vivero.core.records.complex_gateways import ComplexGatewayReset
from vivero.core.records.effects import Send
from vivero.core.records.instances import (
    COMMAND_STAGE,
    DEADLOCK_STAGE,
    ContinueWork,
    ElementActivating,
    ElementCompleted,
    ElementCompleting,
    ElementTerminated,
    ElementTerminating,
    IncidentRaised,
    IncidentResolved,
    InstanceCreated,
    LoopStarted,
    ScopeInterrupted,
    ScopeResumed,
    WorkDeferred,
    WorkResumed,
)
from vivero.core.records.jobs import (
    JobCanceled,
    JobCompleted,
    JobCreated,
    JobDenied,
    JobErrorThrown,
    JobFailed,
    JobReleased,
    JobUpdated,
)
from vivero.core.records.messages import ReleaseStart
from vivero.core.records.migrations import CHECK_PAGE, MOVE_PAGE, ElementsRenamed, InstanceMigrated
from vivero.core.records.modifications import TERMINATE_PAGE
from vivero.core.records.suspensions import AWAIT_MESSAGE, RESCHEDULE, RESUME_WAITS, InstanceResumed, Items
from vivero.core.records.timers import (
    TimerCanceled,
    TimerFailed,
    TimerMoved,
    TimerScheduled,
    TimerSuspended,
    TimerTriggered,
)
from vivero.core.records.user_tasks import UserTaskChanging
from vivero.core.shared.ending import ends_its_instance
from vivero.core.state.instance_tree import (
    LEASED,
    MISSING,
    TERMINATED,
    TERMINATING,
    Element,
    Incident,
    Instance,
    InstanceTree,
    Job,
    Timer,
    UserTask,
)
from vivero.core.state.lazy_variables import LazyVariables
from vivero.core.state.migrations import Migration
from vivero.core.state.subtrees import of_instance

_HOLDING = {CHECK_PAGE, MOVE_PAGE, TERMINATE_PAGE}
"""Stages that hold the tree from the command on. In a migration of one instance, its event says so."""
IN_SCOPES = {"arrive", "enter", "trigger"}
"""Stages that begin something in their element."""
OF_ELEMENTS = {name for name, (state, *_) in STAGES.items() if state is not TERMINATING} | {
    *("check", "await again"),
    *(RESUME_WAITS, RESCHEDULE, AWAIT_MESSAGE),
}
"""Stages of an element itself, but for those of its early end."""


def _activating(work: Work, row: Element, event: InstanceCreated | ElementActivating) -> None:
    node = row.node = work.view.model(row.instance.definition_key).nodes[row.element]
    scope = row.scope
    if scope is not None and scope.waits.incidents:
        work.settling[scope.key] = None  # the scope may have been stuck until now
    if event.begin:
        work.queue.append((row.key, "activate", event.begin))
    else:
        work.queue.append((row.key, "activate" if node.is_plain else first_stage_of_activation(row), 0))


def _completing(work: Work, row: Element, _event: Event) -> None:
    """Complete it before anything else happens: a loop collects the variables that each inner instance has set."""
    node = work.view.node(row) if row.node is MISSING else row.node
    work.queue.appendleft((row.key, "leave" if node.is_plain else first_stage_of_completion(row), 0))


def _completed(work: Work, row: Element, event: ElementCompleted) -> None:
    scope = row.scope
    if scope is None or (row.instance.terminate_after and ends_its_instance(row)):
        _ended(work, row, event)
        return
    for flow in event.flows:
        work.queue.append((scope.key, "arrive", flow))
    work.settling[scope.key] = None
    if type(row) is Instance:
        _instance_ended(work, row)


def _ended(work: Work, row: Element, _event: Event) -> None:
    scope = row.scope
    if scope is not None:
        work.settling[scope.key] = None
        if row.instance.terminate_after and ends_its_instance(row):
            work.queue.appendleft((scope.key, "end", 0))  # before anything else begins
        elif row.state is TERMINATED and row.then is not None and row.then[0] == "enter":
            work.queue.append((scope.key, "enter", row.then[1:]))
    if type(row) is Instance:
        _instance_ended(work, row)


def _instance_ended(work: Work, row: Instance) -> None:
    if row.parent_instance is None:  # nobody waits for the end of a called instance
        work.ended.append(Ended(row.key, row.state.value, _last_variables(row)))
    if row.start_lock is not None:
        released = ReleaseStart(row.key, row.tenant, row.process_id, row.start_lock)
        work.sends.append(Send(released))
    _retire(work, row.definition_key)


_FACTS = attrgetter("key", "name", "value")


def _last_variables(row: Instance) -> list[LastVariable] | None:
    if isinstance(row.variables, LazyVariables):  # the instance was loaded to be ended
        return None
    return list(starmap(LastVariable, map(_FACTS, row.variables.values())))


def _retire(work: Work, definition_key: int) -> None:
    """Retire a draining definition whose last instance is gone."""
    definition = work.state.catalogue.definitions.get(definition_key)
    if definition is not None and definition.state == "DRAINING" and not work.view.running(definition.key):
        work.sends.append(Send(RetireDefinition(definition.key)))


def _migrated(work: Work, row: Migration, event: InstanceMigrated | ElementsRenamed) -> None:
    """Joins may not have to wait for their tokens any more in the other model, or may wait for ever."""
    if not row.last:
        work.held = work.held or isinstance(event, InstanceMigrated)
        return
    for element in row.elements if isinstance(event, InstanceMigrated) else of_instance(row.instance):
        if element.tokens and sum(element.tokens.values()) > element.live:
            work.settling[element.key] = None
    _retire(work, row.former)


def _terminating(work: Work, row: Element, _event: Event) -> None:
    work.ending.forget()
    work.queue.append((row.key, "terminate", 0))
    if row.live:
        work.settling[row.key] = None


def _settles(work: Work, row: Element, _event: Event) -> None:
    work.settling[row.key] = None


def _interrupted(work: Work, row: Element, _event: Event) -> None:
    work.ending.forget()
    work.settling[row.key] = None


def _deferred(work: Work, tree: InstanceTree, event: Event) -> None:
    """Send one command, however often work is deferred, that continues the work of the tree."""
    if isinstance(event, WorkDeferred) and event.items[0][1] in _HOLDING:
        work.held = True
    following = Send(ContinueWork(tree.key), later=True)
    if tree.work and following not in work.sends:
        work.sends.append(following)


def _resumed(work: Work, tree: InstanceTree, event: WorkResumed) -> None:
    """Queue the items again. Scopes cost nothing: otherwise a quantum full of them would only defer them again.

    A scope settles after a deferred token has arrived: the last child that lived in it may have ended meanwhile.
    """
    _deferred(work, tree, event)
    _queue(work, event.items)


def _instance_resumed(work: Work, row: Instance, event: InstanceResumed) -> None:
    """Go on with the suspended work, and with jobs that workers wait for."""
    _deferred(work, row.tree, event)
    _queue(work, event.items)
    types = {job.type for element in of_instance(row) for job in element.waits.jobs.values()}
    work.available += [(type, row.tenant) for type in sorted(types)]


def _queue(work: Work, items: Items) -> None:
    for item in items:
        if item[1] in ("settle", "arrive"):
            work.settling[item[0]] = None
        if item[1] != "settle" and not _is_dropped(work, item[0], item[1]):
            work.queue.append(item)


def _is_dropped(work: Work, key: int, stage: str) -> bool:
    """Whether the item would do nothing, as its element has ended, or as it is in a scope that ends early: there, an
    element takes no further step until it terminates. The database might reject the result of a further step, and the
    scope could never be cancelled. Thousands of such items may be left of a tree that is cancelled.
    """
    element = work.state.elements.get(key)
    if element is None:
        return True
    if stage in IN_SCOPES:
        return work.ending.covers(element)
    return stage in OF_ELEMENTS and work.ending.covers(element.scope)


def _incident_resolved(work: Work, row: Incident, _event: Event) -> None:
    work.incidents.append(("resolved", row.type))
    if row.stage and row.stage not in (COMMAND_STAGE, DEADLOCK_STAGE):
        work.queue.append((row.element.key, row.stage, row.argument))
    if row.element.tokens:
        work.settling[row.element.key] = None  # a scope with an incident does not look whether it is stuck


def _incident_raised(work: Work, row: Incident, _event: Event) -> None:
    work.incidents.append(("raised", row.type))


def _job_completed(work: Work, row: Job, _event: Event) -> None:
    """The next listener follows at once, before anything else can change what this one has set."""
    work.jobs.append(("completed", row.type))
    if row.listener_event in LISTENERS:
        work.queue.appendleft((row.element.key, LISTENERS[row.listener_event], row.listener_index + 1))


def _job_denied(work: Work, row: Job, _event: Event) -> None:
    """No further listener follows."""
    work.jobs.append(("completed", row.type))


def _task_changing(work: Work, row: UserTask, event: UserTaskChanging) -> None:
    """The first listener comes before anything else can change the task."""
    work.queue.appendleft((row.element.key, LISTENERS[event.transition.event], 0))


def _timer_changed(work: Work, row: Timer, _event: Event) -> None:
    work.timers[row.key] = (row.due_at, row.tenant) if row.state == "PENDING" else None


def _job_created(work: Work, row: Job, event: Event) -> None:
    work.jobs.append(("created", row.type))
    _job_available(work, row, event)


def _job_failed(work: Work, row: Job, event: Event) -> None:
    work.jobs.append(("failed", row.type))
    _job_available(work, row, event)


def _job_error_thrown(work: Work, row: Job, _event: Event) -> None:
    work.jobs.append(("error", row.type))


def _job_canceled(work: Work, row: Job, _event: Event) -> None:
    work.jobs.append(("canceled", row.type))


def _job_available(work: Work, row: Job, _event: Event) -> None:
    if row.lease in ("ready", "backoff", LEASED):  # long polls must learn when a backoff or a lease ends
        work.available.append((row.type, row.element.instance.tenant))


FOLLOW: dict[type[Event], Callable[[Work, Any, Any], None]] = {
    InstanceCreated: _activating,
    ElementActivating: _activating,
    ElementCompleting: _completing,
    ElementCompleted: _completed,
    ElementTerminating: _terminating,
    ElementTerminated: _ended,
    InstanceMigrated: _migrated,
    ElementsRenamed: _migrated,
    ScopeInterrupted: _interrupted,
    ScopeResumed: _interrupted,
    LoopStarted: _settles,
    AdHocActivationsAdded: _settles,
    AdHocFulfilled: _settles,
    ComplexGatewayReset: _settles,
    WorkDeferred: _deferred,
    WorkResumed: _resumed,
    InstanceResumed: _instance_resumed,
    IncidentRaised: _incident_raised,
    IncidentResolved: _incident_resolved,
    TimerScheduled: _timer_changed,
    TimerMoved: _timer_changed,
    TimerFailed: _timer_changed,
    TimerSuspended: _timer_changed,
    TimerTriggered: _timer_changed,
    TimerCanceled: _timer_changed,
    JobCreated: _job_created,
    JobCompleted: _job_completed,
    JobDenied: _job_denied,
    JobFailed: _job_failed,
    JobErrorThrown: _job_error_thrown,
    JobCanceled: _job_canceled,
    JobReleased: _job_available,
    JobUpdated: _job_available,
    UserTaskChanging: _task_changing,
}
"""Event type → the function that adds the work that follows."""
