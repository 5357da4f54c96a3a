"""Dumps a database with running instances of every kind, for the test that later versions go on with them.

    createdb dumped
    python -m tests.storage.schemas.dump "dbname=dumped host=…" tests/storage/schemas/released/schema_N.sql

Run it once when a release is made, and commit the file. The database must be empty. Its server should be of the oldest
version that is supported, so that every server can restore the dump; pg_dump must be of the same version. The instances
are those of `running_instances.make`.
"""

import subprocess
import sys
from pathlib import Path

import trio

from tests.storage.schemas import running_instances
from vivero.storage.postgres import driver
from vivero.storage.schema.migrate import migrate

DUMP = (
    "pg_dump",
    *("--inserts", "--rows-per-insert=200", "--no-owner", "--no-privileges", "--no-toast-compression", "--dbname"),
)


async def _fill(dsn: str) -> None:
    connection = await driver.connect(dsn, name="vivero dump")
    await migrate(connection)
    connection.close()
    await running_instances.make(dsn)


def dump(dsn: str) -> str:
    """Makes the instances; gives the SQL text without the lines for psql alone and comments."""
    trio.run(_fill, dsn)
    text = subprocess.run([*DUMP, dsn], check=True, stdout=subprocess.PIPE, text=True).stdout
    return "".join(f"{line}\n" for line in text.splitlines() if not line.startswith(("\\", "--")))


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(dump(sys.argv[1]))
