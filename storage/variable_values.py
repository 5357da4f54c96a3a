"""The hashes of variables from before the schema had them, in small steps (docs/adr/0065).

Batches hash what they save. The rows that stood there at the migration have no hash until the owner of their partition
has come to them.
"""

from __future__ import annotations

from hashlib import md5

from vivero.storage.normal_form import LONGEST, normal_hash
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)

ROWS = 1_000
"""Variables that are looked at together."""
BYTES = 1_000_000
"""Of their values: normal forms of so much take up to 25 ms."""


async def hash_next(connection: Connection, partition: int, epoch: int) -> bool:
    """Hash the values of the next old variables of a partition in its term. True if there may be more."""
    rows = (await connection.execute(_sql["page"], (partition, epoch, ROWS, BYTES, LONGEST))).rows
    if not rows:
        return False
    found = [(key, value) for _, _, key, value in rows if key is not None]
    if not found:
        await connection.execute(_sql["finish"], (partition, epoch))
        return False
    hashes = [
        (key, md5(value.encode(), usedforsecurity=False).hexdigest(), hash)
        for key, value in found
        if value is not None and (hash := normal_hash(value)) is not None
    ]
    columns = [list(column) for column in zip(*hashes, strict=True)] or [[], [], []]
    await connection.execute(_sql["hash"], (partition, epoch, *columns, found[-1][0]))
    return True
