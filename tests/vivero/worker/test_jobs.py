"""Jobs against a server that is a function: their requests, their reports, and the end of the worker."""

import json
from datetime import UTC, datetime
from decimal import Decimal

import httpx
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from tests.vivero.worker.stub_server import StubServer, job
from vivero.client.rest import ApiError, Client, ClientError, Unreachable
from vivero.worker import (
    AdHocDecision,
    Corrections,
    Denial,
    Job,
    JobCompletion,
    JobError,
    JobFailed,
    JobOutcome,
    Worker,
)
from vivero.worker.failures import MAX_MESSAGE
from vivero.worker.requests import JobRequests, NotVivero


async def double(n: int):
    return {"n": n * 2}


@pytest.fixture
def reports():
    return []


@pytest.fixture
def troubles():
    return []


@pytest.fixture
def make(reports, troubles):
    def worker(server, function=double, *, max_jobs=-1, concurrency=1, **settings):
        made = Worker(
            client=server,
            concurrency=concurrency,
            max_jobs=len(server.jobs) if max_jobs == -1 else max_jobs,
            on_report=reports.append,
            on_trouble=troubles.append,
        )
        made.job("t", **{"backoff_s": 0, **settings})(function)
        return made

    return worker


async def test_jobs_are_worked_and_reported(autojump_clock, make, reports):
    server = StubServer(job(1), job(2))
    await make(server).serve()
    assert server.told == [("completion", "1", {"n": 2}), ("completion", "2", {"n": 4})]
    assert [(r.job.job_key, r.outcome, r.position) for r in reports] == [
        ("1", "completed", 11),
        ("2", "completed", 12),
    ]


async def test_no_more_jobs_are_asked_for_than_hands_are_free(autojump_clock, make):
    at_once, most = 0, 0

    async def slowly():
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await trio.sleep(1)
        at_once -= 1
        return {}

    server = StubServer(*map(job, range(7)))
    await make(server, slowly, concurrency=3).serve()
    assert most == 3
    assert max(body["maxJobsToActivate"] for body in server.asked) == 3
    assert len(server.told) == 7


async def test_no_more_jobs_are_asked_for_than_it_is_to_do(autojump_clock, make):
    server = StubServer(*map(job, range(9)))
    await make(server, max_jobs=4, concurrency=3).serve()
    assert len(server.told) == 4
    assert len(server.jobs) == 5


@pytest.mark.parametrize(
    ("error", "retries", "backoff_ms"),
    [(JobFailed("no"), 2, 0), (JobFailed("no", retries=0), 0, 0), (JobFailed("no", backoff_s=0.5), 2, 500)],
)
async def test_a_failure_is_told_with_what_is_left(autojump_clock, make, reports, error, retries, backoff_ms):
    async def fail():
        raise error

    server = StubServer(job(1))
    await make(server, fail).serve()
    assert server.told == [("failure", "1", "no", retries, backoff_ms)]
    assert (reports[0].outcome, reports[0].message) == (JobOutcome.FAILED, "no")


async def test_no_retries_become_fewer_than_none(autojump_clock, make):
    async def fail():
        raise JobFailed("x" * (MAX_MESSAGE + 1))

    server = StubServer(job(1, retries=0))
    await make(server, fail).serve()
    assert server.told == [("failure", "1", "x" * MAX_MESSAGE, 0, 0)]


async def test_a_server_that_is_away_is_waited_for_with_patience(autojump_clock, make, troubles):
    server = StubServer(job(1))
    away = [
        Unreachable("away"),
        ApiError(503, "RESOURCE_EXHAUSTED", "busy", None, {}),
        ApiError(429, "x", "", None, {}),
    ]
    server.trouble.extend(away)
    began = trio.current_time()
    await make(server).serve()
    assert server.told == [("completion", "1", {"n": 2})]
    assert troubles == away
    assert trio.current_time() - began == pytest.approx(0.1 + 0.2 + 0.4)


async def test_work_that_was_done_is_told_until_it_is_heard(autojump_clock, make, troubles):
    server = StubServer(job(1))

    async def work():
        server.trouble.extend([Unreachable("cut off", in_doubt=True)] * 10)
        return {}

    await make(server, work).serve()
    assert server.told == [("completion", "1", {})]
    assert len(troubles) == 10


def of_task(**members):
    return {"type": "userTask", **members}


def of_ad_hoc(*elements, fulfilled=False, cancel_remaining=False):
    return {
        "type": "adHocSubProcess",
        "activateElements": [{"elementId": id, "variables": variables} for id, variables in elements],
        "isCompletionConditionFulfilled": fulfilled,
        "isCancelRemainingInstances": cancel_remaining,
    }


NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("decision", "variables", "result"),
    [
        (Denial("not before noon"), {}, of_task(denied=True, deniedReason="not before noon")),
        (Denial(), {}, of_task(denied=True, deniedReason="")),
        (Corrections(), {}, of_task(corrections={})),
        (
            Corrections(assignee="", due_date=NOON, candidate_users=(), priority=0),
            {},
            of_task(
                corrections={
                    "assignee": "",
                    "dueDate": "2026-11-27T12:00:00+00:00",
                    "candidateUsers": [],
                    "priority": 0,
                }
            ),
        ),
        (
            Corrections(follow_up_date="2026-11-27T12:00:00Z", candidate_groups={"sales"}),
            {},
            of_task(corrections={"followUpDate": "2026-11-27T12:00:00Z", "candidateGroups": ["sales"]}),
        ),
        (AdHocDecision(["a", "b"]), {}, of_ad_hoc(("a", {}), ("b", {}))),
        (
            AdHocDecision({"a": {"x": 1}}, {"y": 2}, cancel_remaining=True),
            {"y": 2},
            of_ad_hoc(("a", {"x": 1}), cancel_remaining=True),
        ),
        (AdHocDecision(fulfilled=True), {}, of_ad_hoc(fulfilled=True)),
        (JobCompletion({"x": 1}, {"denied": False}), {"x": 1}, {"denied": False}),
    ],
)
async def test_a_function_may_decide(autojump_clock, make, reports, decision, variables, result):
    async def decide():
        return decision

    server = StubServer(job(1))
    await make(server, decide).serve()
    assert server.told == [("completion", "1", variables, result)]
    assert [report.outcome for report in reports] == [JobOutcome.COMPLETED]


@pytest.mark.parametrize(
    ("decide", "message"),
    [
        (lambda: Denial(5), "TypeError: the reason of a denial must be a text, not 5"),
        (lambda: Corrections(assignee=5), "TypeError: assignee must be a text, not 5"),
        (
            lambda: Corrections(candidate_users="ada"),
            "TypeError: candidate_users must be a list of names, not the text 'ada'",
        ),
        (lambda: Corrections(priority="high"), "TypeError: priority must be a whole number, not 'high'"),
        (lambda: Corrections(priority=101), "ValueError: priority must be from 0 to 100, not 101"),
        (
            lambda: Corrections(due_date=NOON.replace(tzinfo=None)),
            "ValueError: due_date 2026-11-27 12:00:00 has no time zone: write datetime.now(UTC), not datetime.now()",
        ),
        (lambda: AdHocDecision("ask"), "TypeError: elements must be a list of ids, not the text 'ask'"),
        (
            lambda: AdHocDecision(["ask"], fulfilled=True),
            "ValueError: an ad-hoc sub-process that is fulfilled activates no elements: give one of both",
        ),
        (
            lambda: AdHocDecision({"ask": {"x": object}}),
            "the result of the function cannot be written as JSON: TypeError: an object of type type has no form",
        ),
        (
            lambda: True,
            "the function must return a mapping of variables, an object with fields, None, a Denial, Corrections or an "
            "AdHocDecision, but it returned bool",
        ),
    ],
)
async def test_a_wrong_decision_fails_the_job_and_says_why(autojump_clock, make, decide, message):
    async def handler():
        return decide()

    server = StubServer(job(1))
    await make(server, handler).serve()
    [(_, _, said, retries, _)] = server.told
    assert said.startswith(message)
    assert retries == 2


@pytest.mark.parametrize("status", [404, 409])
async def test_a_job_that_somebody_else_has_is_lost(autojump_clock, make, reports, status):
    server = StubServer(job(1), job(2))
    server.refusals["1"] = ApiError(status, "X", "gone", 7, {})
    await make(server).serve()
    assert [report.outcome for report in reports] == [JobOutcome.LOST, JobOutcome.COMPLETED]
    assert reports[0].message == f"gone ({status} X)"


async def test_an_answer_that_is_late_is_no_failure(autojump_clock, make, reports):
    server = StubServer(job(1))
    server.refusals["1"] = ApiError(504, "DEADLINE_EXCEEDED", "late", 7, {})
    await make(server).serve()
    assert (reports[0].outcome, reports[0].position) == (JobOutcome.COMPLETED, 7)


async def test_a_server_that_does_not_accept_how_it_is_asked_ends_it(autojump_clock, make):
    server = StubServer(job(1))
    server.trouble.append(ApiError(400, "INVALID_ARGUMENT", "no", None, {}))
    with pytest.raises(ApiError, match="no"):
        await make(server).serve()


async def test_told_to_stop_it_finishes_what_it_has_and_takes_no_more(nursery, make):
    release = trio.Event()

    async def wait():
        await release.wait()
        return {}

    server = StubServer(job(1), job(2))
    worker = make(server, wait, max_jobs=None)
    ended = trio.Event()

    async def run():
        await worker.serve()
        ended.set()

    nursery.start_soon(run)
    await wait_all_tasks_blocked()
    worker.stop()
    await wait_all_tasks_blocked()
    assert not ended.is_set()
    release.set()
    await wait_all_tasks_blocked()
    assert ended.is_set()
    assert [key for _, key, _ in server.told] == ["1"]


async def test_told_to_stop_while_it_waits_for_jobs_it_ends(nursery, make):
    worker = make(StubServer(), max_jobs=None)
    nursery.start_soon(worker.serve)
    await wait_all_tasks_blocked()
    worker.stop()


# -------------------------------------------------------------------------- BPMN errors, backoff, handing back, ready


async def test_an_error_of_the_function_is_thrown(autojump_clock, make, reports):
    async def refuse():
        raise JobError("refused", "no card", {"a": 1})

    server = StubServer(job(1))
    await make(server, refuse).serve()
    assert server.told == [("error", "1", "refused", "no card", {"a": 1})]
    assert (reports[0].outcome, reports[0].message) == (JobOutcome.ERROR, "refused: no card")


async def test_a_failure_without_its_own_backoff_gets_the_workers(autojump_clock, make):
    async def fail(job: Job):
        raise JobFailed("no", backoff_s=0.5 if job.job_key == "2" else None)

    server = StubServer(job(1), job(2))
    await make(server, fail, backoff_s=3).serve()
    assert [told[-1] for told in server.told] == [3000, 500]


async def test_whoever_cancels_it_gives_the_active_jobs_back(make, reports):
    async def never():
        await trio.sleep_forever()

    server = StubServer(job(1), job(2))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(make(server, never, concurrency=2, max_jobs=None).serve)
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert server.told == []
    assert sorted(server.leases) == [("1", 1), ("2", 1)]
    assert {report.outcome for report in reports} == {JobOutcome.HANDED_BACK}


async def test_a_job_that_has_ended_meanwhile_cannot_be_given_back(make, reports):
    async def never():
        await trio.sleep_forever()

    server = StubServer(job(1))
    server.refusals["1"] = ApiError(404, "NOT_FOUND", "gone", None, {})
    async with trio.open_nursery() as nursery:
        nursery.start_soon(make(server, never).serve)
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert reports == []


async def test_a_job_that_could_not_be_given_back_is_told(make, reports):
    async def never():
        await trio.sleep_forever()

    server = StubServer(job(1))
    server.refusals["1"] = Unreachable("no server answers")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(make(server, never).serve)
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    [report] = reports
    assert report.outcome is JobOutcome.LOST
    assert report.message.startswith("it could not be handed back (no server answers); others get it when its lease")


async def test_it_says_when_it_listens_and_again_after_trouble(autojump_clock):
    said = []
    server = StubServer(job(1))
    server.trouble += [Unreachable("away"), Unreachable("away")]
    worker = Worker(
        client=server,
        max_jobs=1,
        on_trouble=lambda _error: said.append("trouble"),
        on_ready=lambda: said.append("ready"),
    )
    worker.job("t")(double)
    await worker.serve()
    assert said == ["trouble", "trouble", "ready"]


def group(*errors):
    return ExceptionGroup("several", list(errors))


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (KeyError("sku"), "KeyError: 'sku'"),
        (RuntimeError(), "RuntimeError"),
        (group(group(ValueError("inner")), KeyError("x")), "ValueError: inner"),
        (OSError("caf\udce9.txt"), "OSError: caf?.txt"),
        (RecursionError("too deep"), "RecursionError: too deep"),
        (ClientError("no JSON"), "ClientError: no JSON"),
        (ApiError(500, "t", "another server", None, {}), "ApiError: another server (500 t)"),
        (UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"), "UnicodeDecodeError: 'utf-8' codec can't decode byte 0x78"),
    ],
)
async def test_whatever_a_function_raises_fails_its_job_alone(autojump_clock, make, reports, error, message):
    async def one_fails(job: Job):
        if job.job_key == "1":
            raise error
        return {}

    server = StubServer(job(1), job(2))
    await make(server, one_fails).serve()
    assert [(told[0], told[1]) for told in server.told] == [("failure", "1"), ("completion", "2")]
    assert server.told[0][2].startswith(message)
    assert server.told[0][3] == 2
    assert [report.outcome for report in reports] == [JobOutcome.FAILED, JobOutcome.COMPLETED]


def nested():
    value: list = []
    for _ in range(100_000):
        value = [value]
    return value


@pytest.mark.parametrize(
    "variables",
    [
        5,
        "text",
        [("a", 1)],
        {"a": float("nan")},
        {"a": Decimal("inf")},
        {"a": object()},
        {"a": "\ud800"},
        {"a": nested()},
    ],
    ids=lambda value: type(value).__name__,
)
async def test_variables_that_cannot_be_sent_fail_their_job_alone(autojump_clock, make, variables):
    async def returns(n: int):
        if n == 3:
            raise JobError("code", "", variables if isinstance(variables, dict) else {"a": object()})
        return variables if n == 1 else {}

    server = StubServer(job(1), job(2), job(3))
    await make(server, returns).serve()
    assert [(told[0], told[1]) for told in server.told] == [("failure", "1"), ("completion", "2"), ("failure", "3")]


async def test_an_answer_of_something_else_is_waited_out(autojump_clock, make, troubles):
    server = StubServer(job(1))
    server.trouble.extend([ClientError("is it a Vivero server?"), ApiError(500, "t", "d", None, {}),
                           ApiError(504, "t", "d", None, {})])  # fmt: skip
    await make(server).serve()
    assert server.told == [("completion", "1", {"n": 2})]
    assert len(troubles) == 3


# --------------------------------------------------------------------------------------------- answers over HTTP


@pytest.fixture
def requests_to(troubles):
    """A client of a server that answers so, and the requests of a worker to it."""

    def make(content):
        transport = httpx.MockTransport(lambda _request: httpx.Response(200, content=content))
        client = Client("http://stub", transport=transport, credentials="")
        return client, JobRequests(client, "w", (), troubles.append, lambda: None)

    return make


@pytest.mark.parametrize("content", [b"", b"{}", b'{"jobs": null}', b'{"jobs": [null]}', b'{"error": "maintenance"}'])
async def test_a_worker_waits_when_something_else_answers_an_activation(autojump_clock, requests_to, troubles, content):
    client, requests = requests_to(content)
    async with client:
        with trio.move_on_after(1):
            await requests.activate("t", None, 1, 1)
    assert {str(error).rpartition(": ")[2] for error in troubles} == {"is it a Vivero server?"}


@pytest.mark.parametrize("lack", ["jobKey", "retries", "jobLeaseToken"])
@pytest.mark.parametrize("is_null", [False, True])
async def test_a_server_whose_jobs_lack_what_reports_need_ends_the_worker(requests_to, lack, is_null):
    """A server of Camunda 8.8 sends jobs without leases."""
    found = {name: value for name, value in job(1).items() if name != lack} | ({lack: None} if is_null else {})
    client, requests = requests_to(json.dumps({"jobs": [found]}).encode())
    async with client:
        with pytest.raises(NotVivero, match=f"{lack}.*is it a Vivero server"):
            await requests.activate("t", None, 1, 1)
