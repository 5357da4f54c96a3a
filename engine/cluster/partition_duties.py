"""The handovers of all partitions that a node works for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from vivero.engine.appender.forwarding import Consumed
from vivero.engine.cluster.assignment import Assignment, Duty
from vivero.engine.cluster.partition_duty import Handover
from vivero.storage.log.attempts import Suspicion
from vivero.storage.log.command_log import AppendedSegment


class Handovers:
    """One handover by partition. A partition without one is led elsewhere."""

    def __init__(self, partitions: Iterable[int] = (), changed: Callable[[], None] = lambda: None) -> None:
        """`changed()` is called when a consumer got ready to lead a partition, or handed it over."""
        self._changed = changed
        self._handovers: dict[int, Handover] = {}
        for partition in partitions:
            self.open(partition)

    def open(self, partition: int) -> Handover:
        """Begin to work for a partition. Its consumer waits until it knows its duty."""
        handover = self._handovers[partition] = Handover(Assignment(Duty.UNDECIDED, self._changed))
        return handover

    def __getitem__(self, partition: int) -> Handover:
        return self._handovers[partition]

    def __contains__(self, partition: int) -> bool:
        return partition in self._handovers

    def __iter__(self) -> Iterator[int]:
        return iter(self._handovers)

    def ready(self) -> list[int]:
        """The partitions whose consumers wait, with open connections, until another node hands over."""
        return [partition for partition, handover in self._handovers.items() if handover.assignment.ready]

    def leads(self, partition: int) -> bool:
        """Whether this node leads the partition."""
        handover = self._handovers.get(partition)
        return handover is not None and handover.leads

    def led(self) -> list[int]:
        """The partitions that this node leads."""
        return [partition for partition, handover in self._handovers.items() if handover.leads]

    def wake(self, partition: int) -> None:
        """The log of the partition may have new rows."""
        handover = self._handovers.get(partition)
        if handover is not None:
            handover.wake()

    def wake_all(self) -> None:
        for handover in self._handovers.values():
            handover.wake()

    def take(self, partition: int, segment: AppendedSegment) -> bool:
        """Take over a segment that this node appended. False if it cannot be used."""
        handover = self._handovers.get(partition)
        return handover is not None and handover.take(segment)

    def consumed(self, partition: int) -> Consumed | None:
        """How far the term is; None if this node does not lead the partition."""
        handover = self._handovers.get(partition)
        return None if handover is None else handover.consumed()

    def accuse(self, note: Callable[[Sequence[Suspicion]], None]) -> None:
        """Tell what blocked the event loop, which all partitions share. The watchdog's thread calls this.

        An attempt that computes now is the cause. Without one, any batch under way may be.
        """
        suspicions: list[Suspicion] = []
        for handover in list(self._handovers.values()):
            handover.accuse(suspicions.append)
        attempts = [suspicion for suspicion in suspicions if suspicion.attempt]
        if suspicions:
            note(attempts or suspicions)
