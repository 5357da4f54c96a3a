"""A batch operation that deletes: ended instances only, each counted with its deletion, whatever is killed."""

import gzip
import json
import random
from datetime import UTC, datetime

import pytest

from tests.engine.batch_operations.batch_engine import ANN, BatchEngine, beat
from tests.engine.batch_operations.test_kills import Fate, Killed, Mortal
from vivero.core.records.instances import CancelInstance
from vivero.engine.batch_operations.deletions import FORESEEN
from vivero.engine.batch_operations.forecast import forecast
from vivero.engine.batch_operations.settings import BatchOperationSettings
from vivero.engine.retention.archive.archive import Archive
from vivero.engine.retention.archive.directory import DirectoryStore
from vivero.storage.postgres.errors import Conflict
from vivero.storage.postgres.pool import Pool
from vivero.storage.retention import history
from vivero.storage.retention.archives import ArchiveProblem
from vivero.storage.work.batch_operations import DELETE_PROCESS_INSTANCE, CallerBounds, Operation

LATER_COMMENT = """INSERT INTO user_task_comments
    (user_task_key, process_instance_key, root_key, tenant_id, author, created_at, text)
VALUES (1, $1, $1, '<default>', 'ada', now(), 'later than the file')"""
DELETED = "SELECT root_key FROM deleted_trees ORDER BY 1"


async def ended(engine, count):
    keys = await engine.instances(count)
    for key in keys:
        await engine.run(CancelInstance(key))
    return keys


async def test_what_has_ended_is_deleted_and_what_runs_stays(migrated):
    async with BatchEngine(migrated).running() as engine:
        gone, kept = await ended(engine, 5), await engine.instances(2)
        await engine.rows(
            "INSERT INTO archive_files (name, partition_id, state, waiting) VALUES ('f', 1, 'COMPLETE', $1)", gone
        )
        await engine.rows(LATER_COMMENT, gone[0])
        batch = await engine.begin(DELETE_PROCESS_INSTANCE)
        await engine.work(engine.batches(BatchOperationSettings(portion=2, scan_rows=3)))
        assert await engine.counts(batch) == ("COMPLETED", 5, 5, 0, 0, 0)
        assert [
            key for (key,) in await engine.rows("SELECT process_instance_key FROM process_instances ORDER BY 1")
        ] == kept
        assert [key for (key,) in await engine.rows(DELETED)] == gone
        recorded = await engine.rows(
            "SELECT entity_key::bigint, operation, batch_operation_key FROM audit_log ORDER BY 1"
        )
        assert recorded == [(key, "DELETE", batch) for key in gone]


async def test_a_filter_with_a_range_of_time_finds_each_instance_once(migrated):
    """Portion by portion, in the order of the time: several instances began at one moment."""
    async with BatchEngine(migrated).running() as engine:
        keys = await ended(engine, 9)
        for number, key in enumerate(keys):  # the later the key, the earlier the time
            at = f"2001-01-0{5 - number // 3}"
            await engine.rows(
                "UPDATE process_instances SET started_at = $2::timestamptz WHERE process_instance_key = $1", key, at
            )
        filter = '{"startDate": {"$gte": "2001-01-04T00:00:00Z", "$lt": "2001-01-06T00:00:00Z"}}'
        batch = await engine.begin(DELETE_PROCESS_INSTANCE, filter=filter)
        await engine.work(engine.batches(BatchOperationSettings(scan_rows=2)))
        assert await engine.counts(batch) == ("COMPLETED", 6, 6, 0, 0, 0)
        assert [key for (key,) in await engine.rows(DELETED)] == keys[:6]


async def test_what_is_gone_is_skipped_and_what_is_referred_to_fails(migrated):
    async with BatchEngine(migrated).running() as engine:
        gone, held, free = await ended(engine, 3)
        batch = await engine.begin(DELETE_PROCESS_INSTANCE)
        batches = engine.batches()
        await batches.run_once(engine.connection, beat())
        await engine.rows("SELECT delete_trees(ARRAY[$1::bigint], 'REQUEST')", gone)
        await engine.rows("INSERT INTO start_locks VALUES ($1, default, 't', 'k', 'p')", held)
        await engine.work(batches)
        assert await engine.counts(batch) == ("PARTIALLY_COMPLETED", 3, 1, 1, 1, 0)
        items = await engine.items(batch)
        assert items[gone] == ("SKIPPED", f"NOT_FOUND: there is no process instance with key '{gone}'")
        assert items[held][0] == "FAILED"
        assert "a start lock still refers to it" in items[held][1]
        assert items[free] == ("COMPLETED", None)


async def test_a_forecast_deletes_nothing_and_says_what_the_batch_then_does(migrated):
    async def read(query):
        return await query(engine.connection, None)

    async def judge(found):
        return await FORESEEN[DELETE_PROCESS_INSTANCE](engine.connection, [one.key for one in found])

    ever = datetime(9999, 1, 1, tzinfo=UTC)
    operation = Operation(0, DELETE_PROCESS_INSTANCE, "CREATED", "process-instances", 0, ANN, CallerBounds(), ever)
    async with BatchEngine(migrated).running() as engine:
        held, *gone = await ended(engine, 3)
        await engine.instances(1)
        await engine.rows("INSERT INTO start_locks VALUES ($1, default, 't', 'k', 'p')", held)
        found = await forecast(operation, {"processDefinitionId": "p"}, read, judge)
        (reason,) = found.fail
        assert (found.total, found.succeed, found.skip, found.not_tried) == (3, 2, [], [])
        assert (reason.count, reason.example_keys) == (1, [str(held)])
        assert await engine.rows(DELETED) == []
        batch = await engine.begin(DELETE_PROCESS_INSTANCE)
        await engine.work(engine.batches(BatchOperationSettings()))
        assert (await engine.items(batch))[held][1].replace(str(held), "…") == reason.reason
        assert [key for (key,) in await engine.rows(DELETED)] == gone


async def test_who_has_lost_the_right_deletes_nothing(migrated):
    async def nothing(_connection, _creator, type):
        assert type == DELETE_PROCESS_INSTANCE
        return CallerBounds((), ())

    async with BatchEngine(migrated).running() as engine:
        await ended(engine, 2)
        batch = await engine.begin(DELETE_PROCESS_INSTANCE)
        await engine.work(engine.batches(rights=nothing))
        assert await engine.counts(batch) == ("FAILED", 2, 0, 2, 0, 0)
        assert await engine.rows(DELETED) == []


async def test_another_term_rolls_its_deletions_back(migrated):
    async with BatchEngine(migrated).running() as engine:
        await ended(engine, 2)
        await engine.begin(DELETE_PROCESS_INSTANCE)
        old = engine.batches()
        await old.run_once(engine.connection, beat())
        old.term(engine.epoch - 1)
        await old.run_once(engine.connection, beat())
        assert await engine.rows(DELETED) == []
        await engine.work(engine.batches())
        assert len(await engine.rows(DELETED)) == 2


async def test_what_is_deleted_is_archived_first(migrated, tmp_path, connect):
    """Each tree is in one file. While the archive is away, the batch waits."""
    async with BatchEngine(migrated).running() as engine:
        gone, kept = await ended(engine, 3), await engine.instances(1)
        await engine.begin(DELETE_PROCESS_INSTANCE)
        pool = Pool(lambda deadline: connect(deadline=deadline), 1)
        archive, away = Archive(DirectoryStore(tmp_path / "archive"), pool.connection), True

        async def before(keys):
            if away:
                raise ArchiveProblem("the store does not answer")
            return await archive.before_deletion(keys)

        waiting = engine.batches(before_deletion=before)
        for _ in range(3):
            pause_s = await waiting.run_once(engine.connection, beat())
        assert (pause_s, await engine.rows(DELETED)) == (0.5, []), "it tries again later"
        away = False
        await engine.work(engine.batches(BatchOperationSettings(portion=2), before_deletion=before))
        assert [key for (key,) in await engine.rows(DELETED)] == gone
        files = sorted((tmp_path / "archive").rglob("*.jsonl.gz"))
        lines = [json.loads(line) for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]
        assert sorted(int(line["rootKey"]) for line in lines) == gone
        assert await engine.value("SELECT count(*) FROM process_instances") == len(kept)
        pool.close()


async def test_what_is_not_archived_is_not_deleted(migrated):
    """Trees that are gone are skipped; those that another writer holds are tried again."""
    async with BatchEngine(migrated).running() as engine:
        first, second = await ended(engine, 2)
        batch = await engine.begin(DELETE_PROCESS_INSTANCE)
        turns = []

        async def before(keys):
            turns.append(keys)
            if len(turns) == 1:
                await engine.rows("SELECT delete_trees(ARRAY[$1::bigint], 'REQUEST')", first)
                return []
            return keys

        await engine.work(engine.batches(before_deletion=before))
        assert turns == [[first, second], [second]]
        assert await engine.counts(batch) == ("COMPLETED", 2, 1, 0, 1, 0)


async def test_trees_that_are_too_large_for_one_transaction_go_in_smaller_ones(migrated, monkeypatch):
    async with BatchEngine(migrated).running() as engine:
        gone, delete, asked = await ended(engine, 6), history.delete_trees, []

        async def limited(connection, roots, why):
            asked.append(len(roots))
            if len(roots) > 2:
                raise Conflict("it takes too long")
            return await delete(connection, roots, why)

        monkeypatch.setattr(history, "delete_trees", limited)
        batch = await engine.begin(DELETE_PROCESS_INSTANCE)
        batches = engine.batches(BatchOperationSettings(portion=6))
        for _ in range(2):
            with pytest.raises(Conflict):  # the supervisor begins it again
                await engine.work(batches)
        await engine.work(batches)
        assert asked == [6, 1, 2, 3, 1, 2]
        assert await engine.counts(batch) == ("COMPLETED", 6, 6, 0, 0, 0)
        assert [key for (key,) in await engine.rows(DELETED)] == gone


class Transactional(Mortal):
    """A connection that dies before or after a call, and lends its transactions."""

    def transaction(self):
        return self._target.transaction()


async def survive(engine, rng):
    """Turn until all batches have ended, with kills before and after random calls."""
    settings = BatchOperationSettings(portion=rng.randint(1, 4), in_flight=4, scan_rows=rng.randint(1, 5))
    for left in range(rng.randint(1, 6), -1, -1):
        fate = Fate(rng)
        fate.step = rng.choice(["add_items", "settle", "finish", "unsent"]) if left else "never"
        batches = engine.batches(settings)
        connection = Transactional(engine.connection, fate)
        try:
            while await batches.run_once(connection, beat()) is not None:
                pass
        except Killed:
            continue


@pytest.mark.parametrize("round", range(3))
async def test_random_kills_lose_and_double_nothing(migrated, seed, round):
    rng = random.Random(seed + round)
    async with BatchEngine(migrated).running() as engine:
        keys = await ended(engine, rng.randint(1, 9))
        batch = await engine.begin(DELETE_PROCESS_INSTANCE)
        await survive(engine, rng)
        assert await engine.counts(batch) == ("COMPLETED", len(keys), len(keys), 0, 0, 0)
        assert [key for (key,) in await engine.rows(DELETED)] == keys
        assert await engine.value("SELECT count(*) FROM audit_log") == len(keys)
