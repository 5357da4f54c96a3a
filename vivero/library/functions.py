"""The functions of the library. Each takes a snapshot and gives the next one. If it raises, nothing happened.

`now` is the time at which it happens, by default the time of the last change. Time never goes back.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from vivero.core.bpmn.model import Process
from vivero.core.partitions.keys import PARTITION_SHIFT
from vivero.core.records.ad_hoc import ActivateAdHocElements, AdHocResult, ElementToActivate
from vivero.core.records.base import DEFAULT_TENANT
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.core.records.instances import CancelInstance, CreateInstance, ResolveIncident, SetVariables
from vivero.core.records.jobs import CompleteJob, FailJob, ThrowJobError, UpdateJob, UserTaskResult
from vivero.core.records.messages import PublishMessage, StartInstance
from vivero.core.records.signals import BroadcastSignal
from vivero.core.records.timers import TriggerTimer
from vivero.core.records.user_tasks import AssignUserTask, CompleteUserTask
from vivero.core.state.catalogue import Definition
from vivero.library.calls import Document, encoded, process_of, restored, run, run_at_root
from vivero.library.machine import Machine, Rejected
from vivero.library.models import Models
from vivero.library.result import Result, result_of
from vivero.library.times import MILLISECOND, to_ms

FIRST_KEY = (1 << PARTITION_SHIFT) + 1
"""The key of an instance unless the caller names another. Keys are unique within a snapshot."""


def start(
    models: Models,
    variables: Mapping[str, Any] = {},
    *,
    now: datetime,
    process_id: str | None = None,
    at: str | None = None,
    business_id: str | None = None,
    tags: tuple[str, ...] = (),
    key: int = FIRST_KEY,
) -> Result:
    """Start an instance of the newest version of a process, and run it to its first wait states.

    `process_id` is optional if there is one process only. `at`: the id of the element to start at, for example of a
    message start event; by default the none start event. `key`: the key of the instance; all others follow it.

    Raises:
        Rejected: there is no such process or element.
        TooMuchWork: the process does not come to a wait state.
    """
    return result_of(
        begun(models, variables, now=now, process_id=process_id, at=at, business_id=business_id, tags=tags, key=key)
    )


def begun(
    models: Models,
    variables: Mapping[str, Any],
    *,
    now: datetime,
    process_id: str | None = None,
    at: str | None = None,
    business_id: str | None = None,
    tags: tuple[str, ...] = (),
    key: int = FIRST_KEY,
) -> Machine:
    """The machine of a new instance, which `start` describes."""
    machine = Machine(models, DEFAULT_TENANT, (), key)
    machine.set_time(to_ms(now))
    definition = _latest(machine, models, process_id)
    if at is not None and _is_start_event(process_of(models, definition), at):
        texts = {name: bytes(value).decode() for name, value in encoded(variables).items()}
        instance = machine.state.key()
        machine.state.begin_command()  # an attempt at the command that is undone must not give this key away again
        machine.run(StartInstance(instance, definition.key, at, texts))
    else:
        places = () if at is None else (at,)
        machine.run(
            CreateInstance(
                definition_key=definition.key,
                variables=encoded(variables),
                tags=tags,
                business_id=business_id,
                start_elements=places,
            )
        )
    return machine


def _latest(machine: Machine, models: Models, process_id: str | None) -> Definition:
    known = models.process_ids()
    if process_id is None and len(known) == 1:
        process_id = known[0]
    family = machine.state.catalogue.families.get((machine.tenant, process_id or ""))
    if not family:
        missing = "Name the process to start" if process_id is None else f"There is no process '{process_id}'"
        raise Rejected(Rejection(RejectionCode.NOT_FOUND, f"{missing}. The models have: {', '.join(known) or 'none'}"))
    return family[max(family)]


def _is_start_event(process: Process, id: str) -> bool:
    node = process.nodes.get(id)
    return node is not None and node.type == "START_EVENT" and node.scope == process.id and node.event is not None


def advance(models: Models, snapshot: Document, now: datetime) -> Result:
    """Let the time pass: all timers that are due by `now` fire, each at its due date, the earliest first."""
    machine = restored(models, snapshot, None)
    let_pass(machine, now)
    return result_of(machine)


def let_pass(machine: Machine, now: datetime) -> None:
    """Fire the timers that are due by `now`."""
    until = to_ms(now)
    while (due := _next_due(machine)) is not None and due.due_at <= until:
        machine.set_time(due.due_at)
        machine.run(due)
    machine.set_time(until)


def _next_due(machine: Machine) -> TriggerTimer | None:
    pending = [timer for timer in machine.state.timers.values() if timer.state == "PENDING"]
    first = min(pending, key=lambda timer: (timer.due_at, timer.key), default=None)
    return None if first is None else TriggerTimer(first.key, first.due_at)


def complete(
    models: Models, snapshot: Document, job: int, variables: Mapping[str, Any] = {}, *, now: datetime | None = None
) -> Result:
    """Complete a job, given by its key."""
    return run(models, snapshot, now, CompleteJob(job, encoded(variables)))


def decide(
    models: Models,
    snapshot: Document,
    job: int,
    elements: Mapping[str, Mapping[str, Any]] = {},
    variables: Mapping[str, Any] = {},
    *,
    fulfilled: bool = False,
    cancel_remaining: bool = False,
    now: datetime | None = None,
) -> Result:
    """Complete the job of an ad-hoc sub-process. `elements`: what comes next, with the variables of each.

    `fulfilled`: nothing more comes. `cancel_remaining`: what still runs ends first.
    """
    result = AdHocResult(_to_activate(elements), fulfilled, cancel_remaining)
    return run(models, snapshot, now, CompleteJob(job, encoded(variables), result=result))


def activate(
    models: Models,
    snapshot: Document,
    scope: int,
    elements: Mapping[str, Mapping[str, Any]],
    *,
    cancel_remaining: bool = False,
    now: datetime | None = None,
) -> Result:
    """Activate elements of an ad-hoc sub-process, given by its key, with the variables of each."""
    return run(models, snapshot, now, ActivateAdHocElements(scope, _to_activate(elements), cancel_remaining))


def _to_activate(elements: Mapping[str, Mapping[str, Any]]) -> tuple[ElementToActivate, ...]:
    return tuple(ElementToActivate(id, encoded(variables)) for id, variables in elements.items())


def deny(models: Models, snapshot: Document, job: int, reason: str = "", *, now: datetime | None = None) -> Result:
    """Complete the job of a task listener, and deny the change of its user task: the task stays as it was."""
    return run(models, snapshot, now, CompleteJob(job, result=UserTaskResult(True, reason)))


def fail(
    models: Models,
    snapshot: Document,
    job: int,
    message: str = "",
    *,
    retries: int | None = None,
    retry_after: timedelta = timedelta(0),
    variables: Mapping[str, Any] = {},
    now: datetime | None = None,
) -> Result:
    """Fail a job. `retries`: how many it has left, by default one fewer; with none left there is an incident.

    `retry_after`: how long the job waits before it is available again.
    """
    machine = restored(models, snapshot, now)
    known = machine.state.jobs.get(job)
    left = (known.retries - 1 if known is not None else 0) if retries is None else retries
    machine.run(FailJob(job, max(left, 0), retry_after // MILLISECOND, message or None, encoded(variables)))
    return result_of(machine)


def throw_error(
    models: Models,
    snapshot: Document,
    job: int,
    code: str,
    message: str = "",
    variables: Mapping[str, Any] = {},
    *,
    now: datetime | None = None,
) -> Result:
    """End a job with a BPMN error. An error that no event catches gives an incident."""
    return run(models, snapshot, now, ThrowJobError(job, code, message or None, encoded(variables)))


def complete_user_task(
    models: Models, snapshot: Document, task: int, variables: Mapping[str, Any] = {}, *, now: datetime | None = None
) -> Result:
    """Complete a user task, given by its key."""
    return run(models, snapshot, now, CompleteUserTask(task, encoded(variables)))


def assign(
    models: Models, snapshot: Document, task: int, assignee: str | None, *, now: datetime | None = None
) -> Result:
    """Assign a user task; None: to nobody."""
    return run(models, snapshot, now, AssignUserTask(task, assignee))


def publish(
    models: Models,
    snapshot: Document,
    name: str,
    correlation_key: str,
    variables: Mapping[str, Any] = {},
    *,
    time_to_live: timedelta = timedelta(0),
    message_id: str | None = None,
    now: datetime | None = None,
) -> Result:
    """Publish a message. With a time to live it waits in the snapshot if nothing waits for it yet."""
    ttl = time_to_live // MILLISECOND
    return run(models, snapshot, now, PublishMessage(name, correlation_key, ttl, message_id, encoded(variables)))


def broadcast(
    models: Models, snapshot: Document, name: str, variables: Mapping[str, Any] = {}, *, now: datetime | None = None
) -> Result:
    """Broadcast a signal to all elements that wait for it now."""
    return run(models, snapshot, now, BroadcastSignal(name, encoded(variables)))


def resolve(
    models: Models, snapshot: Document, incident: int, *, retries: int = 1, now: datetime | None = None
) -> Result:
    """Resolve an incident: what failed is tried again. A job without retries gets `retries`."""
    machine = restored(models, snapshot, now)
    known = machine.state.incidents.get(incident)
    job = None if known is None or known.job is None else machine.state.jobs.get(known.job)
    if job is not None and job.retries <= 0:
        machine.run(UpdateJob(job.key, retries))
    machine.run(ResolveIncident(incident))
    return result_of(machine)


def set_variables(
    models: Models,
    snapshot: Document,
    variables: Mapping[str, Any],
    *,
    scope: int | None = None,
    local: bool = False,
    now: datetime | None = None,
) -> Result:
    """Set variables, by default of the instance. `scope`: the key of an element. `local`: in exactly this scope."""
    return run_at_root(
        models, snapshot, now, lambda root: SetVariables(root if scope is None else scope, encoded(variables), local)
    )


def cancel(models: Models, snapshot: Document, *, now: datetime | None = None) -> Result:
    """Cancel the instance with everything that it calls."""
    return run_at_root(models, snapshot, now, CancelInstance)
