"""The duties of a node: all partitions that it works for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from vivero.engine.appender.forwarding import LogProgress
from vivero.engine.cluster.assignment import Assignment, Duty
from vivero.engine.cluster.partition_duty import PartitionDuty
from vivero.storage.log.attempts import Suspicion
from vivero.storage.log.command_log import AppendedSegment


class PartitionDuties:
    """One duty by partition. A partition without one is led elsewhere."""

    def __init__(self, partitions: Iterable[int] = (), changed: Callable[[], None] = lambda: None) -> None:
        """`changed()` is called when a consumer got ready to lead a partition, or handed it over."""
        self._changed = changed
        self._duties: dict[int, PartitionDuty] = {}
        for partition in partitions:
            self.open(partition)

    def open(self, partition: int) -> PartitionDuty:
        """Begin to work for a partition. Its consumer waits until it knows its duty."""
        duty = self._duties[partition] = PartitionDuty(Assignment(Duty.UNDECIDED, self._changed))
        return duty

    def __getitem__(self, partition: int) -> PartitionDuty:
        return self._duties[partition]

    def __contains__(self, partition: int) -> bool:
        return partition in self._duties

    def __iter__(self) -> Iterator[int]:
        return iter(self._duties)

    def ready(self) -> list[int]:
        """The partitions whose consumers wait, with open connections, until another node hands over."""
        return [partition for partition, duty in self._duties.items() if duty.assignment.ready]

    def leads(self, partition: int) -> bool:
        """Whether this node leads the partition."""
        duty = self._duties.get(partition)
        return duty is not None and duty.leads

    def led(self) -> list[int]:
        """The partitions that this node leads."""
        return [partition for partition, duty in self._duties.items() if duty.leads]

    def wake(self, partition: int) -> None:
        """The log of the partition may have new rows."""
        duty = self._duties.get(partition)
        if duty is not None:
            duty.wake()

    def wake_all(self) -> None:
        for duty in self._duties.values():
            duty.wake()

    def take(self, partition: int, segment: AppendedSegment) -> bool:
        """Take over a segment that this node appended. False if it cannot be used."""
        duty = self._duties.get(partition)
        return duty is not None and duty.take(segment)

    def progress_of(self, partition: int) -> LogProgress | None:
        """The progress of the term; None if this node does not lead the partition."""
        duty = self._duties.get(partition)
        return None if duty is None else duty.progress()

    def accuse(self, note: Callable[[Sequence[Suspicion]], None]) -> None:
        """Tell what blocked the event loop, which all partitions share. The watchdog's thread calls this.

        An attempt that computes now is the cause. Without one, any batch under way may be.
        """
        suspicions: list[Suspicion] = []
        for duty in list(self._duties.values()):
            duty.accuse(suspicions.append)
        attempts = [suspicion for suspicion in suspicions if suspicion.attempt]
        if suspicions:
            note(attempts or suspicions)
