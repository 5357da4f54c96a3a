"""The first start makes a server and its tables. The next start goes on, whatever of it is killed, and when."""

import os
import signal

import psutil
import psycopg
import pytest

from tests.eventually import eventually
from tests.process.load import deploy
from vivero.storage.schema.migration_files import SCHEMA_VERSION

pytestmark = pytest.mark.long

MADE = (
    "postgres",
    "postgres/unfinished-*",
    "postgres/unfinished-*/global/pg_control",
    "postgres/data-*",
    "run/lease.sock",
)
"""Files that appear one after the other."""
MIGRATIONS = (51, 53, 56, 60)
"""The last one that has run."""


def of_the_first_start(root):
    """The supervisor of PostgreSQL, initdb and PostgreSQL: they work in the data root, or name it."""
    for process in psutil.process_iter():
        try:
            words = [*process.cmdline(), process.cwd()]
        except psutil.Error:
            continue
        if process.pid != os.getpid() and any(str(root) in word for word in words):
            yield process


async def kill_everything(program, root, random):
    program.signal(signal.SIGKILL)
    found = list(of_the_first_start(root))
    random.shuffle(found)
    for process in found:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue  # it ended with another one
    await program.wait()


def migrated(server):
    try:
        with psycopg.connect(server.dsn) as connection:
            return connection.execute("SELECT coalesce(max(version), 0) FROM schema_migrations").fetchone()[0]
    except psycopg.Error:
        return 0


@pytest.mark.parametrize("made", MADE)
async def test_a_start_that_is_killed_while_it_makes_its_server(program_with_own_server, root, made, random_faults):
    program = program_with_own_server
    program.start()

    async def there():
        return any(root.glob(made))

    await eventually(there, made, every_s=0.001)
    await kill_everything(program, root, random_faults)
    await program.restart()
    await deploy(program.port, "one_task.bpmn")


@pytest.mark.parametrize("version", MIGRATIONS)
async def test_a_start_that_is_killed_while_it_makes_its_tables(
    program_with_own_server, server, root, version, random_faults
):
    program = program_with_own_server
    program.start()

    async def there():
        return migrated(server) >= version

    await eventually(there, f"migration {version} has run", every_s=0.001)
    await kill_everything(program, root, random_faults)
    await program.restart()
    assert migrated(server) == SCHEMA_VERSION
    await deploy(program.port, "one_task.bpmn")
