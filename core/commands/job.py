"""Jobs: complete, fail, throw an error, update, withhold. Activation bypasses the log (docs/design/log.md §7)."""

from __future__ import annotations

from vivero.core.commands import business_ids, job_results
from vivero.core.events import error
from vivero.core.needs import Need, NeedKind, Needs
from vivero.core.records.ad_hoc import AdHocResult
from vivero.core.records.effects import (
    Effects,
    IncidentType,
    Reject,
    RejectionCode,
    incident_message,
    reject_not_found,
)
from vivero.core.records.instances import ElementCompleting, IncidentRaised
from vivero.core.records.jobs import (
    CompleteJob,
    FailJob,
    JobCompleted,
    JobErrorThrown,
    JobFailed,
    JobUpdated,
    JobWithheld,
    ThrowJobError,
    UpdateJob,
    WithholdJob,
)
from vivero.core.records.user_tasks import CANCELING, TASK_EVENTS
from vivero.core.shared import listeners
from vivero.core.shared.ad_hoc_activations import activate_given, check_is_active, fulfil
from vivero.core.shared.jobs import AD_HOC, ELEMENT, EXECUTION_LISTENER, TASK_LISTENER
from vivero.core.shared.variables import merge_result, merge_upwards, set_locally, texts_of
from vivero.core.state.instance_tree import ACTIVATED, ACTIVATING, COMPLETING, LEASED, TERMINATING, Job
from vivero.core.view import View

NO_RETRIES = {
    ELEMENT: IncidentType.JOB_NO_RETRIES,
    AD_HOC: IncidentType.AD_HOC_SUB_PROCESS_NO_RETRIES,
    EXECUTION_LISTENER: IncidentType.EXECUTION_LISTENER_NO_RETRIES,
    TASK_LISTENER: IncidentType.TASK_LISTENER_NO_RETRIES,
}
WAITING_STATES = {
    "UNSPECIFIED": ACTIVATED,
    listeners.START: ACTIVATING,
    listeners.END: COMPLETING,
    listeners.BEFORE_ALL: ACTIVATING,
    listeners.CANCEL: TERMINATING,
    **dict.fromkeys(TASK_EVENTS, ACTIVATED),
    CANCELING: TERMINATING,
}
"""Listener event of the job → the state in which its element waits for the job"""


def needs(command: CompleteJob | FailJob | ThrowJobError, tenant: str) -> Needs:
    yield Need(NeedKind.JOB, command.key)
    if command.lease is not None:
        yield Need(NeedKind.LEASE, command.key)


def complete(command: CompleteJob, view: View) -> Effects:
    """Complete the job, and its element. After a listener's job the worklist runs the next stage instead."""
    job = _active_job(command, "complete", view)
    if command.result is not None:
        job_results.check(command, job)
    if command.business_id is not None:
        yield from business_ids.assign_to(job.element.instance, command.business_id)
    if job.kind == TASK_LISTENER:
        yield from job_results.complete_task_listener(command, job)
        return
    yield JobCompleted(job.key)
    if job.kind == ELEMENT:
        if command.variables:
            yield from merge_result(job.element, command.variables, view)
        yield ElementCompleting(job.element.key)
    elif job.kind == AD_HOC:
        yield from _decided(job, command, view)
    else:
        yield from listeners.merge_result(job, command.variables, view)


def _decided(job: Job, command: CompleteJob, view: View) -> Effects:
    """The worker of an ad-hoc sub-process has decided. Without a result nothing happens until something in it ends."""
    scope = job.element
    result = command.result if isinstance(command.result, AdHocResult) else AdHocResult()
    expected = "Expected to complete ad-hoc sub-process job, but the"
    if result.fulfilled and result.elements:
        text = "job result contains elements to be activated while the completion condition is fulfilled"
        raise Reject(RejectionCode.INVALID_ARGUMENT, f"{expected} {text} (job key '{job.key}').")
    text = f"ad-hoc sub-process instance is not active (job key '{job.key}', ad-hoc sub-process key '{scope.key}')."
    check_is_active(scope, f"{expected} {text}")
    yield from merge_upwards(scope, command.variables, view)
    if result.elements or (result.cancel_remaining and not result.fulfilled):
        yield from activate_given(scope, result.elements, result.cancel_remaining, view, repeats=True)
    elif result.fulfilled:
        yield from fulfil(scope, result.cancel_remaining, scope.live > 0)


def fail(command: FailJob, view: View) -> Effects:
    job = _active_job(command, "fail", view)
    backoff = command.retries > 0 and command.backoff_ms > 0
    yield JobFailed(job.key, command.retries, view.now + command.backoff_ms if backoff else None, command.message)
    yield from set_locally(job.element, command.variables, view)
    if command.retries <= 0:
        message = incident_message(command.message or "No more retries left.")
        yield IncidentRaised(view.key(), job.element.key, "", NO_RETRIES[job.kind], message, job.key)


def throw_error(command: ThrowJobError, view: View) -> Effects:
    """Let the nearest error event catch the code. An uncaught error becomes an incident of the job."""
    job = _active_job(command, "throw an error for", view)
    if job.kind in (EXECUTION_LISTENER, TASK_LISTENER):
        raise Reject(
            RejectionCode.INVALID_STATE,
            f"Expected to throw an error for job with key '{job.key}', but it is of kind '{job.kind}': only the job of "
            "an element itself can throw one",
        )
    variables = texts_of(command.variables)
    caught = error.caught_error(job.element, command.code, variables, view, from_itself=True)
    yield JobErrorThrown(job.key, command.code, command.message, caught is not None)
    if caught is not None:
        yield from caught
    else:
        yield from set_locally(job.element, command.variables, view)
        type_, message = error.unhandled_error(job.element, command.code, command.message, view, from_itself=True)
        yield IncidentRaised(view.key(), job.element.key, "", type_, incident_message(message), job.key)


def needs_update(command: UpdateJob, tenant: str) -> Needs:
    yield Need(NeedKind.JOB, command.key)
    if command.timeout_ms is not None:
        yield Need(NeedKind.LEASE, command.key)


def update(command: UpdateJob, view: View) -> Effects:
    job = _find_job(command.key, "update", view)
    leased_until = None
    if command.timeout_ms is not None:
        _check_leased(job, command, view)
        leased_until = view.now + command.timeout_ms
    yield JobUpdated(job.key, command.retries, command.priority, leased_until)


def _check_leased(job: Job, command: UpdateJob, view: View) -> None:
    """Raises Reject if no worker has the job. Without other changes there is nothing to do then."""
    lease = view.leases.get(job.key)
    if lease is None or lease.until <= view.now or job.lease not in (None, LEASED):
        text = f"Expected to update the timeout of job with key '{job.key}', but it is not activated"
        only_timeout = command.retries is None and command.priority is None
        raise Reject(RejectionCode.INVALID_STATE, text, moot=only_timeout)


def needs_withhold(command: WithholdJob, tenant: str) -> Needs:
    yield Need(NeedKind.JOB, command.key)
    yield Need(NeedKind.LEASE, command.key)


def withhold(command: WithholdJob, view: View) -> Effects:
    """Raise an incident for a job that is too large to activate. Else it would block its queue for ever.

    The lease must be unchanged: meanwhile a worker that fetches fewer variables may have got the job."""
    job = _active_job(command, "withhold", view)
    has = f"takes {command.size} bytes, and an answer takes at most {command.most}"
    if command.size is None:
        has = f"sees more than {command.most} variables"
    message = (
        f"The job with key '{job.key}' cannot be activated: with the variables that its worker fetches it {has}. Name "
        "fewer variables in fetchVariable, or make them smaller, and resolve this incident."
    )
    yield JobWithheld(job.key)
    yield IncidentRaised(view.key(), job.element.key, "", IncidentType.MESSAGE_SIZE_EXCEEDED, message, job.key)


def _find_job(key: int, verb: str, view: View) -> Job:
    job = view.job(key)
    if job is None or not view.enter(job.element.instance.tenant):
        raise reject_not_found("job", verb, key)
    return job


def _active_job(command: CompleteJob | FailJob | ThrowJobError | WithholdJob, verb: str, view: View) -> Job:
    """The job, if workers may report on it now: its element waits for it, and the lease of the command still holds."""
    job = _find_job(command.key, verb, view)
    element = job.element
    incidents = element.waits.incidents
    if incidents and any(incident.job == job.key for incident in incidents.values()):
        raise _wrong_state(job, verb)
    if element.state is not WAITING_STATES[job.listener_event]:
        raise reject_not_found("job", verb, command.key)
    if job.state == "FAILED" and _waits_for_backoff(job, view):
        raise _wrong_state(job, verb)
    asked = command.lease is not None or isinstance(command, WithholdJob)
    if asked and view.token_of(job.key) != command.lease:
        raise Reject(
            RejectionCode.INVALID_STATE,
            f"Expected to {verb} job with key '{job.key}', but its lease was lost: the job timed out or was "
            "handed to another worker",
        )
    return job


def _wrong_state(job: Job, verb: str) -> Reject:
    text = f"Expected to {verb} job with key '{job.key}', but it is in state '{job.state}'"
    return Reject(RejectionCode.INVALID_STATE, text)


def _waits_for_backoff(job: Job, view: View) -> bool:
    """Whether the backoff of a failed job has not ended yet.

    The lease decides: a worker may have got the job after its backoff, before the clock was set back.
    """
    is_over = job.available_at is None or job.available_at <= view.now
    return not is_over and view.lease(job.key) is None
