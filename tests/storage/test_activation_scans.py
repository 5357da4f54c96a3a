"""Activation while an old snapshot is open, on PostgreSQL: what a look reads does not grow, and bounds hide no job."""

import json
from dataclasses import replace
from functools import partial
from random import Random
from uuid import UUID, uuid4

import psycopg
import pytest

from vivero.core.partitions.keys import keys_of
from vivero.storage.postgres import driver
from vivero.storage.postgres.plans import by_index
from vivero.storage.postgres.sql_files import Statement, beside
from vivero.storage.state import save
from vivero.storage.work import activation
from vivero.storage.work.activation import MAX_VARIABLES, ActivationRequest, release, take_back
from vivero.storage.work.scan_bounds import EVERYTHING, SLOW_LOOKS, SubjectBounds

ROOM = 4_000_000
PUT = """
    INSERT INTO jobs (job_key, root_key, process_instance_key, element_instance_key, path, process_definition_key,
        process_id, process_version, element_id, type, kind, listener_event, listener_index, state, retries, priority,
        headers, tags, tenant_id, created_at, updated_at, ready)
    SELECT n, 1, 1, 2, '{2,1}', 9, 'p', 1, 'task', 'work', 'BPMN_ELEMENT', 'UNSPECIFIED', 0, 'CREATED', 3, %s,
        '{}', '{}', '<default>', now(), now(), true
    FROM generate_series(%s::bigint, %s) n
"""
COMPLETE = """
    UPDATE jobs SET state = 'COMPLETED', ended_at = now(), ready = false, available_at = NULL, lease_token = NULL
    WHERE job_key = ANY (%s)
"""
ASK = partial(ActivationRequest, "work", "<default>", timeout_ms=1000, worker="w")


@pytest.fixture
def sync(database):
    """A psycopg connection to a database with the schema and a clock that stands still."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("UPDATE clock SET pinned_at = '2026-11-21T01:02:03Z'")
        yield connection


@pytest.fixture
def connect(sync, database):
    async def connected():
        connection = await driver.connect(database, name="vivero test")
        await connection.execute(*by_index())
        return connection

    return connected


@pytest.fixture
async def connection(connect):
    connection = await connect()
    yield connection
    connection.close()


@pytest.fixture
def old_snapshot(sync, database):
    with psycopg.connect(database) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.execute("SELECT count(*) FROM jobs")
        yield connection
        connection.rollback()


def slow_bounds():
    """Bounds that are in use."""
    bounds = SubjectBounds(0.0)
    for _ in range(SLOW_LOOKS):
        bounds.note_plain(0.0, large=False, slow=True)
    return bounds


def move_clock(sync, seconds):
    sync.execute("UPDATE clock SET pinned_at = pinned_at + %s * interval '1 second'", [seconds])


def literal(value):
    if value is None:
        return "NULL"
    if isinstance(value, list):
        return f"'{{{','.join(map(str, value))}}}'"
    return f"'{value}'"


async def buffers(connection, text, values):
    """The pages that a statement reads. It changes nothing."""
    arguments = ", ".join(map(literal, values))
    await connection.script(f"PREPARE measured AS {text}; BEGIN")
    rows = (await connection.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE measured ({arguments})")).rows
    await connection.script("ROLLBACK; DEALLOCATE measured")
    plan = json.loads(rows[0][0])[0]["Plan"]
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]


async def look(connection, bounds, start, limit=50):
    looked = await activation.activate(connection, ASK(limit=limit), ROOM, start=start)
    if looked.seen is not None:
        bounds.learn(start, looked.seen)
    return looked.leases


async def pass_through(sync, connection, bounds, first, last):
    """Jobs are created, leased and completed. Each hundred takes as long as its leases last."""
    for key in range(first, last, 50):
        sync.execute(PUT, [0, key, key + 49])
        leases = await look(connection, bounds, bounds.bounded())
        assert [lease.job_key for lease in leases] == list(range(key, key + 50))
        sync.execute(COMPLETE, [[lease.job_key for lease in leases]])
        move_clock(sync, 0.5)


async def measure(sync, connection, start, key):
    """Pages that an activation of ten jobs reads, and a look for the next end of a lease."""
    sync.execute(PUT, [0, key, key + 9])
    leasing, values = activation.lease_statement(ASK(limit=10), uuid4(), ROOM, MAX_VARIABLES, start)
    assert isinstance(leasing, Statement)
    next_available = beside(activation.__file__)["next_available"].text
    read = (
        await buffers(connection, leasing.text, values),
        await buffers(connection, next_available, ("work", "<default>", start.due_ms, 2000)),
    )
    sync.execute("DELETE FROM jobs WHERE job_key >= %s", [key])
    return read


async def test_the_jobs_of_each_partition_are_taken_in_turn(sync, connection):
    """Each partition has its own bound: a job of a smaller key than those seen is found in the next look."""
    (one, _), (two, _), bounds = keys_of(1), keys_of(2), slow_bounds()
    sync.execute(PUT, [0, two + 1, two + 100])
    leases = await look(connection, bounds, bounds.bounded((1, 2)), limit=10)
    assert [lease.job_key for lease in leases] == list(range(two + 1, two + 11))
    sync.execute(PUT, [0, one + 1, one + 100])
    for partitions, first in (((1, 2), one + 1), ((2, 1), two + 11), ((1, 2), one + 11), ((2, 1), two + 21)):
        leases = await look(connection, bounds, bounds.bounded(partitions), limit=10)
        assert [lease.job_key for lease in leases] == list(range(first, first + 10))


async def test_what_a_look_reads_of_two_partitions_does_not_grow_with_the_age_of_a_snapshot(
    sync, connection, old_snapshot
):
    (one, _), (two, _), bounds = keys_of(1), keys_of(2), slow_bounds()
    for key in range(1, 1001, 50):
        for first in (one, two):
            sync.execute(PUT, [0, first + key, first + key + 49])
        leases = [lease for _ in range(2) for lease in await look(connection, bounds, bounds.bounded((2, 1)))]
        assert len(leases) == 100
        sync.execute(COMPLETE, [[lease.job_key for lease in leases]])
        move_clock(sync, 0.5)
    bounded = await measure(sync, connection, bounds.bounded((1, 2)), two + 100_001)
    whole = await measure(sync, connection, EVERYTHING, two + 100_011)
    print(f"pages read: {bounded} with bounds, {whole} without")
    assert bounded[0] < whole[0] / 2


async def test_what_a_look_reads_does_not_grow_with_the_age_of_a_snapshot(sync, connection, old_snapshot):
    bounds = slow_bounds()
    await pass_through(sync, connection, bounds, 1, 501)
    early = await measure(sync, connection, bounds.bounded(), 100_001)
    await pass_through(sync, connection, bounds, 501, 3001)
    late = await measure(sync, connection, bounds.bounded(), 100_011)
    whole = await measure(sync, connection, EVERYTHING, 100_021)
    print(f"pages read: {early} after 500 jobs, {late} after 3,000, {whole} without bounds")
    assert late[0] < early[0] + 50
    assert late[1] < early[1] + 50
    assert whole[0] > 3 * late[0], "without bounds it grows, or the test could not fail"
    assert whole[1] > 3 * late[1]


async def test_a_plain_look_says_that_it_was_slow(sync, connection, monkeypatch):
    """Whether or not it found a job. The threshold is 3 ms, so the test lowers it."""
    statement = activation.ACTIVATE_SMALL
    quick = replace(statement, text=statement.text.replace("'3 milliseconds'", "'0'"))
    assert not (await activation.activate_plainly(connection, ASK(limit=5), ROOM, uuid4())).large
    monkeypatch.setattr(activation, "ACTIVATE_SMALL", quick)
    assert await activation.activate_plainly(connection, ASK(limit=5), ROOM, uuid4()) == ([], False, True)
    sync.execute(PUT, [0, 1, 2])
    leases, large, slow = await activation.activate_plainly(connection, ASK(limit=5), ROOM, uuid4())
    assert ([lease.job_key for lease in leases], large, slow) == ([1, 2], False, True)


async def test_a_look_without_rows_teaches_nothing(sync, connection):
    looked = await activation.activate(connection, ASK(limit=5), ROOM)
    assert looked == ([], None, None)


async def test_expired_leases_that_a_look_leaves_stay_above_the_bound(sync, connection):
    sync.execute(PUT, [0, 1, 20])
    bounds = slow_bounds()
    assert len(await look(connection, bounds, bounds.bounded(), 20)) == 20
    move_clock(sync, 60)
    for _ in range(4):
        assert len(await look(connection, bounds, bounds.bounded(), 5)) == 5
        sync.execute("UPDATE jobs SET available_at = available_at + interval '1 day' WHERE available_at > clock_now()")
        move_clock(sync, 60)


async def test_a_lease_made_after_the_clock_went_back_is_found_at_its_end(sync, connection):
    bounds = slow_bounds()
    sync.execute(PUT, [0, 1, 2])
    await look(connection, bounds, bounds.bounded(), 1)
    move_clock(sync, -3600)
    (lease,) = await look(connection, bounds, bounds.bounded(), 1)
    move_clock(sync, 60)
    assert [again.job_key for again in await look(connection, bounds, bounds.bounded(), 9)] == [lease.job_key]


class World:
    """Jobs in every state, looked for by two processes with bounds of their own."""

    def __init__(self, sync, connection, other, seed) -> None:
        self.sync, self.connection, self.other, self.random = sync, connection, other, Random(seed)
        self.nodes = [slow_bounds(), slow_bounds()]
        self.key, self.leases, self.holding = 0, [], None
        self.leased = 0

    def insert(self):
        for _ in range(self.random.randrange(1, 4)):
            self.key += 1
            self.sync.execute(PUT, [self.random.choice((0, 0, 0, 1, 5)), self.key, self.key])

    async def look(self):
        """It leases what an activation without bounds would lease, and a plain one."""
        bounds, limit = self.random.choice(self.nodes), self.random.randrange(1, 5)
        await self.connection.script("BEGIN")
        expected = (await activation.activate(self.connection, ASK(limit=limit), ROOM)).leases
        await self.connection.script("ROLLBACK")
        if self.random.random() < 0.3:
            leases = (await activation.activate_plainly(self.connection, ASK(limit=limit), ROOM, uuid4())).leases
        else:
            leases = await look(self.connection, bounds, bounds.bounded(), limit)
        assert [lease.job_key for lease in leases] == [lease.job_key for lease in expected]
        self.leases += leases
        self.leased += len(leases)

    async def hold(self):
        """Another transaction leases, and ends later or is rolled back."""
        if self.holding is None:
            await self.other.script("BEGIN")
            bounds = self.random.choice(self.nodes)
            start = bounds.bounded()
            self.holding = bounds, start, await activation.activate(self.other, ASK(limit=3), ROOM, start=start)

    async def let_go(self):
        if self.holding is None:
            return
        (bounds, start, looked), self.holding = self.holding, None
        commits = self.random.random() < 0.5
        await self.other.script("COMMIT" if commits else "ROLLBACK")
        if commits and looked.seen is not None:
            bounds.learn(start, looked.seen)

    async def give_back(self):
        if self.holding is None and self.leases:
            lease = self.leases.pop(self.random.randrange(len(self.leases)))
            if self.random.random() < 0.5:
                await release(self.connection, [lease])
            else:
                await take_back(self.connection, "work", "<default>", [UUID(lease.token)])

    async def engine_changes(self):
        """A failure without or with backoff, new retries, another priority, a completion."""
        if self.holding is not None or not self.key:
            return
        key = self.random.randrange(1, self.key + 1)
        lease = self.random.choice(["ready", "ready", None, "backoff"])
        now = self.sync.execute("SELECT to_epoch_ms(clock_now())").fetchone()[0]
        document = {"key": key, "state": "CREATED", "retries": 2, "priority": self.random.choice((0, 1, 5, 9))}
        document |= {"updated_at": now, "lease": lease, "available_at": now + 1500}
        await self.connection.execute(beside(save.__file__)["jobs"], (json.dumps([document]),))

    async def complete(self):
        if self.leases:
            self.sync.execute("SET lock_timeout = '2s'")
            lease = self.leases.pop()
            locked = "ANY (ARRAY(SELECT job_key FROM jobs WHERE lease_token = %s FOR UPDATE SKIP LOCKED))"
            self.sync.execute(COMPLETE.replace("ANY (%s)", locked), [lease.token])


@pytest.mark.long
@pytest.mark.parametrize("run", range(6))
async def test_bounds_change_nothing_of_what_is_leased(sync, connection, connect, seed, run):
    other = await connect()
    world = World(sync, connection, other, seed * 100 + run)
    for _ in range(250):
        match world.random.randrange(10):
            case 0 | 1:
                world.insert()
            case 2 | 3 | 4:
                await world.look()
            case 5:
                await world.hold()
            case 6:
                await world.let_go()
            case 7:
                await world.give_back()
            case 8:
                await world.engine_changes()
            case _:
                await world.complete()
                if world.holding is None:
                    move_clock(sync, world.random.random())
    other.close()
    assert world.leased > 20
    assert any(len(bounds.bounded().keys) > 1 for bounds in world.nodes), "nothing was learnt"
