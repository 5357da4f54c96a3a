"""Instances over HTTP: awaiting their end, whichever way it comes, and the documents of what is read."""

from dataclasses import replace
from typing import Any

import pytest
import trio

from tests.eventually import eventually
from vivero.api.admission.waits import Waits
from vivero.api.http.shared_budget import SharedBudget
from vivero.api.search import search_requests
from vivero.core.records.instances import InstanceReply
from vivero.engine.outcomes.admission import Overloaded
from vivero.engine.outcomes.waiters import InstanceEnd
from vivero.storage.postgres.errors import ConnectFailed
from vivero.storage.reads import single_reads

KEY = 2251799813685249
REPLY = InstanceReply(KEY, KEY + 1, "order", 1, "<default>", (), "b")
CREATE = {"processDefinitionId": "order", "awaitCompletion": True, "requestTimeout": 20_000}


class FakeEnd:
    """An end that the test decides on; `registered` when somebody waits for it."""

    def __init__(self) -> None:
        self.registered = trio.Event()
        self.left = False
        self.value = None
        self.send: Any = None

    def register(self, _key, send):
        self.send = send
        if self.value is not None:
            send.send_nowait(self.value)
        self.registered.set()
        return self

    def tell(self, end):
        self.send.send_nowait(end)

    def __enter__(self) -> "FakeEnd":
        return self

    def __exit__(self, *_) -> None:
        self.left = True


@pytest.fixture
def end(engine):
    engine.reply = REPLY
    end = FakeEnd()
    engine.register_end = end.register
    return end


def finish(rows, state="COMPLETED"):
    rows.execute("UPDATE process_instances SET ended_at = now(), state = %s", [state])


@pytest.mark.parametrize(
    ("names", "expected"), [(None, {"x": 1.5, "y": "é"}), ([], {"x": 1.5, "y": "é"}), (["y", "z"], {"y": "é"})]
)
async def test_an_end_that_is_known_costs_no_look_into_the_database(client, end, names, expected):
    """The client has no database."""
    end.value = InstanceEnd("COMPLETED", {"y": '"é"', "x": "1.50"})
    answer = await client("POST", "/v2/process-instances", CREATE | {"fetchVariables": names})
    assert (answer.status, answer.json["variables"]) == (200, expected)
    assert end.left


async def test_the_variables_of_an_end_that_is_awaited_need_no_look_either(client, end, monkeypatch):
    async def not_yet(*_):
        return None

    monkeypatch.setattr("vivero.api.routes.process_instances.read_of", not_yet)
    async with trio.open_nursery() as nursery:

        async def finish_it():
            await end.registered.wait()
            end.tell(InstanceEnd("TERMINATED", {}))

        nursery.start_soon(finish_it)
        answer = await client("POST", "/v2/process-instances", CREATE)
    assert (answer.status, answer.problem["title"]) == (409, "INVALID_STATE")


async def test_an_instance_that_has_ended_already_costs_no_wait(rows, reader, engine, end):
    rows.instance()
    rows.variable(name="x", value="1.50")
    rows.variable(KEY + 5, "y", '"é"')
    finish(rows)
    answer = await reader("POST", "/v2/process-instances", CREATE)
    assert (answer.status, answer.json["variables"]) == (200, {"x": 1.5, "y": "é"})
    assert b"1.50" in answer.body
    assert answer.json["businessId"] == "b"
    assert engine.command.awaited
    assert end.left


async def test_an_instance_is_awaited(rows, reader, end, nursery):
    rows.instance()
    rows.variable(name="x", value="1")
    rows.variable(KEY + 5, "y", "2")
    answers = []

    async def create():
        answers.append(await reader("POST", "/v2/process-instances", CREATE | {"fetchVariables": ["y", "z"]}))
        end.registered = trio.Event()

    nursery.start_soon(create)
    await end.registered.wait()
    await trio.testing.wait_all_tasks_blocked(0.05)
    assert not answers
    finish(rows)
    end.tell(InstanceEnd("COMPLETED"))
    await eventually(lambda: answers)
    assert (answers[0].status, answers[0].json["variables"]) == (200, {"y": 2})


async def test_a_cancelled_instance_is_409_with_its_key(rows, reader, end):
    rows.instance()
    finish(rows, "TERMINATED")
    answer = await reader("POST", "/v2/process-instances?wait=true&timeout=20s", {"processDefinitionId": "order"})
    assert (answer.status, answer.headers[b"command-position"]) == (409, b"1")
    problem = answer.problem
    assert (problem["title"], problem["processInstanceKey"]) == ("INVALID_STATE", str(KEY))


async def test_a_client_that_leaves_is_not_waited_for(rows, reader, end, nursery, monkeypatch):
    monkeypatch.setattr("vivero.api.routes.process_instances.UNWATCHED_S", 0)
    rows.instance()
    answers = []

    async def create():
        answers.append(await reader("POST", "/v2/process-instances", CREATE | {"requestTimeout": 3_600_000}))

    nursery.start_soon(create)
    await end.registered.wait()
    await trio.testing.wait_all_tasks_blocked(0.05)
    assert not end.left
    reader.gone.set()
    await eventually(lambda: answers)
    assert (answers, end.left) == ([None], True)


async def test_those_who_wait_are_bounded_and_nothing_is_written(services, make_client, engine, end):
    end.value = InstanceEnd("COMPLETED", {})
    waits = Waits(3)
    client = make_client(waits=waits)
    with waits.for_an_instance(), waits.for_an_instance():
        answer = await client("POST", "/v2/process-instances", CREATE)
        assert (answer.status, answer.problem["title"]) == (503, "RESOURCE_EXHAUSTED")
        assert engine.appended == []
        assert (await client("POST", "/v2/process-instances", {"processDefinitionId": "order"})).status == 200
        with waits.for_jobs(), pytest.raises(Overloaded), waits.for_jobs():
            pass
    assert (await client("POST", "/v2/process-instances", CREATE)).status == 200
    assert len(waits) == 0


@pytest.mark.parametrize(
    ("target", "body"),
    [
        ("/v2/process-instances", {"awaitCompletion": True, "requestTimeout": 30}),
        ("/v2/process-instances", {"awaitCompletion": True, "requestTimeout": "30"}),
        ("/v2/process-instances?wait=true&timeout=30ms", {}),
        ("/v2/process-instances?wait=true&timeout=30ms", {"requestTimeout": 60_000}),
        ("/v2/process-instances?wait=true", {}),
        ("/v2/process-instances", {"awaitCompletion": True, "requestTimeout": -1}),
    ],
)
async def test_an_instance_that_does_not_end_is_504_with_its_key(rows, reader, end, target, body):
    rows.instance()
    with trio.fail_after(20):
        answer = await reader("POST", target, {"processDefinitionId": "order"} | body)
    assert (answer.status, answer.headers[b"command-position"]) == (504, b"1")
    assert (answer.problem["title"], answer.problem["processInstanceKey"]) == ("DEADLINE_EXCEEDED", str(KEY))
    assert end.left


async def test_who_awaits_insists_on_it_whatever_the_servers_default(rows, reader, make_client, stored, end):
    from dataclasses import replace

    rows.instance()
    finish(rows)
    settings = replace(stored.settings, respond_async=True, response_timeout_s=20)
    client = make_client(pool=stored.reads.pool, settings=settings)
    assert (await client("POST", "/v2/process-instances", CREATE)).status == 200
    assert (await client("POST", "/v2/process-instances", {"processDefinitionId": "order"})).status == 202
    assert (await client("POST", "/v2/process-instances?wait=true", {"processDefinitionId": "order"})).status == 200


async def test_a_database_that_is_away_for_a_moment_is_waited_for(rows, reader, end, monkeypatch):
    rows.instance()
    finish(rows)
    result, failures = single_reads.result, [ConnectFailed("away"), ConnectFailed("still away")]

    async def flaky(*arguments):
        if failures:
            raise failures.pop()
        return await result(*arguments)

    monkeypatch.setattr(single_reads, "result", flaky)
    answer = await reader("POST", "/v2/process-instances", CREATE)
    assert (answer.status, failures) == (200, [])


async def test_a_creation_is_never_503_once_it_is_done(rows, reader, engine, end):
    def full(key, send):
        raise Overloaded("too many are waiting")

    engine.register_end = full
    answer = await reader("POST", "/v2/process-instances", CREATE)
    assert (answer.status, answer.problem["processInstanceKey"]) == (504, str(KEY))


async def test_a_command_is_never_503_once_it_is_appended(client, engine):
    def full(partition, position, send, number=0, appended=None):
        raise Overloaded("too many are waiting")

    engine.register = full
    answer = await client("POST", "/v2/process-instances", CREATE)
    assert (answer.status, answer.problem["title"]) == (504, "DEADLINE_EXCEEDED")


async def test_an_xml_is_served_as_it_was_deployed(rows, reader):
    rows.execute("INSERT INTO resources (sha256, bytes) VALUES ('aa', %s)", ["<é/>".encode()])
    rows.definition()
    answer = await reader("GET", f"/v2/process-definitions/{KEY}/xml")
    assert (answer.status, answer.body, answer.headers[b"content-type"]) == (200, "<é/>".encode(), b"text/xml")


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("/v2/process-definitions/5", "Process definition"),
        ("/v2/process-definitions/5/xml", "Process definition"),
        ("/v2/process-definitions/5/form", "Process definition"),
        ("/v2/process-instances/5", "Process Instance"),
        ("/v2/element-instances/5", "Element Instance"),
        ("/v2/variables/5", "Variable"),
        ("/v2/incidents/5", "Incident"),
    ],
)
@pytest.mark.harmless
async def test_what_is_not_there_is_404(rows, reader, path, what):
    answer = await reader("GET", path)
    assert (answer.status, answer.problem["title"]) == (404, "NOT_FOUND")
    assert answer.problem["detail"] == f"{what} with key '5' not found"


async def test_a_process_without_a_start_form(rows, reader):
    rows.definition()
    assert (await reader("GET", f"/v2/process-definitions/{KEY}/form")).status == 204


async def test_a_command_that_is_not_there_is_404(rows, reader):
    answer = await reader("GET", "/v2/commands/5")
    assert (answer.status, answer.problem["title"]) == (404, "NOT_FOUND")
    assert answer.problem["detail"] == "Command with position '5' not found"


async def test_a_page_that_is_too_large_is_refused(rows, make_client, stored, settings):
    client = make_client(pool=stored.reads.pool, settings=replace(settings, max_page_bytes=1000))
    for n in range(2):
        rows.variable(KEY + n, f"x{n}", '"' + "v" * 600 + '"')
    problem = (await client("POST", "/v2/variables/search")).problem
    assert (problem["status"], problem["title"]) == (400, "INVALID_ARGUMENT")
    assert "but must not have more than 1000 together: ask for fewer items at a time (page.limit)." in problem["detail"]
    assert len((await client("POST", "/v2/variables/search", {"page": {"limit": 1}})).json["items"]) == 1


@pytest.fixture
def two_large(rows, monkeypatch):
    """Two variables whose page needs a share of the budget: some 1,500 bytes."""
    monkeypatch.setattr(search_requests, "SMALL_PAGE_BYTES", 1_000)
    for n in range(2):
        rows.variable(KEY + n, f"x{n}", '"' + "v" * 600 + '"')


async def test_a_large_page_takes_a_share_of_the_memory(two_large, make_client, stored):
    pages = SharedBudget(10_000)
    client = make_client(pool=stored.reads.pool, pages=pages)
    taken, take = [], pages.wait

    async def wait(size):
        await take(size)
        taken.append(pages.used)

    pages.wait = wait
    assert len((await client("POST", "/v2/variables/search")).json["items"]) == 2
    assert 1_200 < taken[0] < 2_500
    assert (len(taken), pages.used) == (1, 0)


async def test_a_large_page_waits_for_its_share_and_is_refused_in_time(two_large, make_client, stored, settings):
    pages = SharedBudget(10_000)
    client = make_client(pool=stored.reads.pool, pages=pages, settings=replace(settings, response_timeout_s=0.2))
    with pages.share() as share:
        share.take(10_000)
        answer = await client("POST", "/v2/variables/search")
        assert (answer.status, answer.problem["title"]) == (503, "RESOURCE_EXHAUSTED")
        assert len((await client("POST", "/v2/variables/search", {"page": {"limit": 1}})).json["items"]) == 1
    assert len((await client("POST", "/v2/variables/search")).json["items"]) == 2
    assert pages.used == 0


async def test_a_page_that_grows_while_it_waits_takes_a_larger_share(two_large, make_client, stored, rows):
    pages = SharedBudget(10_000)
    client = make_client(pool=stored.reads.pool, pages=pages)
    taken, take = [], pages.wait

    async def wait(size):
        await take(size)
        if not taken:
            rows.variable(KEY + 2, "x2", '"' + "v" * 600 + '"')
        taken.append(size)

    pages.wait = wait
    assert len((await client("POST", "/v2/variables/search")).json["items"]) == 3
    assert taken[0] < taken[1]
    assert pages.used == 0


async def test_a_search_by_pages(rows, reader):
    for n in range(5):
        rows.instance(KEY + n, business_id=f"b{n % 2}")
    body = {"sort": [{"field": "businessId", "order": "desc"}], "page": {"limit": "2"}}
    found, cursor = [], None
    for _ in range(4):
        page = {"limit": 2} | ({"after": cursor} if cursor else {})
        document = (await reader("POST", "/v2/process-instances/search", body | {"page": page})).json
        found += [int(item["processInstanceKey"]) - KEY for item in document["items"]]
        cursor = document["page"]["endCursor"] or cursor
        assert document["page"]["totalItems"] == 5
    assert found == [1, 3, 0, 2, 4]
    assert document["items"] == []
    assert document["page"]["startCursor"] is None
    back = (await reader("POST", "/v2/process-instances/search", body | {"page": {"before": cursor, "limit": 2}})).json
    assert [int(item["processInstanceKey"]) - KEY for item in back["items"]] == [0, 2]
