"""Under load, the database goes back to a moment: by a dump, by point-in-time recovery, by an asynchronous standby."""

import signal
from contextlib import asynccontextmanager

import pytest
import trio

from tests.process.load import Load, deploy
from tests.process.restored import goes_on, note
from tests.replicas import dsn_of
from vivero.operations import backups

pytestmark = pytest.mark.long


def silent(_what, _done, _total):
    """No progress bar."""


def copy_to(archive):
    """The documented command: the file has its name when it is whole."""
    return f"test ! -f {archive}/%f && cp %p {archive}/%f.part && mv {archive}/%f.part {archive}/%f"


async def stopped(program):
    program.signal(signal.SIGTERM)
    assert await program.wait() == 0


@asynccontextmanager
async def loaded(program):
    """A load on the program, which is started; after the block it has ended."""
    await program.restart()
    await deploy(program.port, "one_task.bpmn")
    load = Load([program.port])
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        yield load
        nursery.cancel_scope.cancel()


async def check_what_is_lost(dsn, program, before, ledger, why):
    """The program works on with what was answered before. Something was answered after that."""
    lost = await goes_on(dsn, program.port, before, ledger)
    print(f"{len(ledger.started)} instances, {lost} of them {why}")
    assert lost > 0


async def test_a_dump_under_load_holds_one_moment(replicas, make_program, tmp_path):
    """Everything that was answered before is in it, and a program works on with what it holds."""
    server = replicas("postgres")
    await server.initialise()
    program = make_program("--database-url", server.dsn)
    async with loaded(program) as load:
        await load.progress(200)
        before = note(load.ledger)
        manifest = await backups.take(server.dsn, tmp_path / "backup", jobs=2, progress=silent)
        await load.progress(200)
    await stopped(program)
    server.sql("CREATE DATABASE restored TEMPLATE template0 ENCODING 'UTF8'", dbname="postgres")
    dsn = server.dsn.replace("dbname=vivero", "dbname=restored")
    await backups.verify(tmp_path / "backup", silent)
    await backups.restore(dsn, tmp_path / "backup", manifest, silent)
    program = make_program("--database-url", dsn, name="restored")
    await program.restart()
    await check_what_is_lost(dsn, program, before, load.ledger, f"after the backup of {manifest.rows}")


@pytest.mark.parametrize("target", ["time", "lsn"])
async def test_point_in_time_recovery_under_load(replicas, make_program, reachable_directory, target):
    """A base backup under load, the archive of the WAL, and a moment: what was answered before it is there."""
    first, second = replicas("first"), replicas("second")
    archive = first.own_directory(reachable_directory() / "archive")
    await first.initialise(archive_mode="on", archive_command=copy_to(archive))
    program = make_program("--database-url", first.dsn)
    async with loaded(program) as load:
        await load.progress(100)
        await second.back_up(first)
        await load.progress(100)
        before = note(load.ledger)
        ((moment, lsn),) = first.sql("SELECT clock_timestamp()::text, pg_current_wal_flush_lsn()::text")
        await load.progress(200)
    await stopped(program)
    await first.archived(archive)
    await first.stop()
    targets = {"time": {"recovery_target_time": moment}, "lsn": {"recovery_target_lsn": lsn}}
    await second.recover(archive, **targets[target])
    program = make_program("--database-url", second.dsn, name="restored")
    await program.restart()
    await check_what_is_lost(second.dsn, program, before, load.ledger, f"after {target} {moment} ({lsn})")


async def test_an_asynchronous_standby_that_was_behind_is_promoted(replicas, make_program):
    """It lacks what was answered last. The program goes on with it, and gives nothing out again."""
    first, second = replicas("first"), replicas("second")
    await first.initialise()
    await second.copy(first)
    program = make_program("--database-url", dsn_of(first, second))
    async with loaded(program) as load:
        await load.progress(100)
        before = note(load.ledger)
        await second.caught_up(first)
        await second.stop(signal.SIGINT)
        await load.progress(200)
        await first.stop()
    await second.start()
    second.promote()
    await program.ready()
    await check_what_is_lost(second.dsn, program, before, load.ledger, "lost with the old primary")
