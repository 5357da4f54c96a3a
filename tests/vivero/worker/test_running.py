"""Functions that take long, hang, raise anything, or run in threads: leases, limits, and jobs that are given back."""

import asyncio
import re
import sys
import threading
from functools import partial
from pathlib import Path
from types import ModuleType

import anyio
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from tests.vivero.worker.stub_server import StubServer, job, refused
from vivero.client.rest import Unreachable
from vivero.worker import Job, JobOutcome, Worker


@pytest.fixture
def reports():
    return []


@pytest.fixture
def worker_of(reports):
    def make(server, **settings):
        return Worker(client=server, on_report=reports.append, on_trouble=lambda _error: None, **settings)

    return make


async def test_the_lease_is_extended_while_the_function_runs(autojump_clock, worker_of):
    server = StubServer(job(1))
    worker: Worker = worker_of(server, max_jobs=1)

    @worker.job("t", lease_s=30)
    async def work():
        await trio.sleep(35)

    await worker.serve()
    assert server.asked[0]["timeout"] == 30_000
    assert server.leases == [("1", 30_000)] * 3, "after 10, 20 and 30 s"
    assert server.told == [("completion", "1", {})]


async def test_an_extension_without_an_answer_is_tried_again_soon(autojump_clock, worker_of):
    server = StubServer(job(1))
    server.refused_leases += [Unreachable("away", in_doubt=True), refused(503)]
    worker: Worker = worker_of(server, max_jobs=1)

    @worker.job("t", lease_s=30)
    async def work():
        await trio.sleep(17)

    await worker.serve()
    assert len(server.leases) == 3, "after 10, 13 and 16 s"
    assert server.told == [("completion", "1", {})]


@pytest.mark.parametrize("status", [404, 409])
async def test_a_function_whose_job_is_lost_is_cancelled_and_nothing_is_told(
    autojump_clock, worker_of, reports, status
):
    server = StubServer(job(1))
    server.refused_leases.append(refused(status))
    worker: Worker = worker_of(server, max_jobs=1)

    @worker.job("t", lease_s=30)
    async def work():
        await trio.sleep_forever()

    await worker.serve()
    assert trio.current_time() == pytest.approx(10, abs=1)
    assert server.told == []
    assert [report.outcome for report in reports] == [JobOutcome.LOST]


async def test_a_function_beyond_its_limit_fails_with_the_place_where_it_hangs(autojump_clock, worker_of):
    server = StubServer(job(1))
    worker: Worker = worker_of(server, max_jobs=1)

    @worker.job("t", lease_s=30, limit_s=12.5, backoff_s=0)
    async def work():
        await deeper()

    async def deeper():
        await trio.sleep_forever()

    await worker.serve()
    assert trio.current_time() == pytest.approx(12.5, abs=0.01)
    [(_, _, message, retries, _)] = server.told
    assert message.startswith("the job was not done within 12.5 s; it was here:\n  File ")
    assert message.index("in work\n    await deeper()") < message.index("in deeper\n    await trio.sleep_forever()")
    assert retries == 2


async def test_a_function_that_returns_in_the_moment_of_its_limit_has_done_its_work(autojump_clock, worker_of):
    """The cancellation comes when the function has nothing to wait for any more."""
    server = StubServer(job(1))
    worker: Worker = worker_of(server, max_jobs=1)
    done = trio.Event()

    @worker.job("t", limit_s=5)
    async def work():
        with trio.CancelScope(shield=True):
            await trio.sleep(6)
        done.set()
        return {"n": 1}

    await worker.serve()
    assert done.is_set()
    assert server.told == [("completion", "1", {"n": 1})]


@pytest.mark.parametrize("callback", ["on_report", "on_trouble", "on_ready"])
async def test_a_callback_that_raises_does_not_end_the_worker(autojump_clock, caplog, callback):
    def fail(*_arguments):
        raise OSError("the disk is full")

    server = StubServer(job(1), job(2))
    server.trouble.append(refused(503))
    worker = Worker(client=server, max_jobs=2, **{callback: fail})

    @worker.job("t")
    async def work():
        """In the event loop: the clock would jump while a thread computes."""

    await worker.serve()
    assert sorted(server.told) == [("completion", "1", {}), ("completion", "2", {})]
    said = [record for record in caplog.records if record.getMessage() == f"{callback} of the worker raised"]
    assert said
    assert str(said[0].exc_info[1]) == "the disk is full"


async def test_the_failure_has_the_last_lines_of_the_traceback_of_the_user(worker_of):
    """On the real clock: one that jumps does not know that a thread computes."""
    server = StubServer(job(1), job(2, type="thread"))
    worker: Worker = worker_of(server)

    def lookup(depth):
        if depth:
            lookup(depth - 1)
        raise KeyError("sku")

    @worker.job("t", backoff_s=0)
    async def work():
        lookup(200)

    @worker.job("thread", backoff_s=0)
    def work_in_thread():
        lookup(0)

    worker.on_report = lambda _report: worker.stop() if len(server.told) == 2 else None
    await worker.serve()
    [long, short] = (message for _, _, message, _, _ in sorted(server.told, key=lambda told: told[1]))
    assert long.startswith("KeyError: 'sku'\n  File")
    assert long.endswith('raise KeyError("sku")')
    assert len(long) <= 4000
    lines = short.splitlines()
    assert lines[1].endswith("in work_in_thread")
    assert lines[3].endswith("in lookup")
    assert len(lines) == 5


class Declined(Exception):
    pass


class Stolen(Declined):
    pass


async def test_exceptions_throw_the_errors_that_a_mapping_names(autojump_clock, worker_of):
    server = StubServer(*(job(number, kind=kind) for number, kind in enumerate(("declined", "stolen", "group"))))
    worker: Worker = worker_of(server, max_jobs=3)

    @worker.job("t", errors={Declined: "card-declined"})
    async def work(kind: str):
        if kind == "group":
            raise ExceptionGroup("of a nursery", [Stolen("in a group")])
        raise {"declined": Declined, "stolen": Stolen}[kind](kind)

    await worker.serve()
    assert sorted(server.told) == [
        ("error", "0", "card-declined", "Declined: declined", {}),
        ("error", "1", "card-declined", "Stolen: stolen", {}),
        ("error", "2", "card-declined", "Stolen: in a group", {}),
    ]


async def test_the_backoff_grows_with_each_retry(autojump_clock, worker_of):
    server = StubServer(*(job(number, retries=number) for number in range(1, 6)))
    worker: Worker = worker_of(server, max_jobs=5, concurrency=1)

    @worker.job("t", backoff_s=(1, 10, 60))
    async def work():
        raise RuntimeError

    await worker.serve()
    assert [(told[1], told[4]) for told in server.told] == [
        ("1", 60_000),
        ("2", 60_000),
        ("3", 10_000),
        ("4", 1_000),
        ("5", 1_000),
    ]


class Odd(BaseException):
    pass


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (SystemExit(3), "SystemExit: 3"),
        (GeneratorExit(), "GeneratorExit"),
        (StopIteration(1), "RuntimeError: coroutine raised StopIteration"),
        (Odd("odd"), "Odd: odd"),
        (Mute(), "Mute: its text cannot be made: RuntimeError"),
        (BaseExceptionGroup("several", [Odd("inner")]), "Odd: inner"),
        (asyncio.CancelledError("given up"), "CancelledError: given up"),
    ],
)
async def test_whatever_a_function_raises_the_worker_goes_on(autojump_clock, worker_of, error, message):
    server = StubServer(job(1), job(2))
    worker: Worker = worker_of(server, max_jobs=2, concurrency=1)

    @worker.job("t")
    async def work(context: Job):
        if context.job_key == "1":
            raise error

    await worker.serve()
    assert [told[:2] for told in server.told] == [("failure", "1"), ("completion", "2")]
    assert server.told[0][2].startswith(message)


def sinks(depth=0):
    return sinks(depth + 1)


def raising(error):
    raise error


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize(
    ("fail", "message"),
    [
        (sinks, "RecursionError: maximum recursion depth exceeded"),
        (sys.exit, "SystemExit"),
        (partial(raising, KeyboardInterrupt()), "KeyboardInterrupt"),
        (partial(raising, GeneratorExit()), "GeneratorExit"),
        (partial(raising, asyncio.CancelledError()), "CancelledError"),
        (partial(raising, StopIteration()), "RuntimeError: coroutine raised StopIteration"),
        (partial(raising, BaseExceptionGroup("several", [Odd("inner")])), "Odd: inner"),
    ],
)
def test_whatever_a_function_raises_in_a_thread_the_worker_goes_on(worker_of, backend, fail, message):
    server = StubServer(job(1), job(2))
    worker: Worker = worker_of(server, max_jobs=2, concurrency=1)

    @worker.job("t")
    def work(context: Job):
        if context.job_key == "1":
            fail()

    anyio.run(worker.serve, backend=backend)
    assert [told[:2] for told in server.told] == [("failure", "1"), ("completion", "2")]
    assert server.told[0][2].startswith(message)


async def test_lost_answers_to_reports_are_no_losses(autojump_clock, worker_of, reports):
    """The server has taken the first request, and does not know the job any more at the second."""
    server = StubServer(job(1))
    answers = iter([Unreachable("cut off", in_doubt=True), refused(404)])
    worker: Worker = worker_of(server, max_jobs=1)

    @worker.job("t")
    async def work():
        server.refusals["1"] = next(answers)
        nursery.start_soon(next_refusal)

    async def next_refusal():
        await trio.sleep(0.05)
        server.refusals["1"] = next(answers)

    async with trio.open_nursery() as nursery:
        await worker.serve()
    assert [report.outcome for report in reports] == [JobOutcome.COMPLETED]


# --------------------------------------------------------------------------------------- several types, one worker


async def test_the_limits_of_a_type_and_of_all_hold_together(worker_of):
    server = StubServer(*(job(number, type=type) for number in range(6) for type in ("a", "b")))
    worker: Worker = worker_of(server, concurrency=3)
    running, most, go = {"a": 0, "b": 0}, {"a": 0, "b": 0, "all": 0}, trio.Event()

    async def work(context: Job):
        running[context.type] += 1
        most[context.type] = max(most[context.type], running[context.type])
        most["all"] = max(most["all"], sum(running.values()))
        await go.wait()
        running[context.type] -= 1

    worker.job("a", concurrency=1)(work)
    worker.job("b")(work)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(worker.serve)
        await wait_all_tasks_blocked()
        assert most["all"] == 3
        go.set()
        await wait_all_tasks_blocked()
        assert len(server.told) == 12
        nursery.cancel_scope.cancel()
    assert most["a"] == 1
    assert most["all"] == 3


async def test_tenants_and_variables_are_asked_for(autojump_clock, worker_of):
    server = StubServer(job(1))
    worker: Worker = worker_of(server, max_jobs=1, tenant_ids=["acme"], name="till")

    @worker.job("t")
    async def work(n: int, card: str = ""): ...

    await worker.serve()
    asked = server.asked[0]
    assert (asked["tenantIds"], asked["worker"], asked["fetchVariable"]) == (["acme"], "till", ["n", "card"])
    assert asked["withLease"] is True


# --------------------------------------------------------------------------------------------------------- threads


async def test_a_plain_function_runs_in_a_thread_while_others_go_on(worker_of):
    server = StubServer(job(1), job(2))
    worker: Worker = worker_of(server, max_jobs=2, concurrency=2)
    meet, seen = threading.Barrier(2), set()

    @worker.job("t")
    def work(n: int):
        meet.wait(timeout=30)  # passes only if both run at the same time
        seen.add(threading.get_ident())
        return {"n": -n}

    await worker.serve()
    assert sorted(server.told) == [("completion", "1", {"n": -1}), ("completion", "2", {"n": -2})]
    assert threading.get_ident() not in seen


async def test_a_thread_that_hangs_fails_its_job_and_keeps_its_slot(mock_clock, worker_of):
    """Until it ends: nobody can end a thread."""
    server = StubServer(job(1), job(2))
    worker: Worker = worker_of(server, max_jobs=2, concurrency=1)
    release, hangs = threading.Event(), trio.Event()
    token = trio.lowlevel.current_trio_token()

    @worker.job("t", limit_s=600, backoff_s=0)
    def work(context: Job):
        if context.job_key == "1":
            trio.from_thread.run_sync(hangs.set, trio_token=token)
            release.wait()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(worker.serve)
        await hangs.wait()
        mock_clock.jump(600)
        await wait_all_tasks_blocked()
        [(what, key, message, *_)] = server.told
        assert len(server.jobs) == 1, "the slot is not free"
        release.set()
    assert (what, key) == ("failure", "1")
    assert message.startswith("the job was not done within 600 s; its thread cannot be ended, and keeps its slot; it")
    assert ", in work\n" in message
    assert server.told[1:] == [("completion", "2", {})]


async def test_a_job_whose_thread_still_runs_is_not_given_back(worker_of, reports):
    """Another worker would do the same work at the same time."""
    server = StubServer(job(1), job(2, type="async"))
    worker: Worker = worker_of(server)
    release, runs = threading.Event(), trio.Event()
    token = trio.lowlevel.current_trio_token()

    @worker.job("t")
    def work():
        trio.from_thread.run_sync(runs.set, trio_token=token)
        release.wait()

    @worker.job("async")
    async def work_here():
        await trio.sleep_forever()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(worker.serve)
        await runs.wait()
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    release.set()
    assert server.leases == [("2", 1)]
    assert sorted((report.outcome, report.job.job_key) for report in reports) == [
        (JobOutcome.HANDED_BACK, "2"),
        (JobOutcome.LOST, "1"),
    ]


async def test_a_thread_sees_that_its_job_is_lost(worker_of, reports):
    server = StubServer(job(1))
    server.refused_leases.append(refused(404))
    worker: Worker = worker_of(server, max_jobs=1)

    @worker.job("t", lease_s=0.003)
    def work(context: Job):
        while not context.is_lost:
            pass
        return {"late": True}

    await worker.serve()
    assert server.told == []
    assert [report.outcome for report in reports] == [JobOutcome.LOST]


async def test_a_worker_without_functions_says_so(worker_of):
    with pytest.raises(ValueError, match=r"decorate one with @worker\.job"):
        await worker_of(StubServer()).serve()


@pytest.mark.parametrize(
    ("card", "told"),
    [
        ("4111", ("completion", "1", {"charged": 3.8})),
        ("expired", ("error", "1", "card-declined", "CardDeclined: the card of instance 7 has expired", {})),
    ],
)
async def test_the_worker_of_the_documentation(worker_of, monkeypatch, card, told):
    page = Path(__file__).parents[3] / "docs" / "workers.md"
    code, *_ = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    module = ModuleType("workers_of_the_page")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(code, str(page), "exec"), module.__dict__)
    items = [{"sku": "rose", "price": 1.2, "quantity": 2}, {"sku": "fern", "price": 1.4}]
    server = StubServer(job(1, type="charge-card", card=card, items=items) | {"processInstanceKey": "7"})
    worker: Worker = worker_of(server, max_jobs=1)
    worker.include(module.worker)
    await worker.serve()
    assert server.told == [told]
    assert server.asked[0]["fetchVariable"] == ["card", "items"]
