"""The erasure of what belongs to no instance tree, by value, in bounded pages (docs/adr/0066).

Commands that were rejected, messages and signals that nobody got, events of message channels, trees that were deleted
before, idempotency keys, and what has ended in tables of the program. All of it was processed: the engine reads it no
more. It only appends to the logs, so nobody waits for a page, and a page waits for nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from html import unescape
from typing import Annotated, Any, NamedTuple
from urllib.parse import parse_qsl
from uuid import UUID

import msgspec

from vivero.core.records.base import Command, Event
from vivero.core.records.codec import INTENTS, UnknownFormat, decode_command, decode_events, encode_events
from vivero.core.records.decision_evaluations import DecisionEvaluated
from vivero.core.records.messages import KeptMessage
from vivero.core.records.personal import channel_of, emptied, names_of
from vivero.storage.access.tenants import Tenants, TenantStatements
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside
from vivero.storage.retention.decision_instances import delete_evaluations
from vivero.storage.retention.erasure import empty_commands, erase_logs
from vivero.storage.retention.history import DELETED, ERASURE, RUNNING, delete_trees
from vivero.storage.retention.sought import Sought

_kept_decoder = msgspec.json.Decoder(tuple[KeptMessage, ...])
_sql = beside(__file__)
_of_tenants = TenantStatements(__file__)

ROWS = 300
"""Rows of a log, or of a table, that are searched together."""
BYTES = 500_000
"""The bytes of their texts: decoding and searching so much takes up to 20 ms."""


@dataclass(slots=True)
class Counts:
    """The numbers of what a search found, and erased if it is no dry run."""

    commands: int = 0
    """Payloads of commands."""
    events: int = 0
    """Rows of the event log that belong to no tree."""
    messages: int = 0
    """Buffered messages."""
    pending_starts: int = 0
    """Messages of a key that wait for others to start an instance together."""
    queued_commands: int = 0
    """Commands of clients' own transactions that are not in the log yet."""
    comments: int = 0
    """Comments on user tasks."""
    saved_views: int = 0
    """Views of lists that people saved."""
    model_drafts: int = 0
    """Drafts of models, also those of which only an author is erased."""
    alert_rules: int = 0
    """Alert rules, also those of which only the name or the maker is erased."""
    alert_deliveries: int = 0
    """Errors of their deliveries."""
    idempotency_keys: int = 0
    batch_operations: int = 0
    batch_operation_items: int = 0
    """Errors of their items."""
    job_executions: int = 0
    workers: int = 0
    """Names of workers in the statistics."""
    in_use: int = 0
    """Rows of the event log that stay, because something waits under a name or key that has the value."""

    def add(self, other: Counts) -> None:
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))

    @property
    def erased(self) -> bool:
        return any(getattr(self, each.name) for each in fields(self) if each.name != "in_use")


class EventLogPlace(NamedTuple):
    """A row of a partition's event log."""

    partition: int = 0
    position: int = 0
    seq: int = 0


class _Row(NamedTuple):
    position: int
    seq: int
    root: int | None
    events: str
    version: int
    rejection: str | None
    response: str | None
    intent: str | None
    payload: bytes | None
    ended: bool | None


@dataclass(slots=True)
class _Page:
    """The data of some rows that are to be erased."""

    rows: list[tuple[_Row, tuple[Event, ...]]] = field(default_factory=list)
    """Rows of no tree, with their events."""
    commands: list[int] = field(default_factory=list)
    gone: set[int] = field(default_factory=set)
    """Roots of trees that were deleted before."""
    ended: set[int] = field(default_factory=set)
    running: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Search:
    """A search of the logs. `whole_trees`: trees that have ended are erased, too, when their events have the value."""

    sought: Sought
    tenants: Tenants = None
    whole_trees: bool = False
    dry: bool = False


class Found(NamedTuple):
    """The result of a page of the logs. `next` is None at the end. `of`: the last position of the partition."""

    counts: Counts
    next: EventLogPlace | None
    of: int
    trees: Mapping[int, str] = {}
    """Root → what became of the tree, for trees that are there, or that were deleted before (`DELETED`)."""


async def search_logs(connection: Connection, search: Search, place: EventLogPlace) -> Found:
    """Search the next rows of the logs, and erase what is found, in the caller's transaction."""
    found = (await connection.execute(_sql["first"], (place.partition,))).rows
    if not found:
        return Found(Counts(), None, 0)
    partition, last = found[0]
    if partition != place.partition:
        place = EventLogPlace(partition, partition << 51, 32767)
    result = await connection.execute(_sql["page"], (*place, ROWS, BYTES))
    rows = [_Row(*row) for row in result.rows if row[0] <= last]
    if not rows:
        return Found(Counts(), EventLogPlace(partition + 1), last)
    page = await _sift(connection, search, partition, rows)
    counts, trees = Counts(), await _erase_trees(connection, page, search.dry)
    await _erase_rows(connection, search, partition, page, counts)
    return Found(counts, EventLogPlace(partition, rows[-1].position, rows[-1].seq), last, trees)


async def _sift(connection: Connection, search: Search, partition: int, rows: Sequence[_Row]) -> _Page:
    page, commands = _Page(), []
    seen = await _seen(connection, search.tenants, partition, rows)
    for row in rows:
        if row.position not in seen:
            continue
        if row.payload and _command_has(search.sought, row.intent, row.payload):
            commands.append(row.position)
        texts = [text for text in (row.events, row.rejection, row.response) if text is not None]
        if not any(map(search.sought.may_be_in, texts)):
            continue
        events = _decoded(row)
        if not _has(search.sought, events, row.rejection, row.response):
            continue
        if row.root is None:
            page.rows.append((row, events))
        elif row.ended is None:
            page.gone.add(row.root)
        elif search.whole_trees:
            (page.ended if row.ended else page.running).add(row.root)
    if commands:
        kept = (await connection.execute(_sql["trees_at"], (partition, commands))).rows
        page.commands = sorted({*commands} - {position for (position,) in kept})
    return page


async def _seen(connection: Connection, tenants: Tenants, partition: int, rows: Sequence[_Row]) -> set[int]:
    positions = {row.position for row in rows}
    if tenants is None:
        return positions
    values = (partition, sorted(positions), sorted(tenants))
    return {position for (position,) in (await connection.execute(_sql["seen"], values)).rows}


def _command_has(sought: Sought, intent: str | None, payload: bytes) -> bool:
    """Whether the command has it. One that cannot be read is searched as the JSON that it is."""
    if not sought.may_be_in(str(payload, "utf-8")):
        return False
    record: Command | msgspec.Raw = msgspec.Raw(payload)
    if intent in INTENTS:
        try:
            record = decode_command(intent, payload)
        except (msgspec.DecodeError, UnknownFormat):
            record = msgspec.Raw(payload)
    return sought.found_in(record)


def _decoded(row: _Row) -> tuple[Event, ...]:
    """The events of a row. Those of a newer version cannot be emptied: the search ends there, and says why."""
    return () if row.events == "[]" else decode_events(row.events, row.version)


async def _erase_trees(connection: Connection, page: _Page, dry: bool) -> Mapping[int, str]:
    if dry:
        return dict.fromkeys(page.gone | page.ended, DELETED) | dict.fromkeys(page.running, RUNNING)
    roots = sorted(page.ended | page.running)
    verdicts = await delete_trees(connection, roots, ERASURE) if roots else {}
    erased = sorted(page.gone | {root for root, verdict in verdicts.items() if verdict == DELETED})
    if erased:
        await erase_logs(connection, erased)
        await connection.execute(_sql["record_trees"], (erased,))
    return dict.fromkeys(sorted(page.gone), DELETED) | verdicts


async def _erase_rows(connection: Connection, search: Search, partition: int, page: _Page, counts: Counts) -> None:
    live = await _live_channels(connection, search.sought, (each for _, events in page.rows for each in events))
    for row, events in page.rows:
        left = [emptied(each) for each in events if _stays(search.sought, each, live)]
        changed = tuple(left) != events or _has(search.sought, row.rejection, row.response)
        counts.events += changed
        counts.in_use += any(_names_somebody(search.sought, each) for each in left)
        if changed and not search.dry:
            values = (partition, row.position, row.seq, encode_events(left).decode())
            await connection.execute(_sql["replace"], values)
            await delete_evaluations(connection, [each.key for each in events if isinstance(each, DecisionEvaluated)])
    counts.commands += len(page.commands)
    if page.commands and not search.dry:
        await empty_commands(connection, page.commands)


def _names_somebody(sought: Sought, event: Event) -> bool:
    return sought.found_in(names_of(event))


def _stays(sought: Sought, event: Event, live: set[tuple[str, str]]) -> bool:
    """Whether an event of no tree stays: it names nobody, or something still waits under its key."""
    return not _names_somebody(sought, event) or channel_of(event) in live


async def _live_channels(connection: Connection, sought: Sought, events: Iterable[Event]) -> set[tuple[str, str]]:
    found = {channel for each in events if (channel := channel_of(each)) is not None and _names_somebody(sought, each)}
    if not found:
        return set()
    tenants, keys = zip(*sorted(found), strict=True)
    return {
        (tenant, key)
        for tenant, key in (await connection.execute(_sql["live_channels"], (list(tenants), list(keys)))).rows
    }


# ------------------------------------------------------------------------------------------------ tables


class Buffered(NamedTuple):
    """A message or a pending start, and its channel."""

    key: int
    tenant: str
    correlation_key: str


async def search_messages(connection: Connection, search: Search, after: int) -> tuple[list[Buffered], int | None]:
    """The next buffered messages that have the value, and where the next page begins."""
    rows = (await _of_tenants.execute(connection, "messages", search.tenants, after, ROWS, BYTES)).rows
    found = [
        Buffered(*row[:3]) for row in rows if _has(search.sought, *row[2:5], _BusinessId(row[5]), _variables(row[6]))
    ]
    return found, rows[-1][0] if rows else None


class PendingPlace(NamedTuple):
    """A pending start in the order of their deadlines. A later message moves one to the end, where it is found."""

    deadline_ms: int = 0
    key: int = 0


async def search_pending_starts(
    connection: Connection, search: Search, place: PendingPlace
) -> tuple[list[Buffered], PendingPlace | None]:
    """The same for pending starts."""
    rows = (await _of_tenants.execute(connection, "pending_starts", search.tenants, *place, ROWS, BYTES)).rows
    found = [Buffered(*row[:3]) for row in rows if _has(search.sought, row[2], _kept_decoder.decode(row[3]))]
    return found, PendingPlace(rows[-1][4], rows[-1][0]) if rows else None


class _BusinessId(msgspec.Struct, frozen=True):
    business_id: str | None


def _variables(text: str) -> Any:
    """The variables of a message, by name, as JSON texts."""
    return msgspec.json.decode(text)


async def delete_expired(connection: Connection, keys: Sequence[int]) -> None:
    """Delete messages that were told to expire."""
    await connection.execute(_sql["delete_expired"], (list(keys),))


_Number = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_Integer = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_Text = Annotated[str, msgspec.Meta(pattern=r"^[^\x00]*$")]
_Id = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]


class Ending(NamedTuple):
    """A statement that erases rows with the value in one of these columns, by lists of the columns of their keys."""

    statement: str
    columns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SearchedTable:
    """A table whose rows belong to no tree. The rows that have the value are erased by their keys."""

    name: str
    """The statement that reads the next rows, up to a number and about so many bytes: their keys, then texts."""
    endings: tuple[Ending, ...]
    """The statements that erase rows, in this order. Each column after the key is one of a row that is searched."""
    key: Any
    """The type of a key."""
    first: tuple[Any, ...]
    """A key before all others."""
    counted: str
    """The field of `Counts`."""
    of_tenants: bool = False
    """Its rows have tenants. The other tables are searched only for those who see all tenants."""
    json: frozenset[int] = frozenset()
    """The numbers of columns that are JSON texts."""
    queries: frozenset[int] = frozenset()
    """The numbers of columns that are queries of URLs, whose names and values are searched."""
    xml: frozenset[int] = frozenset()
    """The numbers of columns that are XML files, which may have escaped characters of a text."""

    def endings_of(self, sought: Sought, row: Sequence[Any]) -> list[str]:
        """The statements that erase a row."""
        return [
            ending.statement
            for ending in self.endings
            if _has(sought, *(self._value(row, at) for at in ending.columns))
        ]

    def _value(self, row: Sequence[Any], at: int) -> Any:
        if at in self.xml:
            return [row[at], unescape(row[at])]
        if at in self.queries:
            return parse_qsl(row[at], keep_blank_values=True)
        return msgspec.Raw(row[at].encode()) if at in self.json and row[at] else row[at]


QUEUED_COMMANDS = SearchedTable(
    *("queued", (Ending("delete_queued", (2,)),), tuple[_Number, _Number], (0, 0), "queued_commands"),
    of_tenants=True,
    json=frozenset({2}),
)
"""They are searched before the logs, where they go."""
TABLES = (
    SearchedTable(
        *("comments", (Ending("empty_comments", (2, 3)),), tuple[_Number, _Number], (0, 0), "comments"),
        of_tenants=True,
    ),
    SearchedTable(
        *("views", (Ending("delete_views", (1, 2, 3)),), tuple[_Number], (0,), "saved_views"),
        of_tenants=True,
        queries=frozenset({1}),
    ),
    SearchedTable(
        "drafts",
        (Ending("delete_drafts", (1, 2)), Ending("erase_creators", (3,)), Ending("erase_editors", (4,))),
        *(tuple[_Number], (0,), "model_drafts"),
        of_tenants=True,
        xml=frozenset({2}),
    ),
    SearchedTable(
        "rules",
        (Ending("delete_rules", (1,)), Ending("rename_rules", (2,)), Ending("erase_makers", (3,))),
        *(tuple[_Number], (0,), "alert_rules"),
        of_tenants=True,
    ),
    SearchedTable(
        *("notices", (Ending("empty_notices", (2,)),), tuple[_Number, _Integer], (0, -(2**63)), "alert_deliveries"),
        of_tenants=True,
    ),
    SearchedTable(
        *("keys", (Ending("delete_keys", (1,)),), tuple[_Text, _Text], ("", ""), "idempotency_keys"),
        of_tenants=True,
    ),
    SearchedTable(
        *("batches", (Ending("empty_batches", (1, 2)),), tuple[_Number], (0,), "batch_operations"),
        json=frozenset({1}),
    ),
    SearchedTable("items", (Ending("empty_items", (1,)),), tuple[_Number], (0,), "batch_operation_items"),
    SearchedTable(
        *("executions", (Ending("delete_executions", (1, 2, 3)),), tuple[_Id], (str(UUID(int=0)),), "job_executions"),
        json=frozenset({1, 2, 3}),
    ),
    SearchedTable("workers", (Ending("rename_workers", (0,)),), tuple[_Text], ("",), "workers"),
)
"""In the order of the search: those with tenants first."""


async def search_table(
    connection: Connection, search: Search, table: SearchedTable, after: tuple[Any, ...], counts: Counts
) -> tuple[Any, ...] | None:
    """Search the next rows of a table behind those with this key, and erase those that have the value; the last key,
    or None at the end."""
    values = (*after, ROWS, BYTES)
    if table.of_tenants:
        rows = (await _of_tenants.execute(connection, table.name, search.tenants, *values)).rows
    else:
        rows = (await connection.execute(_sql[table.name], values)).rows
    width, erased, found = len(table.first), dict[str, list[Sequence[Any]]](), 0
    for row in rows:
        statements = table.endings_of(search.sought, row)
        found += bool(statements)
        for statement in statements:
            erased.setdefault(statement, []).append(row[:width])
    setattr(counts, table.counted, getattr(counts, table.counted) + found)
    if not search.dry:
        for ending in table.endings:
            if keys := erased.get(ending.statement):
                await connection.execute(_sql[ending.statement], tuple(map(list, zip(*keys, strict=True))))
    return tuple(rows[-1][:width]) if rows else None


def _has(sought: Sought, *values: Any) -> bool:
    return any(sought.found_in(value) for value in values if value is not None)
