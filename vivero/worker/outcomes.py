"""Ends of jobs: the exceptions that functions raise to choose one, and the reports of a worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from vivero.worker.job import Job


class JobFailed(Exception):
    """Raised by a function to fail its job. `retries`: how many remain (default: one less than before).

    `backoff_s`: the time until the job is available again (default: that of the function).
    """

    def __init__(self, message: str, retries: int | None = None, backoff_s: float | None = None) -> None:
        super().__init__(message)
        self.retries = retries
        self.backoff_s = backoff_s


class JobError(Exception):
    """Raised by a function to throw a BPMN error from its job. The process may catch it by its code."""

    def __init__(self, code: str, message: str = "", variables: Mapping[str, Any] | None = None) -> None:
        super().__init__(message or code)
        self.code = code
        self.message = message
        self.variables = variables or {}


class JobOutcome(StrEnum):
    """The outcome of a job for its worker."""

    COMPLETED = "completed"
    FAILED = "failed"
    ERROR = "threw an error"
    LOST = "lost"
    """The worker does not have the job any more: the lease or the instance ended, or the job was not handed back."""
    HANDED_BACK = "handed back"
    """The worker was stopped at once, and the job is available to others again."""


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of one job. `position`: that of the reporting command in the log, None if it is not there."""

    job: Job
    outcome: JobOutcome
    message: str = ""
    position: int | None = None
