"""Piggybacked statements run in the transaction of a batch, are answered after its commit, and never lose it."""

from uuid import uuid4

import pytest
import trio

from tests.core.engine import raw
from tests.core.models import ONE_TASK
from tests.engine.consumer.serial_runs import Serial, append, beat, make_consumer
from vivero.core.records.jobs import CompleteJob
from vivero.engine.consumer.piggyback import PiggybackedStatements
from vivero.storage.postgres.errors import ConnectionLost
from vivero.storage.work import activation
from vivero.storage.work.activation import ActivationRequest

SUBJECT = ("work", "<default>")


class Waits:
    """A worker that waits; what it is told goes into `received`."""

    def __init__(self, observer, limit=1, call=None) -> None:
        self.subject = SUBJECT
        self.call = call or activation.lease_statement(ActivationRequest(*SUBJECT, limit, 60_000, "w"), uuid4())
        self.received = []
        self._observer, self._limit = observer, limit
        observer.waiting.append(self)

    def arrived(self, result):
        self._observer.waiting.remove(self)
        self.received += activation.read_activation(result).leases
        return len(result.rows) < self._limit

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
    statements = make(observer)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.reached(last)
        nursery.cancel_scope.cancel()
    rows = (await connection.execute("SELECT job_key, ready, lease_token::text FROM jobs ORDER BY job_key")).rows
    return statements, observer, rows, consumer


async def test_a_job_is_leased_by_the_batch_that_makes_it(migrated, connection, serial):
    serial.start()
    statement, observer, rows, _ = await run(migrated, connection, serial, Waits)
    (lease,) = statement.received
    assert rows == [(serial.job("work").key, False, lease.token)]
    assert b'"jobKey":"%d"' % lease.job_key in lease.job.replace(b" ", b"")
    assert observer.waiting == []


async def test_others_are_told_of_the_jobs_that_a_statement_leaves(migrated, connection, serial):
    for _ in range(3):
        serial.start()
    statement, observer, rows, _ = await run(migrated, connection, serial, lambda observer: Waits(observer, limit=2))
    assert len(statement.received) == 2
    assert [row[1] for row in rows] == [False, False, True]
    assert observer.jobs == {"work": 3}  # a statement that has all it can take says nothing of what is left


async def test_a_statement_that_took_everything_wakes_no_other_poll(migrated, connection, serial):
    serial.start()
    statement, observer, _, _ = await run(migrated, connection, serial, lambda observer: Waits(observer, limit=2))
    assert (len(statement.received), observer.jobs) == (1, {})


async def test_a_batch_that_makes_no_jobs_carries_nobody(migrated, connection, serial):
    statement, observer, _, _ = await run(migrated, connection, serial, Waits)
    assert statement.received == []
    assert observer.waiting == [statement]


async def test_large_jobs_are_not_leased_by_a_batch(migrated, connection, serial):
    """The batch leases nothing of them, reads nothing of them, and tells who waits to look by himself."""
    for _ in range(2):
        serial.start(large="x" * 50_000, more="x" * 20_000)
    statement, _, rows, _ = await run(migrated, connection, serial, lambda observer: Waits(observer, limit=2))
    assert statement.received == []
    assert [row[1] for row in rows] == [True, True]


FAULTY = {
    "refused by the server": ("SELECT 1 / 0", ()),
    "refused before it is sent": ("SELECT $1::text", ("\ud800",)),
}


@pytest.mark.parametrize("call", FAULTY.values(), ids=FAULTY.keys())
async def test_a_faulty_piggybacked_statement_is_dropped_and_the_batch_repeated_without_it(
    migrated, connection, serial, call
):
    """It would come along again."""
    serial.start()

    def stubborn(observer):
        statement = Waits(observer, call=call)
        statement.lost = lambda: statement.received.append("lost")
        return statement

    statement, observer, rows, consumer = await run(migrated, connection, serial, stubborn)
    assert statement.received == ["lost"]
    assert [outcome.rejection for outcome in observer.outcomes.values()] == [None] * len(observer.outcomes)
    assert [row[1] for row in rows] == [True]
    assert consumer.stats.poisoned == 1


async def test_a_statement_whose_batch_is_lost_is_told(migrated, connection, serial):
    """The connection ends before the commit; the next term does the batch again."""
    serial.start()
    last = await append(connection, serial.commands)
    consumer, observer = make_consumer(migrated, serial.resources)
    statement = Waits(observer, call=("SELECT pg_terminate_backend(pg_backend_pid())", ()))
    with pytest.raises(ConnectionLost):
        await consumer.run(beat())
    assert statement.received == ["lost"]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.reached(last)
        nursery.cancel_scope.cancel()
    assert (await connection.execute("SELECT ready FROM jobs")).rows == [(True,)]


async def test_a_lost_batch_is_repeated_without_piggybacked_statements(migrated, connection, serial):
    """It may have been theirs: one that takes too long would be too long again, although it piggybacked for another."""
    serial.start()
    consumer, observer = make_consumer(migrated, serial.resources)
    first = await append(connection, serial.commands)

    async def term():
        """It makes progress before it fails, so that its end alone is no reason to try commands one by one."""
        with pytest.raises(ConnectionLost):
            await consumer.run(beat())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(term)
        await observer.reached(first)
        statement = Waits(observer, call=("SELECT pg_terminate_backend(pg_backend_pid())", ()))
        statement.lost = lambda: statement.received.append("lost")
        known = len(serial.commands)
        serial.start()
        last = await append(connection, serial.commands[known:])
        consumer.partition_duty.wake()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.reached(last)
        nursery.cancel_scope.cancel()
    assert statement.received == ["lost"]
    assert (await connection.execute("SELECT ready FROM jobs")).rows == [(True,), (True,)]


async def test_no_command_is_rejected_for_a_piggybacked_statement(migrated, connection, serial):
    """One that comes while a culprit is looked for, when a batch is one command: what is refused is that one."""
    serial.start()
    commands = [*serial.commands, ("<default>", CompleteJob(serial.job("work").key, raw({"bad": 1})))]
    await refuse_bad(connection)

    def later(observer):
        statement = Waits(observer, call=("SELECT 1 / 0", ()))
        statement.lost = lambda: statement.received.append("lost")
        there = iter([[]])
        observer.piggybacked = lambda _available: next(there, observer.waiting)
        return statement

    _, observer, rows, _ = await run(migrated, connection, serial, later, commands)
    refused = [position for position, outcome in observer.outcomes.items() if outcome.rejection is not None]
    assert refused == [(1 << 51) + len(commands)]
    assert len(rows) == 1


async def test_nobody_rides_while_a_culprit_is_looked_for(migrated, connection, serial):
    """One command that cannot be saved: its batch is done again one by one, and whoever rode on it is put down."""
    key = serial.start()
    job = serial.job("work").key
    await refuse_bad(connection)
    commands = [*serial.commands, ("<default>", CompleteJob(job, raw({"bad": 1})))]
    statement, observer, rows, consumer = await run(migrated, connection, serial, Waits, commands)
    assert statement.received == ["lost"]
    assert consumer.stats.poisoned > 0
    assert observer.outcomes[(1 << 51) + len(commands)].rejection is not None
    assert (rows[0], key > 0) == ((job, False, None), True), "no worker leased the job, which its incident withholds"


async def refuse_bad(connection):
    """No variable of this name can be saved."""
    await connection.script(
        """CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN IF NEW.name = 'bad' THEN RAISE invalid_text_representation; END IF; RETURN NEW; END $$;
           CREATE TRIGGER refuse BEFORE INSERT ON variables FOR EACH ROW EXECUTE FUNCTION refuse()"""
    )


class Silent:
    """Counts what it is told."""

    subject = SUBJECT
    call = ("SELECT 1", ())

    def __init__(self) -> None:
        self.received = []

    def arrived(self, _result):
        self.received.append("arrived")
        return True

    def lost(self):
        self.received.append("lost")


async def test_each_is_told_once():
    one, other = Silent(), Silent()
    kept = PiggybackedStatements([one, other])
    with kept.lost_without_result():
        assert kept.left([None, None, None], {SUBJECT: 3, ("more", "x"): 1}) == {("more", "x"): 1}
    gone = PiggybackedStatements([one])
    with pytest.raises(KeyError), gone.lost_without_result():
        raise KeyError
    assert (one.received, other.received) == (["arrived", "lost"], ["arrived"])
