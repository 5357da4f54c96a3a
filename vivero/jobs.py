"""Background jobs of your own (docs/background-jobs.md).

A module of jobs, which `vivero up --jobs my_jobs.py` runs, imports everything it needs from here.
"""

from vivero.engine.jobs.definitions import JobDefinition, RescheduleAt, RescheduleIn, consumer, job, scheduled
from vivero.engine.jobs.events import AsyncioEvents, OutboxEvent, ThreadEvents, TransactionalEvents
from vivero.engine.jobs.execution import Execution, TransactionalExecution
from vivero.engine.jobs.retries import RetrySettings

__all__ = [
    "AsyncioEvents",
    "Execution",
    "JobDefinition",
    "OutboxEvent",
    "RescheduleAt",
    "RescheduleIn",
    "RetrySettings",
    "ThreadEvents",
    "TransactionalEvents",
    "TransactionalExecution",
    "consumer",
    "job",
    "scheduled",
]
