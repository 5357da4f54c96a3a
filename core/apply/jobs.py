"""Jobs. `lease` tells the save how to set the columns of activation (docs/design/log.md §7)."""

from __future__ import annotations

from vivero.core.records.jobs import (
    JobCanceled,
    JobCompleted,
    JobCreated,
    JobDenied,
    JobErrorThrown,
    JobFailed,
    JobReleased,
    JobUpdated,
    JobWithheld,
)
from vivero.core.state.instance_tree import JOB_WEIGHT, LEASED, Job
from vivero.core.state.state import State


def job_created(state: State, event: JobCreated) -> Job:
    element = state.elements[event.element]
    job = Job(
        event.key,
        element,
        event.type,
        event.retries,
        state.now,
        state.now,
        "CREATED",
        event.kind,
        event.listener_event,
        event.listener_index,
        event.priority,
        event.headers,
        lease="ready",
        context=state.context,
        business_id=element.instance.business_id,
    )
    waits = element.own_waits()
    state.add(job)
    state.jobs[job.key] = waits.jobs[job.key] = job
    state.add_weight(element.tree, JOB_WEIGHT)
    if event.headers:
        state.written += sum(map(len, event.headers.values()))
    return job


def job_completed(state: State, event: JobCompleted) -> Job:
    return _end(state, event.key, "COMPLETED")


def job_denied(state: State, event: JobDenied) -> Job:
    job = _end(state, event.key, "COMPLETED")
    job.denied_reason = event.reason
    return job


def job_canceled(state: State, event: JobCanceled) -> Job:
    return _end(state, event.key, "CANCELED")


def job_failed(state: State, event: JobFailed) -> Job:
    job = _edit(state, event.key, "FAILED")
    job.retries = event.retries
    job.error_message = event.message
    job.available_at = event.available_at
    if event.retries <= 0:
        job.lease = "closed"
    else:
        job.lease = "ready" if event.available_at is None else "backoff"
    return job


def job_error_thrown(state: State, event: JobErrorThrown) -> Job:
    job = _end(state, event.key, "ERROR_THROWN") if event.caught else _edit(state, event.key, "ERROR_THROWN")
    job.error_code = event.code
    job.error_message = event.message
    job.lease = "closed"
    return job


def job_updated(state: State, event: JobUpdated) -> Job:
    job = state.jobs[event.key]
    state.edit(job)
    job.updated_at = state.now
    if event.retries is not None:
        job.retries = event.retries
    if event.priority is not None:
        job.priority = event.priority
    if event.leased_until is not None:
        job.lease, job.leased_until = LEASED, event.leased_until
    return job


def job_withheld(state: State, event: JobWithheld) -> Job:
    job = state.jobs[event.key]
    state.edit(job)
    job.updated_at = state.now
    job.lease = "closed"
    return job


def job_released(state: State, event: JobReleased) -> Job:
    job = _edit(state, event.key, "CREATED")
    job.lease = "ready"
    return job


def _edit(state: State, key: int, to: str) -> Job:
    job = state.jobs[key]
    state.edit(job)
    job.state = to
    job.updated_at = state.now
    return job


def _end(state: State, key: int, to: str) -> Job:
    job, element = _edit(state, key, to), state.jobs[key].element
    job.ended_at = state.now
    job.lease = "closed"
    state.removed.append(job)
    del state.jobs[key], element.waits.jobs[key]
    state.add_weight(element.tree, -JOB_WEIGHT)
    return job
