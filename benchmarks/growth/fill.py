"""Fill a database with ended instances by COPY, as copies of real ones, behind everything that it contains.

The keys and positions are those that the engine would have given out next: each portion moves the cursor and the
sequence of the log, in the transaction that copies its rows. So the work can be stopped and continued anywhere, and
the engine continues behind the copies. No program may run on the database meanwhile.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from pathlib import Path

import msgspec
import trio

from benchmarks.growth import varieties
from benchmarks.growth.templates import Columns, Instance, Place, columns_of, lines, rows_of
from vivero.storage.postgres.driver import Connection
from vivero.storage.state.durations import bucket_of

PORTION = 5_000
SPAN = timedelta(days=30)
"""The copies began in the days before the filling, one after another."""
LONGEST_S = 600.0
RANGE = 10_000_000
"""Positions of one log partition."""

MAKE_STATE = """
CREATE SCHEMA IF NOT EXISTS growth;
CREATE TABLE IF NOT EXISTS growth.state (
    one boolean PRIMARY KEY DEFAULT true CHECK (one), began timestamptz NOT NULL, real int NOT NULL, total int NOT NULL,
    done int NOT NULL, templates json NOT NULL)
"""
CURSOR = "SELECT to_pos, next_key, epoch FROM batches WHERE partition_id = 1 ORDER BY from_pos DESC LIMIT 1"
EXAMPLES = "SELECT process_instance_key, business_id FROM process_instances WHERE business_id = ANY ($1::text[])"
COUNTS = """
SELECT process_definition_key, element_id, state, (extract(epoch FROM ended_at - started_at) * 1000)::bigint
FROM element_instances WHERE root_key = $1
UNION ALL
SELECT process_definition_key, '', state, (extract(epoch FROM ended_at - started_at) * 1000)::bigint
FROM process_instances WHERE process_instance_key = $1
"""
JOBS = "SELECT tenant_id, type, coalesce(worker, ''), state FROM jobs WHERE root_key = $1"
SAVE_COUNTS = """
INSERT INTO element_count_changes
    (partition_id, process_definition_key, element_id, bucket, active, completed, canceled, duration_ms)
SELECT 1, x.*
FROM unnest($1::bigint[], $2::text[], $3::smallint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[]) x
"""
SAVE_JOBS = """
INSERT INTO job_count_changes (partition_id, tenant_id, type, worker, status, jobs, last_at)
SELECT 1, x.*, $6::timestamptz FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[]) x
"""


class Template(msgspec.Struct, frozen=True):
    """The rows of an instance of one variety."""

    lines: dict[str, list[str | Place]]
    """The lines of each table."""
    counts: list[tuple[int, str, str, int]]
    """Definition, element, state and duration in ms of each element that is counted."""
    jobs: list[tuple[str, str, str, str]]
    """Tenant, type, worker and state of each job."""


_encode = msgspec.json.encode
_decode = msgspec.json.decode


@dataclass(frozen=True, slots=True)
class State:
    """The progress of the filling: of `total` copies, which are numbered from `real`, `done` are made."""

    began: datetime
    real: int
    total: int
    done: int
    templates: Mapping[str, Template]

    def at(self, number: int) -> datetime:
        """The time at which this instance began."""
        return self.began - SPAN + (number - self.real) * SPAN / max(self.total, 1)


async def fill(
    connection: Connection, real: int, total: int, directory: Path, progress: Callable[[int, int], None]
) -> State:
    """Make copies until there are `total`. `real` instances with the first numbers must have ended in the database.

    The server must be able to read files in `directory`.
    """
    columns = await columns_of(connection)
    state = await begin(connection, columns, real, total)
    makers = {variety: Maker(template) for variety, template in state.templates.items()}
    while state.done < total:
        await _portion(connection, columns, makers, state, directory)
        state = await read_state(connection) or state
        progress(state.done, total)
    return state


async def begin(connection: Connection, columns: Columns, real: int, total: int) -> State:
    """The state of a filling that begins, or continues."""
    await connection.script(MAKE_STATE)
    if (state := await read_state(connection)) is None:
        templates = {}
        for variety, (root, instance) in (await examples(connection, columns, real)).items():
            counts = (await connection.execute(COUNTS, (root,))).rows
            jobs = (await connection.execute(JOBS, (root,))).rows
            templates[variety] = Template(lines(instance.rows), counts, jobs)
        state = State(datetime.now(UTC), real, total, 0, templates)
        await connection.execute(
            "INSERT INTO growth.state (began, real, total, done, templates) VALUES ($1, $2, $3, 0, $4::json)",
            (state.began, real, total, _encode(templates).decode()),
        )
    if (state.real, state.total) != (real, total):
        raise ValueError(f"this database is being filled with {state.total} instances behind {state.real} real ones")
    return state


async def read_state(connection: Connection) -> State | None:
    """The state of a filling that has begun."""
    rows = (await connection.execute("SELECT began, real, total, done, templates::text FROM growth.state")).rows
    if not rows:
        return None
    began, real, total, done, templates = rows[0]
    return State(began, real, total, done, _decode(templates, type=dict[str, Template]))


async def examples(connection: Connection, columns: Columns, real: int) -> dict[str, tuple[int, Instance]]:
    """The last real instance of each variety, with its key."""
    last = {varieties.variety_of(n): varieties.business_id_of(n) for n in range(real)}
    roots = dict((await connection.execute(EXAMPLES, (list(last.values()),))).rows)
    rows = await rows_of(connection, columns, list(roots))
    keys = {business_id: root for root, business_id in roots.items()}
    if missing := [business_id for business_id in last.values() if business_id not in keys]:
        raise ValueError(f"there is no real instance with the business id {missing[0]}")
    return {variety: (keys[id], Instance(keys[id], columns, rows[keys[id]])) for variety, id in last.items()}


class Cursor:
    """The last position and the next key that are given out."""

    def __init__(self, position: int, key: int) -> None:
        self.position, self.key = position, key


async def _portion(
    connection: Connection, columns: Columns, makers: Mapping[str, Maker], state: State, directory: Path
) -> None:
    deadline = trio.current_time() + LONGEST_S
    position, key, epoch = (await connection.execute(CURSOR)).rows[0]
    cursor, files = Cursor(position, key), directory / "portion"
    first = state.real + state.done
    numbers = range(first, first + min(PORTION, state.total - state.done))
    files.mkdir(exist_ok=True)
    try:
        await trio.to_thread.run_sync(_write, files, makers, state, numbers, cursor)
        async with connection.transaction(deadline=deadline):
            for at in (*range(position + 1, cursor.position, RANGE), cursor.position):
                await connection.execute("SELECT make_log_partitions($1)", (at,))
            for table in sorted(path.name for path in files.iterdir()):
                names = ", ".join(name for name, _ in columns[table])
                await connection.execute(f"COPY {table} ({names}) FROM '{files / table}'", deadline=deadline)
            for call in _changes(makers, numbers, state.at(numbers[-1])):
                await connection.execute(*call)
            moved = (position, cursor.position, cursor.key, epoch)
            await connection.execute("INSERT INTO batches VALUES (1, $1, $2, $3, $4)", moved)
            await connection.execute("SELECT setval('log_position_1', $1)", (cursor.position,))
            await connection.execute("UPDATE growth.state SET done = done + $1", (len(numbers),))
    finally:
        shutil.rmtree(files)


def _write(files: Path, makers: Mapping[str, Maker], state: State, numbers: range, cursor: Cursor) -> None:
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for number in numbers:
        makers[varieties.variety_of(number)].make(texts, number, state.at(number), cursor)
    for table, made in texts.items():
        (files / table).write_text("".join(made), encoding="utf-8")


def _changes(
    makers: Mapping[str, Maker], numbers: Sequence[int], at: datetime
) -> list[tuple[str, tuple[list[int] | list[str] | datetime, ...]]]:
    """The counts of these instances in statistics."""
    elements: defaultdict[tuple[int, str, int], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    jobs: defaultdict[tuple[str, str, str, str], int] = defaultdict(int)
    for number in numbers:
        template = makers[varieties.variety_of(number)].template
        for definition, element, state, duration_ms in template.counts:
            completed = state == "COMPLETED"
            counted = elements[definition, element, bucket_of(duration_ms) if completed else -1]
            counted[1 if completed else 2] += 1
            counted[3] += duration_ms if completed else 0
        for tenant, type, worker, state in template.jobs:
            jobs[tenant, type, "", "CREATED"] += 1
            if state == "COMPLETED":
                jobs[tenant, type, worker, state] += 1
    keys, counts = list(elements), list(elements.values())
    of_elements = (*([key[n] for key in keys] for n in range(3)), *([count[n] for count in counts] for n in range(4)))
    of_jobs = (*([key[n] for key in jobs] for n in range(4)), list(jobs.values()), at)
    return [(SAVE_COUNTS, of_elements), (SAVE_JOBS, of_jobs)]  # type: ignore[list-item]


class Maker:
    """Makes the lines of instances of one variety."""

    def __init__(self, template: Template) -> None:
        self.template = template
        places = sorted({part for parts in template.lines.values() for part in parts if not isinstance(part, str)})
        self._keys = 1 + max(place.n for place in places if place.kind == "key")
        self._positions = 1 + max(place.n for place in places if place.kind == "position")
        self._places = places
        index = {place: n for n, place in enumerate(places)}
        self._tables = []
        for table, parts in template.lines.items():
            text = "".join(part.replace("%", "%%") if isinstance(part, str) else "%s" for part in parts)
            getter = itemgetter(*(index[part] for part in parts if not isinstance(part, str)))
            self._tables.append((table, text, getter))

    def make(self, texts: Mapping[str, list[str]], number: int, began: datetime, cursor: Cursor) -> None:
        """Append the lines of the instance to those of the tables, and move the cursor."""
        began_ms = int(began.timestamp() * 1000)
        values = [_value(place, number, began, began_ms, cursor) for place in self._places]
        for table, text, getter in self._tables:
            texts[table].append(text % getter(values))
        cursor.position += self._positions
        cursor.key += self._keys


def _value(place: Place, number: int, began: datetime, began_ms: int, cursor: Cursor) -> str:
    kind = place.kind
    if kind == "key":
        text = str(cursor.key + place.n)
    elif kind == "position":
        text = str(cursor.position + 1 + place.n)
    elif kind == "time":
        text = (began + timedelta(microseconds=place.n)).isoformat()
    elif kind == "ms":
        text = str(began_ms + place.n)
    else:
        text = _OF_NUMBER[kind](number)
    return text.encode().hex() if place.hex else text


_OF_NUMBER: Mapping[str, Callable[[int], str]] = {
    "order": varieties.order_of,
    "business": varieties.business_id_of,
    "amount": lambda number: str(varieties.amount_of(number)),
}
