"""HTTP polling: one request again and again for each element instance that waits, as long as it waits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import structlog
import trio

from vivero.core.feel import from_json
from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.connectors.http.requests import read_url
from vivero.engine.connectors.outbound.http_json import HttpJson
from vivero.engine.connectors.receivers.inputs import inputs_of, variables_of
from vivero.engine.connectors.receivers.receiver import Deployed, ReceiverParts
from vivero.engine.connectors.receivers.states import ReceiverState
from vivero.engine.connectors.work.calls import Call, masked
from vivero.engine.connectors.work.inputs import Inputs
from vivero.engine.connectors.work.leases import MAX_JOB_BYTES
from vivero.engine.connectors.work.secrets import UsedSecrets
from vivero.storage.background import inbound
from vivero.storage.postgres.errors import StorageError, describe

log = structlog.get_logger(__name__)

MOST_WAITS = 10_000
"""Element instances at one element that are polled for."""
LEAST_INTERVAL_S, MOST_IDLE_S = 1.0, 60.0
TOO_DEEP = ConnectorError("BAD_RESPONSE", "the answer is nested too deeply")
JITTER = 0.1
"""The part of an interval by which it varies, so that many instances do not ask at the same moment."""


class Polls(ABC):
    """Polls for the element instances that wait at one element."""

    looks_each, asks_each = "processPollingInterval", "httpRequestInterval"
    """The inputs with the intervals."""

    def __init__(self, parts: ReceiverParts, deployed: Deployed, state: ReceiverState) -> None:
        self._parts, self._deployed, self._state = parts, deployed, state
        self._origin = deployed.origin
        self._names = variables_of(deployed.contract, deployed.element)
        self._polling: dict[int, trio.CancelScope] = {}
        """By the keys of subscriptions."""
        self._look = trio.Event()

    async def run(self) -> None:
        """Look for element instances, and poll for each in a task of its own. Raises ConnectorError."""
        pause_s = interval_s = self._interval_s(self.looks_each)
        self._interval_s(self.asks_each)  # its fault is that of the element, and ends no other task
        async with trio.open_nursery() as nursery:
            while True:
                try:
                    await self.look(nursery)
                except StorageError as error:
                    log.warning("polls could not look for waits", error=describe(error))
                self._look = trio.Event()
                idle = not self._deployed.is_latest and not self._polling
                pause_s = min(2 * pause_s, max(MOST_IDLE_S, interval_s)) if idle else interval_s
                with trio.move_on_after(pause_s):
                    await self._look.wait()

    async def look(self, nursery: trio.Nursery) -> None:
        """Begin to poll for what waits, and end at once what does not wait any more."""
        key, element = self._deployed.key
        async with self._parts.connections() as connection:
            found = set(await inbound.waits(connection, key, element, MOST_WAITS))
        for gone in self._polling.keys() - found:
            self._polling.pop(gone).cancel()
        for new in sorted(found - self._polling.keys()):
            self._polling[new] = trio.CancelScope()
            nursery.start_soon(self._poll, new, self._polling[new])
        self._state.waits(len(found))
        if not found and self._state.is_due:
            self._state.works()

    async def _poll(self, key: int, scope: trio.CancelScope) -> None:
        with scope:
            pause_s = self._parts.random() * min(LEAST_INTERVAL_S, JITTER * len(self._polling))
            while True:
                await trio.sleep(pause_s)
                used = UsedSecrets(self._parts.secrets)
                try:
                    if not await self._ask(key, used):
                        break
                except (ConnectorError, RecursionError) as raised:
                    error = raised if isinstance(raised, ConnectorError) else TOO_DEEP
                    self._state.failed(masked(error, used))
                    log.warning(
                        "a poll failed", element=self._deployed.element.element_id, error=used.mask(describe(error))
                    )
                except StorageError as error:
                    log.warning(
                        "a poll could not read its wait",
                        element=self._deployed.element.element_id,
                        error=describe(error),
                    )
                pause_s = self._interval_s(self.asks_each) * (1 + JITTER * (2 * self._parts.random() - 1))
        if self._polling.get(key) is scope:
            del self._polling[key]

    async def _ask(self, key: int, used: UsedSecrets) -> bool:
        """Make one request, and publish its answer if it meets the condition. False: nothing waits any more."""
        async with self._parts.connections() as connection:
            wait = await inbound.wait(connection, key)
            texts = {} if wait is None else await inbound.variables(connection, wait, self._names, MAX_JOB_BYTES)
        if wait is None:
            return False
        for name, text in texts.items():
            if text is None:
                raise bad_input(f"the variable {name} has more than {MAX_JOB_BYTES} bytes")
        variables = {name: from_json(text) for name, text in texts.items() if text is not None}
        inputs = inputs_of(self._deployed.contract, self._deployed.element, variables, used)
        answer = await self.answer(Call(self._deployed.job(key, wait), inputs, used))
        self._state.works()
        async with self._parts.connections() as connection:
            if await inbound.wait(connection, key) is None:
                return False
        if await self._parts.commands.take(self._origin, answer, None, wait.correlation_key):
            self._state.took()
            self._look.set()
        return True

    @abstractmethod
    async def answer(self, call: Call) -> Mapping[str, Any]:
        """Ask the other system once, for one element instance. Raises ConnectorError."""

    def _interval_s(self, name: str) -> float:
        """The seconds of an interval, at least 1. Raises ConnectorError."""
        element = self._deployed.element
        value = element.evaluate(name, {}) if element.get(name).startswith("=") else element.get(name)
        found_s = Inputs(self._deployed.contract, {name: value}).duration_s(name) or 0.0
        return max(found_s, LEAST_INTERVAL_S)


class HttpPolls(Polls):
    """Polls by HTTP calls."""

    def __init__(self, parts: ReceiverParts, deployed: Deployed, state: ReceiverState) -> None:
        super().__init__(parts, deployed, state)
        around: Any = SimpleNamespace(client=parts.client, documents=None)
        self._calls = HttpJson(around)

    async def answer(self, call: Call) -> Mapping[str, Any]:
        async with self._parts.place_of(read_url(call.inputs.get("url")).host):
            return await self._calls.answer(call)
