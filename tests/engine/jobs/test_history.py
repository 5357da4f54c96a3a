"""Ended instances go when they have stayed as long as settings and models say; a clock that jumps does little."""

import sys
from contextlib import suppress

import pytest

from tests.core.models import end, process, start
from tests.engine.consumer.serial_runs import PINNED_MS, Serial, pin_clock, save_serially
from vivero.engine.buckets import locations
from vivero.engine.jobs.execution import Execution
from vivero.engine.retention.archive.directory import DirectoryStore
from vivero.engine.retention.archive.opening import open_store
from vivero.engine.retention.archive.s3 import S3Store
from vivero.engine.retention.chore_settings import RetentionSettings, retention_ms
from vivero.engine.retention.chores import DAY_MS, purging
from vivero.engine.retention.history import MAX_STEP_S, EndedInstances, Policy
from vivero.node.chores import SESSION
from vivero.storage.background.job_executions import Run
from vivero.storage.postgres.errors import Conflict
from vivero.storage.postgres.pool import Pool
from vivero.storage.retention import history
from vivero.storage.retention.archives import ArchiveProblem
from vivero.storage.retention.history import Ended, states

EVERY_DAY = 6
QUICK = 1_000_000.0
"""Follows any jump of the clock within a minute and a half."""


@pytest.fixture
async def daily(connection):
    """One instance of `p` and one of `q` end on each of six days; then the clock stands at the last day."""
    serial = Serial()
    for id in "pq":
        serial.deploy(process(start(), end(), "start > end", id=id))
    for number in range(EVERY_DAY):
        serial.memory.now = PINNED_MS + number * DAY_MS
        for id in "pq":
            serial.start(id)
    await save_serially(connection, serial)
    await pin_clock(connection, PINNED_MS + (EVERY_DAY - 1) * DAY_MS)


@pytest.fixture
def chore(connection, connect):
    """Makes the chore, and runs it as the owner of partition 1."""
    pool = Pool(lambda deadline: connect(deadline=deadline, settings=SESSION), 1)

    class Chore:
        def __init__(self, before=None, **settings) -> None:
            self.now = 0.0
            self.handler = EndedInstances(RetentionSettings(**settings), pool.connection, before, lambda: self.now)

        async def run(self, epoch=None, after_s=MAX_STEP_S):
            term = (await connection.execute("SELECT epoch FROM partitions WHERE id = 1")).rows[0][0]
            run = Run(
                "id", "vivero.ended-instances", 0, None, None, 1, "lease", 0, 0, 0, term if epoch is None else epoch
            )
            await self.handler(Execution(run))
            self.now += after_s

    yield Chore
    pool.close()


@pytest.fixture
def left(connection):
    """The days on which what is left has ended, by process."""

    async def read():
        query = "SELECT process_id, to_epoch_ms(ended_at) FROM process_instances ORDER BY 2"
        days = {"p": "", "q": ""}
        for id, at in (await connection.execute(query)).rows:
            days[id] += str((at - PINNED_MS) // DAY_MS)
        return days

    return read


async def test_what_has_stayed_long_enough_goes_and_never_earlier(daily, chore, left, connection):
    due = chore(instances="P3D", catch_up=QUICK)
    await due.run()
    await due.run()
    assert await left() == {"p": "345", "q": "345"}
    await pin_clock(connection, PINNED_MS + 6 * DAY_MS - 1)
    await due.run()
    assert await left() == {"p": "345", "q": "345"}
    await pin_clock(connection, PINNED_MS + 6 * DAY_MS)
    await due.run()
    assert await left() == {"p": "45", "q": "45"}
    await due.run()
    assert (await connection.execute("SELECT deleted FROM retention_clocks")).rows == [(8,)]


async def test_processes_and_tenants_have_their_own_times(daily, chore, left):
    kept = chore(instances="P1D", processes={"p": "P3D"}, catch_up=QUICK)
    for _ in range(2):
        await kept.run()
    assert await left() == {"p": "345", "q": "5"}
    for_ever = chore(instances="never", tenants={"<default>": "P2D"}, processes={"q": "never"}, catch_up=QUICK)
    for _ in range(2):
        await for_ever.run()
    assert await left() == {"p": "45", "q": "5"}


async def test_what_the_model_says_comes_before_the_tenant_and_after_the_process(daily, chore, left, connection):
    await connection.execute("UPDATE process_definitions SET retention_ms = $1 WHERE process_id = 'p'", (4 * DAY_MS,))
    await connection.execute("UPDATE process_definitions SET retention_ms = $1 WHERE process_id = 'q'", (4 * DAY_MS,))
    modelled = chore(instances="P1D", tenants={"<default>": "P1D"}, processes={"q": "P2D"}, catch_up=QUICK)
    for _ in range(2):
        await modelled.run()
    assert await left() == {"p": "2345", "q": "45"}


async def test_never_deletes_nothing(daily, chore, left):
    never = chore(instances="never", catch_up=QUICK)
    for _ in range(2):
        await never.run()
    assert await left() == {"p": "012345", "q": "012345"}


async def test_the_clock_goes_on_if_everything_stays(daily, chore, left, connection):
    """Other chores follow it. If it stood still from the day of such a setting on, their rows would stay for ever."""
    await chore(instances="P30D", catch_up=QUICK).run()
    await pin_clock(connection, PINNED_MS + 100 * DAY_MS)
    never = chore(instances="never", log="never", catch_up=QUICK)
    assert await history.behind_ms(connection) > 90 * DAY_MS
    for _ in range(2):
        await never.run()
    assert await history.behind_ms(connection) == 0
    assert await left() == {"p": "012345", "q": "012345"}
    await connection.execute("DELETE FROM retention_clocks")
    await chore(instances="never", log="never").run()
    await pin_clock(connection, PINNED_MS + 200 * DAY_MS)
    assert await history.behind_ms(connection) == 100 * DAY_MS, "a jump deletes nothing at once"


async def test_a_clock_that_jumps_deletes_little_at_a_time(daily, chore, left, connection):
    """Ten minutes of real time are four hours of retention, whatever the clock says; and it can be set back."""
    slow = chore(instances="P10D")
    await slow.run()
    await pin_clock(connection, PINNED_MS + 3650 * DAY_MS)
    await slow.run()
    assert await left() == {"p": "012345", "q": "012345"}
    steps_of_a_day = 24 * 3600 // int(MAX_STEP_S) // 24
    for _ in range(5 * steps_of_a_day - 2):
        await slow.run()
    assert (await left())["p"] == "012345", "the instances have not stayed for ten days by this clock"
    await slow.run()
    assert (await left())["p"] == "12345"
    await pin_clock(connection, PINNED_MS + 6 * DAY_MS)
    for _ in range(10):
        await slow.run()
    assert (await left())["p"] == "12345", "the clock is right again"


async def test_a_new_term_begins_where_the_last_one_was(daily, chore, left, connection):
    """Restarts move the clock of retention by nothing."""
    await chore(instances="P10D", catch_up=QUICK).run()
    before = (await connection.execute("SELECT at FROM retention_clocks")).rows
    await pin_clock(connection, PINNED_MS + 3650 * DAY_MS)
    for _ in range(3):
        await chore(instances="P10D", catch_up=QUICK).run()
    assert (await connection.execute("SELECT at FROM retention_clocks")).rows == before
    assert await left() == {"p": "012345", "q": "012345"}


async def test_another_term_deletes_nothing(daily, chore, left, connection):
    overdue = chore(instances="P1D", catch_up=QUICK)
    for _ in range(2):
        await overdue.run(epoch=99)
    assert await left() == {"p": "012345", "q": "012345"}
    assert (await connection.execute("SELECT count(*) FROM retention_clocks")).rows == [(0,)]


async def test_what_is_not_archived_stays_until_it_is(daily, chore, left):
    """The step before the deletion, such as an archive, says what may go. The rest is asked for again in an hour."""
    asked, ready = [], False

    async def before(roots):
        asked.append(len(roots))
        return roots if ready else roots[1:]

    archived = chore(before, instances="P3D", catch_up=QUICK)
    for _ in range(3):
        await archived.run()
    assert sum(map(len, (await left()).values())) == 8
    ready = True
    for _ in range(7):
        await archived.run()
    assert await left() == {"p": "345", "q": "345"}


async def test_trees_that_are_too_large_for_one_statement_go_in_smaller_portions(daily, chore, left, monkeypatch):
    """The deadline passes again and again, until there are few enough of them."""
    delete, asked = history.delete_old_trees, []

    async def limited(connection, partition, epoch, roots):
        asked.append(len(roots))
        if len(roots) > 1:
            raise Conflict("it takes too long")
        return await delete(connection, partition, epoch, roots)

    monkeypatch.setattr(history, "delete_old_trees", limited)
    slow = chore(instances="P3D", catch_up=QUICK)
    for _ in range(12):
        with suppress(Conflict):
            await slow.run()
        slow.now += MAX_STEP_S
    assert max(asked) > 1
    assert await left() == {"p": "345", "q": "345"}


async def state_of(connection):
    (found,) = await states(connection)
    return found


async def test_what_it_did_and_waits_for_is_written_down(daily, chore, left, connection):
    """The tree that was due first, and what keeps it, until it goes."""
    first = "SELECT process_instance_key FROM process_instances ORDER BY ended_at, process_instance_key LIMIT 1"
    await connection.execute(f"INSERT INTO start_locks VALUES (({first}), default, 't', 'k', 'p')")
    noted = chore(instances="P3D", catch_up=QUICK)
    await noted.run()
    await noted.run()
    found = await state_of(connection)
    (lock,) = (await connection.execute("SELECT process_instance_key FROM start_locks")).rows[0]
    assert (found.deleted, found.kept_key, found.kept_by) == (1, lock, "a start lock")
    assert found.ran_deleted == 4
    assert found.overdue_s == 2 * 24 * 3600
    assert found.ran_s is not None
    assert (found.problem, found.logs_kept_by) == (None, None)
    await connection.execute("DELETE FROM start_locks")
    for _ in range(8):
        await noted.run()
    found = await state_of(connection)
    assert (found.deleted, found.kept_key, found.overdue_s) == (6, None, None)


async def test_an_archive_that_is_away_is_written_down(daily, chore, left, connection):
    away = True

    async def before(roots):
        if away:
            raise ArchiveProblem("the store does not answer")
        return roots

    archived = chore(before, instances="P3D", catch_up=QUICK)
    for _ in range(3):
        with pytest.raises(ArchiveProblem):
            await archived.run()
        archived.now += MAX_STEP_S
    found = await state_of(connection)
    assert (found.problem, found.kept_by) == ("the store does not answer", "the archive is away")
    assert found.problem_s >= 0
    assert found.overdue_s == 2 * 24 * 3600
    away = False
    await archived.run()
    found = await state_of(connection)
    assert (found.problem, found.problem_s, found.kept_key, found.ran_deleted) == (None, None, None, 6)


async def test_the_older_chores_follow_the_slowest_clock_of_retention(connection):
    """A clock that jumps by years deletes nothing else at once, either."""
    asked = []

    async def purge(_connection, age_ms, _rows):
        asked.append(age_ms)
        return 0

    async def behind(days):
        await connection.execute("DELETE FROM retention_clocks")
        for partition, each in enumerate(days, 1):
            await connection.execute(
                "INSERT INTO retention_clocks (partition_id, at) VALUES ($1, clock_now() - $2::int * interval '1 day')",
                (partition, each),
            )
        await purging(purge, 30 * DAY_MS, 10)(connection, None)
        return asked[-1] / DAY_MS

    await pin_clock(connection, PINNED_MS)
    assert await behind([]) == 30
    assert await behind([0, 365]) == 395
    assert await behind([-5]) == 30, "the clock was set back"


async def test_commands_come_first(daily, chore, left, connection):
    """While many commands wait, nothing is deleted."""
    await connection.script("SELECT setval('log_position_1', (1::bigint << 51) + 10000)")
    busy = chore(instances="P1D", catch_up=QUICK)
    for _ in range(2):
        await busy.run()
    assert await left() == {"p": "012345", "q": "012345"}
    await connection.script("INSERT INTO batches SELECT 1, max(to_pos), (1::bigint << 51) + 10000, 1, 1 FROM batches")
    await busy.run()
    assert await left() == {"p": "5", "q": "5"}


def test_the_order_of_policies():
    settings = RetentionSettings(instances="P9D", processes={"p": "never"}, tenants={"t": "P1D"})
    policy = Policy(settings, {5: 7})

    def stays(definition, process_id, tenant):
        return policy.stays_ms(Ended(1, 0, definition, process_id, tenant, True))

    assert stays(5, "p", "t") is None
    assert stays(5, "q", "t") == 7
    assert stays(6, "q", "t") == DAY_MS
    assert stays(6, "q", "u") == 9 * DAY_MS
    assert policy.durations == [7, DAY_MS, 9 * DAY_MS]
    policy = Policy(settings, {5: 0})
    assert stays(5, "q", "t") is None


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"instances": "30 days"}, "instances: '30 days' is not an ISO 8601 duration .*, nor 'never'"),
        ({"instances": "P1M"}, "months"),
        ({"instances": "PT59S"}, "shorter than a minute"),
        ({"processes": {"order": "soon"}}, "processes 'order': 'soon' is not"),
        ({"tenants": {"a": "-P1D"}}, "tenants 'a': .*negative"),
        ({"catch_up": 0.5}, "catch_up must be from 1 to"),
        ({"archive": ""}, "archive must name a directory, or a bucket"),
        ({"archive": "s3://"}, "'s3://' does not name a bucket"),
        ({"archive": "/a", "archive_region": "x"}, "archive_endpoint, .* need an archive of s3://bucket"),
        ({"archive": "s3://bkt", "archive_access_key": "x"}, "archive_access_key and archive_secret belong together"),
        ({"archive": "s3://bkt", "archive_endpoint": "minio:9000"}, "archive_endpoint must be a URL such as"),
    ],
)
def test_what_cannot_be_set(wrong, why):
    with pytest.raises(ValueError, match=why):
        RetentionSettings(**wrong)


def test_s3_needs_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "boto3", None)
    monkeypatch.setattr(locations, "find_spec", lambda name: sys.modules[name])
    with pytest.raises(ValueError, match=r"pip install 'vivero\[s3\]'"):
        RetentionSettings(archive="s3://bucket")
    RetentionSettings(archive="/directory")


def test_the_settings_choose_the_store():
    assert open_store(RetentionSettings()) is None
    assert isinstance(open_store(RetentionSettings(archive="/a")), DirectoryStore)
    for prefix in ("", "/", "/of/vivero", "/of/vivero/"):
        chosen = RetentionSettings(
            archive=f"s3://bkt{prefix}",
            archive_endpoint="http://127.0.0.1:1",
            archive_access_key="a",
            archive_secret="s",
        )
        assert "'s'" not in repr(chosen)
        store = open_store(chosen)
        assert isinstance(store, S3Store)
        assert store.bucket.url == ("s3://bkt/of/vivero/" if len(prefix) > 1 else "s3://bkt/")
        assert (store.bucket.access_key, store.bucket.secret_key) == ("a", "s")


def test_a_time_beyond_all_dates_is_long():
    assert retention_ms("P99999999D") == 365_000 * DAY_MS
