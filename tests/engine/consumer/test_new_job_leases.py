"""A batch saves new jobs with leases for workers that wait, tells them after its commit, and is never lost for them."""

import json
from uuid import uuid4

import pytest
import trio

from tests.core.engine import raw
from tests.core.models import ONE_TASK, end, process, start, sub, task
from tests.engine.consumer.serial_runs import PINNED_MS, Serial, append, beat, make_consumer
from vivero.core.records.instances import CreateInstance
from vivero.core.records.jobs import CompleteJob
from vivero.engine.consumer.attempts import Unworkable
from vivero.engine.consumer.new_job_leases import BatchLeases, NewLease
from vivero.storage.postgres.connection import Connection
from vivero.storage.postgres.errors import ConnectionLost
from vivero.storage.work import activation, new_jobs
from vivero.storage.work.activation import Lease

SUBJECT = ("work", "<default>")
UNTIL_MS = PINNED_MS + 60_000


class Waits:
    """A worker that waits; what it is told goes into `received`."""

    subject = SUBJECT

    def __init__(self, observer, limit=1, gone=False) -> None:
        self.leases, self.jobs, self.received = [], [], []
        self.token = str(uuid4())
        self._observer, self._limit, self._gone = observer, limit, gone
        observer.waiting.append(self)

    def lease(self, jobs, now_ms):
        self.asked_at = now_ms
        self.jobs = list(jobs.get(SUBJECT, ()))[: self._limit]
        self.leases = [NewLease(job.key, "w", self.token, UNTIL_MS) for job in self.jobs]
        self.shown = [new_jobs.shown(job, "w", UNTIL_MS, self.token, None) for job in self.jobs]
        return bool(self.leases)

    def committed(self):
        self._observer.waiting.remove(self)
        self.received += self.leases
        return not self._gone

    def lost(self):
        self._observer.waiting.remove(self)
        self.received.append("lost")


@pytest.fixture(autouse=True)
def whole_batches(monkeypatch):
    """A batch takes all commands there are, on however slow a machine."""
    monkeypatch.setattr("vivero.engine.consumer.batch.COMPUTE_S", 60)


@pytest.fixture
async def serial():
    serial = Serial()
    serial.deploy(ONE_TASK)
    return serial


async def run(migrated, connection, serial, make, commands=None):
    """Work off the log with whoever `make(observer)` has waiting; the observer, and what stands in `jobs`."""
    last = await append(connection, commands or serial.commands)
    consumer, observer = make_consumer(migrated, serial.resources)
    worker = make(observer)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.reached(last)
        nursery.cancel_scope.cancel()
    return worker, observer, await stored(connection), consumer


async def stored(connection):
    columns = "job_key, ready, worker, lease_token::text, to_epoch_ms(available_at)"
    return (await connection.execute(f"SELECT {columns} FROM jobs ORDER BY job_key")).rows


async def test_a_job_is_saved_with_its_lease(migrated, connection, serial):
    serial.start()
    worker, observer, rows, _ = await run(migrated, connection, serial, Waits)
    job = serial.job("work").key
    assert worker.received == [NewLease(job, "w", worker.token, UNTIL_MS)]
    assert rows == [(job, False, "w", worker.token, UNTIL_MS)]
    (now_ms,) = (await connection.execute("SELECT to_epoch_ms(processed_at) FROM event_log LIMIT 1")).rows[0]
    assert (observer.waiting, observer.jobs, worker.asked_at) == ([], {}, now_ms)


SCOPES = process(
    start(),
    sub(
        "sub",
        start("s2"),
        task("work", retries=7, priority=5, headers=[("kéy", 'v "w"')], inputs=[("=b", "own")]),
        end("e2"),
        "s2 > work > e2",
        inputs=[("=outer + 1", "inner"), ('="hidden"', "b")],
    ),
    end(),
    "start > sub > end",
)


@pytest.mark.parametrize("context", [None, "00-aa-bb-01", "00-aa-bb-01 vendor=1,other=2"])
async def test_a_job_is_shown_as_the_database_shows_it(migrated, connection, context):
    serial = Serial()
    serial.deploy(SCOPES)
    started = CreateInstance(
        "p", variables=raw({"outer": 1, "b": [1], 'ö"': "x\n"}), tags=("one", "two"), business_id="order 7"
    )
    assert serial.run(started).rejection is None

    worker, _, rows, _ = await run(migrated, connection, serial, Waits)
    if context is not None:
        await connection.execute("UPDATE jobs SET trace = $1", (context,))
        (job,) = worker.jobs
        job.context = context
        worker.shown = [new_jobs.shown(job, "w", UNTIL_MS, worker.token, None)]
    (shown,) = await activation.activated_jobs(connection, [Lease(rows[0][0], worker.token)], None, True)
    assert json.loads(worker.shown[0]) == json.loads(shown)
    assert json.loads(shown)["variables"] == {"outer": 1, "inner": 2, "b": "hidden", "own": "hidden", 'ö"': "x\n"}
    (named,) = await activation.activated_jobs(connection, [Lease(rows[0][0], worker.token)], ["b", "no"], False)
    assert json.loads(new_jobs.shown(worker.jobs[0], "w", UNTIL_MS, None, ["b", "no"])) == json.loads(named)


@pytest.mark.parametrize("variables", [{"large": "x" * 60_001}, {f"v{n}": n for n in range(new_jobs.MAX_SEEN + 1)}])
async def test_a_job_with_large_or_many_variables_is_not_shown_from_memory(serial, variables):
    serial.start(**variables)
    assert new_jobs.shown(serial.state.jobs[serial.job("work").key], "w", UNTIL_MS, None, None) is None


async def test_others_are_told_of_the_jobs_that_a_worker_leaves(migrated, connection, serial):
    for _ in range(3):
        serial.start()
    worker, observer, rows, _ = await run(migrated, connection, serial, lambda observer: Waits(observer, limit=2))
    assert len(worker.received) == 2
    assert [row[1] for row in rows] == [False, False, True]
    assert observer.jobs == {"work": 1}


async def test_others_are_told_of_the_jobs_of_a_worker_that_has_left(migrated, connection, serial):
    serial.start()
    _, observer, _, _ = await run(migrated, connection, serial, lambda observer: Waits(observer, gone=True))
    assert observer.jobs == {"work": 1}


async def test_a_batch_without_new_jobs_asks_nobody(migrated, connection, serial):
    worker, observer, _, _ = await run(migrated, connection, serial, Waits)
    assert (worker.received, worker.jobs, observer.waiting) == ([], [], [worker])


async def test_a_job_that_ends_in_its_batch_is_not_leased(migrated, connection, serial):
    serial.start()
    commands = [*serial.commands, ("<default>", CompleteJob(serial.job("work").key))]
    worker, _, rows, _ = await run(migrated, connection, serial, Waits, commands)
    assert (worker.received, rows[0][1:4]) == ([], (False, None, None))


ON_LEASED = """CREATE FUNCTION on_leased() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {} RETURN NEW; END $$;
CREATE TRIGGER on_leased BEFORE INSERT ON jobs FOR EACH ROW WHEN (NEW.worker IS NOT NULL)
EXECUTE FUNCTION on_leased()"""


async def test_a_batch_that_the_database_rejects_is_repeated_without_leases(migrated, connection, serial):
    serial.start()
    await connection.script(ON_LEASED.format("RAISE invalid_text_representation;"))
    worker, observer, rows, consumer = await run(migrated, connection, serial, Waits)
    assert worker.received == ["lost"]
    assert [outcome.rejection for outcome in observer.outcomes.values()] == [None] * len(observer.outcomes)
    assert [row[1] for row in rows] == [True]
    assert consumer.stats.poisoned == 1


async def test_a_worker_whose_batch_is_never_sent_is_told(migrated, connection, serial, monkeypatch):
    """A poll waits for the end of its batch, whatever the failure is."""
    send = Connection.start_pipeline

    def fail(connection, calls):
        if any(worker.token in str(params) for _, params in calls):
            raise MemoryError
        send(connection, calls)

    serial.start()
    await append(connection, serial.commands)
    monkeypatch.setattr(Connection, "start_pipeline", fail)
    consumer, observer = make_consumer(migrated, serial.resources)
    worker = Waits(observer)
    with pytest.raises(Unworkable, match="MemoryError"):
        await consumer.run(beat())
    assert worker.received == ["lost"]


async def test_a_worker_whose_batch_is_lost_is_told(migrated, connection, serial):
    """The connection ends before the commit; the next term does the batch again."""
    serial.start()
    last = await append(connection, serial.commands)
    await connection.script(ON_LEASED.format("PERFORM pg_terminate_backend(pg_backend_pid());"))
    consumer, observer = make_consumer(migrated, serial.resources)
    worker = Waits(observer)
    with pytest.raises(ConnectionLost):
        await consumer.run(beat())
    assert worker.received == ["lost"]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.reached(last)
        nursery.cancel_scope.cancel()
    assert [row[1] for row in await stored(connection)] == [True]


async def test_nobody_gets_a_job_while_a_culprit_is_looked_for(migrated, connection, serial):
    """One command cannot be saved: its batch is done again one by one, and the worker is told that it is lost."""
    serial.start()
    job = serial.job("work").key
    await connection.script(
        """CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN IF NEW.name = 'bad' THEN RAISE invalid_text_representation; END IF; RETURN NEW; END $$;
           CREATE TRIGGER refuse BEFORE INSERT ON variables FOR EACH ROW EXECUTE FUNCTION refuse()"""
    )
    serial.start()
    commands = [*serial.commands, ("<default>", CompleteJob(job, raw({"bad": 1})))]
    worker, observer, rows, consumer = await run(migrated, connection, serial, Waits, commands)
    assert worker.received == ["lost"]
    assert consumer.stats.poisoned > 0
    refused = [position for position, outcome in observer.outcomes.items() if outcome.rejection is not None]
    assert refused == [(1 << 51) + len(commands)]
    assert [row[1:4] for row in rows] == [(False, None, None), (True, None, None)], "an incident withholds the first"


class Silent:
    """Counts what it is told."""

    subject = SUBJECT

    def __init__(self, leases=1) -> None:
        self.received = []
        self.leases = [NewLease(number, "w", "t", 5) for number in range(leases)]

    def committed(self):
        self.received.append("committed")
        return True

    def lost(self):
        self.received.append("lost")


async def test_each_is_told_once():
    one, other = Silent(), Silent(2)
    kept = BatchLeases([one, other])
    assert kept.columns == ([0, 0, 1], ["w"] * 3, ["t"] * 3, [5] * 3)
    with kept.lost_without_commit():
        assert kept.left({SUBJECT: 3, ("more", "x"): 1}) == {("more", "x"): 1}
    gone = BatchLeases([one])
    with pytest.raises(KeyError), gone.lost_without_commit():
        raise KeyError
    assert (one.received, other.received) == (["committed", "lost"], ["committed"])
    assert BatchLeases().columns == ([], [], [], [])
