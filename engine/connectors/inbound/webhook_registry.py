"""The webhooks of the latest versions of all processes, by path.

A node reads them again after each deployment and deletion, which notifications tell, and from time to time. Models are
parsed once. The path of two processes belongs to the one whose definition is older.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

import structlog
import trio
from cachetools import LRUCache

from vivero.core.bpmn.model import Process
from vivero.engine.connectors.inbound.webhooks import WEBHOOKS, Webhook, problems, webhooks_of
from vivero.engine.definitions.cache import UnreadableResource
from vivero.storage.background import connectors
from vivero.storage.background.connectors import LatestDefinition
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import describe

log = structlog.get_logger(__name__)

FRESH_S = 10.0
"""The webhooks are read again after this time. A notification may be lost."""
MISS_S = 0.25
"""For an unknown path they are read again after this time: its deployment may be newer than the notification."""
MAX_LOGGED = 1000
"""Problems of webhooks that are remembered, so that each is logged once."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A webhook of a deployed process. `conflict`: an older process has the path, so calls do not reach this one."""

    tenant: str
    process_id: str
    definition_key: int
    webhook: Webhook
    conflict: bool = False


class Definitions(Protocol):
    """`engine.definitions.cache.DefinitionCache`."""

    async def process(self, tenant: str, key: int) -> Process | None: ...


class WebhookRegistry:
    """Finds the webhook of a path."""

    def __init__(
        self, acquire: Callable[[], AbstractAsyncContextManager[Connection]], definitions: Definitions
    ) -> None:
        self._acquire, self._definitions = acquire, definitions
        self._claims: Sequence[Claim] = ()
        self._by_path: dict[str, Claim] = {}
        self._with_webhooks: dict[str, bool] = {}
        """Files by SHA-256: whether they contain webhooks."""
        self._logged: LRUCache[tuple[int, str], bool] = LRUCache(MAX_LOGGED)
        self._read_at = float("-inf")
        self._reading = trio.Lock()

    def outdated(self) -> None:
        """A process was deployed or deleted."""
        self._read_at = float("-inf")

    async def find(self, path: str) -> Claim | None:
        """The webhook of a path; None if there is none. Raises StorageError."""
        await self._refresh(FRESH_S)
        if path not in self._by_path:
            await self._refresh(MISS_S)
        return self._by_path.get(path)

    async def all(self) -> Sequence[Claim]:
        """All webhooks, by path. Raises StorageError."""
        await self._refresh(0.0)
        return self._claims

    async def taken(self, tenant: str, process_id: str, paths: Collection[str]) -> set[str]:
        """Those of the paths that belong to other processes. Raises StorageError."""
        if not paths:
            return set()
        await self._refresh(0.0)
        claims = (self._by_path.get(path) for path in paths)
        return {each.webhook.path for each in claims if each and (each.tenant, each.process_id) != (tenant, process_id)}

    async def _refresh(self, age_s: float) -> None:
        asked_at = trio.current_time()
        async with self._reading:
            if self._read_at < asked_at - age_s or self._read_at == float("-inf"):
                begun = trio.current_time()
                claims = await self._read()
                self._claims, self._by_path = claims, {each.webhook.path: each for each in claims if not each.conflict}
                self._read_at = begun

    async def _read(self) -> list[Claim]:
        async with self._acquire() as connection:
            latest = await connectors.latest_definitions(connection)
            unknown = {each.sha256 for each in latest} - self._with_webhooks.keys()
            found = await connectors.texts_in_resources(connection, unknown, WEBHOOKS)
        known = self._with_webhooks | {sha: bool(texts) for sha, texts in found.items()}
        self._with_webhooks = {each.sha256: known[each.sha256] for each in latest}
        claims: list[Claim] = []
        paths: set[str] = set()
        for each in sorted(latest, key=lambda each: each.key):
            if known[each.sha256]:
                claims += [self._claim(each, webhook, paths) for webhook in await self._webhooks(each)]
        return sorted(claims, key=lambda claim: (claim.webhook.path, claim.conflict))

    @staticmethod
    def _claim(definition: LatestDefinition, webhook: Webhook, paths: set[str]) -> Claim:
        conflict = webhook.path in paths
        paths.add(webhook.path)
        return Claim(definition.tenant, definition.process_id, definition.key, webhook, conflict)

    async def _webhooks(self, definition: LatestDefinition) -> list[Webhook]:
        try:
            process = await self._definitions.process(definition.tenant, definition.key)
        except UnreadableResource as error:
            log.warning("cannot read the webhooks of a process", process=definition.process_id, error=describe(error))
            return []
        if process is None:
            return []
        for problem in problems(definition.resource_name, process):
            self._log_problem(definition, problem)
        return list(webhooks_of(process))

    def _log_problem(self, definition: LatestDefinition, problem: str) -> None:
        """Log a problem of a deployed webhook once: an older program may have accepted what this one refuses."""
        if (definition.key, problem) not in self._logged:
            self._logged[definition.key, problem] = True
            log.warning("a webhook gets no calls", process=definition.process_id, detail=problem)
