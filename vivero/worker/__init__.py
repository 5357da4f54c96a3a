"""Job workers in Python (docs/workers.md): functions that do the work of job types, under asyncio, Trio or in threads.

Entry: `Worker`, `Job`.
Imports: client.
"""

from vivero.client.results import AdHocDecision, Corrections, Denial, JobCompletion
from vivero.worker.job import Job
from vivero.worker.outcomes import JobError, JobFailed, JobOutcome, Report
from vivero.worker.signatures import BadFunction, Variable
from vivero.worker.worker import Worker

__all__ = [
    "AdHocDecision",
    "BadFunction",
    "Corrections",
    "Denial",
    "Job",
    "JobCompletion",
    "JobError",
    "JobFailed",
    "JobOutcome",
    "Report",
    "Variable",
    "Worker",
]
