"""Task: the heartbeat of this node, and its part in spreading the partitions over the nodes (docs/several-nodes.md).

A node makes a heartbeat and reads all nodes and partitions once a second, or four times a second where it
may have to take over. From that every engine node computes the same assignment (`balance.assign`). The node that a
partition is meant for claims it as soon as it is free, the others only after a grace. A leader hands a partition over
between two batches, once the other node says that it is ready: its connections are open. NOTIFY makes the
others look at once, so that a move takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping

import structlog
import trio

from vivero.engine.cluster import versions
from vivero.engine.cluster.assignment import Duty
from vivero.engine.cluster.balance import assign
from vivero.engine.cluster.partition_duties import PartitionDuties
from vivero.engine.cluster.settings import ClusterSettings
from vivero.engine.cluster.versions import IncompatibleVersion
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.dedicated_connection import DedicatedConnection
from vivero.engine.supervision.failures import Escalated
from vivero.engine.supervision.wake_up import WakeUp
from vivero.storage.cluster import nodes
from vivero.storage.cluster.nodes import ENGINE, ClusterView, Node, Partition, Registration
from vivero.storage.postgres.driver import CALL_TIMEOUT_S, Connection
from vivero.storage.postgres.given_time import patient
from vivero.storage.postgres.ticks import tick_in

log = structlog.get_logger(__name__)

LEAVE_S = 1.0
"""The time for which a node that stops waits for its terms to hand over."""
LEAVE_EVERY_S = 0.005


class Cluster:
    """The handle of the task; `run` is the child."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Connection]],
        node: Registration,
        duties: PartitionDuties,
        settings: ClusterSettings | None = None,
        tell: Callable[[], None] = lambda: None,
        opened: Callable[[int], None] = lambda _partition: None,
        warm: Callable[[], bool] = lambda: True,
        log_levels: Callable[[Mapping[str, str]], object] = lambda _levels: None,
    ) -> None:
        """`tell()` makes the other nodes look. `opened(partition)` begins to work for a new partition.
        `warm()` tells whether the models are loaded that a leader needs; only then are partitions handed over to it.
        `log_levels(levels)` changes the levels of this node's loggers.
        """
        self.node = node
        self.view = ClusterView((), ())
        """The result of the last look."""
        self._connection = DedicatedConnection(connect)
        self.duties = duties
        self._settings = settings or ClusterSettings()
        self._wake_others, self._opened, self._warm = tell, opened, warm
        self._log_levels, self._set_log_levels = dict[str, str](), log_levels
        self._wake = WakeUp()
        self._free_since: dict[int, float] = {}
        self._leaders: dict[int, str | None] = {}
        self._newer: set[str] = set()
        """Nodes with a newer schema that were logged."""
        self._leaving = False

    def refresh_soon(self) -> None:
        """Another node, or a consumer of this one, has changed something."""
        self._wake.set()

    def changed(self) -> None:
        """A consumer of this node got ready or handed over: all nodes look at once."""
        self._wake_others()
        self._wake.set()

    def drain(self) -> None:
        """Hand all partitions over, and remove this node. `run` returns when that is done."""
        self._leaving = True
        self._wake.set()

    def close(self) -> None:
        """Shut the socket, so that a call that gets no answer ends."""
        self._connection.close()

    async def run(self, beat: Beat) -> None:
        """Look until drained. Raises when the connection is lost; the supervisor restarts it."""
        async with self._connection.opened(beat) as connection:
            with beat.waiting(CALL_TIMEOUT_S):
                await nodes.register(connection, self.node)
            self._wake_others()
            while not self._leaving:
                beat.beat()
                pause_s = await self.run_once(connection, beat)
                await self._wake.idle(beat, tick_in(pause_s))
            await self._leave(connection, beat)

    async def run_once(self, connection: Connection, beat: Beat) -> float:
        """Look once, and decide about each partition. Returns the seconds until the next look."""
        with beat.waiting(3 * CALL_TIMEOUT_S):
            view = await nodes.beat(connection, self.node.id, self._ready())
            if view is None:
                await nodes.register(connection, self.node)
                view = await nodes.view(connection)
            self.view = view
        self._meet(view)
        return self._decide(view)

    def _ready(self) -> list[int]:
        return self.duties.ready() if self._warm() else []

    def _meet(self, view: ClusterView) -> None:
        """Follow what an operator wants of this node's log, and look at the versions of the others and of the schema.

        Raises:
            Escalated: this node began after a live one with which it cannot work together, or was taken for dead when
                a migration ran that it cannot work with.
        """
        all_nodes = view.nodes
        if (own := next((node for node in all_nodes if node.id == self.node.id), None)) is None:
            return
        if own.log_levels != self._log_levels:
            self._log_levels = own.log_levels
            self._set_log_levels(own.log_levels)
        try:
            versions.check_schema(self.node.schema, view.alone)
            versions.check(self.node.version, (node for node in all_nodes if node.live and node.number < own.number))
        except IncompatibleVersion as error:
            raise Escalated(str(error)) from error
        for node in all_nodes:
            if node.live and node.schema > self.node.schema and node.id not in self._newer:
                self._newer.add(node.id)
                log.warning(
                    "a newer version runs in this cluster: upgrade this node, too", node=node.id, version=node.version
                )

    def _decide(self, view: ClusterView) -> float:
        if ENGINE not in self.node.roles:
            return self._settings.look_s
        self._open_new(view.partitions)
        engines = eligible(view.nodes, self.node.id)
        meant = assign({partition.id: partition.owner for partition in view.partitions}, engines)
        for partition in view.partitions:
            self._note_leader(partition)
            self._set(partition.id, self._duty(partition, engines[meant[partition.id]]))
        leads_all = all(partition.owner == self.node.id and not partition.free for partition in view.partitions)
        return self._settings.look_s if leads_all else self._settings.watch_s

    def _duty(self, partition: Partition, meant: Node) -> Duty:
        is_free = self._is_free_for_all(partition)
        if partition.owner == self.node.id and not partition.free:
            hands_over = meant.id != self.node.id and partition.id in meant.ready
            return Duty.ELSEWHERE if hands_over else Duty.OURS
        if meant.id == self.node.id:
            return Duty.OURS if partition.free else Duty.NEXT
        return Duty.OURS if is_free else Duty.ELSEWHERE

    def _is_free_for_all(self, partition: Partition) -> bool:
        """Whether the partition has been free for the grace."""
        if not partition.free:
            self._free_since.pop(partition.id, None)
            return False
        since = self._free_since.setdefault(partition.id, trio.current_time())
        return trio.current_time() - since >= self._settings.grace_s

    def _set(self, partition: int, duty: Duty) -> None:
        partition_duty = self.duties[partition]
        if partition_duty.assignment.set(duty):
            partition_duty.wake()

    def _open_new(self, partitions: Iterable[Partition]) -> None:
        for partition in partitions:
            if partition.id not in self.duties:
                self._opened(partition.id)

    def _note_leader(self, partition: Partition) -> None:
        """Log each new leader once: standing by may take days."""
        leader = None if partition.free else partition.owner
        if leader not in (None, self.node.id, self._leaders.get(partition.id)):
            log.info("standing by", partition=partition.id, leader=leader)
        self._leaders[partition.id] = leader

    async def _leave(self, connection: Connection, beat: Beat) -> None:
        for partition in self.duties:
            self._set(partition, Duty.ELSEWHERE)
        with trio.move_on_after(LEAVE_S) as leave, patient(leave):
            while self.duties.led():
                await beat.sleep(LEAVE_EVERY_S)
        with beat.waiting(CALL_TIMEOUT_S):
            await nodes.leave(connection, self.node.id)


def eligible(all_nodes: Iterable[Node], own: str) -> dict[str, Node]:
    """The nodes that may lead partitions, by id: live engines, except those that drain. If all drain, they all stay.

    A node that looks is alive, whatever its row says.
    """
    engines = [node for node in all_nodes if ENGINE in node.roles and (node.live or node.id == own)]
    staying = [node for node in engines if not node.draining]
    return {node.id: node for node in staying or engines}
