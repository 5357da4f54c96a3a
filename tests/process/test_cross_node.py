"""Clients of one node, and work done by another: outcomes, ends and jobs arrive by NOTIFY, and without it by polling.

Node A has the role `api`. Node B leads. Each test runs with notifications, with a listener that loses its connection
again and again, and with a network that swallows all notifications. The tests print latencies, of which
benchmarks/results/figures.md has a table:

    VIVERO_ROUND_TRIPS=60 make test WORKERS=0 ARGS="-s tests/process/test_cross_node.py"
"""

import os

import psycopg
import pytest
import trio

from tests.process.http_client import Caller
from tests.process.load import deploy
from tests.proxies import Proxy

TIMES = int(os.environ.get("VIVERO_ROUND_TRIPS") or 6)
WAITERS = 1_000
KILLS_EVERY_S = 0.3
CREATE = ("POST", "/v2/process-instances")
POLL = ("POST", "/v2/jobs/activation")
ONE = {"processDefinitionId": "one-task"}
AWAITED = ONE | {"awaitCompletion": True, "requestTimeout": 60_000}
ASK = {"type": "work", "timeout": 60_000, "maxJobsToActivate": 1, "requestTimeout": 30_000}
LISTENERS = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'vivero:listener' AND datname = current_database()"""


class Nodes:
    """Node A, which serves clients, and node B, which leads."""

    def __init__(self, a, b, mode) -> None:
        self.a, self.b, self.mode = a, b, mode

    def report(self, what, seconds):
        assert len(seconds) > 0
        ordered = sorted(seconds)
        p50, p99 = (1000 * ordered[int(len(ordered) * share)] for share in (0.5, 0.99))
        print(f"{self.mode:<11} {what:<30} n={len(ordered):<5} p50 {p50:7.1f} ms  p99 {p99:7.1f} ms")


@pytest.fixture(params=["notify", "terminated", "swallowed"])
async def nodes(request, make_program, database, unsafe):
    """Both programs, with the fault of this parameter at A's notifications."""
    proxy = Proxy()
    proxy.by_message = True
    async with trio.open_nursery() as nursery:
        await nursery.start(proxy.serve)
        b = make_program("--database-url", database, name="b", environment=unsafe)
        await b.restart()
        many = unsafe | {"VIVERO_HTTP_MAX_CONNECTIONS": "4000", "VIVERO_API_MAX_WAITING": "3000"}
        a = make_program("--database-url", proxy.dsn(database), "--roles", "api", name="a", environment=many)
        await a.restart()
        await deploy(a.port, "one_task.bpmn", "straight.bpmn")
        if request.param == "terminated":
            nursery.start_soon(terminate_listeners, database)
        proxy.deaf = request.param == "swallowed"
        yield Nodes(a, b, request.param)
        a.end()
        b.end()
        nursery.cancel_scope.cancel()


async def terminate_listeners(dsn):
    with psycopg.connect(dsn, autocommit=True) as connection:
        while True:
            connection.execute(LISTENERS)
            await trio.sleep(KILLS_EVERY_S)


async def timed(seconds, call):
    began = trio.current_time()
    answer = await call
    seconds.append(trio.current_time() - began)
    return answer


@pytest.mark.long
async def test_outcomes_at_another_node(nodes):
    """A creation at A, which B processes; and one that awaits the end, which comes in the same batch."""
    outcomes, ends = [], []
    async with Caller(nodes.a.port) as caller:
        for _ in range(TIMES):
            answer = await timed(outcomes, caller.call(*CREATE, ONE))
            assert answer.status == 200, answer
            answer = await timed(ends, caller.call(*CREATE, {**AWAITED, "processDefinitionId": "straight"}))
            assert answer.status == 200, answer
    nodes.report("creation", outcomes)
    nodes.report("creation that awaits the end", ends)


@pytest.mark.long
async def test_jobs_and_ends_at_another_node(nodes):
    """A worker polls at A, and B makes the job; the worker completes at B, and the end is awaited at A."""
    jobs, ends, moments = [], [], {}

    async def poll(worker, found):
        found.append((await worker.call(*POLL, ASK)).json["jobs"][0]["jobKey"])
        jobs.append(trio.current_time() - moments["created"])

    async def await_end(client):
        moments["created"] = trio.current_time()
        answer = await client.call(*CREATE, AWAITED)
        assert (answer.status, answer.json["variables"]) == (200, {"done": True})
        ends.append(trio.current_time() - moments["completed"])

    async with Caller(nodes.a.port) as worker, Caller(nodes.a.port) as client, Caller(nodes.b.port) as other:
        for _ in range(TIMES // 2):
            async with trio.open_nursery() as waiting:
                found = []
                async with trio.open_nursery() as polling:
                    polling.start_soon(poll, worker, found)
                    waiting.start_soon(await_end, client)
                moments["completed"] = trio.current_time()
                done = await other.call("POST", f"/v2/jobs/{found[0]}/completion", {"variables": {"done": True}})
                assert done.status == 204
    nodes.report("job for a waiting worker", jobs)
    nodes.report("end of an awaited instance", ends)


@pytest.mark.long
async def test_a_worker_at_another_node_leaves(nodes):
    """The job that B made for it is not lost, and another worker does not wait for the end of its lease."""
    for _ in range(4):
        with trio.move_on_after(0.2):
            async with Caller(nodes.a.port) as leaving:
                await leaving.call(*POLL, ASK)
        async with Caller(nodes.b.port) as caller, Caller(nodes.a.port) as worker:
            created = (await caller.call(*CREATE, ONE)).json["processInstanceKey"]
            with trio.fail_after(20):  # its lease is 60 s
                [job] = (await worker.call(*POLL, ASK)).json["jobs"]
            assert job["processInstanceKey"] == created
            assert (await worker.call("POST", f"/v2/jobs/{job['jobKey']}/completion", {})).status == 204


@pytest.mark.long
async def test_many_waiters_at_another_node(nodes):
    """A thousand clients of A await their instances, and workers at B complete the jobs."""
    answers, seconds = [], []

    async def create(number):
        async with Caller(nodes.a.port) as caller:
            body = AWAITED | {"variables": {"number": number}, "requestTimeout": 120_000}
            answer = await caller.call(*CREATE, body, within_s=150)
        assert answer.status == 200, answer
        answers.append((number, answer.json["variables"]["number"]))
        seconds.append(trio.current_time() - began)

    async def work():
        async with Caller(nodes.b.port) as worker:
            while True:
                answer = await worker.call(*POLL, ASK | {"maxJobsToActivate": 20, "requestTimeout": 1_000})
                for job in answer.json["jobs"]:
                    await worker.call("POST", f"/v2/jobs/{job['jobKey']}/completion", {})

    async with trio.open_nursery() as nursery:
        async with trio.open_nursery() as clients:
            began = trio.current_time()
            for number in range(WAITERS):
                clients.start_soon(create, number)
                if number % 20 == 0:
                    await trio.sleep(0.05)
            for _ in range(4):
                nursery.start_soon(work)
        nursery.cancel_scope.cancel()
    assert sorted(answers) == [(number, number) for number in range(WAITERS)]
    nodes.report("all of 1,000 waiting clients", seconds)


async def test_writes_are_redirected_to_the_leader(make_program, database, unsafe):
    """By setting. The leader serves the request, and an idempotency key has one effect at both nodes."""
    b = make_program("--database-url", database, name="b", environment=unsafe)
    await b.restart()
    redirecting = unsafe | {"VIVERO_API_REDIRECT_TO_LEADER": "true"}
    a = make_program("--database-url", database, "--roles", "api", name="a", environment=redirecting)
    await a.restart()
    await deploy(b.port, "one_task.bpmn")
    key = [("Idempotency-Key", "once")]
    async with Caller(a.port) as one, Caller(b.port) as other:
        answer = await one.call(*CREATE, ONE, headers=key)
        assert answer.status == 307
        address, _, target = answer.headers["location"].partition("/v2/")
        assert address == f"http://127.0.0.1:{b.port}"
        first = await other.call("POST", f"/v2/{target}", ONE, headers=key)
        again = await one.call("POST", f"/v2/{target}", ONE, headers=key)  # it would serve it, too
        assert (first.status, again.status) == (200, 200)
        assert first.json["processInstanceKey"] == again.json["processInstanceKey"]
        assert (await one.call("POST", "/v2/process-instances/search", {})).json["page"]["totalItems"] == 1
