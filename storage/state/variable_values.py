"""The hashes of variables from before the schema had them, in small steps (docs/adr/0065).

Batches hash what they save. The rows of older programs have no hash, or that of an earlier value, until the owner of
their partition has come to them. Older nodes go on for a while after the migration, when a cluster is upgraded.
"""

from __future__ import annotations

from hashlib import md5

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside
from vivero.storage.state.normal_form import LONGEST, normal_hash

_sql = beside(__file__)

ROWS = 1_000
"""Variables that are looked at together."""
BYTES = 1_000_000
"""The most bytes of their values: normal forms of so much take up to 25 ms."""


async def hash_next(connection: Connection, partition: int, epoch: int) -> bool:
    """Hash the values of the next old variables of a partition in its term. True if there may be more."""
    await connection.execute(_sql["begin"], (partition, epoch))
    rows = (await connection.execute(_sql["page"], (partition, epoch, ROWS, BYTES, LONGEST))).rows
    if not rows:
        return False
    if rows[0][0] is None:
        await connection.execute(_sql["finish"], (partition, epoch))
        return False
    hashes = [
        (key, md5(value.encode(), usedforsecurity=False).hexdigest(), hash)
        for key, value, known in rows
        if value is not None and (hash := normal_hash(value)) != known
    ]
    columns = [list(column) for column in zip(*hashes, strict=True)] or [[], [], []]
    await connection.execute(_sql["hash"], (partition, epoch, *columns, rows[-1][0]))
    return True
