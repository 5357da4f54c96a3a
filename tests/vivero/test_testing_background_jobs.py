"""Background jobs in the test kit: deferred and run in memory, with attempts, times and transactions as in a server."""

import asyncio
import re
import threading
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio.lowlevel
import pytest
import trio

from vivero.engine.jobs.parameters import BadPayload
from vivero.jobs import Execution, RescheduleIn, RetrySettings, TransactionalExecution, consumer, job, scheduled
from vivero.testing.background_jobs import BEGIN, MOST_RUNS, BackgroundJobTests

TWICE = RetrySettings(max_attempts=2, initial_interval_s=60)


@pytest.fixture
def tests():
    return BackgroundJobTests()


@pytest.fixture
def seen():
    return []


@pytest.mark.parametrize("runs", ["trio", "asyncio", "thread"])
def test_a_deferred_job_runs_with_its_parameters(tests, seen, runs):
    def note(execution: Execution, invoice: str, amount: Decimal) -> None:
        seen.append((execution.attempt, invoice, amount, threading.current_thread() is threading.main_thread()))

    async def note_here(execution: Execution, invoice: str, amount: Decimal) -> None:
        await (asyncio.sleep(0) if runs == "asyncio" else anyio.lowlevel.checkpoint())
        note(execution, invoice, amount)

    send = job("send-invoice", runs=runs)(note if runs == "thread" else note_here)
    send.defer(tests.use(send), invoice="a1", amount=Decimal("1.20"))
    tests.expect_deferred("send-invoice", invoice="a1", at=BEGIN)
    assert seen == []
    tests.run().expect_completed("send-invoice", invoice="a1", amount="1.20")
    assert seen == [(0, "a1", Decimal("1.20"), runs != "thread")]


def test_fields_and_types_that_do_not_fit_are_refused_at_the_call(tests):
    @job("send-invoice")
    async def send(execution: Execution, invoice: str) -> None: ...

    with pytest.raises(ValueError, match=r"the test uses no job 'send-invoice'\."):
        send.defer(tests, invoice="a1")
    with pytest.raises(BadPayload, match="no parameter 'invoce': did you mean 'invoice'"):
        send.defer(tests.use(send), invoce="a1")
    with pytest.raises(ValueError, match=r"the test uses no job 'send-invoce'\. Did you mean 'send-invoice'\?"):
        tests.defer("send-invoce")
    with pytest.raises(AssertionError, match=r"The test uses no job 'send-invoce'\. Did you mean 'send-invoice'\?"):
        tests.expect_completed("send-invoce")
    with pytest.raises(ValueError, match="needs a time with a zone"):
        send.defer(tests, invoice="a1", at=datetime(2026, 1, 2))
    tests.use(consumer("mirror")(lambda execution: None), scheduled("report", every="PT1H")(lambda execution: None))
    for by_itself, why in (("mirror", "follows events"), ("report", "has a schedule")):
        with pytest.raises(TypeError, match=f"'{by_itself}' {why} and runs by itself"):
            tests.defer(by_itself)
    assert tests.jobs == []


def test_attempts_come_at_their_times_and_the_last_one_fails(tests, seen):
    @job("broken", retry=TWICE)
    async def broken(execution: Execution) -> None:
        seen.append((tests.now - BEGIN, execution.attempt))
        raise ValueError("no paper")

    broken.defer(tests.use(broken), at=BEGIN + timedelta(hours=1))
    tests.run()
    assert seen == []
    tests.advance(hours=1)
    with pytest.raises(AssertionError, match=r"broken null is pending until 2026-01-01 01:01:00, after .*: no paper"):
        tests.expect_failed("broken")
    tests.advance(days=1).expect_failed("broken", "in broken\n", attempts=2)
    assert seen == [(timedelta(hours=1), 0), (timedelta(hours=1, minutes=1), 1)]
    assert tests.now == BEGIN + timedelta(days=1, hours=1)


def test_a_payload_that_does_not_fit_any_more_is_tried_again_like_other_failures(tests):
    @job("typed", retry=TWICE)
    async def typed(execution: Execution, invoice: str) -> None: ...

    tests.use(typed)
    for payload in ({"invoice": 5}, ["no", "fields"]):
        tests.defer("typed", payload)
        tests.advance(hours=1).expect_failed("typed", "BadPayload: the payload does not fit", attempts=2)
        with pytest.raises(AssertionError, match=r"typed .* is failed"):
            tests.expect_deferred("typed", number=1)
        tests.jobs.clear()


def test_statements_and_further_jobs_count_only_if_the_run_succeeds(tests):
    @job("order", retry=TWICE)
    async def order(execution: TransactionalExecution) -> None:
        [(stock,)] = await execution.execute("SELECT stock FROM items WHERE id = $1", (7,))
        await execution.add("mail", {"stock": stock}, unique_key="k")
        await execution.add("mail", {"stock": stock}, unique_key="k")
        if execution.attempt == 0:
            raise ValueError("once")

    mail = job("mail")(lambda execution: None)
    tests.use(order, mail).answer_sql(lambda sql, params: [(params[0] * 2,)]).defer("order")
    tests.run()
    assert (len(tests.jobs), tests.statements) == (1, [])
    tests.advance(minutes=1).expect_completed("order").expect_completed("mail", stock=14)
    assert (len(tests.jobs), tests.statements) == (2, [("SELECT stock FROM items WHERE id = $1", (7,))])


def test_without_an_answer_a_statement_says_what_to_do(tests):
    @job("order", retry=RetrySettings(max_attempts=1))
    async def order(execution: TransactionalExecution) -> None:
        await execution.execute("SELECT 1")

    tests.use(order).defer("order")
    tests.run().expect_failed("order", "the test has no database: give a function for statements to")


def test_a_key_is_unique_while_its_execution_waits_and_a_type_of_others_stays_pending(tests):
    mail = job("mail")(lambda execution: None)
    first = mail.defer(tests.use(mail), unique_key="k")
    assert mail.defer(tests, unique_key="k") == first
    tests.defer("elsewhere", allow_unknown=True)
    assert mail.defer(tests.run(), unique_key="k") != first
    assert [(one.type, one.state) for one in tests.jobs] == [
        ("mail", "completed"), ("elsewhere", "pending"), ("mail", "pending")
    ]  # fmt: skip


@pytest.mark.long
def test_a_job_that_goes_on_is_the_same_execution_and_runs_are_bounded(tests, seen):
    @job("poll")
    async def poll(execution: Execution, pause: float) -> RescheduleIn:
        seen.append((execution.occurrence, tests.now - BEGIN))
        return RescheduleIn(pause)

    poll.defer(tests.use(poll), pause=60.0)
    tests.advance(minutes=2)
    assert seen == [(0, timedelta()), (1, timedelta(minutes=1)), (2, timedelta(minutes=2))]
    poll.defer(tests, pause=0.0)
    with pytest.raises(AssertionError, match=f"There were {MOST_RUNS} runs until 2026-01-01 00:02:00"):
        tests.run()


def test_a_module_stands_for_its_jobs_and_a_name_has_one(tests):
    module = ModuleType("my_jobs")
    with pytest.raises(ValueError, match="my_jobs defines no jobs"):
        tests.use(module)
    vars(module).update(mail=job("mail")(lambda execution: None))
    tests.use(module).use(module).defer("mail")
    tests.run().expect_completed("mail")
    with pytest.raises(ValueError, match="there are two jobs with the name 'mail'"):
        tests.use(job("mail")(lambda execution: None))


def test_the_examples_of_the_page_pass_with_the_fixture_of_the_plugin(background_jobs):
    page = (Path(__file__).parents[2] / "docs" / "background-jobs.md").read_text(encoding="utf-8")
    [example] = re.findall(r"^## In tests\n.*?^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    exec(example, names)
    examples = [value for name, value in names.items() if name.startswith("test_")]
    assert len(examples) == 2
    for each in examples:
        each(background_jobs)
        background_jobs.jobs.clear()


def test_a_test_inside_of_an_event_loop_runs_jobs_too(tests):
    mail = job("mail")(lambda execution: None)

    async def test() -> None:
        mail.defer(tests.use(mail))
        tests.run().expect_completed("mail")

    trio.run(test)
    assert tests.jobs[0].at.tzinfo is UTC
