"""The reports of workers about their jobs: the body of each, and the command that it becomes.

The test kit reads the reports of a user's own workers by the same functions, without a server.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from vivero.api.http.decoding import Body, Int32, Int64, Violations, as_int64, decoder
from vivero.api.job_reports.results import ResultBody, result_of
from vivero.api.settings import ApiSettings
from vivero.core.records.base import Variables
from vivero.core.records.jobs import CompleteJob, FailJob, ThrowJobError
from vivero.storage.work.activation import MAX_TIMEOUT_MS

MAX_TOKEN = 100
VariablesOf = Callable[[Mapping[str, Any] | None], Variables]
"""The variables of a body for a command. Raises Problem 400 beyond the limits."""


class JobCompletionBody(Body, frozen=True):
    variables: dict[str, Any] | None = None
    result: ResultBody | None = None
    business_id: str | None = None
    job_lease_token: str | None = None


class FailureBody(Body, frozen=True):
    retries: Int32 | None = None
    error_message: str | None = None
    retry_back_off: Int64 | None = None
    variables: dict[str, Any] | None = None
    job_lease_token: str | None = None


class ErrorBody(Body, frozen=True):
    error_code: str | None = None
    error_message: str | None = None
    variables: dict[str, Any] | None = None
    job_lease_token: str | None = None


completion_decoder = decoder(JobCompletionBody)
failure_decoder = decoder(FailureBody)
error_decoder = decoder(ErrorBody)


def completion(key: int, body: JobCompletionBody, variables_of: VariablesOf, settings: ApiSettings) -> CompleteJob:
    """Raises Problem 400."""
    variables, result = variables_of(body.variables), result_of(body.result, settings)
    return CompleteJob(key, variables, token(body.job_lease_token), result, body.business_id)


def failure(key: int, body: FailureBody, variables_of: VariablesOf) -> FailJob:
    """Raises Problem 400."""
    backoff_ms = as_int64(body.retry_back_off, "retryBackOff") or 0
    found = Violations()
    found.at_least("retryBackOff", backoff_ms, 0)
    found.check()
    return FailJob(
        key,
        max(body.retries or 0, 0),
        min(backoff_ms, MAX_TIMEOUT_MS),
        body.error_message,
        variables_of(body.variables),
        token(body.job_lease_token),
    )


def error(key: int, body: ErrorBody, variables_of: VariablesOf) -> ThrowJobError:
    """Raises Problem 400."""
    found = Violations()
    found.require("errorCode", body.error_code)
    found.check()
    return ThrowJobError(
        key, body.error_code or "", body.error_message, variables_of(body.variables), token(body.job_lease_token)
    )


def token(token: str | None) -> str | None:
    """The token of a lease. Raises Problem 400 if it is too long."""
    found = Violations()
    found.longest("jobLeaseToken", token, MAX_TOKEN)
    found.check()
    return token
