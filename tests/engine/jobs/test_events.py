"""Consumers of events: in order, once each, partition by partition, over failures, lost leases and several nodes."""

import itertools
import random
from functools import partial

import pytest
import trio

from tests.eventually import eventually
from vivero.core.records.codec import encode_events
from vivero.core.records.jobs import JobCompleted
from vivero.engine.jobs.definitions import RescheduleIn, consumer
from vivero.engine.jobs.retries import RetrySettings
from vivero.storage.background import event_consumers

SOON = RetrySettings(max_attempts=2, initial_interval_s=0)


def event(number):
    return JobCompleted(number)


@pytest.fixture
async def log(connection, connect):
    """Appends rows of events to the log of a partition, on a connection of its own."""
    writer = await connect()
    await connection.script(
        "SELECT make_partition(2); CREATE TABLE ledger (nth bigserial, number bigint, partition_id int)"
    )
    lengths = {1: 0, 2: 0}

    async def append(partition, *rows):
        for numbers in rows:
            lengths[partition] += 1
            text = encode_events([event(number) for number in numbers])
            await writer.execute(
                "INSERT INTO event_log (partition_id, position, seq, events, version, processed_at)"
                " VALUES ($1::int, $1::bigint << 51 | $2::bigint, 0, $3, 1, now())",
                (partition, lengths[partition], text if isinstance(text, str) else text.decode()),
            )

    yield append
    writer.close()


@pytest.fixture
def ledger(connection):
    async def read(partition=1):
        query = "SELECT number FROM ledger WHERE partition_id = $1 ORDER BY nth"
        return [number for (number,) in (await connection.execute(query, (partition,))).rows]

    return read


async def until(read, expected):
    await eventually(read, accept=lambda found: found == expected)


async def write(execution, one):
    values = (one.record.key, one.partition)
    await execution.execute("INSERT INTO ledger (number, partition_id) VALUES ($1, $2)", values)
    await execution.acknowledge(one)


async def test_events_come_once_in_order_from_each_partition(log, ledger, dispatcher, nursery, beat):
    @consumer("mirror")
    async def mirror(execution):
        for one in await execution.poll():
            await write(execution, one)

    await log(1, [1, 2], [], [3])
    await log(2, [10])
    made = dispatcher(mirror, poll_interval="PT60S")
    nursery.start_soon(made.run, beat)
    await until(ledger, [1, 2, 3])
    await until(partial(ledger, 2), [10])
    await log(1, [4, 5])
    made.committed(1)
    await until(ledger, [1, 2, 3, 4, 5])
    assert await ledger(2) == [10]


@pytest.mark.parametrize("result", [None, RescheduleIn("PT1H")])
async def test_events_that_come_while_a_run_reads_the_end_of_the_log_wait_for_no_poll(
    result, log, ledger, dispatcher, nursery, beat
):
    later = [2]

    @consumer("mirror")
    async def mirror(execution):
        found = await execution.poll()
        for one in found:
            await write(execution, one)
        if not found and execution.partition == 1 and later:
            await log(1, [later.pop()])
            made.committed(1)
        return None if found else result

    await log(1, [1])
    made = dispatcher(mirror, poll_interval="PT60S")
    nursery.start_soon(made.run, beat)
    await until(ledger, [1, 2])


async def test_events_that_come_while_a_run_commits_wait_for_no_poll(
    log, ledger, dispatcher, nursery, beat, connect, connection
):
    other = await connect()

    @consumer("mirror")
    async def mirror(execution):
        while found := await execution.poll():
            for one in found:
                await write(execution, one)
        if execution.occurrence == 0 and execution.partition == 1:
            await other.execute("BEGIN")
            await other.execute("SELECT FROM job_executions WHERE partition_id = 1 FOR UPDATE")

    async def waits():
        query = "SELECT count(*) FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted"
        return (await connection.execute(query)).rows[0][0]

    await log(1, [1])
    made = dispatcher(mirror, poll_interval="PT60S")
    nursery.start_soon(made.run, beat)
    await until(waits, 1)
    await log(1, [2])
    turns = made.figures.turns
    made.committed(1)
    await eventually(lambda: made.figures.turns, accept=lambda now: now >= turns + 2)
    await other.execute("COMMIT")
    await until(ledger, [1, 2])
    other.close()


async def test_a_failure_rolls_back_with_its_acknowledgements_and_never_gives_up(
    log, ledger, dispatcher, nursery, beat
):
    attempts = []

    @consumer("mirror", retry=SOON)
    async def mirror(execution):
        attempts.append(execution.attempt)
        for one in await execution.poll():
            await write(execution, one)
            if one.record.key == 2 and execution.attempt < 5:
                raise RuntimeError("not yet")

    await log(1, [1, 2, 3])
    nursery.start_soon(dispatcher(mirror).run, beat)
    await until(ledger, [1, 2, 3])
    assert max(attempts) == 5


async def test_other_functions_keep_what_they_acknowledged(log, dispatcher, nursery, beat, connection):
    """At least once: after a failure they go on behind the last acknowledged event."""
    seen = {"plain": [], "loop": []}

    def plain(execution):
        for one in execution.poll():
            seen["plain"].append(one.record.key)
            if one.record.key == 2 and execution.attempt == 0:
                raise RuntimeError("not yet")
            execution.acknowledge(one)

    async def loop(execution):
        for one in await execution.poll():
            seen["loop"].append(one.data["key"])
            if one.record.key == 2 and execution.attempt == 0:
                raise RuntimeError("not yet")
            await execution.acknowledge(one)

    await log(1, [1, 2, 3])
    jobs = consumer("plain", retry=SOON)(plain), consumer("loop", retry=SOON, runs="asyncio")(loop)
    nursery.start_soon(dispatcher(*jobs).run, beat)

    async def read():
        return seen

    await until(read, {"plain": [1, 2, 2, 3], "loop": [1, 2, 2, 3]})


async def test_events_of_other_types_are_passed_over_for_good(log, dispatcher, nursery, beat, connection):
    @consumer("tasks", events=["UserTaskCreated"])
    async def tasks(execution):
        assert await execution.poll() == []

    await log(1, [1], [2])
    nursery.start_soon(dispatcher(tasks).run, beat)

    async def places():
        return [(place.partition, place.behind) for place in await event_consumers.places(connection)]

    await until(places, [(1, 0), (2, 0)])
    place = "SELECT position & 255, seq, ordinal FROM event_consumers WHERE partition_id = 1"
    assert [tuple(row) for row in (await connection.execute(place)).rows] == [(2, 1, 0)]


@pytest.mark.parametrize("limit", [1, 3])
async def test_rows_without_new_events_may_fill_a_page(limit, log, ledger, dispatcher, nursery, beat):
    """The row that a run begins with may be read already, too: neither is the end of the log."""

    @consumer("mirror")
    async def mirror(execution):
        for one in await execution.poll(limit):
            await write(execution, one)

    await log(1, [], [], [], [1, 2], [], [], [], [3], [4])
    nursery.start_soon(dispatcher(mirror).run, beat)
    await until(ledger, [1, 2, 3, 4])


async def test_a_row_that_was_read_may_be_as_large_as_a_page(log, ledger, dispatcher, nursery, beat, monkeypatch):
    @consumer("mirror")
    async def mirror(execution):
        for one in await execution.poll():
            await write(execution, one)

    monkeypatch.setattr(event_consumers, "MAX_PAGE_BYTES", 1)
    await log(1, [1], [], [2, 3], [4])
    nursery.start_soon(dispatcher(mirror).run, beat)
    await until(ledger, [1, 2, 3, 4])


async def test_a_consumer_may_begin_with_what_comes(log, ledger, dispatcher, nursery, beat, connection):
    @consumer("mirror", latest=True)
    async def mirror(execution):
        for one in await execution.poll():
            await write(execution, one)

    await log(1, [1])
    made = dispatcher(mirror)
    nursery.start_soon(made.run, beat)

    async def begun():
        return (await connection.execute("SELECT count(*) FROM event_consumers")).rows[0][0]

    await until(begun, 2)
    await log(1, [2])
    made.committed(1)
    await until(ledger, [2])


async def test_a_run_that_lost_its_lease_acknowledges_nothing(log, dispatcher, nursery, beat, connection):
    """Also in a thread, which cannot be cancelled: another node has the execution by now."""
    answers = []

    @consumer("frozen")
    def frozen(execution):
        found = execution.poll()
        if not found:
            return
        taken = "UPDATE job_executions SET lease = gen_random_uuid(), node = 'other' WHERE partition_id = 1"
        trio.from_thread.run(connection.script, taken)
        execution.acknowledge(found[0])
        answers.append("acknowledged")

    await log(1, [1])
    made = dispatcher(frozen)
    nursery.start_soon(made.run, beat)
    await eventually(lambda: made.figures.lost)
    assert answers == []
    rows = (await connection.execute("SELECT position & 255, ordinal FROM event_consumers WHERE partition_id = 1")).rows
    assert tuple(rows[0]) == (0, 0)


@pytest.mark.long
async def test_every_event_once_over_failures_and_nodes_that_come_and_go(log, ledger, dispatcher, beat, seed):
    """Random: nodes are cancelled in the middle, functions fail, events keep coming with slow commits between."""
    dice = random.Random(seed)
    total = 120
    restless = {"poll_interval": "PT0.01S", "keep_alive_interval": "PT0.4S", "stale_threshold": "PT0.4S"}

    @consumer("mirror", retry=RetrySettings(initial_interval_s=0))
    async def mirror(execution):
        for one in await execution.poll(dice.randrange(1, 9)):
            await write(execution, one)
            if dice.random() < 0.1:
                raise RuntimeError("now and then")
            await trio.lowlevel.checkpoint()

    async def feed():
        numbers = iter(range(1, total + 1))
        left = total
        while left:
            size = min(left, dice.randrange(4))
            await log(dice.randrange(1, 3), [next(numbers) for _ in range(size)])
            left -= size

    async def all_of_them():
        return sorted([*await ledger(1), *await ledger(2)])

    async with trio.open_nursery() as nursery:
        nursery.start_soon(feed)
        for node in range(6):
            async with trio.open_nursery() as inner:
                for name in "ab":
                    inner.start_soon(dispatcher(mirror, node=f"{name}{node}", **restless).run, beat)
                with trio.move_on_after(dice.random() / 5):
                    await trio.sleep_forever()
                inner.cancel_scope.cancel()
        nursery.start_soon(dispatcher(mirror, node="last", **restless).run, beat)
        await until(all_of_them, list(range(1, total + 1)))
        nursery.cancel_scope.cancel()
    for partition in (1, 2):
        assert await ledger(partition) == sorted(await ledger(partition)), "in order"


class SlowWriter:
    """The owner of a partition, which commits batches slowly, and is deposed now and then with a batch in flight.

    As in a term, batches follow each other, and a successor begins behind the last batch that was committed: it holds
    the row of the partition first.
    """

    def __init__(self, connect, partition, dice, numbers) -> None:
        self.connect, self.partition, self.dice, self.numbers = connect, partition, dice, numbers
        self.position, self.committed = 0, []

    async def write(self, batches, others):
        """`others()` lets the other tasks work while a batch is open."""
        while batches:
            connection = await self.connect()
            for _ in range(self.dice.randrange(1, 6)):
                kept, batch = self.dice.random() < 0.8, self._batch()
                await connection.execute("BEGIN")
                await connection.execute("SELECT FROM partitions WHERE id = $1 FOR UPDATE", (self.partition,))
                for position, seq, numbers in batch:
                    await self._insert(connection, position, seq, numbers)
                    await others()
                if not kept:
                    break  # deposed: PostgreSQL rolls the batch back, and the successor writes other rows there
                await connection.execute("COMMIT")
                self.position = batch[-1][0]
                self.committed += [number for *_, numbers in batch for number in numbers]
                batches -= 1
                if not batches:
                    break
            connection.close()

    def _batch(self):
        """Rows of a few commands: some have several rows, some have no events."""
        rows = []
        for position in range(self.position + 1, self.position + self.dice.randrange(2, 4)):
            for seq in range(self.dice.randrange(1, 3)):
                rows.append((position, seq, [next(self.numbers) for _ in range(self.dice.randrange(4))]))
        return rows

    async def _insert(self, connection, position, seq, numbers):
        text = encode_events([event(number) for number in numbers])
        await connection.execute(
            "INSERT INTO event_log (partition_id, position, seq, events, version, processed_at)"
            " VALUES ($1::int, $1::bigint << 51 | $2::bigint, $3, $4, 1, now())",
            (self.partition, position, seq, text if isinstance(text, str) else text.decode()),
        )


async def test_every_event_once_in_order_with_slow_commits_and_failovers(
    log, ledger, dispatcher, beat, seed, connect, connection
):
    """Random: owners commit slowly and are deposed, three partitions, dispatchers come and go, functions fail.

    The ledger of a partition is what its owners have committed, in their order, and nothing else.
    """
    dice = random.Random(seed)
    numbers = itertools.count(1)
    restless = {"poll_interval": "PT0.005S", "keep_alive_interval": "PT0.4S", "stale_threshold": "PT0.4S"}
    await connection.script("SELECT make_partition(3)")
    writers = [SlowWriter(connect, partition, dice, numbers) for partition in (1, 2, 3)]
    written = 0

    @consumer("mirror", retry=RetrySettings(initial_interval_s=0))
    async def mirror(execution):
        for one in await execution.poll(dice.randrange(1, 9)):
            await write(execution, one)
            if dice.random() < 0.05:
                raise RuntimeError("now and then")

    async def others():
        for _ in range(dice.randrange(30)):
            await trio.lowlevel.checkpoint()

    async def feed(writer):
        nonlocal written
        await writer.write(12, others)
        written += 1

    async def read():
        return [await ledger(partition) for partition in (1, 2, 3)]

    async with trio.open_nursery() as nursery:
        for writer in writers:
            nursery.start_soon(feed, writer)
        node = 0
        while written < len(writers):
            async with trio.open_nursery() as inner:
                for name in "ab":
                    inner.start_soon(dispatcher(mirror, node=f"{name}{node}", **restless).run, beat)
                with trio.move_on_after(dice.random() / 4):
                    await trio.sleep_forever()
                inner.cancel_scope.cancel()
            node += 1
        nursery.start_soon(dispatcher(mirror, node="last", **restless).run, beat)
        await until(read, [writer.committed for writer in writers])
        nursery.cancel_scope.cancel()


def test_unknown_events_are_told():
    with pytest.raises(ValueError, match="there is no event 'JobComplete': did you mean 'JobCompleted'"):
        consumer("x", events=["JobComplete"])(print)
