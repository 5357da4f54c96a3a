"""The parties that the consumer asks for models and leases, and tells about committed batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from vivero.core.bpmn.model import Process
from vivero.core.execution.outcomes import Ended
from vivero.engine.consumer.batch import BatchResult
from vivero.engine.consumer.new_job_leases import NewJobLeases, NewJobs, Subject
from vivero.engine.definitions.decisions import DecisionCache
from vivero.storage.log.command_log import CommandOutcome
from vivero.storage.postgres.driver import Connection


class ModelSource(Protocol):
    """The processes of a deployed file by its SHA-256: `engine.definitions.cache.DefinitionCache`."""

    hits: int
    decisions: DecisionCache

    async def resource(self, sha256: str, connection: Connection) -> Mapping[str, Process] | None: ...

    def resource_nowait(self, sha256: str) -> Mapping[str, Process] | None: ...


class CommitObserver(Protocol):
    """Is told about committed batches. No method may wait."""

    def committed(self, partition: int, watermark: int, outcomes: list[CommandOutcome], ended: list[Ended]) -> None:
        """Outcomes of commands and ends of instances. All positions up to `watermark` are processed."""

    def available(self, type: str, tenant: str, count: int) -> None:
        """Jobs of a type can be activated now."""

    def lease_new(self, jobs: NewJobs, now_ms: int, /) -> Sequence[NewJobLeases]:
        """Leases for jobs that a batch creates, and that are saved with it. `now_ms`: the engine's time."""

    def inbox_filled(self, partition: int, /) -> None:
        """The inbox has commands for the log of this partition."""

    def timers_changed(self, partition: int, changes: Mapping[int, tuple[int, str] | None], /) -> None:
        """Timers are pending (due date in epoch ms, tenant), or no longer pending (None)."""

    def leads(self, partition: int, epoch: int, /) -> None:
        """A term of this node has begun."""


def tell(observer: CommitObserver, partition: int, work: BatchResult, left: Mapping[Subject, int]) -> None:
    """Tell the observer about a committed batch. `left` are its jobs that it did not lease."""
    observer.committed(partition, work.last, work.outcomes, work.notices.ended)
    if work.notices.timers:
        observer.timers_changed(partition, work.notices.timers)
    for (type_, tenant), count in left.items():
        observer.available(type_, tenant, count)
    for inbox in work.filled_inboxes:
        observer.inbox_filled(inbox)
