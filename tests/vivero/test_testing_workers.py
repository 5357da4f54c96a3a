"""The user's own workers in the test kit: their functions work the jobs of instances in memory."""

import asyncio
import re
import threading
from dataclasses import dataclass
from decimal import Decimal
from types import ModuleType

import anyio.lowlevel
import pytest
import trio

from tests.core.event_models import ad_hoc, boundary, model
from tests.core.golden.recording import ROOTS
from tests.core.models import end, start, task
from tests.core.task_listener_models import user_task
from vivero.library import Rejected
from vivero.testing import Processes
from vivero.worker import AdHocDecision, Corrections, Denial, Job, JobCompletion, JobError, JobFailed, Worker

ERROR = '<errorEventDefinition errorRef="error-A"/>'
CHARGE = start(), task("charge", type="charge-card"), end(), "start > charge > end"


@pytest.fixture
def worker():
    return Worker()


@pytest.fixture
def made(tmp_path, worker):
    """Processes with a file of one process `p`, and the worker."""

    def make(*content):
        (tmp_path / "p.bpmn").write_bytes(model(*content, beside=(ROOTS,)))
        return Processes([tmp_path]).use("p.bpmn", worker)

    return make


@dataclass
class Item:
    price: Decimal
    quantity: int = 1


@pytest.mark.parametrize("backend", ["asyncio", "trio", "thread"])
def test_functions_get_typed_parameters_and_their_results_are_variables(made, worker: Worker, backend):
    given = []

    def charged(items: list[Item], job: Job):
        given.append(
            (job.type, job.element_id, job.process_definition_id, job.retries, job.kind, sorted(job.variables))
        )
        return {"charged": sum((item.price * item.quantity for item in items), Decimal(0))}

    async def charge(items: list[Item], job: Job):
        await anyio.lowlevel.checkpoint()
        return charged(items, job)

    worker.backend = "trio" if backend == "trio" else "asyncio"
    worker.job("charge-card")(charged if backend == "thread" else charge)
    instance = made(*CHARGE).start("p", {"items": [{"price": "1.10", "quantity": 2}, {"price": 0.25}], "other": 1})
    instance.expect_completed().expect_variables(charged=2.45)
    assert given == [("charge-card", "charge", "p", 3, "BPMN_ELEMENT", ["items"])]


def test_plain_functions_run_in_threads_as_in_a_worker(made, worker: Worker):
    seen = []
    worker.job("charge-card")(lambda: seen.append(threading.current_thread() is threading.main_thread()))
    made(*CHARGE).start("p").expect_completed()
    assert seen == [False]


def test_a_variable_that_does_not_fit_is_an_incident_that_names_it(made, worker: Worker):
    @worker.job("charge-card")
    def charge(items: list[Item]): ...

    instance = made(*CHARGE).start("p", {"items": [{"price": "much"}]})
    instance.expect_incident(
        "charge", "variable 'items[0].price': Invalid decimal string (parameter 'items' of charge)"
    )


def test_exceptions_throw_errors_or_leave_retries_with_the_backoff_of_the_function(made, worker: Worker):
    class Declined(Exception):
        pass

    @worker.job("charge-card", errors={Declined: "A"}, backoff_s=(60, 600))
    def charge(card: str):
        raise Declined if card == "expired" else ValueError("no connection")

    processes = made(*CHARGE, boundary("declined", "charge", ERROR), end("other"), "declined > other")
    processes.start("p", {"card": "expired"}).expect_completed("declined", "other")
    instance = processes.start("p", {"card": "x"})
    with pytest.raises(AssertionError) as failed:
        instance.expect_completed()
    waits = "at 'charge' for a job of type 'charge-card', until 2026-01-01 00:01:00, after it failed: ValueError: no"
    assert waits in str(failed.value)
    instance.advance(minutes=1).advance(minutes=10).expect_incident("charge", "in charge\n")


@pytest.mark.parametrize(
    ("error", "holds"),
    [
        (JobFailed("later", retries=0), lambda one: one.expect_incident("charge", "later")),
        (JobError("A", "no"), lambda one: one.expect_completed("declined")),
        (JobFailed("no", retries="3"), lambda one: one.advance(seconds=1).expect_active("charge")),
    ],
    ids=["failure", "error", "wrong-number"],
)
def test_a_function_chooses_the_end_of_its_job(made, worker: Worker, error, holds):
    @worker.job("charge-card")
    async def charge():
        raise error

    holds(made(*CHARGE, boundary("declined", "charge", ERROR), end("other"), "declined > other").start("p"))


@pytest.mark.parametrize(
    ("returned", "why"),
    [
        ({"n": float("nan")}, "n is nan, which is no number of JSON"),
        (5, "the function must return a mapping"),
        ({"x": "a" * (4 * 1024 * 1024)}, "(413 Payload Too Large)"),
        ({str(n): n for n in range(10_001)}, "has 10001 variables but must not have more than 10000. (400 "),
        (JobCompletion({}, {"type": "nonsense"}), "result.type"),
    ],
    ids=["nan", "number", "bytes", "variables", "result"],
)
def test_a_result_that_a_server_would_refuse_fails_its_job(made, worker: Worker, returned, why):
    @worker.job("charge-card")
    async def charge(job: Job):
        return returned

    made(*CHARGE).start("p").advance(hours=1).expect_incident("charge", why)


def test_listeners_deny_and_correct_and_decisions_activate(made, worker: Worker):
    @worker.job("choose")
    async def choose(done: bool = False):
        return AdHocDecision(fulfilled=True) if done else AdHocDecision({"search": {"query": "tree"}}, {"done": True})

    @worker.job("check")
    async def check(job: Job, sum: int = 0):
        assert (job.kind, job.listener_event_type) == ("TASK_LISTENER", "COMPLETING")
        return Denial("too much") if sum > 5 else Corrections(assignee="ada", priority=80)

    inner = ad_hoc("agent", task("search", type="search"), job="choose")
    processes = made(start(), inner, user_task("review", "completing check"), end(), "start > agent > review > end")
    instance = processes.start("p").expect_active("search")
    assert next(one for one in instance.instance.jobs if one.element == "search").variables["query"] == "tree"
    instance.complete("search").expect_active("review")
    instance.set_variables({"sum": 9}).complete_user_task("review").expect_active("review")
    instance.set_variables({"sum": 1}).complete_user_task("review").expect_completed()


def test_a_mock_has_precedence_and_a_type_without_a_worker_gets_a_proposal(made, worker: Worker):
    worker.job("charge-crad")(lambda: None)
    processes = made(*CHARGE)
    why = "for a job of type 'charge-card'; no worker works that type. Did you mean 'charge-crad'?"
    with pytest.raises(AssertionError, match=re.escape(why)):
        processes.start("p").expect_completed()
    worker.job("charge-card")(lambda: {"by": "worker"})
    processes.start("p").expect_variables(by="worker")
    processes.mock_job("charge-card", {"by": "mock"}).start("p").expect_variables(by="mock")


def test_a_module_stands_for_its_workers_and_a_type_has_one_function(made, worker: Worker, tmp_path):
    module, other = ModuleType("my_workers"), Worker()
    with pytest.raises(ValueError, match="the module my_workers has no object of vivero"):
        made(*CHARGE).use(module)
    worker.job("charge-card")(lambda: {"by": "module"})
    vars(module).update(orders=worker, also=worker)
    Processes([tmp_path]).use("p.bpmn", module).use(worker).start("p").expect_variables(by="module")
    other.job("charge-card")(lambda: None)
    with pytest.raises(ValueError, match="the job type 'charge-card' has a function already"):
        Processes([tmp_path]).use(worker, other)
    with pytest.raises(TypeError, match="a test uses paths of files, workers, and modules with workers, not 5"):
        Processes([tmp_path]).use(5)


def test_a_function_beyond_its_limit_fails_its_job(made, worker: Worker):
    @worker.job("charge-card", limit_s=0.001)
    async def charge():
        await asyncio.Event().wait()

    made(*CHARGE).start("p").advance(hours=1).expect_incident("charge", "not done within 0.001 s; it was here:")


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_test_inside_of_an_event_loop_uses_workers_too(made, worker: Worker, backend):
    worker.job("charge-card")(lambda: {"done": True})
    processes = made(*CHARGE)

    async def test():
        processes.start("p").expect_completed().expect_variables(done=True)

    asyncio.run(test()) if backend == "asyncio" else trio.run(test)


def test_a_bug_of_the_kit_is_no_failure_of_the_job(made, worker: Worker, monkeypatch):
    """A rejection that no server answers for good reaches the test, instead of retries without end."""

    def exhausted(*_arguments):
        raise refusal

    processes = made(*CHARGE)
    worker.job("charge-card")(lambda: None)
    with pytest.raises(Rejected) as found:
        processes.start("nosuch")
    refusal = found.value
    refusal.code = "RESOURCE_EXHAUSTED"
    monkeypatch.setattr("vivero.testing.workers.run", exhausted)
    with pytest.raises(Rejected) as raised:
        processes.start("p")
    assert raised.value is refusal
