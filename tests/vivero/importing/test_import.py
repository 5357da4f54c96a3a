"""`vivero import camunda8` from another Vivero: what comes along, what stays, and kills at every step."""

import itertools
import signal
import subprocess
import sys
import textwrap
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import httpx
import psycopg
import pytest
import trio

from tests.eventually import eventually_sync
from tests.plain_http import NO_CERTIFICATES
from tests.server_objects import new_database
from tests.vivero.cli.commands import at, good, lines
from tests.vivero.conftest import programs, serve
from vivero.client.rest import Client
from vivero.importing import camunda8
from vivero.importing.ledger import Ledger
from vivero.importing.steps import copy_tag

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]
MODEL = Path(__file__).with_name("moving.bpmn")
SOURCE = "0e1d7a52-5a0c-4d0f-8a35-6f7f1b1c2d3e"
"""The id of the source's cluster."""


class Cluster:
    """A server, and short names for what tests ask of it."""

    def __init__(self, address) -> None:
        self.address = address
        self._http = httpx.Client(base_url=f"{address}/v2", timeout=60, verify=NO_CERTIFICATES)

    def close(self):
        self._http.close()

    def __call__(self, method, path, body=None) -> dict:
        answer = self._http.request(method, path, json=body)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else {}

    def search(self, resource, **filter):
        return self("POST", f"/{resource}/search", {"filter": filter})["items"]

    def start(self, **variables):
        made = self("POST", "/process-instances", {"processDefinitionId": "moving", "variables": variables})
        return made["processInstanceKey"]

    def work(self, type, **variables):
        """Do all jobs of a type."""
        taken = self("POST", "/jobs/activation", {"type": type, "maxJobsToActivate": 9, "timeout": 60_000})["jobs"]
        for job in taken:
            self("POST", f"/jobs/{job['jobKey']}/completion", {"variables": variables})
        return len(taken)

    def state(self, key):
        return self("GET", f"/process-instances/{key}")["state"]

    def active(self, key):
        found = self.search("element-instances", processInstanceKey=key, state="ACTIVE")
        return sorted(one["elementId"] for one in found)


@pytest.fixture(scope="module")
def clusters(postgres_dsn, template_database, tmp_path_factory):
    """A source and a target, which are clusters of their own."""
    copy = f"TEMPLATE {template_database} STRATEGY file_copy"
    with (
        new_database(postgres_dsn, "source", copy) as there,
        new_database(postgres_dsn, "target", copy) as here,
        programs(tmp_path_factory.mktemp("clusters")) as start,
    ):
        with psycopg.connect(there) as fresh:
            fresh.execute("UPDATE cluster SET cluster_id = %s", (SOURCE,))
        with closing(Cluster(serve(start, there).address)) as a, closing(Cluster(serve(start, here).address)) as b:
            yield [a, b]


@pytest.fixture
def source(clusters):
    return clusters[0]


@pytest.fixture
def target(clusters):
    return clusters[1]


@pytest.fixture
def copy(source, target, tmp_path):
    """The command with `--apply`, and with a ledger of this test."""
    ledger = str(tmp_path / "ledger")
    given = "import", "camunda8", "--from", source.address, "--settle", "0", "--ledger", ledger, "--apply"
    return lambda *more: at(target.address)(*given, *more)


@pytest.fixture(scope="module", autouse=True)
def deployed(clusters):
    good(at(clusters[0].address)("deploy", str(MODEL)))


def copies(target, key):
    return target.search("process-instances", tags=[copy_tag(SOURCE, key)])


def copied(target, key):
    (found,) = copies(target, key)
    return found["processInstanceKey"]


@pytest.fixture(autouse=True)
def emptied(clusters):
    """Each test leaves nothing that runs."""
    yield
    for cluster in clusters:
        for one in cluster.search("process-instances", state={"$in": ["ACTIVE", "SUSPENDED"]}):
            cluster("POST", f"/process-instances/{one['processInstanceKey']}/cancellation", {})


DUE = "2040-01-02T03:04:05.000Z"


def test_what_can_come_along_does_so_and_the_rest_stays(source, target, copy):
    pay, fork, joined, each, inner = (source.start(order=n, path=path) for n, path in enumerate(PATHS))
    assert source.work("pack") == len(PATHS)
    packed = source.start(order=7, path="pay", exact=12345678901234567)
    leased = source.start(order=8, path="pay")
    jobs = source("POST", "/jobs/activation", {"type": "pack", "maxJobsToActivate": 9, "timeout": 600_000})["jobs"]
    for job in jobs:
        if job["processInstanceKey"] == packed:
            source("POST", f"/jobs/{job['jobKey']}/failure", {"retries": 2})
    (timer,) = source.search("timers", processInstanceKey=pay)
    source("PATCH", f"/timers/{timer['timerKey']}", {"dueDate": DUE})
    tasks = {one["processInstanceKey"]: one["userTaskKey"] for one in source.search("user-tasks", state="CREATED")}
    source("POST", f"/user-tasks/{tasks[fork]}/assignment", {"assignee": "ada"})
    source("PATCH", f"/user-tasks/{tasks[fork]}", {"changeset": {"priority": 71, "candidateGroups": ["sales"]}})
    source("POST", f"/user-tasks/{tasks[joined]}/completion", {})
    eventually_sync(lambda: source.active(joined) == ["print"], "the task is done")

    said = good(at(target.address)("import", "camunda8", "--from", source.address, "--json"))
    *found, total = lines(said)
    assert total == {"total": 7, "comes": 4, "stays": 3}
    reasons = {one["processInstanceKey"]: one["reasons"] for one in found}
    assert {key: reasons[key] for key in (pay, fork, inner, packed)} == {pay: [], fork: [], inner: [], packed: []}
    assert reasons[joined] == ["tokens may wait at 'join', and the source does not tell"]
    assert reasons[each] == ["'each': its inner instances cannot be started one by one"]
    assert reasons[leased][0].startswith("the worker '' has the job ")
    assert target.search("process-instances", state="ACTIVE") == []
    assert {source.state(key) for key in reasons} == {"ACTIVE"}

    result = copy()
    assert result.exit_code == 1
    assert result.stderr == "Error: 3 of 7 instances stay in the source\n"
    assert {source.state(key) for key in (pay, fork, inner, packed)} == {"TERMINATED"}
    assert {source.state(key) for key in (joined, each, leased)} == {"ACTIVE"}
    active = {key: target.active(copied(target, key)) for key in (pay, fork, inner, packed)}
    assert active == {pay: ["payment"], fork: ["check", "print"], inner: ["inner", "sign"], packed: ["pack"]}
    (timer,) = target.search("timers", processInstanceKey=copied(target, pay))
    assert timer["dueDate"] == DUE
    (task,) = target.search("user-tasks", processInstanceKey=copied(target, fork))
    assert (task["assignee"], task["priority"], task["candidateGroups"]) == ("ada", 71, ["sales"])
    values = target.search("variables", processInstanceKey=copied(target, packed))
    assert {one["name"]: one["value"] for one in values} == {
        "exact": "12345678901234567",
        "order": "7",
        "path": '"pay"',
    }
    target("POST", "/messages/publication", {"name": "paid", "correlationKey": "0", "timeToLive": 60_000})
    eventually_sync(lambda: target.state(copied(target, pay)) == "COMPLETED", "the message has reached the copy")
    assert {one for key in (joined, each, leased) for one in copies(target, key)} == set()


PATHS = "pay", "fork", "fork", "each", "inner"


class Killed(BaseException):
    """The program ends."""


class Dying(httpx.AsyncBaseTransport):
    """Ends the program before or after the request with a number, of those that change something."""

    def __init__(self, countdown, *, after, end) -> None:
        self._countdown, self._after, self._end = countdown, after, end
        self._real = httpx.AsyncHTTPTransport(verify=NO_CERTIFICATES)

    async def handle_async_request(self, request):
        path = request.url.path
        changes = request.method == "PATCH" or not path.endswith(("/search", "/xml", "/topology", "/v2"))
        turn = next(self._countdown) if changes and request.method != "GET" else None
        if turn == 0 and not self._after:
            self._end()
        response = await self._real.handle_async_request(request)
        if turn == 0 and self._after:
            await response.aread()
            self._end()
        return response

    async def aclose(self):
        await self._real.aclose()


def once(source, target, ledger, *, number, after, suspends=True, end=None):
    """One run, which ends at the request with this number."""

    def die():
        raise Killed

    async def work():
        countdown = itertools.count(-number)
        there = Client(source, transport=Dying(countdown, after=after, end=end or die), credentials="")
        here = Client(target, transport=Dying(countdown, after=after, end=end or die), credentials="")
        async with there, here:
            with Ledger(ledger, there.address, here.address) as written:
                now = partial(datetime.now, UTC)
                await camunda8.run(there, here, written, lambda _: None, now, suspends=suspends, settle_s=0)

    trio.run(work)


NEVER = 1_000


@pytest.mark.long
@pytest.mark.parametrize(
    ("after", "suspends"), [(False, True), (True, True), (True, False)], ids=["before", "after", "workers stopped"]
)
def test_kills_at_every_step(source, target, tmp_path, after, suspends):
    once(source.address, target.address, tmp_path / "first", number=NEVER, after=after)  # deploys
    number, ended = 0, False
    while not ended:
        key = source.start(order=f"{suspends}{after}{number}", path="pay")
        source.work("pack")
        run = partial(once, source.address, target.address, tmp_path / "ledger", after=after, suspends=suspends)
        try:
            run(number=number)
            ended = True
        except Killed:
            number += 1
            if suspends and copies(target, key):
                assert source.state(key) in ("SUSPENDED", "TERMINATED")
        run(number=NEVER)
        assert source.state(key) == "TERMINATED"
        assert target.active(copied(target, key)) == ["payment"]
    assert number == (4 if suspends else 3), "suspension, creation, timer and cancellation"


@pytest.mark.long
@pytest.mark.parametrize(("number", "after"), [(1, True), (3, False)], ids=["created", "not cancelled"])
def test_a_killed_process(source, target, tmp_path, copy, number, after):
    key = source.start(order=f"killed {number}", path="pay")
    source.work("pack")
    code = f"""
    import os, signal
    from pathlib import Path
    from tests.vivero.importing.test_import import once
    die = lambda: os.kill(os.getpid(), signal.SIGKILL)
    ledger = Path({str(tmp_path / "ledger")!r})
    once({source.address!r}, {target.address!r}, ledger, number={number}, after={after}, end=die)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    assert source.state(key) == "SUSPENDED"
    (before,) = copies(target, key)
    assert good(copy()).startswith(f"copied {key} to {before['processInstanceKey']}")
    assert source.state(key) == "TERMINATED"
    assert copied(target, key) == before["processInstanceKey"]


def test_a_lost_ledger_makes_no_second_copy(source, target, tmp_path):
    key = source.start(order="lost", path="pay")
    with pytest.raises(Killed):
        once(source.address, target.address, tmp_path / "one", number=NEVER_CANCELLED, after=False)
    assert source.state(key) == "SUSPENDED"
    source("POST", f"/process-instances/{key}/resumption", {})
    once(source.address, target.address, tmp_path / "two", number=NEVER, after=False)
    assert source.state(key) == "TERMINATED"
    copied(target, key)


NEVER_CANCELLED = 2
"""The cancellation: suspension and creation come before it."""
