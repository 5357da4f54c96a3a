"""Leadership of a partition: claims, leases, the fence, and owners that are frozen, killed or in doubt.

Time is PostgreSQL's own here (leases are real time): a lease is ended by writing its end into the row.
"""

import math
import os
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs

from tests.core.models import ONE_TASK
from tests.engine.consumer.serial_runs import Serial, append, beat, keep_leading, make_consumer
from tests.eventually import eventually, eventually_blocked, eventually_rows
from vivero.engine.cluster.assignment import Duty
from vivero.engine.consumer.leadership import Consumer
from vivero.storage.cluster import leadership
from vivero.storage.postgres.errors import Conflict, SteppedDown, StorageError
from vivero.storage.state import save

EXPIRE = "UPDATE partitions SET lease_until = clock_timestamp() - interval '1 s'"


@pytest.fixture
def serial():
    serial = Serial()
    serial.deploy(ONE_TASK)
    serial.start()
    serial.complete("work")
    return serial


async def owner(connection):
    rows = await connection.execute("SELECT epoch, owner_node, owner_pid FROM partitions")
    return rows.rows[0]


ZERO = 1 << 51
"""The position before the first."""


async def batches(connection):
    return (await connection.execute("SELECT from_pos, to_pos, epoch FROM batches ORDER BY 1")).rows


def commit(claim, to, *calls, epoch=None):
    """A batch of nothing but its fence and these statements."""
    fence = save.fence(claim.partition, epoch or claim.epoch, claim.position, ZERO + to, claim.next_key)
    return [("BEGIN", ()), fence, *calls, ("COMMIT", ())]


MARK = ("INSERT INTO resources (sha256, bytes) VALUES ('mark', '')", ())


async def marked(connection):
    return (await connection.execute("SELECT count(*) FROM resources")).rows[0][0]


# ---- claims


async def test_standing_by_is_logged_when_the_leader_changes_and_no_more(monkeypatch):
    owners = ["a", "a", "b", "b", "a"]
    claimed = leadership.Claim(1, 1, 0, 1)

    async def claim(_writer, partition, _node):
        if owners:
            raise leadership.Owned(partition, owners.pop(0), 3.0)
        return claimed

    async def pause(_seconds):
        await trio.lowlevel.checkpoint()

    monkeypatch.setattr(leadership, "claim", claim)
    beat = SimpleNamespace(waiting=lambda _seconds: nullcontext(), sleep=pause)
    consumer = Consumer(None, "me", None, None)
    with capture_logs() as logged:
        assert await consumer._claim(None, beat) is claimed
    assert [(line["event"], line["leader"]) for line in logged] == [("standing by", name) for name in ("a", "b", "a")]


async def test_a_claim_begins_where_the_last_batch_ended(connect, connection):
    first = await leadership.claim(await connect(), 1, "a")
    assert (first.epoch, first.position, first.next_key) == (1, 1 << 51, (1 << 51) + 1)
    await connection.execute("INSERT INTO batches VALUES (1, 1::bigint << 51, (1::bigint << 51) + 17, 4711, 1)")
    second = await leadership.claim(await connect(), 1, "a")
    assert (second.epoch, second.position, second.next_key) == (2, (1 << 51) + 17, 4711)


async def test_a_lease_keeps_others_off(connect, connection):
    writer = await connect()
    await leadership.claim(writer, 1, "a")
    with pytest.raises(leadership.Owned) as owned:
        await leadership.claim(await connect(), 1, "b")
    assert 0 < owned.value.seconds <= leadership.LEASE_S
    assert "node 'a' owns" in str(owned.value)
    assert (await owner(connection))[:2] == (1, "a")


async def test_a_lease_that_has_run_out_keeps_nobody_off(connect, connection):
    await leadership.claim(await connect(), 1, "a")
    await connection.execute(EXPIRE)
    assert (await leadership.claim(await connect(), 1, "b")).epoch == 2


async def test_an_owner_whose_backend_is_gone_keeps_nobody_off(connect, connection):
    """A restart after kill -9 waits for nothing."""
    writer = await connect()
    await leadership.claim(writer, 1, "a")
    writer.abort()
    await gone(connection, writer.backend_pid)
    assert (await leadership.claim(await connect(), 1, "b")).epoch == 2


async def gone(connection, pid):
    """Wait until a backend has ended; PostgreSQL notices a closed socket by itself, soon."""
    await eventually_rows(connection, [], "SELECT 1 FROM pg_stat_activity WHERE pid = $1", pid)


async def test_a_reused_pid_is_another_backend(connect, connection):
    writer = await connect()
    await leadership.claim(writer, 1, "a")
    await connection.execute("UPDATE partitions SET owner_backend_start = owner_backend_start - interval '1 ms'")
    assert (await leadership.claim(await connect(), 1, "b")).epoch == 2


async def test_the_same_node_claims_anew_at_once(connect):
    await leadership.claim(await connect(), 1, "a")
    assert (await leadership.claim(await connect(), 1, "a")).epoch == 2


async def test_renewing_moves_the_end_of_the_lease(connect, connection):
    writer = await connect()
    claim = await leadership.claim(writer, 1, "a")
    await connection.execute(EXPIRE)
    await leadership.renew(writer, claim)
    with pytest.raises(leadership.Owned):
        await leadership.claim(await connect(), 1, "b")


async def test_who_renews_too_late_has_stepped_down(connect, connection):
    writer = await connect()
    claim = await leadership.claim(writer, 1, "a")
    await connection.execute(EXPIRE)
    await leadership.claim(await connect(), 1, "b")
    with pytest.raises(SteppedDown):
        await leadership.renew(writer, claim)
    assert (await owner(connection))[1] == "b"


async def test_a_claim_waits_for_a_backend_in_doubt(connect, connection, nursery):
    """The last term's COMMIT may be on its way: whoever claims waits for it, and then reads where it ended."""
    writer, contender = await connect(), await connect()
    claim = await leadership.claim(writer, 1, "a")
    await writer.execute("BEGIN")
    await writer.pipeline(commit(claim, 9)[1:-1])
    claimed = []

    async def contend():
        claimed.append(await leadership.claim(contender, 1, "a"))

    nursery.start_soon(contend)
    await eventually_blocked(connection, pid=contender.backend_pid)
    assert claimed == []
    await writer.execute("COMMIT")
    await eventually(lambda: claimed)
    assert (claimed[0].epoch, claimed[0].position) == (2, ZERO + 9)


async def test_a_frozen_owner_whose_lease_has_run_out_is_ended(connect, connection):
    """It holds the row in an open transaction and does nothing any more."""
    frozen, contender = await connect(), await connect()
    claim = await leadership.claim(frozen, 1, "a")
    await freeze_without_a_lease(frozen)
    await frozen.pipeline(commit(claim, 9)[1:-1])
    again = await leadership.claim(contender, 1, "b")
    await gone(connection, frozen.backend_pid)
    assert (again.epoch, again.position) == (2, ZERO), "what it had not committed has not happened"
    frozen.abort()


async def test_an_owner_that_froze_in_the_middle_of_a_statement_is_ended(connect, connection):
    """The server has the beginning of a message, waits for the rest, and holds the row."""
    frozen, contender = await connect(), await connect()
    await leadership.claim(frozen, 1, "a")
    await freeze_without_a_lease(frozen)
    os.write(frozen._fd, b"Q" + (1_000).to_bytes(4, "big") + b"UPDATE part")
    assert (await leadership.claim(contender, 1, "b")).epoch == 2
    await gone(connection, frozen.backend_pid)
    frozen.abort()


async def freeze_without_a_lease(frozen):
    """A transaction that holds the partition's row, and does nothing any more."""
    await frozen.execute(EXPIRE)
    await frozen.execute("BEGIN")
    await frozen.execute("SELECT FROM partitions FOR SHARE")


@pytest.mark.long
async def test_a_slow_owner_whose_lease_holds_is_not_ended(connect, connection):
    slow, contender = await connect(), await connect()
    claim = await leadership.claim(slow, 1, "a")
    await slow.execute("BEGIN")
    await slow.pipeline(commit(claim, 9)[1:-1])
    with pytest.raises(leadership.Owned):
        await leadership.claim(contender, 1, "b")
    with pytest.raises(Conflict):
        await leadership.claim(contender, 1, "a")
    await slow.execute("COMMIT")
    assert (await batches(connection))[-1] == (ZERO, ZERO + 9, 1)


# ---- the fence


async def test_the_fence_lets_the_owner_through(connect, connection):
    writer = await connect()
    claim = await leadership.claim(writer, 1, "a")
    await writer.pipeline(commit(claim, 5, MARK))
    assert (await batches(connection))[-1] == (ZERO, ZERO + 5, 1)
    assert await marked(connection) == 1


async def test_a_batch_of_an_old_epoch_writes_nothing_and_steps_down(connect, connection):
    writer = await connect()
    old = await leadership.claim(writer, 1, "a")
    await leadership.claim(await connect(), 1, "a")
    with pytest.raises(SteppedDown):
        await writer.pipeline(commit(old, 5, MARK))
    assert await marked(connection) == 0
    assert len(await batches(connection)) == 1


async def test_a_batch_from_another_position_writes_nothing_and_steps_down(connect, connection):
    writer = await connect()
    claim = await leadership.claim(writer, 1, "a")
    await writer.pipeline(commit(claim, 5))
    with pytest.raises(SteppedDown):
        await writer.pipeline(commit(claim, 6, MARK))
    assert await marked(connection) == 0
    assert (await batches(connection))[-1] == (ZERO, ZERO + 5, 1)


async def test_a_term_that_was_overtaken_steps_down_and_changes_nothing(migrated, connect, connection, serial):
    """Behind the back of a running consumer somebody else claims; what it then computes is refused by the fence."""
    consumer, observer = make_consumer(migrated, serial.resources, poll_s=5)
    stepped_down = []

    async def lead():
        with pytest.raises(SteppedDown) as error:
            await consumer.run(beat())
        stepped_down.append(error.value)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(lead)
        await observer.until(lambda: observer.terms)
        await connection.execute("UPDATE partitions SET epoch = epoch + 1, owner_node = 'other'")
        await append(connection, serial.commands)
        consumer.partition_duty.wake()
        await eventually(lambda: stepped_down)
    assert observer.received == []
    assert len(await batches(connection)) == 1
    for table in ("event_log", "process_definitions", "process_instances"):
        assert (await connection.execute(f"SELECT count(*) FROM {table}")).rows == [(0,)]
    assert not consumer.partition_duty.leads


async def test_a_loser_steps_down_and_rejects_nobody(migrated, connect, connection, serial):
    """Two of one epoch, as only a mistake can bring it: the slower one's batch is no data poison."""
    consumer, observer = make_consumer(migrated, serial.resources, poll_s=5)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(keep_leading, consumer)
        await observer.until(lambda: observer.terms)
        async with connection.transaction():
            await connection.execute(
                "INSERT INTO batches SELECT 1, base, base + 1, base + 1, 1 FROM (VALUES (1::bigint << 51)) v(base)"
            )
            await connection.execute(
                "INSERT INTO event_log (partition_id, position, seq, root_key, request, events, rejection, response,"
                " version, processed_at) VALUES (1, (1::bigint << 51) + 1, 0, NULL, NULL, '[]', NULL, 'null', 1, now())"
            )
        last = await append(connection, serial.commands[:1] + serial.commands)
        consumer.partition_duty.wake()
        await observer.reached(last)
        nursery.cancel_scope.cancel()
    assert consumer.stats.poisoned == 0
    assert observer.terms == [1, 2]
    assert all(outcome.rejection is None for outcome in observer.outcomes.values())


# ---- two nodes


async def test_of_two_consumers_one_leads_and_the_other_takes_over_at_once(migrated, connection, serial):
    one, observer_of_one = make_consumer(migrated, serial.resources, "node-a")
    other, observer_of_other = make_consumer(migrated, serial.resources, "node-b")
    first, rest = serial.commands[:2], serial.commands[2:]
    async with trio.open_nursery() as nursery:
        scope = await nursery.start(in_a_scope, one)
        await observer_of_one.until(lambda: observer_of_one.terms)
        nursery.start_soon(keep_leading, other)
        await observer_of_one.reached(await append(connection, first))
        assert one.partition_duty.leads
        assert not other.partition_duty.leads
        scope.cancel()
        took = trio.current_time()
        await observer_of_other.until(lambda: observer_of_other.terms)
        took = trio.current_time() - took
        await observer_of_other.reached(await append(connection, rest))
        nursery.cancel_scope.cancel()
    assert took < leadership.LEASE_S / 2, "it waited for the lease, although the backend was gone"
    assert observer_of_other.terms == [2]
    assert observer_of_one.received == [ZERO + 1, ZERO + 2]
    assert observer_of_other.received == [ZERO + 3]


async def in_a_scope(consumer, task_status):
    with trio.CancelScope() as scope:
        task_status.started(scope)
        await consumer.run(beat())


async def test_a_leader_whose_backend_is_killed_is_followed_at_once(migrated, connection, serial):
    one, observer_of_one = make_consumer(migrated, serial.resources, "node-a")
    other, observer_of_other = make_consumer(migrated, serial.resources, "node-b")
    async with trio.open_nursery() as nursery:
        scope = await nursery.start(in_a_scope_until_it_fails, one)
        await observer_of_one.until(lambda: observer_of_one.terms)
        nursery.start_soon(keep_leading, other)
        _, _, pid = await owner(connection)
        await connection.execute("SELECT pg_terminate_backend($1)", (pid,))
        await observer_of_other.until(lambda: observer_of_other.terms)
        await observer_of_other.reached(await append(connection, serial.commands))
        scope.cancel()
        nursery.cancel_scope.cancel()
    assert (await owner(connection))[:2] == (2, "node-b")
    assert observer_of_one.received == []


async def in_a_scope_until_it_fails(consumer, task_status):
    with trio.CancelScope() as scope:
        task_status.started(scope)
        await keep_leading_elsewhere(consumer)


async def keep_leading_elsewhere(consumer):
    """One term; its end is not followed by another."""
    try:
        await consumer.run(beat())
    except StorageError:
        await trio.sleep_forever()


async def test_a_cancelled_term_releases_its_claim(migrated, connection, serial):
    consumer, observer = make_consumer(migrated, serial.resources)
    async with trio.open_nursery() as nursery:
        scope = await nursery.start(in_a_scope, consumer)
        await observer.until(lambda: observer.terms)
        assert consumer.partition_duty.progress().position == ZERO
        scope.cancel()
    assert not consumer.partition_duty.leads
    assert consumer.partition_duty.progress() is None
    _, _, pid = await owner(connection)
    await gone(connection, pid)
    other, observer = make_consumer(migrated, serial.resources, "node-b")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(other.run, beat())
        await observer.until(lambda: observer.terms)
        nursery.cancel_scope.cancel()


# ---- handing over


async def test_a_partition_that_is_handed_over_is_free_and_nothing_is_lost(migrated, connection, serial):
    commands = serial.commands
    consumer, observer = make_consumer(migrated, serial.resources)
    other, others_observer = make_consumer(migrated, serial.resources, node="node-b")
    other.partition_duty.assignment.set(Duty.NEXT)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        nursery.start_soon(other.run, beat())
        middle = await append(connection, commands[:2])
        await observer.reached(middle)
        consumer.partition_duty.assignment.set(Duty.ELSEWHERE)
        consumer.partition_duty.wake()
        other.partition_duty.assignment.set(Duty.OURS)
        last = await append(connection, commands[2:])
        await others_observer.reached(last)
        assert not consumer.partition_duty.leads
        nursery.cancel_scope.cancel()
    told = observer.received + others_observer.received
    assert len(told) == len(set(told)) == len(commands)
    assert len(observer.ended + others_observer.ended) == 1
    assert (await owner(connection))[:2] == (2, "node-b")
    assert (await connection.execute("SELECT handed_over FROM partitions")).rows == [(1,)]


async def test_a_node_that_has_handed_over_a_partition_with_work_in_its_log_stays_healthy(migrated, connection, serial):
    """The child goes on with the same beat, which the term gave its progress to."""
    consumer, observer = make_consumer(migrated, serial.resources)
    sign = beat()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, sign)
        await observer.reached(await append(connection, serial.commands[:2]))
        progress = consumer.partition_duty.term._progress
        consumer.partition_duty.assignment.set(Duty.ELSEWHERE)
        consumer.partition_duty.wake()
        await eventually(lambda: not consumer.partition_duty.leads, every_s=0)
        progress.idle, progress._moved_at = False, -math.inf
        assert not progress.moves
        assert sign.progressing
        nursery.cancel_scope.cancel()


async def test_a_term_that_was_handed_over_leaves_no_suspicion(connect, connection):
    for _ in range(3):
        writer = await connect()
        claim = await leadership.claim(writer, 1, "a")
        assert not claim.stands
        await leadership.hand_over(writer, claim)
    for stands in (False, True):
        claim = await leadership.claim(await connect(), 1, "b")
        assert claim.stands is stands
        await connection.execute(EXPIRE)


async def test_who_was_deposed_hands_nothing_over(connect, connection):
    writer = await connect()
    claim = await leadership.claim(writer, 1, "a")
    await connection.execute(EXPIRE)
    await leadership.claim(await connect(), 1, "b")
    with pytest.raises(SteppedDown):
        await leadership.hand_over(writer, claim)
    assert (await connection.execute("SELECT lease_until IS NOT NULL FROM partitions")).rows == [(True,)]
