"""Task: works the receivers of inbound connectors, on one node of the cluster at a time (docs/connectors.md).

The node that holds an advisory lock works them all; its session ends with the node, and another one goes on. A node
without such models holds no connection. A receiver that fails is run again, without end, after a pause that grows until
the other system answers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import structlog
import trio

from vivero.core.records.base import DEFAULT_TENANT
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.receivers.receiver import Deployed, Receiver, ReceiverParts, made, row_of
from vivero.engine.connectors.receivers.registry import ReceiverRegistry
from vivero.engine.connectors.receivers.states import ReceiverFigures, ReceiverState
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.connected_task import ConnectedTask
from vivero.storage.background import inbound
from vivero.storage.postgres.driver import CALL_TIMEOUT_S, Connection
from vivero.storage.postgres.errors import StorageError, describe

log = structlog.get_logger(__name__)

FRESH_S = 60.0
"""The models are read again after this time. A notification may be lost."""
SAVE_S = 1.0
"""The pause between writes of changed states, and between attempts to become the owner."""
OWNED_S = 5.0
"""The time after which the owner asks whether its session, which has the lock, still exists."""
CLOSE_S = 1.0
LEAST_PAUSE_S, MOST_PAUSE_S = 1.0, 300.0
"""The pause before a receiver that failed is run again."""

Key = tuple[int, str]
Make = Callable[[ReceiverParts, Deployed, ReceiverState], Receiver]


@dataclass(slots=True)
class RunningReceiver:
    """A receiver that this node works."""

    deployed: Deployed
    state: ReceiverState = field(default_factory=ReceiverState)
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    counted: tuple[int, int] = 0, 0


class Receivers(ConnectedTask):
    """The handle of the task; `run` is the child."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Connection]],
        registry: ReceiverRegistry,
        parts: ReceiverParts,
        node: str,
        *,
        multi_tenancy: bool = False,
        make: Make = made,
    ) -> None:
        super().__init__(connect)
        self._registry, self._parts, self._node, self._make = registry, parts, node, make
        self._multi_tenancy = multi_tenancy
        self._running: dict[Key, RunningReceiver] = {}
        self._read_at = float("-inf")
        self.figures = ReceiverFigures()

    # -- for the node

    def outdated(self) -> None:
        """A process was deployed or deleted."""
        self._read_at = float("-inf")
        self._wake.set()

    @property
    def states(self) -> Mapping[Key, ReceiverState]:
        """The states of the receivers that this node works."""
        return {key: each.state for key, each in self._running.items()}

    # -- the child

    async def run(self, beat: Beat) -> None:
        """Work receivers until cancelled or drained. Raises when the connection is lost; the supervisor restarts it."""
        self._running, self._read_at = {}, float("-inf")
        while not self._draining and not await self._deployed(beat):
            self._wake.clear()
            await self._wake.idle(beat, self._read_at + FRESH_S)
        if self._draining:
            return
        async with self._connection.opened(beat) as connection:
            while not self._draining and not await self._owns(connection, beat):
                await self._wake.idle(beat, trio.current_time() + SAVE_S)
            try:
                await self._work(connection, beat)
            finally:
                await self._close()

    async def _work(self, connection: Connection, beat: Beat) -> None:
        owned_until, self._read_at = trio.current_time() + OWNED_S, float("-inf")
        async with trio.open_nursery() as nursery:
            while not self._draining:
                self._wake.clear()
                if trio.current_time() >= owned_until:
                    await self._owns(connection, beat)
                    owned_until = trio.current_time() + OWNED_S
                await self._turn(connection, beat, nursery)
                await self._wake.idle(beat, trio.current_time() + SAVE_S)
            nursery.cancel_scope.cancel()

    async def _close(self) -> None:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + CLOSE_S):
            await self._parts.aclose()

    async def _owns(self, connection: Connection, beat: Beat) -> bool:
        with beat.waiting(CALL_TIMEOUT_S):
            return await inbound.lock(connection)

    async def _deployed(self, beat: Beat) -> list[Deployed]:
        with beat.waiting(3 * CALL_TIMEOUT_S):
            self._read_at = trio.current_time()
            found = await self._registry.read()
        return [each for each in found if self._multi_tenancy or each.tenant == DEFAULT_TENANT]

    async def _turn(self, connection: Connection, beat: Beat, nursery: trio.Nursery) -> None:
        """Begin receivers of new models, end those of old ones, and save what has changed."""
        if trio.current_time() >= self._read_at + FRESH_S:
            wanted = {each.key: each for each in await self._deployed(beat)}
            for gone in [key for key, each in self._running.items() if wanted.get(key) != each.deployed]:
                self._running.pop(gone).scope.cancel()
            for key in wanted.keys() - self._running.keys():
                self._running[key] = RunningReceiver(wanted[key])
                nursery.start_soon(self.keep, self._running[key])
            with beat.waiting(CALL_TIMEOUT_S):
                await inbound.forget(connection, self._running.keys())
        changed = [each for each in self._running.values() if not each.state.is_saved]
        for each in changed:
            each.state.is_saved = True
            self._count(each)
        with beat.waiting(3 * CALL_TIMEOUT_S):
            await inbound.save(connection, [row_of(each.deployed, each.state) for each in changed], self._node)

    def _count(self, running: RunningReceiver) -> None:
        events, errors = running.counted
        running.counted = running.state.events, running.state.errors
        self.figures.events += running.state.events - events
        self.figures.errors += running.state.errors - errors

    async def keep(self, running: RunningReceiver) -> None:
        """Run a receiver until it is cancelled, and again after each failure."""
        pause_s = LEAST_PAUSE_S
        with running.scope:
            while True:
                running.state.has_worked = False
                try:
                    await self._make(self._parts, running.deployed, running.state).run()
                except ConnectorError as error:
                    self._failed(running, error)
                except StorageError as error:
                    log.warning("a receiver could not use the database", error=describe(error))
                except ImportError:
                    self._failed(running, _not_installed(running.deployed))
                except Exception as error:
                    log.error("a receiver failed unexpectedly", element=running.deployed.key, exc_info=error)
                    why = f"{type(error).__name__}; the log of the server has more"
                    self._failed(running, ConnectorError("INTERNAL_ERROR", why))
                pause_s = LEAST_PAUSE_S if running.state.has_worked else min(2 * pause_s, MOST_PAUSE_S)
                await trio.sleep(pause_s * (0.5 + self._parts.random() / 2))

    def _failed(self, running: RunningReceiver, error: ConnectorError) -> None:
        running.state.failed(error)
        self._wake.set()


def _not_installed(deployed: Deployed) -> ConnectorError:
    why = f"its packages are not installed: pip install 'vivero[{deployed.contract.extra}]'"
    return ConnectorError("NOT_INSTALLED", why)
