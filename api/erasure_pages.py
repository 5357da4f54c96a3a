"""The pages of an erasure that search by value: the logs, then tables that belong to no instance.

A request searches until its time is over. Each page is a transaction with the record of what it erased. A request that
is killed loses at most the answer: the same one again goes on.
"""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import msgspec
import trio

from vivero.api.access import audit
from vivero.api.commands.submission import submit_internal
from vivero.api.http.problems import invalid_argument
from vivero.api.http.request import Request
from vivero.api.services import Services
from vivero.core.records.messages import ExpireMessage
from vivero.storage.access import audit_log
from vivero.storage.postgres.driver import Connection
from vivero.storage.retention import erasure_by_value as by_value
from vivero.storage.retention import history
from vivero.storage.retention.erasure_by_value import (
    Buffered,
    Counts,
    EventLogPlace,
    PendingPlace,
    Search,
)

MESSAGES, PENDING_STARTS, QUEUED, LOGS = "messages:", "starts:", "queued:", "log:"
"""The beginnings of places, before those of the tables."""
NO_PLACE = "The provided after is no place that an answer has named"
T = TypeVar("T")


@dataclass(slots=True)
class Answer:
    """The data that a request has erased, or would erase. Roots are keys of process instances."""

    erased: list[int] = field(default_factory=list)
    kept: dict[int, str] = field(default_factory=dict)
    """Root → why not, as `storage.retention.history` says it."""
    erased_from_archive: list[int] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    searched: str | None = None
    """The position to which a partition's log was searched, and its last one."""
    next: str | None = None

    def add_trees(self, verdicts: Mapping[int, str]) -> None:
        self.erased += [root for root, verdict in verdicts.items() if verdict == history.DELETED]
        self.kept |= {root: verdict for root, verdict in verdicts.items() if verdict != history.DELETED}

    def document(self, dry: bool) -> dict[str, Any]:
        """The answer as JSON."""
        counts = asdict(self.counts)
        return {
            "dryRun": dry,
            "erased": [str(root) for root in self.erased],
            "kept": [
                {"processInstanceKey": str(root), "reason": history.why_not(root, root, why)}
                for root, why in self.kept.items()
            ],
            "erasedFromArchive": [str(root) for root in self.erased_from_archive],
            "missing": self.missing,
            "damaged": self.damaged,
            "counts": {
                "commands": counts["commands"],
                "events": counts["events"],
                "messages": counts["messages"],
                "pendingStarts": counts["pending_starts"],
                "queuedCommands": counts["queued_commands"],
                "comments": counts["comments"],
                "savedViews": counts["saved_views"],
                "modelDrafts": counts["model_drafts"],
                "alertRules": counts["alert_rules"],
                "alertDeliveries": counts["alert_deliveries"],
                "idempotencyKeys": counts["idempotency_keys"],
                "batchOperations": counts["batch_operations"],
                "batchOperationItems": counts["batch_operation_items"],
                "jobExecutions": counts["job_executions"],
                "workers": counts["workers"],
                "inUse": counts["in_use"],
            },
            "searched": self.searched,
            "next": self.next,
        }


@dataclass(frozen=True, slots=True)
class Pages:
    """The search of one request."""

    request: Request
    services: Services
    search: Search
    answer: Answer

    async def go_on(self, place: str, deadline: float) -> str | None:
        """Search from a place until the time is over, one page at least; the next place, None at the end."""
        following: str | None = place
        while following is not None:
            kind, _, rest = following.partition(":")
            following = await _STEPS[f"{kind}:"](self, rest)
            if trio.current_time() >= deadline:
                break
        return following

    async def messages(self, rest: str) -> str | None:
        """Buffered messages expire by a command: the engine may have them in memory. The logs come later."""
        after = _read(rest, lambda: int(rest), 0)
        async with self.services.reads.pool.connection() as connection:
            found, following = await by_value.search_messages(connection, self.search, after)
        await self._expire(found)
        self.answer.counts.add(Counts(messages=len(found)))
        return PENDING_STARTS if following is None else f"{MESSAGES}{following}"

    async def pending_starts(self, rest: str) -> str | None:
        """The same for messages that wait for others. The engine deletes their row with the command."""
        place = _read(rest, lambda: PendingPlace(*map(int, rest.split("."))), PendingPlace())
        async with self.services.reads.pool.connection() as connection:
            found, following = await by_value.search_pending_starts(connection, self.search, place)
        await self._expire(found)
        self.answer.counts.add(Counts(pending_starts=len(found)))
        return QUEUED if following is None else PENDING_STARTS + ".".join(map(str, following))

    async def _expire(self, found: Sequence[Buffered]) -> None:
        if not found or self.search.dry:
            return
        for key, tenant, correlation_key in found:
            await submit_internal(self.services, ExpireMessage(key, tenant, correlation_key), tenant, key)
        async with self.services.reads.pool.connection() as connection, connection.transaction():
            await by_value.delete_expired(connection, [each.key for each in found])
            await self._record(connection, [str(each.key) for each in found])

    async def logs(self, rest: str) -> str | None:
        place = _read(rest, lambda: EventLogPlace(*map(int, rest.split("."))), EventLogPlace())
        if self.services.files.archive is not None and not self.search.dry:
            await self._erase_archived(place)
        async with self.services.reads.pool.connection() as connection, connection.transaction():
            found = await by_value.search_logs(connection, self.search, place)
            erased = [str(root) for root, verdict in found.trees.items() if verdict == history.DELETED]
            await self._record(connection, [*erased, *self._whole(found.counts, f"{LOGS}{rest}")])
        self.answer.add_trees(found.trees)
        self.answer.counts.add(found.counts)
        if found.next is None:
            return next(iter(_TABLES))
        if found.next.position:
            self.answer.searched = f"{found.next.position}/{found.of}"
        return LOGS + ".".join(map(str, found.next))

    async def _erase_archived(self, place: EventLogPlace) -> None:
        """Trees whose events have the value go from the archive first: later nothing would lead there."""
        async with self.services.reads.pool.connection() as connection:
            found = await by_value.search_logs(connection, replace(self.search, dry=True), place)
        roots = [root for root, verdict in found.trees.items() if verdict == history.DELETED]
        if roots and self.services.files.archive is not None:
            done = await self.services.files.archive.erase(roots, history.ERASURE)
            self.answer.erased_from_archive += done.roots
            self.answer.missing += done.missing
            self.answer.damaged += done.damaged

    async def table(self, rest: str, kind: str) -> str | None:
        """The next page of a table that belongs to no tree. Raises Problem 400 if it is not the caller's to search."""
        table, decoder = _SEARCHED[kind]
        if not self._may_search(table):
            raise invalid_argument(NO_PLACE)
        after = _read(rest, lambda: decoder.decode(base64.urlsafe_b64decode(rest)), table.first)
        counts = Counts()
        async with self.services.reads.pool.connection() as connection, connection.transaction():
            found = await by_value.search_table(connection, self.search, table, after, counts)
            await self._record(connection, self._whole(counts, kind))
        self.answer.counts.add(counts)
        if found is not None:
            return kind + base64.urlsafe_b64encode(msgspec.json.encode(found)).decode()
        if kind == QUEUED:
            return LOGS
        later = list(_TABLES)[list(_TABLES).index(kind) + 1 :]
        return next((each for each in later if self._may_search(_TABLES[each][0])), None)

    def _may_search(self, table: by_value.SearchedTable) -> bool:
        return table.of_tenants or self.search.tenants is None

    def _whole(self, counts: Counts, place: str) -> list[str]:
        return [place] if counts.erased else []

    async def _record(self, connection: Connection, keys: Sequence[str]) -> None:
        """Record the caller in the audit log, in the transaction that erases."""
        if keys and not self.search.dry:
            records = [record for key in keys if (record := audit.record_of(self.request, key)) is not None]
            await audit_log.add_all(connection, records, audit_log.SUCCESS)


_TABLES: Mapping[str, tuple[by_value.SearchedTable, msgspec.json.Decoder[tuple[Any, ...]]]] = {
    f"{table.name}:": (table, msgspec.json.Decoder(table.key)) for table in by_value.TABLES
}
_SEARCHED = {QUEUED: (by_value.QUEUED_COMMANDS, msgspec.json.Decoder(by_value.QUEUED_COMMANDS.key)), **_TABLES}
_STEPS: Mapping[str, Callable[[Pages, str], Awaitable[str | None]]] = {
    MESSAGES: Pages.messages,
    PENDING_STARTS: Pages.pending_starts,
    LOGS: Pages.logs,
    **{kind: partial(Pages.table, kind=kind) for kind in _SEARCHED},
}
"""The beginning of a place → its search, in the order of the searches."""


def _read(rest: str, read: Callable[[], T], first: T) -> T:
    """The place in a search; without one, its beginning. Raises Problem 400."""
    try:
        return read() if rest else first
    except (ValueError, TypeError, msgspec.DecodeError) as error:
        raise invalid_argument(NO_PLACE) from error
