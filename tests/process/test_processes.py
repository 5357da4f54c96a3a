"""`vivero up --processes`: several nodes behind one port, started again when they die, ended with their parent."""

import json
import re
import signal
from functools import partial
from pathlib import Path
from urllib.parse import quote

import psutil
import pytest
import trio
from click.testing import CliRunner

from tests.eventually import eventually
from tests.process.audit import audit, settled
from tests.process.conftest import UNSAFE
from tests.process.http_client import Caller, Unanswered
from tests.process.load import Load, deploy
from tests.process.program import Program, free_port
from vivero.cli import main

SMALL = {"VIVERO_DATABASE_POOL_SIZE": "2"}
"""The tests' PostgreSQL has 50 connections."""
KILLS = 5


class Processes:
    """A program with several processes, and its admin port."""

    def __init__(self, program, admin_port) -> None:
        self.program, self.admin_port = program, admin_port

    async def ask(self, path, method="GET"):
        async with Caller(self.admin_port) as caller:
            return await caller.call(method, path, within_s=10)

    async def healthy(self):
        try:
            answer = await self.ask("/status")
        except Unanswered:
            return None
        return answer.json if answer.status == 200 else None

    async def restart(self):
        self.program.start()
        return await self.ready()

    async def ready(self):
        """Wait until every process is healthy: the status of all."""
        return await eventually(self.healthy, "all processes are healthy")

    async def pids(self):
        return [process["pid"] for process in (await self.ready())["processes"]]


@pytest.fixture
def start(make_program, database, unsafe):
    """Makes a program with so many processes on the test's database, not started yet."""
    made = []

    def make(count, *arguments, **settings):
        port = free_port()
        environment = unsafe | SMALL | {"VIVERO_ADMIN_PORT": str(port)} | settings
        program = make_program(
            "--database-url", database, "--processes", str(count), *arguments, environment=environment
        )
        made.append(program)
        return Processes(program, port)

    yield make
    for program in made:
        program.end()


@pytest.fixture(scope="module")
def program_of_two(module_database, tmp_path_factory):
    """A program with two processes and two partitions."""
    port = free_port()
    arguments = ("--database-url", module_database, "--processes", "2", "--partitions", "2")
    environment = UNSAFE | SMALL | {"VIVERO_ADMIN_PORT": str(port)}
    program = Program(tmp_path_factory.mktemp("processes"), "two", arguments, environment)
    yield Processes(program, port)
    program.end()


@pytest.fixture
async def two(program_of_two):
    """The same, which runs. Tests share it, unless one has ended it."""
    if not program_of_two.program.running:
        program_of_two.program.start()
    await program_of_two.ready()
    yield program_of_two
    print("--- two", program_of_two.program.said(), sep="\n")


def runs(pid):
    """Whether there is such a process. It may end between two questions."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def gone(pids):
    async def none_left():
        return not any(runs(pid) for pid in pids)

    await eventually(none_left, f"{pids} have ended")


@pytest.mark.long
async def test_the_admin_port_tells_of_each_process(start):
    processes = start(2)
    processes.program.is_forked = False
    status = await processes.restart()
    assert [process["name"] for process in status["processes"]] == ["1", "2"]
    nodes = [process["node"] for process in status["processes"]]
    assert ("#1-" in nodes[0], "#2-" in nodes[1]) == (True, True)
    assert len({process["pid"] for process in status["processes"]} | {processes.program.pid}) == 3
    assert {child["name"] for child in status["processes"][1]["children"]} >= {"api", "appender", "consumer"}
    assert (await processes.ask("/processes/2/status")).json["pid"] == status["processes"][1]["pid"]
    assert (await processes.ask("/processes/3/status")).status == 404

    async with Caller(processes.program.port) as one, Caller(processes.program.port) as other:
        for caller in (one, other):
            assert (await caller.call("GET", "/v2/topology")).status == 200
        counted = (await processes.ask("/status")).json
        assert counted["connections"] == 2
        assert counted["connections"] == sum(process["connections"] for process in counted["processes"])
        assert counted["requests"] == 2

    assert processes.program.printed().count("Vivero is ready") == 1
    assert f"admin port http://localhost:{processes.admin_port}/status" in processes.program.printed()

    async def leads():
        return processes.program.logged("leading the partition")

    assert {entry["process"] for entry in await eventually(leads, "a process logs that it leads")} <= {"1", "2"}


async def test_top_adds_the_processes_up_and_has_a_line_for_each(two):
    address = f"http://127.0.0.1:{two.admin_port}"
    arguments = ["top", "--processes", "--admin", address, "--every", "0.1", "--count", "1", "--json"]

    async def balanced():
        """The page once each leads one: healthy programs may still have to divide the partitions."""
        shown = await trio.to_thread.run_sync(partial(CliRunner().invoke, main, arguments))
        assert shown.exit_code == 0, shown.output
        document = json.loads(shown.stdout)
        return document if [line["leads"] for line in document["each"]] == ["1", "1"] else None

    document = await eventually(balanced, "each process leads a partition")
    assert document["processes"] == "2 of 2 healthy, lead 2 partitions"
    assert [(line["process"], line["health"], line["leads"]) for line in document["each"]] == [
        ("1", "healthy", "1"),
        ("2", "healthy", "1"),
    ]
    assert all(line["memory"].endswith(" MB") for line in document["each"])
    alone = ["top", "--address", f"http://127.0.0.1:{two.program.port}", "--every", "0.1", "--count", "1"]
    told = await trio.to_thread.run_sync(partial(CliRunner().invoke, main, alone))
    assert "one process of several" in told.stdout


async def test_each_process_is_hurt_by_its_name(two):
    async def restarts():
        status = await two.ready()
        return [
            child["restarts"]
            for process in status["processes"]
            for child in process["children"]
            if child["name"] == "completions"
        ]

    before = await restarts()
    for name in ("1", "2"):
        answer = await two.ask(f"/processes/{name}/chaos/children/completions?kind=raise", "POST")
        assert answer.status == 204
    once_more = [count + 1 for count in before]
    await eventually(restarts, "the child of each process was started again", accept=lambda found: found == once_more)

    async def logged():
        return {entry["process"] for entry in two.program.ends_of("completions")} == {"1", "2"}

    await eventually(logged, "both processes have logged that the child ended")
    assert (await two.ask("/processes/1/chaos/children/nobody", "POST")).status == 404
    assert (await two.ask("/processes/1/chaos/children/api?kind=x", "POST")).status == 400


@pytest.mark.long
@pytest.mark.parametrize("division", [("--partitions", "2"), ("--engine-processes", "1")], ids="-".join)
async def test_killed_processes_are_replaced_and_lose_nothing(start, database, random_faults, division):
    processes = start(2, *division)
    await processes.restart()
    await deploy(processes.program.port, "one_task.bpmn")
    load = Load([processes.program.port])
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        for _ in range(KILLS):
            await load.progress(random_faults.randrange(1, 100))
            victim = random_faults.choice(await processes.pids())
            psutil.Process(victim).kill()
            await gone([victim])
            await load.progress(10)
            assert victim not in await processes.pids()
        await load.stop_creating()
        await settled(database)
        nursery.cancel_scope.cancel()
    ended = [entry["error"] for entry in processes.program.logged("child ended")]
    assert [error for error in ended if "it was ended by SIGKILL" in error] == [
        "ProcessEnded: it was ended by SIGKILL"
    ] * KILLS
    assert processes.program.printed().count("Vivero is ready") == 1
    print(f"{await audit(database, load.ledger)} instances; {load.ledger}")


async def test_a_process_that_is_told_to_stop_is_replaced(two):
    [first, second] = await two.pids()
    log = two.program.log_bytes
    async with Caller(two.program.port) as caller:
        assert (await caller.call("GET", "/v2/status")).status == 204
        psutil.Process(first).terminate()
        await gone([first])
        replaced = await two.pids()
    assert replaced[0] != first
    assert replaced[1] == second
    ended = [entry["error"] for entry in two.program.entries(log) if entry.get("event") == "child ended"]
    assert ended == ["ProcessEnded: it ended with exit code 0"]


@pytest.mark.long
async def test_a_killed_parent_takes_its_children_and_their_sockets_with_it(start):
    processes = start(2)
    await processes.restart()
    pids = await processes.pids()
    sockets = {Path(each.laddr) for pid in pids for each in psutil.Process(pid).net_connections("unix") if each.laddr}
    (directory,) = {socket.parent for socket in sockets if socket.parent.name.startswith("vivero-")}
    psutil.Process(pids[0]).suspend()
    await processes.program.kill()
    await gone(pids[1:])
    psutil.Process(pids[0]).resume()
    await gone(pids)
    assert not directory.exists()


async def test_a_signal_drains_all_processes(two):
    pids = await two.pids()
    log = two.program.log_bytes
    two.program.signal(signal.SIGTERM)
    assert await two.program.wait() == 0
    await gone(pids)
    events = [(entry.get("event"), entry.get("process")) for entry in two.program.entries(log)]
    finishing = sorted(process for event, process in events if event == "stopping: finishing open requests")
    assert finishing == ["1", "2"]


async def test_an_engine_process_leads_and_ends_when_nobody_needs_it(start, database):
    processes = start(2, "--engine-processes", "1")
    status = await processes.restart()
    engine, server = ({child["name"] for child in process["children"]} for process in status["processes"])
    assert engine.isdisjoint({"api", "completions", "jobs"})
    assert engine > {"consumer", "timers", "siblings", "appender"}
    assert server.isdisjoint({"consumer", "timers"})
    assert server > {"api", "completions", "siblings", "appender"}
    assert "2: 1 for the engine, 1 for clients; admin port" in processes.program.printed()

    await deploy(processes.program.port, "one_task.bpmn")
    load = Load([processes.program.port])
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        await load.progress(20)
        while not load.ledger.in_flight:
            await load.progress(1)
        begun = set(load.ledger.open)
        processes.program.signal(signal.SIGTERM)
        assert await processes.program.wait() == 0
        lost = begun & load.ledger.unanswered
        log = [(entry.get("process"), entry.get("event")) for entry in processes.program.entries()]
        await processes.restart()
        await load.stop_creating()
        await settled(database)
        nursery.cancel_scope.cancel()
    assert begun
    assert lost == set()
    assert {process for process, event in log if event == "leading the partition"} == {"1"}
    engine_stops = log.index(("1", "stopping: finishing open requests"))
    assert ("2", "stopping: finishing open requests") in log[:engine_stops]
    assert "2" not in [process for process, _event in log[engine_stops:]]
    print(f"{await audit(database, load.ledger)} instances; {load.ledger}")


@pytest.mark.long
async def test_a_second_signal_ends_all_at_once(two):
    """One of them does not react, so that waiting for it would take long."""
    pids = await two.pids()
    psutil.Process(pids[0]).suspend()
    two.program.signal(signal.SIGTERM)
    await gone(pids[1:])
    await trio.sleep(0.3)  # signals within 0.2 s count as one
    two.program.signal(signal.SIGTERM)
    await two.program.wait(within_s=15)
    await gone(pids)


@pytest.mark.long
async def test_processes_that_die_again_and_again_end_the_program(start):
    processes = start(2, VIVERO_SUPERVISION_MAX_DEATHS="1")
    await processes.restart()
    for _ in range(2):
        [first, _second] = await processes.pids()
        psutil.Process(first).kill()
        await gone([first])
    assert await processes.program.wait() == 70
    last = processes.program.said().splitlines()[-1]
    assert last == "Error: 2 failures within 60 s, the last one in process 1: it was ended by SIGKILL"


async def test_more_connections_than_postgresql_grants_are_refused(start):
    processes = start(5, VIVERO_DATABASE_POOL_SIZE="8")
    processes.program.start()
    assert await processes.program.wait() == 1
    last = processes.program.said().splitlines()[-1]
    expected = (
        r"Error: 5 processes need at least 85 connections to PostgreSQL, and (\d+) are free "
        r"\(max_connections: 77(?:, (\d+) by other programs in use)?\)\. Raise"
    )
    found = re.match(expected, last)
    assert found is not None, last
    free, in_use = (int(number or 0) for number in found.groups())  # the tests have connections to this server, too
    assert free + in_use == 77


@pytest.mark.long
async def test_levels_of_single_loggers_change_at_each_process_while_it_runs(start):
    processes = start(2)
    await processes.restart()
    program = processes.program
    async with Caller(program.port) as caller:

        async def both():
            return len((await caller.call("GET", "/cluster/nodes")).json["nodes"]) == 2

        await eventually(both, "both processes are nodes")
        nodes = [node["nodeId"] for node in (await caller.call("GET", "/cluster/nodes")).json["nodes"]]

        async def set_levels(levels):
            before = len(program.logged("levels of loggers were changed"))
            for node in nodes:
                answer = await caller.call("PUT", f"/cluster/nodes/{quote(node)}/log-levels", {"levels": levels})
                assert answer.status == 204

            async def followed():
                return len(program.logged("levels of loggers were changed")) == before + 2

            await eventually(followed, "both processes follow")

        async def asked(prefix):
            """Ask on many connections; the processes that have logged these requests."""
            for number in range(40):
                async with Caller(program.port) as other:  # each connection may meet the other process
                    await other.call("GET", "/v2/topology", headers=[("X-Request-Id", f"{prefix}-{number}")])
            lines = program.logged("request")
            return {line["process"] for line in lines if line["request_id"].startswith(f"{prefix}-")}

        assert await asked("one") == set()
        await set_levels({"vivero.api": "debug"})

        async def both_logged():
            return await asked("two") == {"1", "2"}

        await eventually(both_logged, "both processes log requests")
        assert program.logged("command appended") == program.logged("timers of a new term") == []
        await set_levels({})
        assert await asked("three") == set()
