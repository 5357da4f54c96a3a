"""An import between servers that misbehave: they restart, refuse, lag, page, and lack what older versions lack."""

import json
import random
from collections import Counter
from datetime import UTC, datetime

import httpx
import pytest
import trio
import trio.testing

from vivero.client.rest import ApiError, Client, ClientError
from vivero.importing import camunda8
from vivero.importing.calls import AT_ONCE
from vivero.importing.ledger import ADJUSTING, CANCELLING, COPYING, DONE, SUSPENDING, Entry, Ledger, LedgerProblem
from vivero.importing.plan import Plan
from vivero.importing.steps import copy_tag

KEY = 2251799813685300
MODEL = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t"
 xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<process id="p" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="wait"/>
<intermediateCatchEvent id="wait"><timerEventDefinition><timeDuration xsi:type="tFormalExpression">P9D</timeDuration>
</timerEventDefinition></intermediateCatchEvent></process></definitions>"""
NOW = datetime(2026, 11, 28, tzinfo=UTC)


class Camunda:
    """Enough of a Camunda 8 for instances that wait at a timer. It knows wait states, but no timers."""

    def __init__(self, cluster, instances=0) -> None:
        self.cluster = cluster
        self.states = {str(KEY + number): "ACTIVE" for number in range(instances)}
        self.asked = Counter()
        self.bodies = []
        self.refused = {}
        """(method and the end of a path) → the answers that come first, as lists of statuses."""
        self.lag = 0
        """Searches that still show what was before."""
        self.copies = {}
        self.held = None
        """A function for which requests wait."""

    async def answered(self, request) -> httpx.Response:
        if self.held is not None:
            await self.held(request)
        return self(request)

    def __call__(self, request) -> httpx.Response:
        path = request.url.path.removeprefix("/v2")
        body = json.loads(request.content) if request.content.startswith(b"{") else {}
        self.asked[request.method, path.rsplit("/", 1)[-1]] += 1
        for (method, end), statuses in self.refused.items():
            if request.method == method and path.endswith(end) and statuses:
                return httpx.Response(statuses.pop(0), json={"title": "REFUSED", "detail": f"no {end}"})
        return self._answer(request, path, body)

    def _answer(self, request, path, body):
        name = path.strip("/").split("/")
        match request.method, name:
            case "GET", ["topology"]:
                return httpx.Response(200, json={"clusterId": self.cluster})
            case "GET", ["process-definitions", _, "xml"]:
                return httpx.Response(200, text=MODEL)
            case "GET", ["process-instances", key]:
                return httpx.Response(200, json=self._instance(key))
            case "POST", ["process-instances"]:
                self.bodies.append(body)
                return httpx.Response(200, json={"processInstanceKey": "1"})
            case "POST", ["process-instances", key, "suspension" | "resumption" | "cancellation" as change]:
                states = {"suspension": "SUSPENDED", "resumption": "ACTIVE", "cancellation": "TERMINATED"}
                self.states[key] = states[change]
                return httpx.Response(204)
            case "POST", [*resource, "search"]:
                return self._search("/".join(resource), body)
            case "PATCH", ["timers" | "user-tasks", _]:
                self.bodies.append(body)
                return httpx.Response(204)
        return httpx.Response(404, json={"title": "NOT_FOUND"})

    def _instance(self, key, state=None):
        names = {"processInstanceKey": key, "processDefinitionKey": "7", "processDefinitionId": "p"}
        more = {"processDefinitionVersion": 1, "tenantId": "<default>", "tags": [], "hasIncident": False}
        return names | more | {"state": state or self.states[key]}

    def _search(self, resource, body):
        filter, page = body["filter"], body["page"]
        assert page["limit"] <= 100
        items = self._items(resource, filter)
        if items is None:
            return httpx.Response(404, json={"title": "NOT_FOUND"})
        first = int(page.get("after", 0))
        shown = items[first : first + page["limit"]]
        about = {"totalItems": len(items), "endCursor": str(first + len(shown)), "hasMoreTotalItems": False}
        return httpx.Response(200, json={"items": shown, "page": about})

    def _items(self, resource, filter):
        if resource == "process-instances":
            if "tags" in filter:
                return self.copies.get(filter["tags"][0], [])
            wanted = filter.get("processInstanceKey")
            if wanted is None:
                return [self._instance(key) for key, state in self.states.items() if state == filter["state"]]
            keys = wanted["$in"] if isinstance(wanted, dict) else [wanted]
            if self.lag:
                self.lag -= 1
                return [self._instance(key, "ACTIVE") for key in keys]
            return [self._instance(key) for key in keys]
        if resource == "process-definitions":
            return [{"processDefinitionKey": "7", "processDefinitionId": "p", "version": 1, "tenantId": "<default>"}]
        if resource == "element-instances" and filter.get("state") == "ACTIVE":
            return [{"elementId": "wait", "type": "INTERMEDIATE_CATCH_EVENT", "elementInstanceKey": "8"}]
        if resource == "element-instances/wait-states":
            return [{"elementId": "wait", "details": {"waitStateType": "TIMER", "dueDate": 4_102_444_800_000}}]
        if resource in ("timers", "user-tasks"):
            return self.copies.get(resource)
        return []


@pytest.fixture
def source():
    return Camunda("source", 1)


@pytest.fixture
def target():
    made = Camunda("target")
    made.copies["timers"] = [{"timerKey": "5", "elementId": "wait"}]
    return made


@pytest.fixture
def between(source, target, tmp_path):
    """Runs an import, and gives its outcomes as (key, outcome, reasons)."""

    async def work(*, suspends=True, apply=True):
        told = []

        def tell(one):
            told.append((one.instance["processInstanceKey"], one.outcome, one.reasons))

        clients = [
            Client(f"http://{one.cluster}", transport=httpx.MockTransport(one.answered), credentials="")
            for one in (source, target)
        ]
        async with clients[0] as there, clients[1] as here:
            if apply:
                with Ledger(tmp_path / "ledger", there.address, here.address) as ledger:
                    await camunda8.run(there, here, ledger, tell, lambda: NOW, suspends=suspends, settle_s=5)
            else:
                await camunda8.dry_run(there, here, tell, lambda: NOW)
        return told

    return work


async def test_a_timer_moves_to_the_due_date_of_a_wait_state(source, target, between, autojump_clock):
    assert await between() == [(str(KEY), "copied", ())]
    creation, moved = target.bodies
    assert creation["startInstructions"] == [{"elementId": "wait"}]
    assert creation["tags"] == [copy_tag("source", str(KEY))]
    assert moved == {"dueDate": "2100-01-01T00:00:00.000+00:00"}
    assert source.states == {str(KEY): "TERMINATED"}


async def test_many_instances_come_in_pages(source, between, autojump_clock):
    source.states = {str(KEY + number): "ACTIVE" for number in range(130)}
    told = await between(apply=False)
    assert [key for key, _, _ in told] == list(source.states)
    assert source.asked["GET", "xml"] == 2, "a model is read once, and once for its comparison"


async def test_instances_come_together_but_never_too_many_at_once(source, target, between, autojump_clock):
    source.states = {str(KEY + number): "ACTIVE" for number in range(30)}
    under_way = [0, 0]

    async def held(request) -> None:
        if request.url.path == "/v2/process-instances":
            under_way[0] += 1
            under_way[1] = max(under_way)
            await trio.testing.wait_all_tasks_blocked()
            under_way[0] -= 1

    target.held = held
    told = await between()
    assert sorted(key for key, _, _ in told) == list(source.states)
    assert {outcome for _, outcome, _ in told} == {"copied"}
    assert set(source.states.values()) == {"TERMINATED"}
    assert (len({body["tags"][0] for body in target.bodies if "tags" in body}), under_way) == (30, [0, AT_ONCE])
    assert source.asked["GET", "xml"] == 2


class Killed(Exception):
    """The end of the program."""


class Kill:
    """Requests take different times. At one of them the program ends, before or after its effect."""

    def __init__(self, source, target, number, after) -> None:
        self.source, self.target, self.left, self.after = source, target, number, after
        self.random = random.Random(number)
        self.creations = {}

    async def __call__(self, request) -> None:
        await trio.sleep(self.random.random())
        self._check(request)
        self.left -= 1
        if self.left == 0:
            if self.after:
                (self.source if request.url.host == "source" else self.target)(request)
            raise Killed

    def _check(self, request) -> None:
        *_, key, step = request.url.path.split("/")
        if request.method == "POST" and step == "process-instances" and not (self.left == 1 and not self.after):
            tag = json.loads(request.content)["tags"][0]
            key = tag.split(":")[1]
            assert self.source.states[key] == "SUSPENDED"
            sent = request.headers["idempotency-key"]
            assert self.creations.setdefault(key, sent) == sent
            self.target.copies[tag] = [{"processInstanceKey": "1"}]
        assert step != "cancellation" or key in self.creations
        assert step != "resumption", "nobody else has changed anything"


@pytest.mark.parametrize(
    ("number", "after"),
    [
        (60, True),
        (150, True),
        *(pytest.param(*one, marks=pytest.mark.long) for one in [(30, False), (120, False), (150, False), (180, True)]),
    ],
)
async def test_instances_on_their_way_together_survive_a_kill(source, target, between, number, after, autojump_clock):
    source.states = {str(KEY + number): "ACTIVE" for number in range(10)}
    source.held = target.held = kill = Kill(source, target, number, after)
    with pytest.raises(Killed):
        await between()
    before = set(source.states.values())
    await between()
    assert set(source.states.values()) == {"TERMINATED"}, before
    assert sorted(kill.creations) == list(source.states)


async def test_servers_that_restart_are_asked_again(source, target, between, autojump_clock):
    source.refused = {("POST", "/suspension"): [503, 429], ("POST", "/cancellation"): [502], ("GET", "/xml"): [503]}
    target.refused = {("POST", "/process-instances"): [503, 504], ("PATCH", "/timers/5"): [503]}
    assert await between() == [(str(KEY), "copied", ())]
    assert source.states == {str(KEY): "TERMINATED"}


async def test_a_server_that_stays_away_ends_the_run_and_another_run_goes_on(source, target, between, autojump_clock):
    source.refused = {("POST", "/cancellation"): [503] * 1000}
    with pytest.raises(ApiError, match="no /cancellation"):
        await between()
    assert source.states == {str(KEY): "SUSPENDED"}
    source.refused.clear()
    assert await between() == [(str(KEY), "copied", ())]
    assert len([body for body in target.bodies if "tags" in body]) == 1
    assert source.states == {str(KEY): "TERMINATED"}


async def test_a_refused_copy_is_resumed_in_the_source(source, target, between, autojump_clock):
    target.refused = {("POST", "/process-instances"): [409]}
    [(key, outcome, (reason,))] = await between()
    assert (key, outcome) == (str(KEY), "stays")
    assert reason == "the copy is refused: no /process-instances (409 REFUSED)"
    assert source.states == {str(KEY): "ACTIVE"}
    assert await between() == [(str(KEY), "copied", ())], "the next run tries again"


async def test_searches_that_lag_are_waited_for(source, between, autojump_clock):
    source.lag = 3
    began = trio.current_time()
    assert await between() == [(str(KEY), "copied", ())]
    assert trio.current_time() - began == 5 + 3 * 0.5


@pytest.mark.parametrize("status", [401, 403])
async def test_without_the_right_nothing_happens(source, target, between, status, autojump_clock):
    source.refused = {("POST", "/suspension"): [status]}
    with pytest.raises(ApiError):
        await between()
    assert (source.states, target.bodies) == ({str(KEY): "ACTIVE"}, [])


async def test_without_the_right_to_cancel_the_run_ends_at_the_first(source, target, between, autojump_clock):
    source.states[str(KEY + 1)] = "ACTIVE"
    source.refused = {("POST", "/cancellation"): [403]}
    with pytest.raises(ClientError, match=f"{KEY} is copied to 1, and nobody works at it in the source"):
        await between()
    assert len([body for body in target.bodies if "tags" in body]) == 1


async def test_a_source_without_suspension_needs_stopped_workers(source, target, between, autojump_clock):
    source.refused = {("POST", "/suspension"): [404]}
    with pytest.raises(ClientError, match="--workers-stopped"):
        await between()
    assert target.bodies == []
    source.refused = {}
    assert await between(suspends=False) == [(str(KEY), "copied", ())]
    assert source.asked["POST", "suspension"] == 1


async def test_what_others_have_suspended_stays(source, target, between, autojump_clock):
    source.refused = {("POST", "/suspension"): [409]}
    [(_, outcome, (reason,))] = await between()
    assert outcome == "stays"
    assert reason.startswith("it cannot be suspended: ")
    assert target.bodies == []


async def test_an_instance_of_another_source_with_the_same_key_is_no_copy(source, target, between, autojump_clock):
    target.copies[copy_tag("another", str(KEY))] = [{"processInstanceKey": "99"}]
    assert await between() == [(str(KEY), "copied", ())]
    assert len([body for body in target.bodies if "tags" in body]) == 1


@pytest.mark.parametrize("step", [SUSPENDING, COPYING])
async def test_workers_that_were_stopped_may_work_again(source, target, between, tmp_path, step, autojump_clock):
    with Ledger(tmp_path / "ledger", "http://source", "http://target") as ledger:
        ledger.write(Entry(str(KEY), step, False, None if step == SUSPENDING else "{}"))
    assert await between() == [(str(KEY), "copied", ())]
    assert source.asked["POST", "suspension"] == 1
    assert source.states == {str(KEY): "TERMINATED"}


async def test_a_task_that_has_ended_leaves_its_changes_to_no_other_task(
    source, target, between, tmp_path, autojump_clock
):
    target.copies["user-tasks"] = [{"userTaskKey": "6", "elementId": "b", "assignee": None}]
    changes = [{"elementId": id, "assignee": None, "changeset": {"priority": n}} for n, id in enumerate("ab")]
    with Ledger(tmp_path / "ledger", "http://source", "http://target") as ledger:
        ledger.write(Entry(str(KEY), ADJUSTING, True, Plan(tasks=tuple(changes)).as_json(), "1"))
    assert await between() == [(str(KEY), "copied", ())]
    assert target.bodies == [{"changeset": {"priority": 1}}]


async def test_a_cluster_is_not_copied_into_itself(source, target, between, autojump_clock):
    target.cluster = source.cluster
    with pytest.raises(ClientError, match="are the same cluster"):
        await between(apply=False)


def test_a_ledger_is_of_one_import_and_one_program(tmp_path):
    path = tmp_path / "ledger"
    with Ledger(path, "a", "b") as ledger:
        ledger.write(Entry("1", COPYING, True, "{}"))
        with pytest.raises(LedgerProblem, match="another import works with it"), Ledger(path, "a", "b"):
            pass
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(LedgerProblem, match="is of an import from a to b"), Ledger(path, "a", "c"):
        pass
    with Ledger(path, "a", "b") as ledger:
        ledger.write(Entry("2", CANCELLING, True, "{}", "9"))
        assert [entry.key for entry in ledger.under_way()] == ["1", "2"]
        for entry in ledger.under_way():
            ledger.write(Entry(entry.key, DONE, True, None, entry.copy))
        assert list(ledger.under_way()) == []


def test_a_file_that_is_no_ledger_is_named(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("these are notes, and no database at all\n" * 99)
    with (
        pytest.raises(LedgerProblem, match=r"notes\.txt' cannot be used: file is not a database"),
        Ledger(path, "a", "b"),
    ):
        pass
