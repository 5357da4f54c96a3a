"""What the consumer of a log asks others for, and what it tells them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from vivero.engine.bpmn.model import Process
from vivero.engine.core.outcomes import Ended
from vivero.engine.runtime.consumer.batch import Work
from vivero.engine.runtime.consumer.piggyback import PiggybackedStatement, Subject
from vivero.storage.log import Outcome
from vivero.storage.postgres.driver import Connection


class Models(Protocol):
    """`engine.runtime.definitions.DefinitionCache`: the processes of a deployed file by its SHA-256, parsed once."""

    async def resource(self, sha256: str, connection: Connection) -> Mapping[str, Process] | None: ...

    def resource_nowait(self, sha256: str) -> Mapping[str, Process] | None: ...


class CommitObserver(Protocol):
    """Who is told about a committed batch; none of these may wait."""

    def committed(self, partition: int, watermark: int, outcomes: list[Outcome], ended: list[Ended]) -> None:
        """Answers and ends, with the position up to which everything is known."""

    def available(self, type: str, tenant: str, count: int) -> None:
        """Jobs that can be activated now."""

    def piggybacked(self, available: Mapping[Subject, int]) -> Sequence[PiggybackedStatement]:
        """A batch is about to make so many jobs available: who wants some of them leased by it."""

    def spilled(self, partition: int) -> None:
        """The inbox has commands for this partition's log."""

    def timers_changed(self, partition: int, changes: Mapping[int, tuple[int, str] | None]) -> None:
        """Timers are pending (due date in epoch ms, tenant), or no longer (None)."""

    def leads(self, partition: int, epoch: int) -> None:
        """A term has begun."""


def tell(observer: CommitObserver, partition: int, work: Work, left: Mapping[Subject, int]) -> None:
    """Everybody, of a batch that is committed; `left`: of its jobs those that nobody has leased already."""
    observer.committed(partition, work.last, work.outcomes, work.notices.ended)
    if work.notices.timers:
        observer.timers_changed(partition, work.notices.timers)
    for (type_, tenant), count in left.items():
        observer.available(type_, tenant, count)
    if work.in_a_hurry:
        observer.spilled(partition)
