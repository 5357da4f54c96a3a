"""Task: commands of running work go to the sibling process that leads their partition, over a local socket.

Without it, a command for a partition that a sibling leads costs an append, a notification, a read of the log, another
notification and a search for its outcome. The sibling appends it with its own commands, and its consumer gets it from
memory. Nothing depends on it: a process that cannot reach its sibling appends the command itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import structlog
import trio

from vivero.engine.appender.calls import PendingCommand
from vivero.engine.appender.task import Appender
from vivero.engine.outcomes.completions import Completions
from vivero.engine.siblings.link import Link
from vivero.engine.siblings.reception import Reception
from vivero.engine.siblings.records import address
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.wake_up import WakeUp
from vivero.storage.cluster.nodes import ClusterView
from vivero.storage.postgres.errors import describe

log = structlog.get_logger(__name__)

RETRY_S = 1.0
"""A leader that could not be reached is tried again after this time. It may be a node of another program."""
BACKLOG = 64


class Siblings:
    """The handle of the task; `run` is the child."""

    def __init__(
        self,
        directory: Path,
        node: str,
        completions: Completions,
        appender: Appender,
        view: Callable[[], ClusterView],
    ) -> None:
        """`directory` has the sockets of all siblings. `view()` is what this node saw last of the cluster."""
        self._directory, self._node = directory, node
        self._completions, self._appender, self._view = completions, appender, view
        self._seen: ClusterView | None = None
        self._leaders: dict[int, str] = {}
        """The leaders of the partitions that other nodes lead."""
        self._links: dict[str, Link] = {}
        self._tried_at: dict[str, float] = {}
        self._wanted: set[str] = set()
        self._connecting: set[str] = set()
        """Leaders with a connection, or with one on the way."""
        self._wake = WakeUp()

    def take(self, pending: PendingCommand) -> bool:
        """Send a command to the sibling that leads its partition. False if there is none. Never waits."""
        view = self._view()
        if view is not self._seen:
            self._seen = view
            leaders = ((each.id, each.leader) for each in view.partitions)
            self._leaders = {id: leader for id, leader in leaders if leader is not None and leader != self._node}
        leader = self._leaders.get(pending.partition)
        if leader is None:
            return False
        link = self._links.get(leader)
        if link is None:
            self._want(leader)
            return False
        return link.take(pending)

    def _want(self, leader: str) -> None:
        """Connect to a leader, unless that was tried a moment ago."""
        now = trio.current_time()
        if leader not in self._connecting and now - self._tried_at.get(leader, float("-inf")) >= RETRY_S:
            self._tried_at[leader] = now
            self._connecting.add(leader)
            self._wanted.add(leader)
            self._wake.set()

    async def run(self, beat: Beat) -> None:
        """Serve the siblings, and connect to those that are wanted."""
        path = address(self._directory, self._node)
        listener = await _listen(path)
        try:
            async with listener, trio.open_nursery() as nursery:
                nursery.start_soon(trio.serve_listeners, self._receive, [listener])
                while True:
                    await self._wake.idle(beat)
                    wanted, self._wanted = self._wanted, set()
                    for leader in wanted:
                        nursery.start_soon(self._connect, leader)
        finally:
            _remove(path)

    async def _receive(self, stream: trio.SocketStream) -> None:
        await Reception(stream, self._appender, self._completions).run()

    async def _connect(self, leader: str) -> None:
        """Send commands to a leader until it is gone."""
        try:
            stream = await trio.open_unix_socket(address(self._directory, leader))
        except OSError as error:  # a node of another program, or one that ends
            log.debug("the leader is not a process of this program", leader=leader, error=describe(error))
        else:
            await self._serve_link(leader, stream)
        finally:
            self._connecting.discard(leader)

    async def _serve_link(self, leader: str, stream: trio.SocketStream) -> None:
        link = Link(stream, self._completions, self._appender.append_here)
        self._links[leader] = link
        try:
            async with stream:
                await link.run()
        finally:
            del self._links[leader]


async def _listen(path: Path) -> trio.SocketListener:
    listening = trio.socket.socket(trio.socket.AF_UNIX)
    await listening.bind(os.fspath(path))
    listening.listen(BACKLOG)
    return trio.SocketListener(listening)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
