"""The job worker against a server that is a function: what it asks for, what it reports, how it stops."""

from collections import deque
from datetime import UTC, datetime

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from vivero.client.rest import Answer, ApiError, ClientError, Unreachable
from vivero.worker import (
    MAX_MESSAGE,
    AdHocDecision,
    Corrections,
    Denial,
    JobCompletion,
    JobError,
    JobFailed,
    JobOutcome,
    Worker,
    WorkerSettings,
)


def job(key, retries=3):
    return {"jobKey": str(key), "retries": retries, "jobLeaseToken": f"lease-{key}", "variables": {"n": key}}


class Server:
    """Gives out the jobs that wait, and remembers what it is told; `trouble` are errors to raise first."""

    def __init__(self, *jobs) -> None:
        self.jobs = deque(jobs)
        self.told = []
        self.limits = []
        self.trouble = deque()
        self.refusals = {}

    def _stumble(self):
        if self.trouble:
            raise self.trouble.popleft()

    async def activate(self, type, *, worker, timeout_ms, limit, wait_ms):
        self._stumble()
        self.limits.append(limit)
        while not self.jobs:
            await trio.sleep(wait_ms / 1000)
            return []
        return [self.jobs.popleft() for _ in range(min(limit, len(self.jobs)))]

    async def complete(self, job, variables, result=None):
        self._stumble()
        return self._tell(job, ("complete", job["jobKey"], variables, *([] if result is None else [result])))

    async def fail(self, job, message, retries, backoff_ms=0):
        self._stumble()
        return self._tell(job, ("fail", job["jobKey"], message, retries, backoff_ms))

    def _tell(self, job, what):
        if job["jobKey"] in self.refusals:
            raise self.refusals[job["jobKey"]]
        self.told.append(what)
        return Answer(204, None, 10 + len(self.told))


async def double(job):
    return {"n": job["variables"]["n"] * 2}


@pytest.fixture
def reports():
    return []


@pytest.fixture
def troubles():
    return []


@pytest.fixture
def make(reports, troubles):
    def worker(server, handler=double, **settings):
        chosen = WorkerSettings(**{"max_jobs": len(server.jobs), **settings})
        return Worker(server, "t", handler, chosen, report=reports.append, trouble=troubles.append)

    return worker


async def test_jobs_are_worked_and_reported(autojump_clock, make, reports):
    server = Server(job(1), job(2))
    await make(server).run()
    assert server.told == [("complete", "1", {"n": 2}), ("complete", "2", {"n": 4})]
    assert [(r.job["jobKey"], r.outcome, r.position) for r in reports] == [
        ("1", "completed", 11),
        ("2", "completed", 12),
    ]


async def test_no_more_jobs_are_asked_for_than_hands_are_free(autojump_clock, make):
    at_once, most = 0, 0

    async def slowly(_job):
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await trio.sleep(1)
        at_once -= 1
        return {}

    server = Server(*map(job, range(7)))
    await make(server, slowly, concurrency=3).run()
    assert most == 3
    assert max(server.limits) == 3
    assert len(server.told) == 7


async def test_no_more_jobs_are_asked_for_than_it_is_to_do(autojump_clock, make):
    server = Server(*map(job, range(9)))
    await make(server, max_jobs=4, concurrency=3).run()
    assert len(server.told) == 4
    assert len(server.jobs) == 5


@pytest.mark.parametrize(
    ("error", "retries", "backoff_ms"),
    [(JobFailed("no"), 2, 0), (JobFailed("no", retries=0), 0, 0), (JobFailed("no", backoff_ms=500), 2, 500)],
)
async def test_a_failure_is_told_with_what_is_left(autojump_clock, make, reports, error, retries, backoff_ms):
    async def fail(_job):
        raise error

    server = Server(job(1))
    await make(server, fail).run()
    assert server.told == [("fail", "1", "no", retries, backoff_ms)]
    assert (reports[0].outcome, reports[0].message) == (JobOutcome.FAILED, "no")


async def test_no_retries_become_fewer_than_none(autojump_clock, make):
    async def fail(_job):
        raise JobFailed("x" * (MAX_MESSAGE + 1))

    server = Server(job(1, retries=0))
    await make(server, fail).run()
    assert server.told == [("fail", "1", "x" * MAX_MESSAGE, 0, 0)]


async def test_a_handler_that_takes_too_long_is_cancelled_and_its_job_failed(autojump_clock, make):
    async def forever(_job):
        await trio.sleep_forever()

    server = Server(job(1))
    await make(server, forever, timeout_s=2.5).run()
    assert server.told == [("fail", "1", "the job was not done within 2.5 s", 2, 0)]


async def test_a_server_that_is_away_is_waited_for_with_patience(autojump_clock, make, troubles):
    server = Server(job(1))
    away = [
        Unreachable("away"),
        ApiError(503, "RESOURCE_EXHAUSTED", "busy", None, {}),
        ApiError(429, "x", "", None, {}),
    ]
    server.trouble.extend(away)
    began = trio.current_time()
    await make(server).run()
    assert server.told == [("complete", "1", {"n": 2})]
    assert troubles == away
    assert trio.current_time() - began == pytest.approx(0.1 + 0.2 + 0.4)


async def test_work_that_was_done_is_told_until_it_is_heard(autojump_clock, make, troubles):
    server = Server(job(1))

    async def work(_job):
        server.trouble.extend([Unreachable("cut off", in_doubt=True)] * 10)
        return {}

    await make(server, work).run()
    assert server.told == [("complete", "1", {})]
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
async def test_a_handler_may_decide(autojump_clock, make, reports, decision, variables, result):
    async def decide(_job):
        return decision

    server = Server(job(1))
    await make(server, decide).run()
    assert server.told == [("complete", "1", variables, result)]
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
            "the result of the handler cannot be written as JSON: Object of type type is not JSON serializable",
        ),
        (
            lambda: True,
            "the handler must return a mapping of variables, a Denial, Corrections or an AdHocDecision, but it "
            "returned bool",
        ),
    ],
)
async def test_a_wrong_decision_fails_the_job_and_says_why(autojump_clock, make, decide, message):
    async def handler(_job):
        return decide()

    server = Server(job(1))
    await make(server, handler).run()
    assert server.told == [("fail", "1", message, 2, 0)]


async def test_a_job_whose_completion_the_server_refuses_fails_with_its_reason(autojump_clock, make, reports):
    server = Server(job(1))
    reason = "a result of a task listener does not fit a job of kind 'BPMN_ELEMENT'"

    async def refused(_job, _variables, _result=None):
        raise ApiError(400, "INVALID_ARGUMENT", reason, 7, {})

    server.complete = refused
    await make(server).run()
    assert server.told == [("fail", "1", f"{reason} (400 INVALID_ARGUMENT)", 2, 0)]
    assert [report.outcome for report in reports] == [JobOutcome.FAILED]


@pytest.mark.parametrize("status", [404, 409])
async def test_a_job_that_somebody_else_has_is_lost(autojump_clock, make, reports, status):
    server = Server(job(1), job(2))
    server.refusals["1"] = ApiError(status, "X", "gone", 7, {})
    await make(server).run()
    assert [report.outcome for report in reports] == [JobOutcome.LOST, JobOutcome.COMPLETED]
    assert reports[0].message == f"gone ({status} X)"


async def test_an_answer_that_is_late_is_no_failure(autojump_clock, make, reports):
    server = Server(job(1))
    server.refusals["1"] = ApiError(504, "DEADLINE_EXCEEDED", "late", 7, {})
    await make(server).run()
    assert (reports[0].outcome, reports[0].position) == (JobOutcome.COMPLETED, 7)


async def test_a_server_that_does_not_accept_how_it_is_asked_ends_it(autojump_clock, make):
    server = Server(job(1))
    server.trouble.append(ApiError(400, "INVALID_ARGUMENT", "no", None, {}))
    with pytest.RaisesGroup(ApiError):
        await make(server).run()


async def test_told_to_stop_it_finishes_what_it_has_and_takes_no_more(nursery, make):
    release = trio.Event()

    async def wait(_job):
        await release.wait()
        return {}

    server = Server(job(1), job(2))
    worker = make(server, wait, max_jobs=None)
    ended = trio.Event()

    async def run():
        await worker.run()
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
    worker = make(Server(), max_jobs=None)
    nursery.start_soon(worker.run)
    await wait_all_tasks_blocked()
    worker.stop()


# -------------------------------------------------------------------------- BPMN errors, backoff, handing back, ready


class Talkative(Server):
    """Also takes errors, ends leases and answers when it is asked what it is."""

    async def topology(self):
        self._stumble()
        return {}

    async def throw_error(self, job, code, message, variables):
        return self._tell(job, ("error", job["jobKey"], code, message, variables))

    async def end_lease(self, job):
        return self._tell(job, ("end lease", job["jobKey"]))


async def test_an_error_of_the_handler_is_thrown(autojump_clock, make, reports):
    async def refuse(_job):
        raise JobError("refused", "no card", {"a": 1})

    server = Talkative(job(1))
    await make(server, refuse).run()
    assert server.told == [("error", "1", "refused", "no card", {"a": 1})]
    assert (reports[0].outcome, reports[0].message) == (JobOutcome.ERROR, "refused: no card")


async def test_a_failure_without_its_own_backoff_gets_the_workers(autojump_clock, make):
    async def fail(job):
        raise JobFailed("no", backoff_ms=500 if job["jobKey"] == "2" else 0)

    server = Talkative(job(1), job(2))
    await make(server, fail, backoff_s=3).run()
    assert [told[-1] for told in server.told] == [3000, 500]


async def test_whoever_cancels_it_gives_the_active_jobs_back(make, reports):
    async def never(_job):
        await trio.sleep_forever()

    server = Talkative(job(1), job(2))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(make(server, never, concurrency=2, max_jobs=None).run)
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert sorted(server.told) == [("end lease", "1"), ("end lease", "2")]
    assert {report.outcome for report in reports} == {JobOutcome.HANDED_BACK}


async def test_a_job_that_has_ended_meanwhile_cannot_be_given_back(make, reports):
    async def never(_job):
        await trio.sleep_forever()

    server = Talkative(job(1))
    server.refusals["1"] = ApiError(404, "NOT_FOUND", "gone", None, {})
    async with trio.open_nursery() as nursery:
        nursery.start_soon(make(server, never).run)
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert reports == []


async def test_a_job_that_could_not_be_given_back_is_told(make, reports):
    async def never(_job):
        await trio.sleep_forever()

    server = Talkative(job(1))
    server.refusals["1"] = Unreachable("no server answers")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(make(server, never).run)
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    [report] = reports
    assert report.outcome is JobOutcome.LOST
    assert report.message.startswith("it could not be handed back (no server answers); others get it when its lease")


async def test_it_says_when_it_listens_and_again_after_trouble(autojump_clock, reports, troubles):
    said = []
    server = Talkative(job(1))
    server.trouble += [Unreachable("away"), Unreachable("away")]
    worker = Worker(
        server,
        "t",
        double,
        WorkerSettings(max_jobs=1),
        trouble=lambda _error: said.append("trouble"),
        ready=lambda: said.append("ready"),
    )
    await worker.run()
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
async def test_whatever_a_handler_raises_fails_its_job_alone(autojump_clock, make, reports, error, message):
    async def one_fails(job):
        if job["jobKey"] == "1":
            raise error
        return {}

    server = Server(job(1), job(2))
    await make(server, one_fails).run()
    assert [(told[0], told[1]) for told in server.told] == [("fail", "1"), ("complete", "2")]
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
        None,
        5,
        "text",
        [("a", 1)],
        {"a": float("nan")},
        {"a": {1, 2}},
        {"a": object()},
        {"a": "\ud800"},
        {"a": nested()},
    ],
    ids=lambda value: type(value).__name__,
)
async def test_variables_that_cannot_be_sent_fail_their_job_alone(autojump_clock, make, variables):
    async def returns(job):
        if job["variables"]["n"] == 3:
            raise JobError("code", "", variables if isinstance(variables, dict) else {"a": object()})
        return variables if job["variables"]["n"] == 1 else {}

    server = Server(job(1), job(2), job(3))
    await make(server, returns).run()
    assert [(told[0], told[1]) for told in server.told] == [("fail", "1"), ("complete", "2"), ("fail", "3")]


async def test_an_answer_of_something_else_is_waited_out(autojump_clock, make, troubles):
    server = Server(job(1))
    server.trouble.extend([ClientError("is it a Vivero server?"), ApiError(500, "t", "d", None, {}),
                           ApiError(504, "t", "d", None, {})])  # fmt: skip
    await make(server).run()
    assert server.told == [("complete", "1", {"n": 2})]
    assert len(troubles) == 3
