"""Activation over HTTP and PostgreSQL: long polls, clients that leave, answers that do not arrive."""

import pytest
import trio

from tests.api.changed_services import changed
from tests.core.engine import Engine
from tests.core.models import ONE_TASK
from tests.eventually import eventually
from vivero.api.activation.long_polls import LongPolls
from vivero.api.admission.waits import Waits
from vivero.storage.postgres.errors import ConnectionLost
from vivero.storage.work import activation

KEY = 2251799813685249
ASK = {"type": "work", "timeout": 60_000, "maxJobsToActivate": 5, "requestTimeout": 30_000}


@pytest.fixture
def services(services):
    """The fallback of long polls is out of the way: what wakes them here is what is tested."""
    return changed(services, long_polls=LongPolls(slow_poll_s=3600))


async def until_waiting(services, number):
    """Wait until so many polls have looked and found nothing."""

    def waiting():
        return [bool(poller.waiting) for queue in services.jobs.long_polls._queues.values() for poller in queue.pollers]

    await eventually(waiting, accept=lambda found: found == [True] * number)


@pytest.fixture
def poll(reader):
    """A worker's long poll, for a task of its own; what it is answered goes into `poll.answers`."""

    class Poll:
        def __init__(self) -> None:
            self.answers = []

        async def __call__(self) -> None:
            self.answers.append(await reader("POST", "/v2/jobs/activation", ASK))

    return Poll()


def ready(rows):
    return rows.execute("SELECT ready FROM jobs ORDER BY job_key").fetchall()


async def test_jobs_that_are_there_are_given_at_once(rows, reader):
    rows.job(KEY + 3)
    rows.job(KEY + 4, type="other")
    rows.variable(name="x", value='"é"')
    answer = await reader("POST", "/v2/jobs/activation", ASK | {"worker": "w"})
    (job,) = answer.json["jobs"]
    assert (job["jobKey"], job["worker"], job["variables"]) == (str(KEY + 3), "w", {"x": "é"})
    assert job["jobLeaseToken"] is None
    assert answer.headers[b"content-type"] == b"application/json"


async def test_a_lease_token_is_given_to_who_asks_and_extends_the_lease(rows, reader):
    rows.job()
    (job,) = (await reader("POST", "/v2/jobs/activation", ASK | {"withLease": True})).json["jobs"]
    token = rows.execute("SELECT lease_token::text FROM jobs").fetchone()[0]
    assert job["jobLeaseToken"] == token
    path, change = f"/v2/jobs/{KEY + 3}", {"changeset": {"timeout": 120_000}}
    assert (await reader("PATCH", path, change | {"jobLeaseToken": token})).status == 204
    for other in ("nonsense", token[:-1] + ("0" if token[-1] != "0" else "1")):
        answer = await reader("PATCH", path, change | {"jobLeaseToken": other})
        assert (answer.status, answer.problem["title"]) == (409, "INVALID_STATE")
    assert (await reader("PATCH", f"/v2/jobs/{KEY + 9}", change)).problem["title"] == "NOT_FOUND"


async def test_a_job_that_nobody_has_been_given_has_no_lease_to_extend(rows, reader):
    rows.job()
    answer = await reader("PATCH", f"/v2/jobs/{KEY + 3}", {"changeset": {"timeout": 120_000}})
    assert (answer.status, answer.problem["title"]) == (409, "INVALID_STATE")
    assert answer.problem["detail"].endswith("but it is not activated")


async def test_an_extension_comes_before_the_command(rows, reader, engine):
    change = {"changeset": {"timeout": 1, "retries": 2}}
    assert (await reader("PATCH", f"/v2/jobs/{KEY + 3}", change)).status == 404
    assert engine.appended == []
    rows.job()
    await reader("POST", "/v2/jobs/activation", ASK)
    answer = await reader("PATCH", f"/v2/jobs/{KEY + 3}", change)
    assert (answer.status, answer.headers) == (204, {b"command-position": b"1"})
    assert engine.command.retries == 2


async def test_who_does_not_want_to_wait_gets_nothing_at_once(reader):
    answer = await reader("POST", "/v2/jobs/activation", ASK | {"requestTimeout": -1})
    assert (answer.status, answer.json) == (200, {"jobs": []})


async def test_who_waits_gets_nothing_when_the_time_is_over(reader):
    with trio.fail_after(20):
        answer = await reader("POST", "/v2/jobs/activation", ASK | {"requestTimeout": "50"})
    assert answer.json == {"jobs": []}


async def test_a_poll_is_woken_by_a_job(rows, poll, stored, nursery):
    for _ in range(2):
        nursery.start_soon(poll)
    await until_waiting(stored, 2)
    rows.job(KEY + 3)
    stored.jobs.long_polls.available("work", "<default>", 1)
    await eventually(lambda: poll.answers)
    assert len(poll.answers[0].json["jobs"]) == 1
    await until_waiting(stored, 1)
    rows.job(KEY + 4)
    stored.jobs.long_polls.available("work", "<default>", 1)
    await eventually(lambda: len(poll.answers), accept=lambda found: found == 2)
    assert poll.answers[1].json["jobs"][0]["jobKey"] == str(KEY + 4)


@pytest.mark.parametrize("request_timeout_ms", [500, 30_000])
async def test_a_poll_looks_first_unless_others_wait_already(rows, reader, poll, stored, nursery, request_timeout_ms):
    """Nobody is told of this job. A poll that waits for a short time looks in any case."""
    nursery.start_soon(poll)
    await until_waiting(stored, 1)
    rows.job()
    if request_timeout_ms == 500:
        answer = await reader("POST", "/v2/jobs/activation", ASK | {"requestTimeout": request_timeout_ms})
        assert len(answer.json["jobs"]) == 1
        return
    nursery.start_soon(poll)
    await until_waiting(stored, 2)
    stored.jobs.long_polls.available("work", "<default>", 1)
    await eventually(lambda: poll.answers)
    assert len(poll.answers[0].json["jobs"]) == 1


def lease_new(rows, stored):
    """Lease a new job to the waiting poll, as a batch does that saves it; its leases."""
    engine = Engine()
    engine.deploy(ONE_TASK)
    engine.start(x="ö")
    (job,) = engine.state.jobs.values()
    (leases,) = stored.jobs.long_polls.lease_new({("work", "<default>"): [job]}, 1_795_800_000_000)
    token = leases.leases[0].token
    rows.job(job.key, ready=False, available_at="2999-01-01", worker="w", lease_token=token)
    return leases


async def test_a_poll_is_answered_with_what_a_batch_brings(rows, poll, stored, nursery):
    nursery.start_soon(poll)
    await until_waiting(stored, 1)
    leases = lease_new(rows, stored)
    leases.committed()
    await eventually(lambda: poll.answers)
    (job,) = poll.answers[0].json["jobs"]
    assert (job["jobKey"], job["variables"]) == (str(leases.leases[0].job_key), {"x": "ö"})


async def test_what_a_batch_leased_is_not_lost_with_its_answer(rows, poll, stored, nursery):
    """The batch was committed, its answer lost: the worker that waited gets the job all the same."""
    nursery.start_soon(poll)
    await until_waiting(stored, 1)
    leases = lease_new(rows, stored)
    leases.lost()
    await eventually(lambda: poll.answers)
    assert poll.answers[0].json["jobs"][0]["jobKey"] == str(leases.leases[0].job_key)


async def test_what_is_brought_to_a_client_that_has_left_goes_to_the_next(rows, poll, stored, nursery):
    with trio.CancelScope() as left:
        async with trio.open_nursery() as inner:
            inner.start_soon(poll)
            await until_waiting(stored, 1)
            leases = lease_new(rows, stored)
            leases.committed()
            left.cancel()  # before the poll has had a turn
    assert poll.answers == []
    await poll()
    assert poll.answers[0].json["jobs"][0]["jobKey"] == str(leases.leases[0].job_key)


async def test_what_is_brought_to_a_client_whose_end_nobody_has_read_is_given_back(rows, reader, stored, nursery, poll):
    """The system would take the answer, and nobody would learn that it never arrives."""
    nursery.start_soon(poll)
    await until_waiting(stored, 1)
    leases = lease_new(rows, stored)
    reader.has_left = True
    leases.committed()
    await eventually(lambda: poll.answers)
    assert poll.answers == [None]
    assert ready(rows) == [(True,)]


async def test_what_is_brought_to_a_client_that_has_left_is_given_back(rows, reader, stored, nursery, poll):
    """At once: the next may wait at another node, or come when the token is forgotten."""
    nursery.start_soon(poll)
    await until_waiting(stored, 1)
    leases = lease_new(rows, stored)
    reader.gone.set()
    await eventually(lambda: leases.poller.gone)
    assert not leases.committed()
    await eventually(lambda: poll.answers)
    assert ready(rows) == [(True,)]


async def test_a_poll_looks_again_when_a_backoff_ends(rows, reader):
    rows.execute(
        "UPDATE clock SET shift = '-1 h'"  # the engine's clock, not the computer's
    )
    rows.job(ready=False, state="FAILED", available_at=None)
    rows.execute("UPDATE jobs SET available_at = clock_now() + interval '100 ms'")
    with trio.fail_after(20):
        answer = await reader("POST", "/v2/jobs/activation", ASK)
    assert len(answer.json["jobs"]) == 1


async def test_a_poll_looks_when_a_lease_is_made_shorter(rows, reader, stored, nursery, poll):
    rows.job()
    await reader("POST", "/v2/jobs/activation", ASK)
    nursery.start_soon(poll)
    await until_waiting(stored, 1)
    await reader("PATCH", f"/v2/jobs/{KEY + 3}", {"changeset": {"timeout": 50}})
    await eventually(lambda: poll.answers)
    assert len(poll.answers[0].json["jobs"]) == 1


async def test_a_poll_whose_client_leaves_takes_no_job(rows, reader, stored, nursery):
    done = trio.Event()

    async def poll():
        await reader("POST", "/v2/jobs/activation", ASK)
        done.set()

    nursery.start_soon(poll)
    await until_waiting(stored, 1)
    rows.job()
    reader.gone.set()
    with trio.fail_after(20):
        await done.wait()
    stored.jobs.long_polls.available("work", "<default>", 1)
    assert ready(rows) == [(True,)]


async def test_an_answer_that_does_not_arrive_gives_the_jobs_back(rows, reader, stored):
    rows.job(KEY + 3)
    rows.job(KEY + 4)
    with pytest.raises(OSError, match="left"):
        await reader("POST", "/v2/jobs/activation", ASK, fail_send=True)
    assert ready(rows) == [(True,), (True,)]


async def test_given_back_jobs_wake_the_next_poll(rows, reader, stored, nursery, poll):
    nursery.start_soon(poll)
    await until_waiting(stored, 1)
    rows.job()
    with pytest.raises(OSError, match="left"):
        await reader("POST", "/v2/jobs/activation", ASK | {"requestTimeout": 500}, fail_send=True)
    await eventually(lambda: poll.answers)
    assert len(poll.answers[0].json["jobs"]) == 1


LARGE = '"' + "x" * 3000 + '"'
"""A value of a variable: a job that sees it is not shown by the statement that leases it."""


async def test_a_small_job_takes_one_statement(rows, reader, stored, monkeypatch):
    async def read(*_):
        raise AssertionError("the job came with its lease")

    monkeypatch.setattr(activation, "activated_jobs", read)
    rows.job()
    rows.variable(name="x", value="1")
    answer = await reader("POST", "/v2/jobs/activation", ASK)
    assert [job["variables"] for job in answer.json["jobs"]] == [{"x": 1}]


async def test_a_large_job_takes_two_statements_and_looks_the_same(rows, reader, stored):
    rows.job()
    rows.variable(name="x", value=LARGE)
    (job,) = (await reader("POST", "/v2/jobs/activation", ASK | {"withLease": True})).json["jobs"]
    rows.execute("UPDATE jobs SET ready = true, available_at = NULL, lease_token = NULL")
    rows.execute("UPDATE variables SET value = '1'")
    (small,) = (await reader("POST", "/v2/jobs/activation", ASK | {"withLease": True})).json["jobs"]
    changed = {"variables", "jobLeaseToken", "deadline"}
    assert len(job["variables"]["x"]) == 3000
    assert {key for key in job if job[key] != small[key]} <= changed
    assert list(job) == list(small)


async def test_a_cancelled_activation_gives_the_jobs_back(rows, reader, stored, monkeypatch):
    rows.job()
    rows.variable(name="x", value=LARGE)
    read = activation.activated_jobs

    async def cancelled(*arguments):
        scope.cancel()
        return await read(*arguments)

    monkeypatch.setattr(activation, "activated_jobs", cancelled)
    with trio.CancelScope() as scope:
        await reader("POST", "/v2/jobs/activation", ASK)
    assert scope.cancelled_caught
    assert ready(rows) == [(True,)]


async def test_an_activation_that_cannot_be_read_gives_the_jobs_back(rows, reader, stored, monkeypatch):
    rows.job()
    rows.variable(name="x", value=LARGE)

    async def lost(*_):
        raise ConnectionLost("gone")

    monkeypatch.setattr(activation, "activated_jobs", lost)
    answer = await reader("POST", "/v2/jobs/activation", ASK)
    assert (answer.status, answer.problem["title"]) == (503, "UNAVAILABLE")
    assert ready(rows) == [(True,)]


async def test_polls_and_awaited_instances_together_are_bounded(make_client):
    answer = await make_client(waits=Waits(0))("POST", "/v2/jobs/activation", ASK)
    assert (answer.status, answer.problem["title"]) == (503, "RESOURCE_EXHAUSTED")


async def test_too_many_polls_are_refused(make_client):
    answer = await make_client(long_polls=LongPolls(max_pollers=0))("POST", "/v2/jobs/activation", ASK)
    assert (answer.status, answer.problem["title"]) == (503, "RESOURCE_EXHAUSTED")


LEASED = {"ready": False, "lease_token": "6b1f2c0e-58a7-4a7f-9f43-4f0f3c3f0a11"}
PAST, FUTURE = "2020-01-01T00:00:00Z", "2100-01-01T00:00:00Z"
SHUT = {"ready": False, "state": "FAILED"}


@pytest.mark.parametrize(
    ("row", "state"),
    [
        ({}, "CREATED"),
        (LEASED | {"available_at": FUTURE}, "CREATED"),
        (LEASED | {"available_at": PAST}, "TIMED_OUT"),
        (LEASED | {"available_at": PAST, "state": "FAILED"}, "TIMED_OUT"),
        (LEASED | {"available_at": PAST, "state": "COMPLETED", "ended_at": PAST}, "COMPLETED"),
        (SHUT | {"available_at": PAST, "retries": 2}, "FAILED"),  # a backoff that is over
        (SHUT | {"ready": True, "retries": 2}, "FAILED"),
        (SHUT | {"retries": 0}, "FAILED"),
        (SHUT | {"retries": 1}, "RETRIES_UPDATED"),
        (SHUT | {"state": "ERROR_THROWN"}, "ERROR_THROWN"),
    ],
)
async def test_the_state_of_a_job_as_a_search_shows_it(rows, reader, row, state):
    rows.job(**row)
    [job] = (await reader("POST", "/v2/jobs/search", {"filter": {"state": state}})).json["items"]
    assert job["state"] == state
    assert job["hasFailedWithRetriesLeft"] is (state == "FAILED" and job["retries"] > 0)
    others = await reader("POST", "/v2/jobs/search", {"filter": {"state": {"$neq": state}}})
    assert others.json["items"] == []
