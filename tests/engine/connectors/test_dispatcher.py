"""The task: from a job of the engine to a call and back, over restarts, stops and lost leases."""

import pickle
from types import SimpleNamespace

import msgspec
import pytest
import trio

from tests.engine.connectors.dispatching import RESULT, calling, ended, running
from tests.engine.connectors.http_calls import HTTP_TYPE
from tests.eventually import eventually
from vivero.core.records.instances import CancelInstance
from vivero.core.records.jobs import CompleteJob, FailJob, WithholdJob
from vivero.engine.compute.problems import Busy, TooCostly
from vivero.engine.connectors.dispatcher import ConnectorDispatcher
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.outbound.own_commands import OwnCommands
from vivero.engine.connectors.outbound.surroundings import NodeParts
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.connectors.work.job_commands import concluded
from vivero.engine.connectors.work.jobs import ConnectorJob
from vivero.engine.connectors.work.leases import HeldJob, JobLeases, Taken
from vivero.engine.outcomes.admission import NotAppended
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.storage.background import connectors


def model(url, headers="", more=None, retries=2):
    return calling(HTTP_TYPE, {"url": url, **(more or {})}, headers, retries)


async def test_jobs_are_worked(engine, dispatcher, server):
    await engine.deploy(model(f"{server.url}/{{{{secrets.KEY}}}}", RESULT))
    async with running(dispatcher(max_concurrent=4)):
        await engine.create(count=30)
        await ended(engine, 30)
    assert {request.target for request in server.received} == {"/canary-secret"}
    assert len(server.received) == 30
    assert await engine.value("SELECT count(*) FROM variables WHERE name = 'r' AND value LIKE '%ok%'") == 30


async def test_jobs_that_wait_at_the_start_are_worked(engine, dispatcher, server):
    await engine.deploy(model(server.url))
    await engine.create()
    async with running(dispatcher()):
        await ended(engine, 1)


async def test_with_tenants_all_that_have_jobs_are_looked_for(engine, dispatcher, server, connection):
    await engine.deploy(model(server.url))
    await engine.create()
    assert await connectors.waiting(connection, ["other", HTTP_TYPE]) == {(HTTP_TYPE, "<default>")}
    async with running(dispatcher(multi_tenancy=True)):
        await ended(engine, 1)
    assert await connectors.waiting(connection, [HTTP_TYPE]) == set()


class Elsewhere:
    """Does tasks as a compute process does: nothing but pickles goes in and comes out."""

    def __init__(self, failure=None) -> None:
        self.kinds, self._failure = [], failure

    async def call(self, kind, work, *arguments):
        self.kinds.append(kind)
        if self._failure is not None:
            raise self._failure
        work, arguments = pickle.loads(pickle.dumps((work, arguments)))
        return pickle.loads(pickle.dumps(work(*arguments)))


SLOW = "={n: count(for i in items return i.a / 7)}"
OF_ERROR = SLOW[1:].replace("items", "error.variables.items")
MANY = f"={{{', '.join(f'a{number}: items' for number in range(400))}}}"
ITEMS = {"items": [{"a": number} for number in range(6000)]}


@pytest.mark.parametrize(
    ("expression", "answer", "is_heavy"),
    [
        ("={n: count(items)}", ITEMS, False),
        (SLOW, ITEMS, True),
        ("=[", ITEMS, False),
        ("={r: items}", ITEMS, True),
        (MANY, ITEMS, True),
        ("=null", ConnectorError("500", "Oops", {"b": 1}, True, 7), False),
        (f"=if {OF_ERROR}.n = 6000 then jobError(error.code) else null", ConnectorError("500", "No", ITEMS), True),
        (
            f"=if {OF_ERROR}.n = 0 then jobError(error.code) else null",
            ConnectorError("500", "No", ITEMS, True, 7),
            True,
        ),
    ],
)
async def test_what_is_not_quick_is_evaluated_elsewhere_with_the_same_result(expression, answer, is_heavy):
    """A stranger's answer decides how long it takes. `MANY` took 3 s in the event loop."""
    header = "errorExpression" if isinstance(answer, ConnectorError) else "resultExpression"
    job = ConnectorJob("7", HTTP_TYPE, "call", "1", "t", 3, {header: expression}, msgspec.Raw(b'{"x":1}'), "lease")
    elsewhere = Elsewhere()
    made = await concluded(job, answer, elsewhere)
    assert (made, len(elsewhere.kinds)) == (await concluded(job, answer, None), int(is_heavy))
    if expression == MANY:
        assert isinstance(made, FailJob)
        assert "the result cannot be stored" in str(made.message)


async def test_an_answer_that_is_here_is_not_lost_with_the_compute_processes():
    job = ConnectorJob("7", HTTP_TYPE, "call", "1", "t", 3, {"resultExpression": SLOW}, msgspec.Raw(b"{}"), "lease")
    made = await concluded(job, ITEMS, Elsewhere(Busy("full")))
    assert (type(made), made.variables) == (CompleteJob, {"n": msgspec.Raw(b"6000")})
    refused = await concluded(job, ITEMS, Elsewhere(TooCostly("30 s")))
    assert isinstance(refused, FailJob)
    assert (refused.retries, refused.message) == (0, "TOO_COSTLY: the expressions of the element take 30 s")


JOBS = """
    INSERT INTO jobs (job_key, root_key, process_instance_key, element_instance_key, path, process_definition_key,
        process_id, process_version, element_id, type, kind, listener_event, listener_index, state, retries, priority,
        headers, tags, tenant_id, created_at, updated_at, ready, available_at)
    SELECT ascii(tenant) * 10 + n, 1, 1, 2, '{2,1}', 9, 'p', 1, 'task', 'work', 'BPMN_ELEMENT', 'UNSPECIFIED', 0,
        'CREATED', 3, 0, '{}', '{}', tenant, now(), now(), ready, until
    FROM generate_series(1, 3) n,
        (VALUES ('a', true, NULL::timestamptz), ('b', false, now()), ('c', false, NULL), ('d', true, NULL))
        AS tenants (tenant, ready, until)
"""
"""The jobs of the tenant c wait for the resolution of an incident."""


async def test_tenants_are_found_however_their_jobs_wait(connection):
    await connection.execute(JOBS)
    assert await connectors.waiting(connection, ["work"]) == {("work", tenant) for tenant in "abd"}


async def test_tenants_take_turns_at_the_last_place(monkeypatch):
    """Both have more jobs than there are places. A call that begins runs until the test ends it."""
    taken, running = [], []
    parts = NodeParts(ConnectorSettings(enabled=True, max_concurrent=1), SimpleNamespace(appender=None))
    dispatcher = ConnectorDispatcher(None, parts, {}, multi_tenancy=True)

    async def waiting(_connection, _types):
        return {(HTTP_TYPE, "a"), (HTTP_TYPE, "b")}

    async def take(_connection, type, tenant, *_):
        taken.append(tenant)
        dispatcher.leases.held[1] = HeldJob(None, 60, trio.CancelScope())
        return Taken([ConnectorJob("1", type, "call", "1", tenant, 1, {}, msgspec.Raw(b"{}"), "lease")])

    monkeypatch.setattr(connectors, "waiting", waiting)
    monkeypatch.setattr(JobLeases, "take", lambda _, *given: take(*given))
    nursery = SimpleNamespace(start_soon=lambda _work, _job, kind, *_: running.append(kind))
    for _ in range(4):
        await dispatcher.run_once(None, nursery)
        running.pop().running = 0
    assert taken == ["a", "b", "a", "b"]


async def test_calls_are_bounded(engine, dispatcher, server):
    now, most, go = [0], [0], trio.Event()

    async def answer(_request):
        now[0] += 1
        most[0] = max(most[0], now[0])
        if most[0] == 3:
            go.set()
        await go.wait()
        now[0] -= 1
        return 200, {}, {}

    server.answer = answer
    await engine.deploy(model(server.url))
    async with running(dispatcher(max_concurrent=3)):
        await engine.create(count=10)
        await ended(engine, 10)
    assert most == [3]
    reports = await engine.rows(
        "SELECT convert_from(payload, 'UTF8')::json ->> 'by_program' FROM command_log WHERE intent = 'JOB:COMPLETE'"
    )
    assert reports == [("true",)] * 10, "a held tree refuses none, because nobody would repeat it"


async def test_long_calls_hold_no_free_places_back(engine, dispatcher, server):
    """Half of the places are taken for ever, and one job after the other comes."""
    gate, both, held = trio.Event(), trio.Event(), []

    async def answer(request):
        if not both.is_set():
            held.append(request)
            if len(held) == 2:
                both.set()
            await gate.wait()
        return 200, {}, {}

    server.answer = answer
    await engine.deploy(model(server.url))
    async with running(dispatcher(max_concurrent=4)):
        await engine.create(count=2)
        with trio.fail_after(20):
            await both.wait()
        for number in range(3):
            await engine.create()
            await ended(engine, number + 1)
        gate.set()
        await ended(engine, 5)


async def test_a_failed_call_is_repeated_and_becomes_an_incident(engine, dispatcher, server):
    server.answer = lambda _: (503, {}, {})
    await engine.deploy(model(server.url))
    async with running(dispatcher()):
        await engine.create()
        await engine.until_value(1, "SELECT count(*) FROM incidents")
    assert len(server.received) == 2
    assert await engine.value("SELECT message FROM incidents") == "503: Service Unavailable"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://169.254.169.254/latest", "FORBIDDEN_ADDRESS: 169.254.169.254 is not a public address"),
        ("http://127.0.0.1/{{secrets.NONE}}", "UNKNOWN_SECRET: there is no secret 'NONE'"),
    ],
)
async def test_an_error_of_the_model_is_an_incident_at_once(engine, dispatcher, url, said):
    await engine.deploy(model(url))
    async with running(dispatcher()):
        await engine.create()
        await engine.until_value(1, "SELECT count(*) FROM incidents")
    assert said in await engine.value("SELECT message FROM incidents")


async def test_secrets_stand_only_where_the_author_wrote_them(engine, dispatcher, server):
    """Data that looks like a reference stays data: joined to one, in other inputs, or instead of an input."""
    source = "=&#34;{{secrets.KEY}} {{&#34; + x + &#34;{{secrets.KEY}}&#34;"
    more = {"body": source, "method": "post"}
    data = "{{secrets.KEY}} {{secrets.OTHER}}"
    await engine.deploy(model(f"{server.url}/{{{{secrets.KEY}}}}", more=more))
    async with running(dispatcher()):
        await engine.create(x=data, queryParameters={"q": data})
        await ended(engine, 1)
    [request] = server.received
    assert request.body.decode() == "canary-secret {{" + data + "canary-secret"
    assert request.target.startswith("/canary-secret?q=%7B%7Bsecrets.KEY%7D%7D")


async def test_secrets_are_nowhere_in_the_database_and_the_log(engine, dispatcher, server, capfd):
    """A server that echoes, one that fails, and one that is not there: no table and no row has a secret."""
    bodies = iter([(200, {}, b"canary-secret"), (500, {}, b"canary-secret"), (404, {}, {"canary-secret": 1})])
    server.answer = lambda _: next(bodies, (200, {}, {}))
    await engine.deploy(model(f"{server.url}/{{{{secrets.KEY}}}}", RESULT, retries=4))  # one may fail twice
    async with running(dispatcher(max_concurrent=1)):
        await engine.create(count=3)
        await ended(engine, 3)
    for (table,) in await engine.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"):
        found = await engine.value(f"SELECT count(*) FROM {table} AS t WHERE t::text LIKE '%canary-secret%'")
        assert found == 0, table
    assert "canary-secret" not in "".join(capfd.readouterr())
    assert len(server.received) == 5


async def test_a_stop_hands_unfinished_jobs_back(engine, dispatcher, server):
    begun = trio.Event()

    async def never(_request):
        begun.set()
        await trio.sleep_forever()

    server.answer = never
    await engine.deploy(model(server.url))
    async with trio.open_nursery() as nursery:
        stopping = dispatcher(drain="PT0S")
        nursery.start_soon(stopping.run, Beat(SupervisionSettings()))
        await engine.create()
        await begun.wait()
        stopping.drain()
    assert await engine.value("SELECT ready AND returned FROM jobs") is True
    server.answer = lambda _: (200, {}, {})
    async with running(dispatcher()):
        await ended(engine, 1)


async def test_a_call_that_was_cut_off_is_made_again(engine, dispatcher, server):
    begun = trio.Event()

    async def never(_request):
        begun.set()
        await trio.sleep_forever()

    server.answer = never
    await engine.deploy(model(server.url))
    made = dispatcher()
    async with running(made):
        await engine.create()
        await begun.wait()
    server.answer = lambda _: (200, {}, {})
    async with running(made):
        await ended(engine, 1)
    assert len(server.received) == 2


def post(times, size):
    """Mappings that make a large body."""
    source = f"=string join(for i in 1..{times} return &#34;{'x' * size}&#34;)"
    return {"method": "post", "body": source}


async def test_a_large_job_is_worked(engine, dispatcher, server):
    await engine.deploy(model(server.url, more=post(1000, 500)))
    async with running(dispatcher()):
        await engine.create()
        await ended(engine, 1)
    assert len(server.received[0].body) == 500_000


async def test_a_job_that_is_too_large_is_withheld_and_those_behind_it_are_worked(
    engine, dispatcher, server, monkeypatch
):
    """Also if its command is appended late, and although nobody announces the others again."""
    monkeypatch.setattr("vivero.engine.connectors.work.leases.MAX_JOB_BYTES", 100_000)
    monkeypatch.setattr("vivero.engine.connectors.dispatcher.PAUSE_S", 0.01)
    attempt, attempts = OwnCommands.attempt, []

    async def fails_at_first(self, item, on_append):
        if isinstance(item.command, WithholdJob):
            attempts.append(item)
            if len(attempts) < 3:
                raise NotAppended("not now")
        return await attempt(self, item, on_append)

    monkeypatch.setattr(OwnCommands, "attempt", fails_at_first)
    await engine.deploy(model(server.url, more=post(1000, 500)), calling(HTTP_TYPE, {"url": server.url}, id="small"))
    await engine.create()
    await engine.create("small")
    async with running(dispatcher()):
        await ended(engine, 1)
    assert await engine.value("SELECT max(type::text) FROM incidents") == "MESSAGE_SIZE_EXCEEDED"
    assert len(attempts) == 3
    assert len(server.received) == 1


@pytest.fixture
async def held(engine, dispatcher, server):
    """A dispatcher whose call gets no answer, while `begun` is set; the header `jobTimeout` asks for an hour."""
    begun = trio.Event()

    async def never(_request):
        begun.set()
        await trio.sleep_forever()

    server.answer = never
    await engine.deploy(model(server.url, '<zeebe:header key="jobTimeout" value="PT1H"/>'))
    made = dispatcher()
    async with running(made):
        await engine.create()
        await begun.wait()
        yield made


LEFT = "SELECT extract(epoch FROM available_at - clock_now())::int / 60 FROM jobs"


async def test_a_lease_lasts_as_long_as_the_header_says_and_is_renewed(engine, held):
    assert await engine.value(LEFT) in (59, 60)
    await engine.connection.execute("UPDATE jobs SET available_at = clock_now() + interval '1 minute'")
    (job,) = held.leases.held.values()
    job.renew_at = trio.current_time()
    held.wake()
    await eventually(lambda: engine.value(LEFT), accept=lambda minutes: minutes in (59, 60))


async def test_a_call_ends_when_its_job_is_gone(engine, held):
    (job,) = held.leases.held.values()
    await engine.run(CancelInstance(await engine.value("SELECT process_instance_key FROM jobs")))
    await ended(engine, 1)
    job.renew_at = trio.current_time()
    held.wake()
    await eventually(lambda: held.running, accept=lambda running: running == 0)
    assert job.is_gone
    assert await engine.value("SELECT count(*) FROM command_log WHERE intent = 'JOB:FAIL'") == 0
    assert held.leases.held == {}


@pytest.mark.parametrize("timeout", ["PT0S", "soon"])
async def test_a_lease_that_is_none_is_an_incident(engine, dispatcher, server, timeout):
    await engine.deploy(model(server.url, f'<zeebe:header key="jobTimeout" value="{timeout}"/>'))
    async with running(dispatcher()):
        await engine.create()
        await engine.until_value(1, "SELECT count(*) FROM incidents")
    assert "INVALID_INPUT: the task header jobTimeout" in await engine.value("SELECT message FROM incidents")
    assert server.received == []
