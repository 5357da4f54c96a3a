"""Behind PgBouncer: session pooling works with its usual settings, transaction pooling is refused."""

import json
import os
import subprocess
import sys

import psycopg
import pytest
import trio
from psycopg.conninfo import conninfo_to_dict

from tests.eventually import eventually
from tests.operations.tools import tool
from tests.process.audit import audit, settled
from tests.process.load import Load, deploy
from tests.process.program import free_port
from vivero.embedded.processes import dying_with_us

SMALL = {"VIVERO_DATABASE_POOL_SIZE": "2"}


@pytest.fixture
def pooler(database, tmp_path, reachable_directory):
    """Starts PgBouncer in front of the test's database, in a mode of pooling. Gives the URL."""
    found = tool("pgbouncer")
    target = conninfo_to_dict(database)
    owner = os.stat(target["host"])
    home, port = reachable_directory(), free_port()
    os.chown(home, owner.st_uid, owner.st_gid)
    started = []

    def start(mode):
        (home / "pgbouncer.ini").write_text(
            f"[databases]\n* = host={target['host']} port={target.get('port', 5432)} user={target['user']}\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
            f"pool_mode = {mode}\ndefault_pool_size = 40\n"
        )
        command = [found, str(home / "pgbouncer.ini")]
        user = owner.st_uid if os.getuid() == 0 else None
        with (tmp_path / "pgbouncer.log").open("wb") as log:
            group = user and owner.st_gid
            started.append(
                subprocess.Popen(command, user=user, group=group, stderr=log, cwd=home, preexec_fn=dying_with_us())
            )
        return f"postgresql://{target['user']}@127.0.0.1:{port}/{target['dbname']}"

    yield start
    for process in started:
        process.terminate()
        process.wait(20)
    print((tmp_path / "pgbouncer.log").read_text()[-500:])


async def answers(url):
    """Wait until PgBouncer listens."""

    async def connected():
        try:
            psycopg.connect(url, connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    await eventually(connected, "PgBouncer answers")


async def test_session_pooling_needs_no_settings_of_the_pooler(database, unsafe, pooler, make_program):
    url = pooler("session")
    await answers(url)
    program = make_program("--database-url", url, environment=unsafe | SMALL)
    await program.restart()
    await deploy(program.port, "one_task.bpmn")
    load = Load([program.port])
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        await load.progress(20)
        await load.stop_creating()
        await settled(database)
        nursery.cancel_scope.cancel()
    assert await audit(database, load.ledger) > 5
    program.end()


async def test_transaction_pooling_is_refused(unsafe, pooler, make_program):
    url = pooler("transaction")
    await answers(url)
    program = make_program("--database-url", url, environment=unsafe | SMALL)
    program.start()
    assert await program.wait() == 1
    assert "set the pooler to session pooling" in program.whole_log()


@pytest.mark.long
async def test_the_doctor_tells_of_transaction_pooling(pooler, unsafe):
    url = pooler("transaction")
    await answers(url)
    done = await trio.run_process(
        [sys.executable, "-m", "vivero", "doctor", "--json", "--database-url", url],
        capture_stdout=True,
        check=False,
        env=os.environ | unsafe,
    )
    findings = [json.loads(line) for line in done.stdout.splitlines()]
    (start,) = [one for one in findings if one["subject"] == "start"]
    assert (done.returncode, start["level"]) == (1, "problem")
    assert "a connection pooler in front of PostgreSQL shares sessions between transactions" in start["text"]
    assert {one["subject"] for one in findings} >= {"connections", "clocks", "disk"}, "everything else is examined, too"
