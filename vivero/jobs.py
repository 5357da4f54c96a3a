"""Background jobs of your own (docs/background-jobs.md).

A module of jobs, which `vivero up --jobs my_jobs.py` runs, imports everything it needs from here.
"""

from vivero.engine.jobs.definitions import JobDefinition, RescheduleAt, RescheduleIn, job, scheduled
from vivero.engine.jobs.execution import Execution, TransactionalExecution
from vivero.engine.jobs.retries import RetrySettings

__all__ = [
    "Execution",
    "JobDefinition",
    "RescheduleAt",
    "RescheduleIn",
    "RetrySettings",
    "TransactionalExecution",
    "job",
    "scheduled",
]
