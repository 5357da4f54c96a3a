"""Programs and schemas of different versions meet: one behind, one ahead, and a cluster that is upgraded under load."""

import os
import re
import signal
import subprocess
import sys
from functools import partial

import psycopg
import pytest
import trio

from tests.eventually import eventually
from tests.process.audit import audit, settled
from tests.process.http_client import Caller
from tests.process.load import Load, deploy
from tests.process.newer_program import NEXT, VERSION
from tests.storage.schemas.fifty import DUMP, FIFTY, as_left
from vivero.storage.postgres import driver
from vivero.storage.schema import predecessor
from vivero.storage.schema.migrate import LOCK_KEY, migrate
from vivero.storage.schema.migration_files import SCHEMA_VERSION, read_migrations

MIGRATIONS = "SELECT max(version), count(*)::int FROM schema_migrations"
BEHIND = f"the database has schema version {NEXT}, but this program knows only {read_migrations()[-1]}"


def ask(dsn, query):
    with psycopg.connect(dsn, autocommit=True) as connection:
        return connection.execute(query).fetchall()


def newer(program):
    """Start it as the next minor version from now on."""
    program.module = "tests.process.newer_program"
    return program


async def test_a_program_that_is_one_schema_behind_refuses(make_program, database, unsafe):
    """It says what to do, and touches nothing."""
    row = f"({NEXT.version}, '{NEXT.name}', '{NEXT.sha256}')"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"INSERT INTO schema_migrations (version, name, sha256) VALUES {row}")
    program = make_program("--database-url", database, environment=unsafe)
    program.start()
    assert await program.wait() == 1
    assert f"Error: {BEHIND}: start a newer version of the program" in program.whole_log()
    assert "Traceback" not in program.whole_log()
    assert ask(database, "SELECT count(*) FROM nodes") == [(0,)]
    assert ask(database, MIGRATIONS) == [(NEXT.version, NEXT.version)]


async def test_a_program_that_is_one_schema_ahead_migrates(database, make_program, unsafe):
    """Several that start at once, too: one of them migrates, and the others wait."""
    await emptied(database, -1)
    programs = [make_program("--database-url", database, environment=unsafe, name=name) for name in ("a", "b")]
    for program in programs:
        program.start()
    for program in programs:
        await program.ready()
    assert ask(database, MIGRATIONS) == [(SCHEMA_VERSION, SCHEMA_VERSION)]
    assert sum("migration 1 of 1" in program.whole_log() for program in programs) == 1


async def emptied(database, count=0):
    """The database without what it has, and with the first migrations."""
    connection = await driver.connect(database)
    await connection.script("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    if count:
        await migrate(connection, read_migrations()[:count])
    connection.close()


async def killed_and_started(database, programs, unsafe, directory):
    """Back up, start two programs at once, kill them in their first migration, and start them again."""
    before = ask(database, LIST)
    command(unsafe, "backup", directory, "--database-url", database)
    with psycopg.connect(database) as other:
        other.execute("LOCK TABLE schema_migrations IN EXCLUSIVE MODE")  # the next migration ends before it is noted
        for program in programs:
            program.start()
        await eventually(partial(migrating, database), "one is in a migration")
        for program in programs:
            await program.kill()
    assert ask(database, LIST) == before
    for program in programs:
        program.start()
    for program in programs:
        await program.ready()
    assert ask(database, MIGRATIONS) == [(SCHEMA_VERSION, SCHEMA_VERSION)]


async def restored(database, programs, unsafe, directory):
    """Kill the programs, restore the backup, and start one."""
    for program in programs:
        await program.kill()
    await emptied(database)
    command(unsafe, "restore", directory, "--database-url", database)
    await programs[0].restart()
    assert ask(database, MIGRATIONS) == [(SCHEMA_VERSION, SCHEMA_VERSION)]


LIST = "SELECT * FROM schema_migrations ORDER BY version"


@pytest.fixture
def two_programs(make_program, database, unsafe):
    return [make_program("--database-url", database, environment=unsafe, name=name) for name in ("a", "b")]


@pytest.mark.long
@pytest.mark.parametrize("count", [6, 9])
async def test_an_unfinished_installation_is_migrated_killed_and_restored(
    database, two_programs, unsafe, tmp_path, count
):
    await emptied(database, count)
    for step in killed_and_started, restored:
        await step(database, two_programs, unsafe, tmp_path / "backup")
        await deploy(two_programs[0].port, "one_task.bpmn")


@pytest.mark.long
async def test_the_schema_before_the_squash_is_adopted_killed_and_restored(database, two_programs, unsafe, tmp_path):
    """Instances that ran under it go on, after the adoption and after the restore of a backup of it."""
    await emptied(database)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(DUMP.read_text())
    for step in killed_and_started, restored:
        await step(database, two_programs, unsafe, tmp_path / "backup")
        await deploy(two_programs[0].port, "one_task.bpmn")
        instance = await worked(two_programs[0].port, "right")
        ended = f"SELECT state FROM process_instances WHERE process_instance_key = {instance}"
        assert ask(database, ended) == [("COMPLETED",)]
    said = "".join(each.whole_log() for each in two_programs)
    assert re.search(rf"^migration 1 of \d+: {predecessor.ADOPTION}$", said, re.MULTILINE)


async def worked(port, type):
    """Complete the job of a type: its instance."""
    wanted = {"type": type, "timeout": 60_000, "maxJobsToActivate": 1, "worker": "w"}
    async with Caller(port) as caller:
        (job,) = (await caller.call("POST", "/v2/jobs/activation", wanted)).json["jobs"]
        answer = await caller.call("POST", f"/v2/jobs/{job['jobKey']}/completion", {})
    assert answer.status == 204, answer
    return job["processInstanceKey"]


@pytest.mark.long
async def test_a_database_before_the_squash_that_is_not_complete_or_was_changed(make_program, database, unsafe):
    """The program says what to do or what differs, and changes nothing. The commands do the same."""
    for applied, changed, told in (
        (FIFTY[:30], "SELECT", "can take over version 50: start Vivero of commit 414db56b once"),
        (FIFTY, "DROP INDEX jobs_ready", "somebody has changed it: table jobs: missing: CREATE INDEX jobs_ready"),
    ):
        as_left(database, applied)
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(changed)
        before = ask(database, LIST)
        program = make_program("--database-url", database, environment=unsafe)
        program.start()
        assert await program.wait() == 1
        done = run(unsafe, "migrate", "--database-url", database)
        assert done.returncode == 1
        for said in program.whole_log(), done.stderr:
            assert told in said
            assert "Traceback" not in said
        assert ask(database, LIST) == before


async def migrating(database):
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'vivero:migrate'"
    return ask(database, waiting + " AND wait_event = 'relation' AND datname = current_database()") == [(1,)]


def run(environment, *arguments):
    """Run a command of the program."""
    words = [sys.executable, "-m", "vivero", *map(str, arguments)]
    return subprocess.run(words, env=os.environ | environment, capture_output=True, text=True, check=False)


def command(environment, *arguments):
    """Run a command of the program, which must succeed."""
    done = run(environment, *arguments)
    assert done.returncode == 0, done.stderr


async def test_a_program_waits_while_another_one_migrates(program, database):
    waiting = (
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'vivero:migrate' AND wait_event = 'advisory'"
    )
    with psycopg.connect(database, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(%s)", (LOCK_KEY,))
        program.start()

        async def waits():
            return ask(database, waiting + " AND datname = current_database()") == [(1,)]

        await eventually(waits, "the program waits for the lock")
        assert program.running
        assert ask(database, "SELECT count(*) FROM nodes") == [(0,)]
        other.execute("SELECT pg_advisory_unlock(%s)", (LOCK_KEY,))
    await program.ready()


@pytest.mark.long
async def test_a_cluster_is_upgraded_node_by_node_under_load(pair, database):
    """The newer node migrates, and the older one works on with the newer schema. Once ended, it does not start."""
    first, second = pair
    load = Load([first.port, second.port])
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        await load.progress(100)
        first.signal(signal.SIGTERM)
        assert await first.wait() == 0
        await newer(first).restart()
        assert ask(database, MIGRATIONS) == [(NEXT.version, NEXT.version)]
        await load.progress(100)
        await both_versions_serve(first, second)
        await eventually(lambda: warned(second), "the older one says that there is a newer one")
        await second.kill()
        await load.progress(50)
        second.start()
        assert await second.wait() == 1
        assert BEHIND in second.whole_log()
        await newer(second).restart()
        await load.progress(100)
        await load.stop_creating()
        await settled(database)
        nursery.cancel_scope.cancel()
    print(f"{await audit(database, load.ledger)} instances; {load.ledger}")
    for program in pair:
        assert not [entry for entry in program.logged("child ended") if entry["counts"]], program.said()


@pytest.mark.long
async def test_a_migration_that_runs_alone_waits_for_the_end_of_the_other_node(pair, database):
    """The other one works on until it is stopped, and does not start again."""
    first, second = pair
    first.signal(signal.SIGTERM)
    assert await first.wait() == 0
    newer(first).environment |= {"NEXT_MIGRATION": "alone_next"}
    first.start()
    assert await first.wait() == 1
    assert f"migration {NEXT.version:04d}_alone_next runs alone" in first.said()
    assert "(version 0.1.0)" in first.whole_log()
    assert ask(database, MIGRATIONS) == [(SCHEMA_VERSION, SCHEMA_VERSION)]
    await deploy(second.port, "one_task.bpmn")
    second.signal(signal.SIGTERM)
    assert await second.wait() == 0
    await first.restart()
    assert ask(database, MIGRATIONS) == [(NEXT.version, NEXT.version)]
    second.start()
    assert await second.wait() == 1
    assert "start a newer version of the program" in second.whole_log()


async def warned(program):
    return program.logged("a newer version runs in this cluster: upgrade this node, too")


async def both_versions_serve(newer, older):
    for program in (newer, older):
        await deploy(program.port, "one_task.bpmn")
        async with Caller(program.port) as caller:
            answer = await caller.call("GET", "/v2/topology")
        assert {broker["version"] for broker in answer.json["brokers"]} == {VERSION, "0.1.0"}
