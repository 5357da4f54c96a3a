"""PostgreSQL cannot serve for a while: each request is told so, the program stays, and resumes by itself.

`test_postgres.py` kills and freezes PostgreSQL. Here it answers, and says no.
"""

import contextlib
import signal
import subprocess
from contextlib import ExitStack, contextmanager

import psycopg
import pytest
import trio

from tests.eventually import eventually
from tests.process.audit import audit, settled
from tests.process.http_client import Caller
from tests.process.load import Load, deploy
from tests.process.status_watch import StatusWatch
from tests.proxies import Proxy
from tests.replicas import dsn_of

RECOVERS_S = 40.0
LASTS_S = 3.0
OURS = "FROM pg_stat_activity WHERE application_name LIKE 'vivero:%'"
CREATION = {"processDefinitionId": "one-task", "tags": ["n0"]}
ANSWERS = {"POST /v2/process-instances": CREATION, "POST /v2/process-instances/search": {}, "GET /v2/status": None}


@pytest.fixture
async def server(replicas):
    """A PostgreSQL of the test's own, with a user that has a password."""
    server = replicas("postgres")
    await server.initialise()
    server.sql("CREATE ROLE vivero LOGIN PASSWORD 'first'")
    server.sql("ALTER DATABASE vivero OWNER TO vivero")
    server.sql("ALTER SCHEMA public OWNER TO vivero")
    server.allow("host all vivero 127.0.0.1/32 scram-sha-256", "host all all 127.0.0.1/32 trust")
    return server


@pytest.fixture
async def program(server, make_program):
    program = make_program("--database-url", f"{dsn_of(server)} user=vivero password=first")
    await program.restart()
    await deploy(program.port, "one_task.bpmn")
    return program


# ---- faults: each is undone at the end of the block


@contextmanager
def full_disk(server):
    """Rows cannot be stored, and PostgreSQL says why."""
    server.sql(
        "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$"
    )
    for table in ("command_log", "event_log", "process_instances", "jobs"):
        server.sql(f"CREATE TRIGGER full_disk BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION full_disk()")
    yield
    server.sql("DROP FUNCTION full_disk CASCADE")


@contextmanager
def changed_password(server):
    server.sql("ALTER ROLE vivero PASSWORD 'second'")
    server.sql(f"SELECT pg_terminate_backend(pid) {OURS}")
    yield
    server.sql("ALTER ROLE vivero PASSWORD 'first'")


@contextmanager
def read_only(server):
    server.sql("ALTER SYSTEM SET default_transaction_read_only = on")
    server.sql("SELECT pg_reload_conf()")
    yield
    with server.session() as connection:
        connection.execute("SET default_transaction_read_only = off")
        connection.execute("ALTER SYSTEM RESET default_transaction_read_only")
        connection.execute("SELECT pg_reload_conf()")


@contextmanager
def no_connection_left(server):
    with ExitStack() as taken:
        first = taken.enter_context(server.session())
        first.execute("ALTER ROLE vivero CONNECTION LIMIT 0")
        first.execute(f"SELECT pg_terminate_backend(pid) {OURS}")
        yield
        first.execute("ALTER ROLE vivero CONNECTION LIMIT -1")


@contextmanager
def renamed_database(server):
    """Dropped, as far as the program can tell; and then it is there again."""
    with server.session("postgres") as connection:
        connection.execute("ALTER DATABASE vivero WITH ALLOW_CONNECTIONS false")
        connection.execute(f"SELECT pg_terminate_backend(pid) {OURS}")
        connection.execute("ALTER DATABASE vivero RENAME TO away")
        yield
        connection.execute("ALTER DATABASE away RENAME TO vivero")
        connection.execute("ALTER DATABASE vivero WITH ALLOW_CONNECTIONS true")


@contextmanager
def missing_tables(server):
    """Somebody restores a dump: the database is there, and its tables are not."""
    server.sql("ALTER SCHEMA public RENAME TO away")
    yield
    server.sql("ALTER SCHEMA away RENAME TO public")


FAULTS = {
    full_disk: "its disk is full",
    changed_password: "it cannot be reached",
    read_only: "it accepts no writes",
    no_connection_left: "it cannot be reached",
    renamed_database: "it cannot be reached",
    missing_tables: "its tables are missing",
}


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
async def test_postgresql_says_no_for_a_while(server, program, fault):
    load, watch = Load([program.port]), StatusWatch(program.port)
    pid = program.pid
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        nursery.start_soon(watch.run)
        await load.progress(50, within_s=RECOVERS_S)
        began = trio.current_time()
        with fault(server):
            shown = await watch.unhealthy(began, within_s=RECOVERS_S)
            await trio.sleep_until(began + LASTS_S)
            details = await refusals(program)
        ended = trio.current_time()
        healthy = await watch.next(204, within_s=RECOVERS_S)
        await load.progress(20, within_s=RECOVERS_S)
        working = next(moment for moment in load.ledger.moments if moment > ended)
        print(
            f"{fault.__name__:<20} 503 after {shown - began:.2f} s; healthy {healthy - ended:.2f} s and first answer"
            f" {working - ended:.2f} s after it; {details}"
        )
        await load.progress(50, within_s=RECOVERS_S)
        await load.stop_creating()
        await settled(server.dsn)
        nursery.cancel_scope.cancel()
    print(f"{await audit(server.dsn, load.ledger)} instances; {load.ledger}")
    assert any(FAULTS[fault] in detail for detail in details)
    assert program.pid == pid
    assert program.running
    told_once(program)
    program.signal(signal.SIGTERM)
    assert await program.wait() == 0


@pytest.fixture
def small_disk(server, reachable_directory):
    """A file system of 96 MB that holds the tables of the database, but not the WAL. Only root can make one."""
    directory = reachable_directory()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96m,mode=777", "none", directory], check=False)
    if mounted.returncode != 0:
        pytest.skip("a file system cannot be mounted here")
    try:
        with server.session("postgres") as connection:
            connection.execute(f"CREATE TABLESPACE small LOCATION '{server.own_directory(directory / 'tables')}'")
            connection.execute("ALTER DATABASE vivero SET TABLESPACE small")
        yield directory
    finally:
        server.end()
        subprocess.run(["umount", directory], check=True)


@pytest.mark.long
async def test_the_disk_is_really_full(server, small_disk, make_program):
    """PostgreSQL cannot extend a table. Which statement meets that first is a matter of chance."""
    program = make_program("--database-url", f"{dsn_of(server)} user=vivero password=first")
    await program.restart()
    await deploy(program.port, "one_task.bpmn")
    load, watch = Load([program.port]), StatusWatch(program.port)
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        nursery.start_soon(watch.run)
        await load.progress(50, within_s=RECOVERS_S)
        began = trio.current_time()
        filler = small_disk / "filler"
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        shown = await watch.unhealthy(began, within_s=RECOVERS_S)
        await trio.sleep(LASTS_S)
        filler.unlink()
        ended = trio.current_time()
        healthy = await watch.next(204, within_s=RECOVERS_S)
        await load.progress(50, within_s=RECOVERS_S)
        print(
            f"503 {shown - began:.2f} s after the disk was full, healthy {healthy - ended:.2f} s later; {load.ledger}"
        )
        await load.stop_creating()
        await settled(server.dsn)
        nursery.cancel_scope.cancel()
    print(f"{await audit(server.dsn, load.ledger)} instances")
    assert "No space left on device" in program.said(400)
    told_once(program)
    program.signal(signal.SIGTERM)
    assert await program.wait() == 0


async def refusals(program):
    """Every kind of request gets a problem with a reason, and is told when to come again. The reasons."""
    details = set()
    for target, body in ANSWERS.items():
        async with Caller(program.port) as caller:
            method, path = target.split()
            answer = await caller.call(method, path, body, within_s=30)
        if answer.status == 200:
            assert path.endswith("search")  # a server that is full or read-only still reads
            continue
        assert (answer.status, answer.headers["retry-after"]) == (503, "1"), answer
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.title in ("UNAVAILABLE", "RESOURCE_EXHAUSTED")
        assert answer.json["instance"] == path
        details.add(answer.json["detail"])
    return details


def told_once(program):
    """No child and no request fills the log, however often it tried."""
    for event in ("child ended", "connection lost", "read failed", "read took too long"):
        entries = program.logged(event)
        for who in {entry.get("child") or entry.get("task") for entry in entries}:
            told = [entry for entry in entries if (entry.get("child") or entry.get("task")) == who]
            assert len(told) <= 6, told
    assert len(program.logged("leading the partition")) <= 10
    assert not [entry for entry in program.logged("child ended") if entry["counts"]]


@pytest.mark.long
async def test_a_backup_takes_the_place_of_the_database(server, program):
    """Its log ends earlier: nothing that the program remembers of the other one is of any use."""
    with server.session("postgres") as connection:
        await eventually(lambda: copied(connection, "backup"), "a copy of the database is made")
        load = Load([program.port])
        async with trio.open_nursery() as nursery:
            await nursery.start(load.run)
            await load.progress(300, within_s=RECOVERS_S)
            await load.stop_creating()
            await settled(server.dsn)
            nursery.cancel_scope.cancel()
        connection.execute("DROP DATABASE vivero WITH (FORCE)")
        await trio.sleep(1)
        connection.execute("ALTER DATABASE backup RENAME TO vivero")
    again = Load([program.port])
    async with trio.open_nursery() as nursery:
        await nursery.start(again.run)
        await again.progress(100, within_s=RECOVERS_S)
        await again.stop_creating()
        await settled(server.dsn)
        nursery.cancel_scope.cancel()
    print(f"{await audit(server.dsn, again.ledger)} instances; {again.ledger}")
    assert program.running


async def copied(connection, name):
    """PostgreSQL copies a database in which nobody works: try until our sessions are gone for a moment."""
    connection.execute(f"SELECT pg_terminate_backend(pid) {OURS}")
    try:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE vivero OWNER vivero STRATEGY file_copy")
    except psycopg.errors.ObjectInUse:
        return False
    return True


@pytest.mark.long
@pytest.mark.parametrize("delay_s", [0.05, 4.0])
async def test_a_slow_network(server, make_program, delay_s):
    """A delay of each packet. Short ones make requests slow; long ones are an outage, and end with it."""
    proxy = Proxy()
    async with trio.open_nursery() as nursery:
        await nursery.start(proxy.serve)
        program = make_program("--database-url", proxy.dsn(f"{server.dsn} user=vivero password=first"))
        await program.restart()
        await deploy(program.port, "one_task.bpmn")
        load, watch = Load([program.port]), StatusWatch(program.port)
        await nursery.start(load.run)
        nursery.start_soon(watch.run)
        await load.progress(30, within_s=RECOVERS_S)
        began = trio.current_time()
        proxy.delay_s = delay_s
        if delay_s < 1:
            await load.progress(60, within_s=RECOVERS_S)
            assert watch.unhealthy_since(began) < (trio.current_time() - began) / 2
        else:
            shown = await watch.unhealthy(began, within_s=RECOVERS_S)
            print(f"503 after {shown - began:.2f} s")
            await trio.sleep_until(began + 2 * delay_s)
        proxy.delay_s = 0.0
        ended = trio.current_time()
        healthy = await watch.next(204, within_s=RECOVERS_S)
        await load.progress(20, within_s=RECOVERS_S)
        print(f"delay {delay_s:g} s: healthy {healthy - ended:.2f} s after it; {load.ledger}")
        await load.stop_creating()
        await settled(server.dsn)
        nursery.cancel_scope.cancel()
    print(f"{await audit(server.dsn, load.ledger)} instances")
    assert program.running
    told_once(program)
