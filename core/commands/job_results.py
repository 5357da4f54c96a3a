"""The results of jobs: whether they fit the job, and those of task listeners, which deny or correct the transition of
their user task."""

from __future__ import annotations

from vivero.core.records.ad_hoc import AdHocResult
from vivero.core.records.effects import Effects, Reject, RejectionCode
from vivero.core.records.jobs import CompleteJob, JobCompleted, JobDenied, UserTaskResult
from vivero.core.records.user_tasks import CREATING, DENIABLE, UserTaskCorrected
from vivero.core.shared.jobs import AD_HOC, TASK_LISTENER
from vivero.core.shared.task_transitions import deny, present, task_of
from vivero.core.state.instance_tree import Job, UserTask

NO_RESULT = UserTaskResult()


def complete_task_listener(command: CompleteJob, job: Job) -> Effects:
    """Complete the job: the worklist runs the next listener. A denial ends the transition instead."""
    if command.variables:
        raise _wrong(job, "variables payload provided is not yet supported")
    task, result = task_of(job.element), command.result if isinstance(command.result, UserTaskResult) else NO_RESULT
    if result.denied:
        _check_denial(job, result)
        return (JobDenied(job.key, result.denied_reason), *deny(task, result.denied_reason))
    if not result.corrections:
        return (JobCompleted(job.key),)
    _check_corrections(job, task, result)
    return (UserTaskCorrected(task.key, result.corrections), JobCompleted(job.key))


def check(command: CompleteJob, job: Job) -> None:
    """Raise Reject for a result that does not fit the kind of the job. Every job may be completed without one."""
    given = None if command.result is None else type(command.result)
    if given not in (None, _RESULTS.get(job.kind)):
        raise Reject(
            RejectionCode.INVALID_ARGUMENT,
            f"Expected to complete job with key '{job.key}', but {_OF_TYPE[given]} does not fit a job of kind "
            f"'{job.kind}'",
        )


_RESULTS = {AD_HOC: AdHocResult, TASK_LISTENER: UserTaskResult}
_OF_TYPE = {AdHocResult: "a result of an ad-hoc sub-process", UserTaskResult: "a result of a task listener"}


def _check_denial(job: Job, result: UserTaskResult) -> None:
    if job.listener_event not in DENIABLE:
        supported = ", ".join(DENIABLE)
        text = (
            f"Denying result is not supported for '{job.listener_event}' task listener jobs (job key '{job.key}', type "
            f"'{job.type}', processInstanceKey '{job.element.instance.key}'). "
            f"Only the following listener event types support denying: [{supported}]."
        )
        raise Reject(RejectionCode.INVALID_ARGUMENT, text)
    if result.corrections:
        text = (
            f"Expected to complete task listener job with corrections, but the job result is denied (job key "
            f"'{job.key}', type '{job.type}', processInstanceKey '{job.element.instance.key}'). The corrections would "
            "be reverted by the denial. Either complete the job with corrections without setting denied, or complete "
            "the job with a denied result but no corrections."
        )
        raise Reject(RejectionCode.INVALID_ARGUMENT, text)


def _check_corrections(job: Job, task: UserTask, result: UserTaskResult) -> None:
    has_assignee = job.listener_event == CREATING and present(task).assignee is not None
    if has_assignee and "assignee" in result.corrections:
        raise _wrong(job, "corrections of the assignee are not supported for CREATING if the model has an assignee")


def _wrong(job: Job, what: str) -> Reject:
    text = (
        f"Task Listener job completion with {what} (job key '{job.key}', type '{job.type}', processInstanceKey "
        f"'{job.element.instance.key}')."
    )
    return Reject(RejectionCode.INVALID_ARGUMENT, text)
