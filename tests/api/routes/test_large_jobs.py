"""Activation of jobs that see large variables: as many as fit, nothing in vain, and nobody else is held up."""

from dataclasses import replace
from functools import partial

import pytest
import trio

from tests.api.changed_services import changed
from tests.eventually import eventually
from vivero.api import app
from vivero.api.activation.long_polls import LongPolls
from vivero.api.commands import submission
from vivero.core.records.jobs import WithholdJob

KEY = 2251799813685249
MANY = {"type": "work", "timeout": 60_000, "maxJobsToActivate": 2_000_000_000, "requestTimeout": -1}


@pytest.fixture
def make(reader):
    """A client of an application with these services."""
    return lambda services: type(reader)(app.build(services))


def ready(rows):
    return rows.execute("SELECT ready FROM jobs ORDER BY job_key").fetchall()


def put_large(rows, number, size, **job):
    """A job that sees a variable of its own, of that many bytes."""
    rows.job(KEY + 1000 + number, path=[KEY + 5000 + number, KEY], **job)
    rows.variable(KEY + 9000 + number, "large", '"' + "x" * (size - 2) + '"', scope_key=KEY + 5000 + number)


async def test_an_answer_has_a_limit_and_only_as_many_are_leased(rows, reader, settings):
    for number in range(60):
        put_large(rows, number, settings.max_activation_bytes // 40)
    answer = await reader("POST", "/v2/jobs/activation", MANY)
    assert len(answer.json["jobs"]) == 39
    assert len(answer.body) <= settings.max_activation_bytes
    assert sum(flag for (flag,) in ready(rows)) == 21
    assert len((await reader("POST", "/v2/jobs/activation", MANY)).json["jobs"]) == 21


async def test_many_small_jobs_come_in_one_answer(rows, reader, settings):
    for number in range(330):
        rows.job(KEY + 1000 + number)
    answer = await reader("POST", "/v2/jobs/activation", MANY | {"maxJobsToActivate": 320})
    assert [int(job["jobKey"]) for job in answer.json["jobs"]] == [KEY + 1000 + number for number in range(320)]
    assert sum(flag for (flag,) in ready(rows)) == 10


@pytest.mark.long
async def test_jobs_that_alone_fill_an_answer_come_one_at_a_time(rows, reader, settings, stored):
    """As large as a request can make them, and larger than an answer otherwise is."""
    for number in range(3):
        put_large(rows, number, settings.max_activation_bytes + number * 100_000)
    for number in range(3):
        (job,) = (await reader("POST", "/v2/jobs/activation", MANY)).json["jobs"]
        assert int(job["jobKey"]) == KEY + 1000 + number
    assert stored.jobs.long_polls.budget.used == 0


@pytest.fixture
def narrow(stored, make):
    """A client of long polls whose budget holds one large answer, and the long polls."""
    polls = LongPolls(slow_poll_s=3600, answers_bytes=1_000_000)
    return make(changed(stored, long_polls=polls)), polls


async def test_a_large_job_waits_for_room_and_leases_nothing_meanwhile(rows, narrow, nursery):
    client, polls = narrow
    put_large(rows, 1, 800_000)
    rows.job(KEY + 500, type="small")
    answers = []

    async def poll():
        answers.append(await client("POST", "/v2/jobs/activation", MANY | {"requestTimeout": 30_000}))

    with polls.budget.share() as other:
        other.take(500_000)
        nursery.start_soon(poll)
        await eventually(lambda: polls.budget._waiting)
        assert (answers, [flag for (flag,) in ready(rows)]) == ([], [True, True])
        small = await client("POST", "/v2/jobs/activation", MANY | {"type": "small"})
        assert len(small.json["jobs"]) == 1
    await eventually(lambda: answers)
    assert len(answers[0].json["jobs"]) == 1
    assert polls.budget.used == 0


async def test_who_waits_for_room_no_longer_gets_nothing(rows, narrow):
    client, polls = narrow
    put_large(rows, 1, 800_000)
    with polls.budget.share() as other:
        other.take(500_000)
        with trio.fail_after(20):
            answer = await client("POST", "/v2/jobs/activation", MANY | {"requestTimeout": 30})
    assert (answer.json, ready(rows)) == ({"jobs": []}, [(True,)])


async def test_who_leaves_while_it_waits_for_room_lets_the_next_in(rows, narrow, nursery):
    client, polls = narrow
    put_large(rows, 1, 800_000)
    done = trio.Event()

    async def poll():
        await client("POST", "/v2/jobs/activation", MANY | {"requestTimeout": 30_000})
        done.set()

    with polls.budget.share() as other:
        other.take(500_000)
        nursery.start_soon(poll)
        await eventually(lambda: polls.budget._waiting)
        client.gone.set()
        with trio.fail_after(20):
            await done.wait()
    assert (ready(rows), polls.budget.used, len(polls)) == ([(True,)], 0, 0)


async def test_a_job_that_is_too_large_for_any_answer_is_withheld(rows, stored, make, monkeypatch):
    """The engine is told, with the lease that the job had; the next job of the type is not held up."""
    monkeypatch.setattr(submission, "submit_internal", partial(withheld, rows))
    client = make(changed(stored, settings=replace(stored.settings, max_job_bytes=5_000_000)))
    put_large(rows, 1, 5_000_000)
    put_large(rows, 2, 4_900_000)
    (job,) = (await client("POST", "/v2/jobs/activation", MANY)).json["jobs"]
    assert int(job["jobKey"]) == KEY + 1002
    assert [flag for (flag,) in ready(rows)] == [False, False]


async def withheld(rows, services, command, tenant, key):
    """A fake of the engine's work on the command."""
    assert (command.key, command.lease, command.most, tenant) == (key, None, 5_000_000, "<default>")
    assert command.size > 5_000_000
    rows.execute("UPDATE jobs SET ready = false WHERE job_key = %s", [key])


async def test_withholding_is_a_command_that_is_waited_for(rows, stored, engine, make):
    client = make(changed(stored, settings=replace(stored.settings, max_job_bytes=5_000_000)))
    put_large(rows, 1, 5_000_000)
    engine.silent = True
    answer = await client("POST", "/v2/jobs/activation", MANY)
    assert (answer.status, answer.problem["title"]) == (504, "DEADLINE_EXCEEDED")
    assert isinstance(engine.command, WithholdJob)
    assert stored.jobs.long_polls.budget.used == 0
