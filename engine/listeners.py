"""What the consumer of a log asks others for, and what it tells them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from engine.bpmn.model import Process
from engine.core.outcomes import Ended
from storage.log import Outcome


class Models(Protocol):
    """`engine.definitions.DefinitionCache`: the processes of a deployed file by its SHA-256, parsed once."""

    async def resource(self, sha256: str) -> Mapping[str, Process] | None: ...

    def resource_nowait(self, sha256: str) -> Mapping[str, Process] | None: ...


class Listeners(Protocol):
    """Who is told about a committed batch; none of these may wait."""

    def committed(self, partition: int, watermark: int, outcomes: list[Outcome], ended: list[Ended]) -> None:
        """Answers and ends, with the position up to which everything is known."""

    def available(self, type: str, tenant: str, count: int) -> None:
        """Jobs that can be activated now."""

    def spilled(self, partition: int) -> None:
        """The inbox has commands for this partition's log."""

    def timers_changed(self, partition: int, changes: Mapping[int, tuple[int, str] | None]) -> None:
        """Timers are pending (due date in epoch ms, tenant), or no longer (None)."""

    def leads(self, partition: int, epoch: int) -> None:
        """A term has begun."""
