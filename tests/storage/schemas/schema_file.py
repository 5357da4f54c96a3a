"""Writes `storage/schema/schema.sql`, from an empty database that is migrated: `make schema`."""

import tempfile
from pathlib import Path

import trio

from vivero import embedded
from vivero.storage.postgres import driver
from vivero.storage.schema import catalogue
from vivero.storage.schema.migrate import migrate


async def text(dsn: str) -> str:
    """The text for the migrations, in an empty database."""
    connection = await driver.connect(dsn, name="vivero schema")
    try:
        await migrate(connection)
        return catalogue.written(await catalogue.read(connection))
    finally:
        connection.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="vivero-schema-") as made:
        directory = Path(made)
        directory.chmod(0o711)
        with embedded.acquire(directory / "root", embedded.TEST) as lease:
            catalogue.SCHEMA_FILE.write_text(trio.run(text, lease.dsn), encoding="utf-8")
        embedded.wait_stopped(directory / "root")
