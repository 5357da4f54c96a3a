"""PostgreSQL's clock is set back two hours, and on again, under a whole program."""

from pathlib import Path

import psycopg
import pytest

from tests.eventually import eventually
from tests.process.http_client import Caller
from tests.process.load import deploy
from vivero.embedded.binaries import find_installation

LIBRARY = next(iter(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")), None)
TRIGGERED = "SELECT count(*) FROM event_log WHERE events::text LIKE '%TimerTriggered%'"


POSTGRES = """#!/bin/sh
export LD_PRELOAD={library} FAKETIME_TIMESTAMP_FILE={clock} FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1
exec {postgres} "$@"
"""


@pytest.fixture
def clock(reachable_directory):
    """A file that says by how much PostgreSQL's clock is wrong; `postgres` beside it goes by that."""
    if LIBRARY is None:
        pytest.skip("needs libfaketime (the Debian package `faketime`)")
    directory = reachable_directory()
    directory.chmod(0o755)
    clock, installation = directory / "clock", find_installation()
    clock.write_text("+0\n")
    clock.chmod(0o644)
    postgres = POSTGRES.format(library=LIBRARY, clock=clock, postgres=installation.postgres)
    for name, text in (("postgres", postgres), ("initdb", f'#!/bin/sh\nexec {installation.initdb} "$@"\n')):
        (directory / name).write_text(text)
        (directory / name).chmod(0o755)
    return clock


@pytest.fixture
def program(clock, root, make_program):
    program = make_program("--data-dir", str(root), environment={"VIVERO_POSTGRES_BIN": str(clock.parent)})
    yield program
    program.end()


async def start(program, count):
    async with Caller(program.port) as caller:
        for _ in range(count):
            answer = await caller.call("POST", "/v2/process-instances", {"processDefinitionId": "timer_short"})
            assert answer.status == 200, answer


async def test_timers_that_are_set_after_a_step_are_not_late(program, server, clock):
    """Those that were set before it wait for the time at which they are due. None fires twice or never."""
    await program.restart()
    await deploy(program.port, "timer_short.bpmn")
    with psycopg.connect(server.dsn, autocommit=True) as connection:

        def ended():
            return connection.execute("SELECT count(*) FROM process_instances WHERE state = 'COMPLETED'").fetchone()[0]

        async def until_ended(count):
            async def have():
                return ended() == count

            await eventually(have, f"{count} instances have ended", within_s=30)

        (before,) = connection.execute("SELECT clock_timestamp()").fetchone()
        await start(program, 5)
        clock.write_text("-2h\n")
        (after,) = connection.execute("SELECT clock_timestamp()").fetchone()
        assert after < before, "PostgreSQL's clock did not go back: the test did not bite"
        await start(program, 5)
        await until_ended(5)
        (early,) = connection.execute(
            "SELECT count(*) FROM timers WHERE to_epoch_ms(triggered_at) < due_at_ms"
        ).fetchone()
        assert early == 0
        clock.write_text("+0\n")
        await until_ended(10)
        await start(program, 5)
        await until_ended(15)
        assert connection.execute(TRIGGERED).fetchone() == (15,)
