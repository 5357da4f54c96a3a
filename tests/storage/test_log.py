"""The append function and what surrounds it, on PostgreSQL: docs/design/log.md §2, rule by rule."""

import itertools
import random
from functools import partial
from uuid import uuid4

import msgspec
import pytest
import trio
from psycopg.conninfo import make_conninfo

from tests.eventually import eventually_blocked
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.storage.log import command_log, log_batches
from vivero.storage.log.command_log import CommandOutcome, LogEntry
from vivero.storage.postgres import driver
from vivero.storage.postgres.errors import Conflict, DataPoison, Retry

SHA_A, SHA_B = "aa" * 32, "bb" * 32


def at(*numbers, partition=1):
    """The positions with these numbers in a partition."""
    return [(partition << 51) + number for number in numbers]


(ZERO,) = at(0)
"""The position before the first."""


def plain(payload=b"{}", **more):
    return LogEntry("t", "JOB:COMPLETE", payload, **more)


def keyed(key, sha=SHA_A):
    return plain(key=key, sha=sha)


async def append(connection, entries, partition=1, append_id=None, since=None, flush=True, session=None):
    """Append in a session, a new one by default. A session that begins may wait for a transaction that began one."""
    session = session or await command_log.begin(connection, uuid4(), 1)
    return await command_log.append(connection, session, partition, append_id or uuid4(), since, entries, flush)


async def short(connection, entries, partition=1, append_id=None, since=None):
    """(number of the position, replayed, same_body) of each."""
    answers = await append(connection, entries, partition, append_id, since)
    return [(answer.position - (answer.position >> 51 << 51), answer.replayed, answer.same_body) for answer in answers]


async def count(connection):
    return (await connection.execute("SELECT count(*) FROM command_log")).rows[0][0]


@pytest.fixture
async def three_partitions(connection):
    await connection.script("SELECT make_partition(2), make_partition(3)")


async def test_commands_get_positions_in_order(connection):
    first = await append(connection, [plain(b'{"n":1}'), plain(b'{"n":2}')])
    second = await append(connection, [plain(b'{"n":3}', subject=7, trace="00-1")])
    assert [answer.position for answer in first + second] == at(1, 2, 3)
    stored = await command_log.command(connection, ZERO + 3)
    assert (stored.partition, stored.tenant, stored.intent, stored.key) == (1, "t", "JOB:COMPLETE", 7)
    assert stored.payload == b'{"n":3}'
    assert stored.appended_at_ms == second[0].at_ms
    assert (stored.rows, stored.outcome) == ((), None)
    assert await command_log.last_position(connection, 1) == ZERO + 3
    assert await command_log.cursor(connection, 1) == ZERO


CALLS = {
    "with keys": "SELECT append_commands(1, $1, NULL, $2, $3, $4)",
    "without": "SELECT append_fresh(1, $1, $2, true, $3, $4)",
}
NAMES = ["append_commands", "append_fresh"]


def anonymous(number):
    return plain(b'{"n":%d}' % number)


def unique(number):
    return keyed(f"unique {number}")


either_way = pytest.mark.parametrize("entry", [anonymous, unique], ids=["without keys", "with keys"])
"""A call of commands without keys is made by another function."""


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
async def test_positions_follow_the_numbers_of_the_call(connection, call):
    """ORDER BY dropped: the document's order would decide."""
    numbers = [4, 0, 3, 1, 2]
    document = msgspec.json.encode(
        [{"o": o, "tenant": "t", "intent": "X:Y", "payload": f'{{"o":{o}}}'} for o in numbers]
    )
    await connection.execute(call, (uuid4(), document, *await command_log.begin(connection, uuid4(), 1)))
    rows = (await connection.execute("SELECT ord FROM command_log ORDER BY position")).rows
    assert [row[0] for row in rows] == [0, 1, 2, 3, 4]


async def test_a_replay_gets_the_first_position(connection):
    assert await short(connection, [plain(), keyed("a"), keyed("a"), keyed("a", SHA_B), keyed("b")]) == [
        (1, False, True),
        (2, False, True),
        (2, True, True),
        (2, True, False),
        (3, False, True),
    ]
    assert await short(connection, [keyed("a", SHA_B), keyed("b"), keyed("c")]) == [
        (2, True, False),
        (3, True, True),
        (4, False, True),
    ]
    assert await count(connection) == 4


async def test_keys_belong_to_a_tenant(connection):
    other = LogEntry("u", "JOB:COMPLETE", b"{}", key="a", sha=SHA_B)
    assert await short(connection, [keyed("a"), other]) == [(1, False, True), (2, False, True)]


async def test_a_replay_on_another_partition_gets_the_first_position(connection, three_partitions):
    await append(connection, [keyed("a")])
    assert await short(connection, [keyed("a"), keyed("a", SHA_B), plain()], partition=2) == [
        (1, True, True),
        (1, True, False),
        (1, False, True),
    ]


async def test_an_expired_key_is_new_again(connection):
    await append(connection, [keyed("a"), keyed("b")])
    assert await command_log.known_keys(connection, "t", ["a", "b", "c"]) == 2
    await connection.script("UPDATE idempotency_keys SET expires_at = now() WHERE key = 'a'")
    assert await command_log.known_keys(connection, "t", ["a", "b", "c"]) == 1
    assert await command_log.known_keys(connection, "other", ["a", "b", "c"]) == 0
    assert await short(connection, [keyed("a", SHA_B), keyed("a", SHA_B), keyed("b")]) == [
        (3, False, True),
        (3, True, True),
        (2, True, True),
    ]
    assert await short(connection, [keyed("a", SHA_B)]) == [(3, True, True)]


async def test_keys_expire_by_the_engines_clock(connection):
    await append(connection, [keyed("a")])
    await connection.script("UPDATE clock SET shift = interval '23 h 59 m'")
    assert await short(connection, [keyed("a")]) == [(1, True, True)]
    await connection.script("UPDATE clock SET shift = interval '24 h 1 s'")
    assert await short(connection, [keyed("a")]) == [(2, False, True)]


async def test_sixty_keys_eight_times_at_once_have_sixty_effects(connect, connection):
    positions = {}

    async def client():
        own = await connect()
        for number in range(60):
            (answer,) = await append(own, [keyed(f"k{number}")])
            positions.setdefault(number, set()).add(answer.position)
        own.close()

    async with trio.open_nursery() as nursery:
        for _ in range(8):
            nursery.start_soon(client)
    assert await count(connection) == 60
    assert [len(found) for found in positions.values()] == [1] * 60


async def test_twelve_appenders_on_three_partitions_do_not_deadlock(connect, connection, three_partitions, seed):
    positions = {}

    async def appender(number):
        own, draw = await connect(), random.Random(seed + number)
        for _ in range(20):
            keys = draw.sample(range(80), 6)
            answers = await append(own, [keyed(f"k{key}") for key in keys], partition=draw.randint(1, 3))
            for key, answer in zip(keys, answers, strict=True):
                positions.setdefault(key, set()).add(answer.position)
        own.close()

    async with trio.open_nursery() as nursery:
        for number in range(12):
            nursery.start_soon(appender, number)
    assert await count(connection) == len(positions)
    assert {len(found) for found in positions.values()} == {1}


async def test_keys_are_taken_before_the_partition(connect, connection, three_partitions):
    """Otherwise an appender that waits for a key holds a partition that the key's holder may want: deadlock."""
    holder, waiter = await connect(), await connect()
    session = await command_log.begin(waiter, uuid4(), 1)
    async with trio.open_nursery() as nursery, holder.transaction():
        await append(holder, [keyed("x")], partition=1)
        nursery.start_soon(partial(append, waiter, [keyed("x")], 2, session=session))
        await eventually_blocked(connection)
        assert await short(holder, [keyed("z")], partition=2) == [(1, False, True)]
    assert await count(connection) == 2
    holder.close()
    waiter.close()


async def test_keys_are_taken_in_the_same_order_by_all(connect, connection):
    """Two calls with the same two keys, each stopped before its second: in its own order they would deadlock."""
    await connection.script(
        """
        CREATE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF current_setting('test.taken', true) = 'one' THEN PERFORM pg_advisory_xact_lock_shared(99); END IF;
            PERFORM set_config('test.taken', 'one', true);
            RETURN NEW;
        END $$;
        CREATE TRIGGER gate BEFORE INSERT ON idempotency_keys FOR EACH ROW EXECUTE FUNCTION gate();
        """
    )
    one, two = await connect(), await connect()
    await connection.execute("SELECT pg_advisory_lock(99)")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(append, one, [keyed("a"), keyed("b")])
        nursery.start_soon(append, two, [keyed("b"), keyed("a")])
        await eventually_blocked(connection, 2)
        await connection.execute("SELECT pg_advisory_unlock(99)")
    assert await count(connection) == 2
    one.close()
    two.close()


@either_way
async def test_positions_become_visible_in_order(connect, connection, entry):
    """Lock inlined into the INSERT: the waiting call would have its position already, and commit it after a higher."""
    first, second = await connect(), await connect()
    session, answers = await command_log.begin(second, uuid4(), 1), []

    async def wait_in_line():
        answers.extend(await append(second, [entry(2)], session=session))

    async with trio.open_nursery() as nursery, first.transaction():
        await append(first, [entry(1)])
        nursery.start_soon(wait_in_line)
        await eventually_blocked(connection)
        (later,) = await append(first, [entry(3)])
    assert later.position < answers[0].position
    first.close()
    second.close()


@pytest.mark.long
@either_way
async def test_a_slow_committer_loses_nothing_to_a_tail_reader(connect, connection, entry):
    await connection.script(
        """
        CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF random() < 0.1 THEN PERFORM pg_sleep(random() * 0.01); END IF;
            RETURN NULL;
        END $$;
        CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON command_log_1_0 DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION slow();
        """
    )
    done = trio.Event()
    seen = []
    numbers = itertools.count()

    async def writer(size):
        own = await connect()
        for _ in range(40):
            await append(own, [entry(next(numbers)) for _ in range(size)])
        own.close()

    async def reader():
        last = 0
        while True:
            final = done.is_set()
            query = "SELECT position FROM command_log WHERE position > $1 ORDER BY position LIMIT 100"
            rows = (await connection.execute(query, (last,))).rows
            seen.extend(row[0] for row in rows)
            if rows:
                last = seen[-1]
            elif final:
                return

    async with trio.open_nursery() as nursery:
        nursery.start_soon(reader)
        async with trio.open_nursery() as writers:
            for size in (1, 1, 2, 5, 1, 3):
                writers.start_soon(writer, size)
        done.set()
    assert len(seen) == await count(connection) == 40 * 13


DOUBTFUL = [("q", None), ("k", SHA_A), ("old", SHA_A), ("old", SHA_B), ("k", SHA_B), ("q", None)]


def doubtful():
    return [plain() if sha is None else keyed(key, sha) for key, sha in DOUBTFUL]


async def test_a_retried_append_gives_the_same_answer(connect, connection):
    """A retried append that forgets replays would answer None, or say that another body was the same."""
    await append(connection, [keyed("old")])
    first, append_id, answers = await connect(), uuid4(), []

    async def retry():
        own = await connect()
        answers.extend(await short(own, doubtful(), append_id=append_id, since=ZERO + 1))
        own.close()

    async with trio.open_nursery() as nursery, first.transaction():
        lost = await short(first, doubtful(), append_id=append_id)
        nursery.start_soon(retry)
        await eventually_blocked(connection)
    assert answers == lost
    assert answers == [
        (2, False, True),
        (3, False, True),
        (1, True, True),
        (1, True, False),
        (3, True, False),
        (4, False, True),
    ]
    assert await count(connection) == 4
    first.close()


async def test_a_retry_without_keys_gives_the_same_answer(connection):
    append_id = uuid4()
    first = await append(connection, [plain(), plain()], append_id=append_id)
    again = await append(connection, [plain(), plain()], append_id=append_id, since=0)
    assert [answer.position for answer in again] == [answer.position for answer in first] == at(1, 2)
    assert await count(connection) == 2


async def test_a_retried_append_that_had_not_happened_happens(connect, connection):
    await append(connection, [keyed("old")])
    first, append_id = await connect(), uuid4()
    await first.execute("BEGIN")
    await append(first, doubtful(), append_id=append_id)
    first.abort()
    answers = await short(connection, doubtful(), append_id=append_id, since=1)
    assert [replayed for _, replayed, _ in answers] == [False, False, True, True, True, False]
    assert await count(connection) == 4


async def test_a_refused_value_writes_nothing(connection):
    with pytest.raises(DataPoison) as refused:
        await append(connection, [keyed("a"), LogEntry("a\0b", "X:Y", b"{}")])
    assert refused.value.sqlstate == "22P05"
    assert await count(connection) == 0
    ((_, replayed, _),) = await short(connection, [keyed("a")])
    assert not replayed


@either_way
async def test_the_partition_lock_does_not_wait_for_ever(connect, connection, entry):
    holder = await connect()
    for name in NAMES:
        await connection.script(f"ALTER FUNCTION {name} SET lock_timeout = '1ms'")
    await command_log.begin(connection, uuid4(), 1)  # the first one of a database waits for any other
    async with holder.transaction():
        await append(holder, [entry(1)])
        with pytest.raises(Conflict):
            await append(connection, [entry(2)])
    holder.close()


async def test_the_functions_wait_for_the_partition_by_themselves(connection):
    """A session's own lock_timeout may be longer than the deadline of a call."""
    query = "SELECT proname::text, proconfig FROM pg_proc WHERE proname = ANY ($1::text[]) ORDER BY 1"
    assert (await connection.execute(query, (NAMES,))).rows == [(name, ["lock_timeout=5s"]) for name in NAMES]


async def append_tail(connection, entries, **more):
    session = await command_log.begin(connection, uuid4(), 1)
    return (await command_log.append_segment(connection, session, 1, uuid4(), more.get("since"), entries))[1]


@either_way
async def test_a_tail_stands_as_it_would_be_read(connection, entry):
    await connection.script("UPDATE clock SET revision = 7; UPDATE definitions_seq SET n = 8")
    first = await append_tail(connection, [entry(1)])
    await connection.script("UPDATE clock SET pinned_at = '2031-02-03 04:05:06.789+00', revision = 9")
    entries = [entry(2), LogEntry("other", "JOB:FAIL", '{"k":"ü"}'.encode(), 5, trace="00-1"), entry(3)]
    tail = await append_tail(connection, entries)
    read = await log_batches.read_batch(connection, 1, tail.behind, 10)
    assert 0 < tail.batch.asked_at <= read.asked_at
    assert tail.batch == msgspec.structs.replace(read, asked_at=tail.batch.asked_at)
    assert [row.payload is given.payload for row, given in zip(tail.batch.rows, entries, strict=True)] == [True] * 3
    assert (tail.batch.now, tail.batch.clock_revision, tail.batch.definitions_seq) == (1927857906789, 9, 8)
    assert (first.behind, first.batch.clock_revision) == (ZERO, 7)
    stored = (
        await connection.execute("SELECT to_epoch_ms(at), key, trace FROM command_log WHERE position & 7 = 3")
    ).rows
    assert stored == [(1927857906789, 5, "00-1")]


@either_way
async def test_what_others_append_in_between_is_a_gap(connection, entry, three_partitions):
    """Behind a tail there is nothing of its own partition, whatever stands in the others."""
    first = await append_tail(connection, [entry(1), entry(2)])
    await append(connection, [entry(3)], partition=2)
    second = await append_tail(connection, [entry(4)])
    await append(connection, [entry(5)])
    third = await append_tail(connection, [entry(6)])
    assert (first.behind, [row.position for row in first.batch.rows]) == (ZERO, at(1, 2))
    assert [second.behind, third.behind] == at(2, 4)


@either_way
async def test_a_position_that_was_given_up_is_a_gap_at_most(connect, connection, entry):
    await append(connection, [entry(1)])
    lost = await connect()
    await lost.execute("BEGIN")
    await append(lost, [entry(2)])
    await lost.execute("ROLLBACK")
    lost.close()
    tail = await append_tail(connection, [entry(3)])
    assert (tail.behind in at(1, 2), [row.position for row in tail.batch.rows]) == (True, at(3))


# Losses in a crash


@pytest.fixture
async def commits(connection):
    """The value of `synchronous_commit` at the end of each append's transaction."""
    await connection.script(
        """
        CREATE TABLE commits (position bigint, synchronous text);
        CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            INSERT INTO commits VALUES (NEW.position, current_setting('synchronous_commit'));
            RETURN NULL;
        END $$;
        CREATE CONSTRAINT TRIGGER note AFTER INSERT ON command_log DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION note();
        """
    )

    async def commits():
        return dict((await connection.execute("SELECT position, synchronous FROM commits")).rows)

    return commits


@pytest.fixture
async def careful(migrated):
    """A connection that flushes, as those of the program do; those of other tests do not."""
    flushes = make_conninfo(migrated, options="-c synchronous_commit=on")
    connection = await driver.connect(flushes, name="vivero test")
    yield connection
    connection.close()


async def test_only_what_somebody_is_told_of_is_flushed(careful, commits):
    await append(careful, [plain()], flush=False)
    await append(careful, [plain()], flush=True)
    await append(careful, [plain()], flush=False)
    await append(careful, [keyed("a")], flush=False)  # others may be told of the key's first command
    assert await commits() == dict(zip(at(1, 2, 3, 4), ["off", "on", "off", "on"], strict=True))


async def crash(connection):
    """The state after the recovery from a crash: no row in an unlogged table, and the sequence where it was flushed."""
    await connection.script(
        "TRUNCATE since_recovery, appenders; UPDATE schema_migrations SET applied_at = now();"
        "SELECT setval('log_position_1', coalesce(max(position), (1::bigint << 51) + 1)) FROM command_log"
    )


async def forward(connection):
    await connection.script(
        "INSERT INTO inbox (target_partition, tenant_id, intent, payload) VALUES (1, 't', 'X:Y', '{}')"
    )
    return await command_log.forward(connection, 1, 10)


async def append_one(entry, connection):
    (answer,) = await append(connection, [entry], flush=False)
    return answer.position


WRITERS = {"append_fresh": partial(append_one, plain()), "append": partial(append_one, keyed("a")), "forward": forward}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS.keys())
async def test_no_position_is_given_out_again_after_a_crash(careful, commits, write):
    """Somebody may still have it in mind: who waits for its outcome would be given another command's."""
    await append(careful, [plain(), plain()], flush=False)
    await crash(careful)
    position = await write(careful)
    assert position == ZERO + 1_000_003
    (following,) = await append(careful, [plain()], flush=False)
    assert following.position == position + 1
    assert (await commits())[following.position] == "off"


async def test_the_jump_after_a_crash_is_flushed(careful, commits):
    """The append is flushed, whatever else its session flushes: another crash would repeat it from the same place."""
    await careful.script(
        "CREATE FUNCTION note_jump() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " INSERT INTO commits VALUES (-1, current_setting('synchronous_commit')); RETURN NULL; END $$;"
        "CREATE CONSTRAINT TRIGGER note AFTER INSERT ON since_recovery DEFERRABLE INITIALLY DEFERRED"
        " FOR EACH ROW EXECUTE FUNCTION note_jump()"
    )
    await crash(careful)
    await careful.script("SET synchronous_commit = off")
    await command_log.begin(careful, uuid4(), 1)
    assert await commits() == {-1: "on"}


async def test_nothing_is_appended_without_a_session(connection):
    session = await command_log.begin(connection, uuid4(), 1)
    await crash(connection)
    for entry in (plain(), keyed("a")):
        with pytest.raises(Retry, match="is over"):
            await command_log.append(connection, session, 1, uuid4(), None, [entry])
    assert (await count(connection), await connection_keys(connection)) == (0, 0)


async def connection_keys(connection):
    return (await connection.execute("SELECT count(*) FROM idempotency_keys")).rows[0][0]


async def test_two_that_append_after_a_crash_agree(connect, connection, three_partitions):
    await append(connection, [plain()])
    await crash(connection)
    first, second = await connect(), await connect()
    later = []

    async def wait_in_line():
        later.extend(await append(second, [plain()], partition=2))

    async with trio.open_nursery() as nursery, first.transaction():
        (answer,) = await append(first, [plain()])
        nursery.start_soon(wait_in_line)
        await eventually_blocked(connection)
    assert answer.position == ZERO + 1_000_002
    assert later[0].position > at(1_000_000, partition=2)[0]
    first.close()
    second.close()


async def test_what_a_crash_took_is_known_as_lost(connection, three_partitions):
    (kept,) = await append(connection, [plain()])
    (elsewhere,) = await append(connection, [plain()], partition=2)
    assert await command_log.lost(connection, [kept.position, 77, elsewhere.position, 78]) == [77, 78]


@pytest.fixture
async def standby(connect, connection):
    """A connection to a server that says of itself that it is in recovery."""
    await connection.script("CREATE FUNCTION pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT true'")
    standby = await connect(settings={"search_path": "public,pg_catalog"})
    yield standby
    standby.close()


async def test_what_a_standby_has_not_got_yet_is_not_lost(standby):
    """A connection string may name several hosts, of which one is behind: what is missing there may be in the log."""
    assert await command_log.lost(standby, [77]) == []


async def test_the_inbox_moves_once_and_in_order(connect, connection):
    await connection.script(
        """
        INSERT INTO inbox OVERRIDING SYSTEM VALUE
        SELECT 1, n, n + 1000, 't', 'X:Y', n, convert_to(n::text, 'UTF8'), NULL FROM generate_series(500, 1, -1) n;
        """
    )
    moved = []

    async def mover():
        own = await connect()
        while (last := await command_log.forward(own, 1, 7)) is not None:
            moved.append(last)
        own.close()

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(mover)
    rows = (await connection.execute("SELECT position, key, request FROM command_log ORDER BY position")).rows
    assert rows == [(ZERO + n, n, n + 1000) for n in range(1, 501)]
    assert max(moved) == ZERO + 500
    assert (await connection.execute("SELECT count(*) FROM inbox")).rows == [(0,)]


async def test_forwarding_concerns_one_partition(connection, three_partitions):
    await connection.script(
        "INSERT INTO inbox (target_partition, tenant_id, intent, payload) VALUES (2, 't', 'X:Y', '{}')"
    )
    assert await command_log.forward(connection, 1, 10) is None
    assert await command_log.forward(connection, 2, 10) == at(1, partition=2)[0]


async def store_answer(connection, position, seq=0, request=None, rejection=None, response=None):
    await connection.execute(
        "INSERT INTO event_log (partition_id, position, seq, root_key, request, events, rejection, response, version,"
        " processed_at) VALUES (1, $1, $2, 77, $3, '[[\"JobCompleted\",5]]', $4, $5, 1, now())",
        (ZERO + position, seq, request and ZERO + request, rejection, response),
    )


async def test_outcomes_are_those_of_answered_commands(connection):
    rejection = Rejection(RejectionCode.NOT_FOUND, "no such job")
    refused = msgspec.json.encode(rejection)
    await store_answer(connection, 1, response=b'{"a":1}')
    await store_answer(connection, 1, seq=1, response=b"null")  # an inline follow-up with nothing to say
    await store_answer(connection, 2, response=b"null")
    await store_answer(connection, 3, rejection=refused)
    await store_answer(connection, 4)  # will be answered later
    await store_answer(connection, 4, seq=1, rejection=refused)  # … which its rejected follow-up does not
    await store_answer(connection, 5)  # will be answered later
    await store_answer(connection, 6, response=b'{"six":6}')
    await store_answer(connection, 6, seq=1, request=5, response=b'{"late":true}')  # … and was
    await store_answer(connection, 7, request=4)  # goes back to 4, but does not answer it
    await store_answer(connection, 8, request=5, rejection=refused)
    found = await command_log.outcomes(connection, at(8, 7, 5, 4, 3, 2, 1, 99))
    assert sorted(found, key=lambda each: each.position) == [
        CommandOutcome(ZERO + 1, None, b'{"a":1}'),
        CommandOutcome(ZERO + 2),
        CommandOutcome(ZERO + 3, rejection),
        CommandOutcome(ZERO + 5, None, b'{"late":true}'),
    ]
    assert await command_log.outcome(connection, ZERO + 4) is None
    assert await command_log.outcomes(connection, []) == []


async def test_a_command_is_shown_with_its_events_and_outcome(connection):
    await append(connection, [plain(subject=5)])
    await store_answer(connection, 1, response=b"null")
    rejection = Rejection(RejectionCode.NOT_FOUND, "no such job")
    await store_answer(connection, 1, seq=1, rejection=msgspec.json.encode(rejection))
    stored = await command_log.command(connection, ZERO + 1)
    assert [(row.seq, row.version, row.events, row.rejection) for row in stored.rows] == [
        (0, 1, b'[["JobCompleted",5]]', None),
        (1, 1, b'[["JobCompleted",5]]', rejection),
    ]
    assert stored.outcome == CommandOutcome(ZERO + 1)
    assert await command_log.command(connection, ZERO + 2) is None
