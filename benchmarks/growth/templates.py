"""The rows of an instance as text, with places for all that differs between instances of one variety.

Nothing here knows the tables: all that have a `root_key` hold rows of an instance, and the command log holds the
commands that its event log names. Numbers of 16 digits are positions, keys of the instance, or keys of others.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from vivero.storage.postgres.driver import Connection

COLUMNS = """
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) = 'bytea'
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    AND a.attidentity = ''
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND (c.relname = 'command_log' OR EXISTS (
        SELECT FROM pg_attribute k WHERE k.attrelid = c.oid AND k.attname = 'root_key' AND NOT k.attisdropped))
ORDER BY c.relname, a.attnum
"""
POSITIONS = frozenset({"position", "created_position", "request"})
"""Columns with positions of the log. Events name some, too, which are smaller than the keys of all but the first."""
OF_THE_CALL = frozenset({"append_id", "ord", "lease_token", "trace"})
"""Columns that say how the command came: no two instances need be alike."""
TOKEN = re.compile(
    r"(?<![\d.-])(?P<key>\d{16})(?!\d)"
    r"|(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\+00)"
    r"|(?<![\d.-])(?P<ms>1[78]\d{11})(?!\d)"
    r"|(?P<business>b-\d{7,})|(?P<order>o-\d{7,})|(?<!\d)(?P<amount>7000\d{5})(?!\d)"
)

Columns = Mapping[str, Sequence[tuple[str, bool]]]
"""The tables with their columns: name, whether it has bytes."""


class Row(NamedTuple):
    """A row of a table: the texts of its columns."""

    table: str
    cells: tuple[str | None, ...]


class Place(NamedTuple):
    """The meaning of a value in a row: the n-th key or position of the instance, n microseconds after its beginning, or
    a part of its variety (n is 0)."""

    kind: str
    n: int
    hex: bool = False


async def columns_of(connection: Connection) -> dict[str, list[tuple[str, bool]]]:
    """The tables with rows of instances."""
    found: defaultdict[str, list[tuple[str, bool]]] = defaultdict(list)
    for table, column, bytes in (await connection.execute(COLUMNS)).rows:
        found[table].append((column, bytes))
    return dict(found)


async def rows_of(connection: Connection, columns: Columns, roots: Sequence[int]) -> dict[int, list[Row]]:
    """All rows of these instances, table by table, by their keys."""
    found: defaultdict[int, list[Row]] = defaultdict(list)
    for table, names in columns.items():
        cells = ", ".join(f"convert_from(t.{name}, 'UTF8')" if bytes else f"t.{name}::text" for name, bytes in names)
        if table == "command_log":
            source = "event_log e JOIN command_log t ON t.partition_id = e.partition_id AND t.position = e.position"
            query = f"SELECT e.root_key, {cells} FROM {source} WHERE e.seq = 0 AND e.root_key = ANY ($1::bigint[])"
        else:
            query = f"SELECT t.root_key, {cells} FROM {table} t WHERE t.root_key = ANY ($1::bigint[])"
        for root, *row in (await connection.execute(query, (list(roots),))).rows:
            found[root].append(Row(table, tuple(row)))
    return dict(found)


class Instance:
    """The rows of one instance, cut into texts and places."""

    def __init__(self, root: int, columns: Columns, rows: Sequence[Row]) -> None:
        self._root, self._columns = root, columns
        names = {table: [name for name, _ in of_table] for table, of_table in columns.items()}
        cells = [(name, cell) for row in rows for name, cell in zip(names[row.table], row.cells, strict=True) if cell]
        self.positions = sorted({int(cell) for name, cell in cells if name == "position"})
        others = [cell for name, cell in cells if name not in POSITIONS]
        numbers = {int(found) for cell in others for found in re.findall(r"(?<![\d.-])\d{16}(?!\d)", cell)}
        self._definitions = {int(cell) for name, cell in cells if name == "process_definition_key"}
        self.keys = sorted(number for number in numbers - self._definitions if number >= root)
        self.began = min(_time(found["time"]) for _, cell in cells for found in TOKEN.finditer(cell) if found["time"])
        self.rows = [(row.table, self._cut(row)) for row in rows]

    def _cut(self, row: Row) -> list[list[str | Place] | None]:
        cut: list[list[str | Place] | None] = []
        for (name, bytes), cell in zip(self._columns[row.table], row.cells, strict=True):
            parts = None if cell is None else self._parts(cell, name in POSITIONS)
            cut.append(_as_hex(parts) if parts is not None and bytes else parts)
        return cut

    def _parts(self, cell: str, is_position: bool) -> list[str | Place]:
        parts: list[str | Place] = []
        end = 0
        for found in TOKEN.finditer(cell):
            place = self._place(str(found.lastgroup), found[0], is_position)
            if place is not None:
                parts += [cell[end : found.start()], place]
                end = found.end()
        return [*parts, cell[end:]]

    def _place(self, kind: str, text: str, is_position: bool) -> Place | None:
        if kind == "key":
            number = int(text)
            is_position = is_position or (number < self._root and number not in self._definitions)
            numbers = self.positions if is_position else self.keys
            return Place("position" if is_position else kind, numbers.index(number)) if number in numbers else None
        if kind == "time":
            return Place(kind, (_time(text) - self.began) // timedelta(microseconds=1))
        if kind == "ms":
            return Place(kind, int(text) - int(self.began.timestamp() * 1000))
        return Place(kind, 0)

    def shape(self) -> frozenset[str]:
        """The rows without what differs between instances of one variety."""
        return frozenset(self._shape_of(table, cells) for table, cells in self.rows)

    def _shape_of(self, table: str, cells: Iterable[list[str | Place] | None]) -> str:
        shown = []
        for (name, _), cell in zip(self._columns[table], cells, strict=True):
            if cell is None:
                shown.append(f"{name}=NULL")
            elif name in OF_THE_CALL:
                shown.append(f"{name}")
            else:
                shown.append(f"{name}={''.join(part if isinstance(part, str) else _named(part) for part in cell)}")
        return f"{table}: {'; '.join(shown)}"


def _named(place: Place) -> str:
    return f"<{place.kind} {place.n}>" if place.kind in ("key", "position") else f"<{place.kind}>"


def _as_hex(parts: list[str | Place]) -> list[str | Place]:
    cut = [part.encode().hex() if isinstance(part, str) else part._replace(hex=True) for part in parts]
    return [f"\\x{cut[0]}", *cut[1:]]


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def copied(cell: str) -> str:
    """A text as COPY reads it."""
    return cell.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def lines(rows: Iterable[tuple[str, list[list[str | Place] | None]]]) -> dict[str, list[str | Place]]:
    """The lines of each table for COPY, as texts and places."""
    found: defaultdict[str, list[str | Place]] = defaultdict(list)
    for table, cells in rows:
        for n, cell in enumerate(cells):
            found[table].append("\t" if n else "")
            found[table] += ["\\N"] if cell is None else [copied(p) if isinstance(p, str) else p for p in cell]
        found[table].append("\n")
    return dict(found)
