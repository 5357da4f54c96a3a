"""The work of one connector on a node: its places, its lease, and its code, which is imported with its first job."""

from __future__ import annotations

import trio

from vivero.engine.connectors.contract import Contract
from vivero.engine.connectors.outbound.surroundings import NodeParts, Surroundings
from vivero.engine.connectors.work.calls import Connector
from vivero.engine.connectors.work.leases import lease_s
from vivero.engine.jobs.tracker import RunLimits


class TypeWork:
    """The calls of one connector that run."""

    def __init__(self, contract: Contract, parts: NodeParts) -> None:
        """Raises ValueError if the limit of the contract is no setting."""
        self.contract, self._parts = contract, parts
        around = Surroundings(parts, contract)
        self.limit_s = around.limit_s
        self.lease_s = lease_s(self.limit_s)
        self.running = 0
        self.pulled_at = float("-inf")
        """The time of the last pull (Trio's clock)."""
        self._limits = RunLimits(max(1, around.at_once // 2), around.at_once)
        self._opened: tuple[Surroundings, Connector] | None = None

    @property
    def capacity(self) -> int | None:
        """The number of calls that fit. None: all places are taken."""
        return self._limits.next_batch_size(self.running)

    @property
    def delay_s(self) -> float:
        """The time to wait for more places before the next pull."""
        return self._limits.delay_s(self.running, trio.current_time() - self.pulled_at)

    @property
    def connector(self) -> Connector:
        """Imported and made when it is needed first. Raises ImportError."""
        if self._opened is None:
            around = Surroundings(self._parts, self.contract)
            self._opened = around, around.open()
        return self._opened[1]

    async def close(self) -> None:
        """No call runs any more."""
        self.running = 0
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened[0].aclose()
