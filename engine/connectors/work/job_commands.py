"""The commands that report the outcomes of connectors to the engine."""

from __future__ import annotations

import msgspec

from vivero.core.records.jobs import CompleteJob, FailJob, ThrowJobError
from vivero.core.shared.jobs import ELEMENT
from vivero.engine.compute.pool import ComputePool
from vivero.engine.compute.problems import NotComputed, TooCostly
from vivero.engine.compute.turns import WorkKind
from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.connectors.work.calls import Answer, conclude, failure
from vivero.engine.connectors.work.jobs import ConnectorJob
from vivero.engine.connectors.work.results import (
    FULL,
    QUICK,
    BpmnError,
    Completion,
    Effort,
    Failure,
    Outcome,
    TooMuchEffort,
    encoded,
)
from vivero.engine.jobs.durations import seconds

JobCommand = CompleteJob | FailJob | ThrowJobError

RETRY_BACKOFF, JOB_TIMEOUT = "retryBackoff", "jobTimeout"
LEAST_LEASE_S, MOST_LEASE_S = 10.0, 24 * 3600.0
"""The bounds of a lease that a header asks for. It is renewed at half of its time."""
MAX_MESSAGE = 4000
MAX_BACKOFF_MS = 10 * 365 * 24 * 3600 * 1000


async def concluded(job: ConnectorJob, answer: Answer | ConnectorError, compute: ComputePool | None) -> JobCommand:
    """The command for an answer or an error. A compute process evaluates expressions that are not quick, if it can.

    What other systems answer decides how long an expression takes.
    """
    known = msgspec.structs.replace(job, variables=msgspec.Raw(b"{}"))  # they are not needed any more
    try:
        return job_command(known, conclude(known, answer, QUICK), QUICK)
    except TooMuchEffort:
        if compute is None:
            return _concluded(known, answer)
    try:
        return await compute.call(WorkKind.EXPRESSIONS, _concluded, known, answer)
    except TooCostly as error:
        return _fail(job, Failure(f"TOO_COSTLY: the expressions of the element take {error}", retries=0), 0)
    except (NotComputed, RecursionError):  # the answer is here, and perhaps paid
        return _concluded(known, answer)


def _concluded(job: ConnectorJob, answer: Answer | ConnectorError) -> JobCommand:
    return job_command(job, conclude(job, answer))


def job_command(job: ConnectorJob, outcome: Outcome, effort: Effort = FULL) -> JobCommand:
    """The command for an outcome. If its result cannot be stored, or a header is wrong, the job fails for good.

    Raises TooMuchEffort.
    """
    try:
        return _command(job, outcome, effort)
    except ConnectorError as error:
        return _fail(job, failure(error, job.retries), 0)


def not_stored(job: ConnectorJob, why: str) -> FailJob:
    """The failure of a job whose result PostgreSQL rejects."""
    return _fail(job, Failure(f"BAD_RESPONSE: the result cannot be stored: {why}", retries=0), 0)


def rejected(job: ConnectorJob, why: str) -> FailJob:
    """The failure of a job whose outcome the engine rejects. Without it the job would come back after each lease."""
    return _fail(job, Failure(f"REJECTED: the engine rejects the outcome: {why}", retries=0), 0)


def may_be_rejected(job: ConnectorJob, command: JobCommand) -> bool:
    """Whether the engine may reject the outcome for its content: decisions of agents, and outcomes of listeners.

    Every other outcome is rejected only if the job has ended, or another worker has it: the rejection changes nothing
    for this call, which does not wait for it.
    """
    decides = isinstance(command, CompleteJob) and command.result is not None
    return not isinstance(command, FailJob) and (decides or job.kind != ELEMENT)


def _command(job: ConnectorJob, outcome: Outcome, effort: Effort) -> JobCommand:
    key, lease = int(job.job_key), job.job_lease_token
    if isinstance(outcome, Completion):
        return CompleteJob(key, encoded(outcome.variables, effort), lease, outcome.result)
    if isinstance(outcome, BpmnError):
        variables = encoded(outcome.variables, effort)
        return ThrowJobError(key, _text(outcome.code), _text(outcome.message), variables, lease)
    return _fail(job, outcome, _backoff_ms(job) if outcome.backoff_ms is None else outcome.backoff_ms, effort)


def _fail(job: ConnectorJob, outcome: Failure, backoff_ms: int, effort: Effort = FULL) -> FailJob:
    retries = max(job.retries - 1, 0) if outcome.retries is None else outcome.retries
    return FailJob(
        int(job.job_key),
        retries,
        min(backoff_ms, MAX_BACKOFF_MS),
        _text(outcome.message),
        encoded(outcome.variables, effort),
        job.job_lease_token,
    )


def _backoff_ms(job: ConnectorJob) -> int:
    text = job.custom_headers.get(RETRY_BACKOFF, "").strip()
    try:
        return round(seconds(text) * 1000) if text else 0
    except ValueError as error:
        raise bad_input(f"the task header {RETRY_BACKOFF}: {error}") from error


def asked_lease_s(job: ConnectorJob) -> float | None:
    """The lease that the task header `jobTimeout` asks for, within bounds; None: none. Raises ConnectorError."""
    text = job.custom_headers.get(JOB_TIMEOUT, "").strip()
    try:
        asked_s = seconds(text) if text else None
    except ValueError as error:
        raise bad_input(f"the task header {JOB_TIMEOUT}: {error}") from error
    if asked_s == 0:
        raise bad_input(f"the task header {JOB_TIMEOUT} must be longer than zero")
    return None if asked_s is None else min(max(asked_s, LEAST_LEASE_S), MOST_LEASE_S)


def _text(text: str) -> str:
    return text[:MAX_MESSAGE].replace("\0", "\ufffd")
