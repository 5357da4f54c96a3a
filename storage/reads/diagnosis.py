"""The facts about a PostgreSQL server that `vivero doctor` judges."""

from __future__ import annotations

from dataclasses import dataclass, field

import trio

from vivero.storage.cluster import nodes
from vivero.storage.postgres import connection_limit
from vivero.storage.postgres.connection_limit import Limit
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside
from vivero.storage.retention import archives, history
from vivero.storage.retention.history import State
from vivero.storage.schema import installations, predecessor
from vivero.storage.schema.installations import SessionSchemas

_sql = beside(__file__)
RETENTION = 61
"""The migration that made the tables of retention and of the archive. The schema before the squash has them, too."""

SETTINGS = (
    *("fsync", "full_page_writes", "synchronous_commit", "synchronous_standby_names", "autovacuum", "max_connections"),
    *("shared_buffers", "max_wal_size", "data_checksums", "idle_in_transaction_session_timeout", "jit"),
    *("statement_timeout", "transaction_timeout", "idle_session_timeout", "default_transaction_isolation"),
    *("array_nulls", "track_counts", "track_activities", "random_page_cost", "seq_page_cost", "work_mem"),
    *("maintenance_work_mem", "checkpoint_timeout", "commit_delay", "max_locks_per_transaction", "log_statement"),
    *("log_min_duration_statement", "zero_damaged_pages", "ignore_checksum_failure", "autovacuum_naptime"),
)


@dataclass(frozen=True, slots=True)
class DeadRows:
    """A table of which much is dead. `vacuumed_s`: seconds since the last automatic vacuum; negative: never."""

    table: str
    live: int
    dead: int
    vacuumed_s: float


@dataclass(frozen=True, slots=True)
class Slot:
    """A replication slot, and the bytes of WAL that it keeps."""

    name: str
    active: bool
    kept: float


@dataclass(frozen=True, slots=True)
class Standby:
    """A standby; `behind` in bytes, None without the right to see it."""

    name: str
    sync: str
    behind: float | None


@dataclass(frozen=True, slots=True)
class Facts:
    """The state of a server. Times in seconds, sizes in bytes."""

    version: str
    clock_off_s: float
    """The server's clock minus that of this machine, to within the time of a round trip."""
    size: int
    transaction_age: int
    settings: dict[str, str] = field(default_factory=dict)
    """Values as `pg_settings` has them, with their units: those that a new session of the user begins with."""
    connections: int = 0
    idle_in_transaction: int = 0
    oldest_transaction_s: float = 0.0
    invalid_indexes: list[str] = field(default_factory=list)
    dead_rows: list[DeadRows] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
    standbys: list[Standby] = field(default_factory=list)
    prepared: list[str] = field(default_factory=list)
    schema: int | None = None
    """The newest migration; None in a schema without tables."""
    nodes: int = 0
    engine_clock_s: float = 0.0
    """By how much the engine's clock differs from the server's."""
    retention: list[State] = field(default_factory=list)
    """By partition; empty if the schema is too old to say."""
    has_archived: bool = False
    """Whether the database knows files of the archive."""
    limits: list[Limit] = field(default_factory=list)
    """Settings of sessions of this user in this database."""
    of_role: dict[str, str] = field(default_factory=dict)
    """Settings that somebody has made for this user or database."""
    place: SessionSchemas | None = None
    """The schema in which sessions of this user work."""
    sees_others: bool = True
    """Whether the user sees transactions of other users, and how far standbys are."""


async def read(connection: Connection, now: float) -> Facts:
    """The facts. `now` is this machine's time in epoch seconds. Raises StorageError."""
    asked_at = trio.current_time()
    ((_long, version, server_now, size, age),) = (await connection.execute(_sql["server"])).rows
    half_trip_s = (trio.current_time() - asked_at) / 2
    ((connections, idle, oldest_s, sees_others),) = (await connection.execute(_sql["connections"])).rows
    place = await installations.place(connection)
    schema, nodes, engine_clock_s = await _of_schema(connection) if place.is_ours else (None, 0, 0.0)
    knows_retention = schema == predecessor.LAST or (schema or 0) >= RETENTION
    return Facts(
        version,
        server_now - now - half_trip_s,
        size,
        age,
        {
            name: f"{value} {unit}" if unit else value
            for name, value, unit in (await connection.execute(_sql["settings"], (list(SETTINGS),))).rows
        },
        connections,
        idle,
        oldest_s,
        [name for (name,) in (await connection.execute(_sql["invalid_indexes"])).rows],
        [DeadRows(*row) for row in (await connection.execute(_sql["dead_rows"])).rows],
        [Slot(*row) for row in (await connection.execute(_sql["slots"])).rows],
        [Standby(*row) for row in (await connection.execute(_sql["standbys"])).rows],
        [gid for (gid,) in (await connection.execute(_sql["prepared_transactions"])).rows],
        schema,
        nodes,
        engine_clock_s,
        await history.states(connection) if knows_retention else [],
        knows_retention and await archives.knows_files(connection),
        list(await connection_limit.limits(connection)),
        dict((await connection.execute(_sql["settings_of_role"])).rows),
        place,
        sees_others,
    )


async def _of_schema(connection: Connection) -> tuple[int, int, float]:
    """The version of the schema, the number of live nodes, and how much the engine's clock is off."""
    ((schema,),) = (await connection.execute(_sql["schema_version"])).rows
    if not schema:
        return 0, 0, 0.0  # a start that was killed before its first migration
    ((off_s,),) = (await connection.execute(_sql["engine_clock"])).rows
    return schema, len(await nodes.running(connection)), off_s
