"""The sizes of the tables and their indexes, and what an instance adds to each."""

from __future__ import annotations

from collections.abc import Mapping

from vivero.storage.postgres.driver import Connection

SIZES = """
SELECT coalesce(up.relname, t.relname)::text, NULL::text, pg_table_size(t.oid)
FROM pg_class t LEFT JOIN pg_inherits h ON h.inhrelid = t.oid LEFT JOIN pg_class up ON up.oid = h.inhparent
WHERE t.relnamespace = 'public'::regnamespace AND t.relkind = 'r'
UNION ALL
SELECT coalesce(up.relname, t.relname)::text, coalesce(upi.relname, i.relname)::text, pg_relation_size(i.oid)
FROM pg_class i JOIN pg_index x ON x.indexrelid = i.oid JOIN pg_class t ON t.oid = x.indrelid
LEFT JOIN pg_inherits h ON h.inhrelid = t.oid LEFT JOIN pg_class up ON up.oid = h.inhparent
LEFT JOIN pg_inherits hi ON hi.inhrelid = i.oid LEFT JOIN pg_class upi ON upi.oid = hi.inhparent
WHERE i.relnamespace = 'public'::regnamespace AND i.relkind = 'i'
ORDER BY 1, 2 NULLS FIRST
"""


async def sizes(connection: Connection) -> dict[str, int]:
    """The bytes of each table (with its TOAST, without indexes) and each index (`table: index`)."""
    await connection.execute("CHECKPOINT")
    found: dict[str, int] = {}
    rows = (await connection.execute(SIZES)).rows
    for table, index, size in rows:
        name = table if index is None else f"{table}: {index}"
        found[name] = found.get(name, 0) + size
    return found


async def wal_bytes(connection: Connection) -> float:
    """All that was ever written to the WAL of this server."""
    return float((await connection.execute("SELECT pg_current_wal_lsn() - '0/0'")).rows[0][0])


async def settle(connection: Connection) -> None:
    """Vacuum and analyse all tables, as autovacuum does in time."""
    await connection.execute("VACUUM (ANALYZE)")


def per_instance(before: Mapping[str, int], after: Mapping[str, int], instances: int) -> dict[str, float]:
    """The bytes that an instance took: of each table and index, and the sums of state, logs and all indexes."""
    found = {name: (size - before.get(name, 0)) / instances for name, size in after.items()}
    of_logs = {name for name in found if name.startswith(("command_log", "event_log"))}
    indexes = {name for name in found if ": " in name}
    sums = {
        "tables of the state": sum(found[name] for name in found.keys() - of_logs - indexes),
        "indexes of the state": sum(found[name] for name in indexes - of_logs),
        "tables of the logs": sum(found[name] for name in of_logs - indexes),
        "indexes of the logs": sum(found[name] for name in of_logs & indexes),
    }
    return sums | {"all": sum(sums.values())} | {name: value for name, value in found.items() if value >= 1}
