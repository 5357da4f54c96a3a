"""The load of a soak: numbered instances at a steady rate, told, completed and mended as their kinds need it.

Each creation has an Idempotency-Key, and is repeated until it is answered with 200. Each number must therefore have
exactly one instance in the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import count

import httpx
import trio

from benchmarks.soak.model import MESSAGE, PROCESS, kind_of, variables_of

MAX_OPEN = 1_000
"""Creations without an answer at a time; more wait, and are late."""
PAUSE_S, POLL_S = 0.25, 0.5
PAGE = 100
TTL_MS = 600_000

Item = Mapping[str, str]
"""An item of a search."""


def client(port: int) -> httpx.AsyncClient:
    """A client of the node at this port."""
    limits = httpx.Limits(max_connections=200, max_keepalive_connections=100)
    return httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/v2", timeout=30, limits=limits)


class Load:
    """Clients of all nodes. `acknowledged`: number → key of each instance that nobody has audited yet."""

    def __init__(self, clients: Sequence[httpx.AsyncClient]) -> None:
        self._clients = clients
        self.acknowledged: dict[int, int] = {}
        self.kinds: Counter[str] = Counter()
        self.statuses: Counter[str] = Counter()
        self.unexpected: list[str] = []
        self.answered_s: list[float] = []
        self.begun = self.created = self.late = 0
        self._free = trio.CapacityLimiter(MAX_OPEN)

    async def create(self, rate: float, seconds: float) -> None:
        """Create instances at this rate for so long, and return when all that were begun are answered."""
        began = trio.current_time()
        async with trio.open_nursery() as nursery:
            for number in count(1):
                await trio.sleep_until(began + number / rate)
                await self._free.acquire_on_behalf_of(number)
                if (now := trio.current_time()) > began + seconds:
                    return
                self.late += now > began + number / rate + 1
                nursery.start_soon(self._create, number)

    async def _create(self, number: int) -> None:
        """Begin the instance with this number, and tell it its message if it waits for one."""
        body = {"processDefinitionId": PROCESS, "tags": [f"n{number}"], "variables": variables_of(number)}
        self.begun += 1
        began = trio.current_time()
        try:
            path, headers = "/process-instances", {"Idempotency-Key": f"soak-{number}"}
            answer = await self._until(number, "POST", path, body, (200,), headers)
            self.answered_s.append(trio.current_time() - began)
            self.created += 1
            self.kinds[kind_of(number)] += 1
            self.acknowledged[number] = int(answer.json()["processInstanceKey"])
            if kind_of(number) == "message":
                told = {"name": MESSAGE, "correlationKey": str(number), "messageId": f"m{number}", "timeToLive": TTL_MS}
                await self._until(number, "POST", "/messages/publication", told, (200, 409))
        finally:
            self._free.release_on_behalf_of(number)

    async def complete_user_tasks(self) -> None:
        """Complete what waits for a person, until cancelled."""
        await self._do_each("/user-tasks/search", {"state": "CREATED"}, self._complete)

    async def mend_incidents(self) -> None:
        """Mend and resolve incidents, until cancelled."""
        await self._do_each("/incidents/search", {"state": "ACTIVE"}, self._mend)

    async def _do_each(self, path: str, filter_: dict[str, str], do: Callable[[Item], Awaitable[None]]) -> None:
        """Do a page of items at the same time, then those of the next page."""
        while True:
            answer = await self._try("POST", path, {"filter": filter_, "page": {"limit": PAGE}}, (200,))
            async with trio.open_nursery() as nursery:
                for item in answer.json()["items"] if answer is not None else ():
                    nursery.start_soon(do, item)
            await trio.sleep(POLL_S)

    async def _complete(self, task: Item) -> None:
        await self._try("POST", f"/user-tasks/{task['userTaskKey']}/completion", {}, (204, 404, 409))

    async def _mend(self, incident: Item) -> None:
        mended = {"variables": {"broken": False}}
        await self._try("PUT", f"/element-instances/{incident['processInstanceKey']}/variables", mended, (204, 404))
        await self._try("PATCH", f"/jobs/{incident['jobKey']}", {"changeset": {"retries": 1}}, (204, 404, 409))
        await self._try("POST", f"/incidents/{incident['incidentKey']}/resolution", {}, (204, 404, 409))

    async def element_counts(self, definition_key: str) -> dict[str, dict[str, int]]:
        """Element → what the statistics say of it, of running, ended and deleted instances."""
        path = f"/process-definitions/{definition_key}/statistics/element-instances"
        answer = await self._until(0, "POST", path, {}, (200,))
        return {item["elementId"]: item for item in answer.json()["items"]}

    async def _until(
        self,
        number: int,
        method: str,
        path: str,
        body: Mapping[str, object],
        wanted: tuple[int, ...],
        headers: dict[str, str] | None = None,
    ) -> httpx.Response:
        """Ask one node after the other until the answer is a wanted one."""
        while True:
            answer = await self._try(method, path, body, wanted, headers, number)
            if answer is not None:
                return answer
            number += 1
            await trio.sleep(PAUSE_S)

    async def _try(
        self,
        method: str,
        path: str,
        body: object,
        wanted: tuple[int, ...],
        headers: dict[str, str] | None = None,
        number: int = 0,
    ) -> httpx.Response | None:
        """The answer, None if there is none, or one that says to try again; others than those are noted."""
        client = self._clients[number % len(self._clients)]
        what = f"{method} {path.rpartition('/')[2] if path[-1].isalpha() else path.split('/')[1]}"
        try:
            answer = await client.request(method, path, json=body, headers=headers)
        except httpx.TransportError as error:
            self.statuses[f"{what} {type(error).__name__}"] += 1
            return None
        self.statuses[f"{what} {answer.status_code}"] += 1
        if answer.status_code in wanted:
            return answer
        if answer.status_code not in (503, 504):
            self.unexpected.append(f"{method} {path} was answered with {answer.status_code}: {answer.text[:500]}")
        return None
