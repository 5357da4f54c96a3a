"""Ended trees are in one complete file before they are deleted, whatever is killed; there they are read and erased."""

import gzip
import json
import os
from contextlib import asynccontextmanager

import pytest

from tests.core.bench import raw
from tests.core.models import ONE_TASK, end, process, start, task
from tests.jobs.test_history import QUICK
from tests.runtime.consumer.bench import PINNED_MS, Serial, pin_clock, save_serially
from vivero.chores import SESSION
from vivero.engine.core.records.jobs import CompleteJob
from vivero.engine.jobs import archive as module
from vivero.engine.jobs.archive import Archive, ArchiveProblem, sift
from vivero.engine.jobs.chore_settings import RetentionSettings
from vivero.engine.jobs.chores import DAY_MS
from vivero.engine.jobs.execution import Execution
from vivero.engine.jobs.history import MAX_STEP_S, EndedInstances
from vivero.storage import archives
from vivero.storage.job_executions import Run
from vivero.storage.postgres.pool import Pool

COUNT = 6
CALLS = process(start(), '<callActivity id="call"><extensionElements><zeebe:calledElement processId="p"/>'
                '</extensionElements></callActivity>', end(), "start > call > end", id="calls")  # fmt: skip


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "archive"


@pytest.fixture
async def pool(connect):
    pool = Pool(lambda deadline: connect(deadline=deadline, settings=SESSION), 1)
    yield pool
    pool.close()


@pytest.fixture
def archive(directory, pool):
    return Archive(directory, pool.connection)


@pytest.fixture
async def roots(connection):
    """Instances with a job and variables that have ended; each of the second half is called by another one."""
    serial = Serial()
    serial.deploy(ONE_TASK)
    serial.deploy(CALLS)
    for number in range(COUNT):
        serial.start("calls" if number >= COUNT // 2 else "p", number=number, text="two\nlines, ü")
    for job in sorted(serial.engine.state.jobs):
        serial.run(CompleteJob(job, raw({"done": True})))
    await save_serially(connection, serial)
    await pin_clock(connection, PINNED_MS + 40 * DAY_MS)
    query = "SELECT process_instance_key FROM process_instances WHERE parent_process_instance_key IS NULL ORDER BY 1"
    rows = (await connection.execute(query)).rows
    assert len(rows) == COUNT
    await connection.execute(
        "INSERT INTO event_log (partition_id, position, seq, root_key, events, large_events, version, processed_at)"
        " SELECT 1, $2::bigint + n, 0, key, CASE n % 2 WHEN 0 THEN e END, CASE n % 2 WHEN 1 THEN e END, 1, now()"
        " FROM unnest($1::bigint[]) WITH ORDINALITY AS r(key, n), (VALUES ('[[\"JobCompleted\",1]]')) AS v(e)",
        ([key for (key,) in rows], 1 << 51),
    )
    return [key for (key,) in rows]


@pytest.fixture
def retention(pool, connection, archive):
    """Runs the chore as the owner of partition 1."""
    handler = EndedInstances(
        RetentionSettings(instances="P1D", catch_up=QUICK), pool.connection, archive.before_deletion, lambda: clock[0]
    )
    clock = [0.0]

    async def run(times=2):
        for _ in range(times):
            epoch = (await connection.execute("SELECT epoch FROM partitions WHERE id = 1")).rows[0][0]
            await handler(Execution(Run("id", "x", 0, None, None, 1, "lease", 0, 0, 0, epoch)))
            clock[0] += MAX_STEP_S

    return run


def trees(directory):
    """Root → its line, of all files; and every file."""
    found = {}
    for path in sorted(directory.rglob("*.jsonl.gz")):
        for line in gzip.decompress(path.read_bytes()).splitlines():
            tree = json.loads(line)
            assert int(tree["rootKey"]) not in found, "a tree is there twice"
            found[int(tree["rootKey"])] = tree
    return found


async def left(connection):
    return (await connection.execute("SELECT count(*) FROM process_instances")).rows[0][0]


async def test_retention_archives_and_then_deletes(roots, retention, directory, connection):
    await retention()
    found = trees(directory)
    assert sorted(found) == roots
    assert await left(connection) == 0
    for number, root in enumerate(roots):
        tree = found[root]
        instances = [row["process_instance_key"] for row in tree["process_instances"]]
        assert root in instances
        assert len(instances) == (2 if number >= COUNT // 2 else 1)
        assert {row["process_instance_key"] for row in tree["variables"]} <= set(instances)
        assert {"number", "text"} <= {row["name"] for row in tree["variables"]}
        assert [row["state"] for row in tree["jobs"]] == ["COMPLETED"]
        (events,) = tree["events"]
        assert (events["position"], events["format"]) == ((1 << 51) + number + 1, 1)
        assert events["events"] == [["JobCompleted", 1]]
    (path,) = directory.rglob("*.jsonl.gz")
    assert path.stat().st_mode & 0o777 == 0o600
    (file,) = await archives.files(connection, 10)
    assert (file.trees, file.first_key, file.last_key) == (COUNT, roots[0], roots[-1])
    assert (file.sha256, file.bytes) == module.checksum(path)


async def test_what_is_archived_is_not_archived_again(roots, archive, directory, connection):
    """Somebody is killed between the archive and the deletion, or the deletion has to wait."""
    assert await archive.before_deletion(roots[:4]) == roots[:4]
    assert await archive.before_deletion(roots) == roots
    assert sorted(trees(directory)) == roots
    assert [file.trees for file in await archives.files(connection, 10)] == [2, 4]


async def test_what_has_not_ended_is_not_archived(archive, directory, connection):
    serial = Serial()
    serial.deploy(process(start(), task("work"), end(), "start > work > end", id="p"))
    instance = serial.start("p")
    await save_serially(connection, serial)
    assert await archive.before_deletion([instance, instance + 1000]) == []
    assert list(directory.rglob("*.gz*")) == []
    assert (await connection.execute("SELECT count(*) FROM archive_files")).rows == [(0,)]


async def late(connection):
    await connection.execute("UPDATE archive_files SET begun_at = begun_at - interval '2 hours'")


def close_alone(writer):
    """Nobody removes what a killed writer has begun."""
    writer.file.close()


@pytest.mark.parametrize("killed_in", ["write_tree", "FileWriter.finish", "archives.complete"])
async def test_whoever_is_killed_a_tree_is_neither_lost_nor_twice(
    roots, retention, directory, connection, monkeypatch, killed_in
):
    """The program ends in the middle of it: nothing cleans up. The next one goes on."""

    class Killed(BaseException):
        pass

    async def die(*_arguments):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(f"vivero.engine.jobs.archive.{killed_in}", die)
        patched.setattr("vivero.engine.jobs.archive.FileWriter.close", close_alone)
        with pytest.raises(Killed):
            await retention()
    assert await left(connection) == COUNT + COUNT // 2
    await retention()
    assert await left(connection) == 0
    await late(connection)
    assert await Archive(directory, one(connection)).before_deletion([roots[0]]) == []  # it is deleted; others tidy up
    assert sorted(trees(directory)) == roots
    assert [path.suffix for path in directory.rglob("*.*")] == [".gz"]
    assert (await connection.execute("SELECT count(*) FROM archive_files")).rows == [(1,)]


def one(connection):
    """A pool of this connection alone."""

    @asynccontextmanager
    async def lend():
        yield connection

    return lend


async def test_a_file_that_was_given_up_meanwhile_counts_for_nothing(roots, archive, connection, monkeypatch):
    """A writer that was frozen for hours: another one has deleted its file."""
    finish = module.FileWriter.finish

    async def slowly(self):
        done = await finish(self)
        await connection.execute("DELETE FROM archive_files")
        return done

    with monkeypatch.context() as patched:
        patched.setattr(module.FileWriter, "finish", slowly)
        assert await archive.before_deletion(roots) == []
    assert await archive.before_deletion(roots) == roots


async def test_without_a_directory_nothing_is_deleted(roots, retention, directory, connection):
    directory.write_text("a file")
    with pytest.raises(ArchiveProblem, match="cannot write to the archive"):
        await retention()
    assert await left(connection) == COUNT + COUNT // 2


async def test_a_damaged_disk_is_noticed_before_the_deletion(roots, retention, connection, monkeypatch):
    """What was written is read back."""
    fsync = os.fsync

    def damage(number):
        os.ftruncate(number, 30)
        fsync(number)

    monkeypatch.setattr("vivero.engine.jobs.archive.os.fsync", damage)
    with pytest.raises(ArchiveProblem, match="is damaged"):
        await retention()
    assert await left(connection) == COUNT + COUNT // 2


async def test_a_huge_tree_takes_little_memory(roots, archive, directory, connection, monkeypatch):
    """Its rows and its line pass through in parts."""
    largest = []
    put = module.FileWriter.put

    def noted(self, data):
        largest.append(len(data))
        put(self, data)

    monkeypatch.setattr(module.FileWriter, "put", noted)
    monkeypatch.setattr(module, "CHUNK", 1 << 12)
    await connection.execute(
        "INSERT INTO variables"
        " (variable_key, scope_key, process_instance_key, root_key, tenant_id, name, value)"
        " SELECT $1::bigint + 1000000 + n, $1, $1, $1, '<default>', 'v' || n, to_json(repeat('x', 1000))"
        " FROM generate_series(1, 5000) n",
        (roots[0],),
    )
    assert await archive.before_deletion(roots[:2]) == roots[:2]
    assert sum(largest) > 5_000_000
    assert max(largest) < 200_000
    assert len(trees(directory)[roots[0]]["variables"]) >= 5_000
    (file,) = await archives.files(connection, 1)
    parts = list(archive.show(file, roots[0]))
    assert max(map(len, parts)) <= 1 << 12
    assert json.loads(b"".join(parts))["rootKey"] == str(roots[0])


# ---- reading and erasing


async def test_a_tree_is_erased_from_its_file_and_the_record_stays(roots, archive, retention, directory, connection):
    await retention()
    (before,) = directory.rglob("*.jsonl.gz")
    assert await archive.erase([roots[1], roots[4], 77], "request 4711") == [roots[1], roots[4]]
    assert sorted(trees(directory)) == [root for number, root in enumerate(roots) if number not in (1, 4)]
    assert not before.exists()
    (file,) = await archives.files(connection, 10)
    assert list(archive.show(file, roots[1])) == []
    assert file.trees == COUNT - 2
    found = {(one.root, one.reason) for one in await archives.erasures(connection, 10)}
    assert found == {(roots[1], "request 4711"), (roots[4], "request 4711")}
    assert await archive.erase([roots[1]], "again") == []
    assert await archive.erase(roots, "all") == [root for number, root in enumerate(roots) if number not in (1, 4)]
    assert list(directory.rglob("*.gz*")) == []
    assert await archives.files(connection, 10) == []


async def test_an_erasure_that_is_killed_leaves_the_whole_file_or_none(
    roots, archive, retention, directory, connection, monkeypatch
):
    await retention()

    class Killed(BaseException):
        pass

    async def die(*_arguments):
        raise Killed

    for step in ("archives.replace", "Archive._delete"):
        with monkeypatch.context() as patched:
            patched.setattr(f"vivero.engine.jobs.archive.{step}", die)
            with pytest.raises(Killed):
                await archive.erase([roots[0]], "r")
    await late(connection)
    await archive.before_deletion([roots[0]])  # tidies up
    assert sorted(trees(directory)) == roots[1:]
    assert len(list(directory.rglob("*.gz*"))) == 1
    assert [one.root for one in await archives.erasures(connection, 10)] == [roots[0]]


def line(root, size=0):
    return b'{"format":1,"rootKey":"%d","x":"%s"}\n' % (root, b"x" * size)


@pytest.mark.parametrize("size", [1, 7, 40, 10_000])
def test_lines_are_found_however_the_file_is_read(size):
    whole = line(1) + line(12, 500) + line(2) + line(13)
    parts = [whole[at : at + size] for at in range(0, len(whole), size)]
    assert b"".join(sift(parts, lambda root: root > 10)) == line(12, 500) + line(13)


def test_what_is_not_an_archive_is_told():
    with pytest.raises(ArchiveProblem, match="not of an archive"):
        list(sift([b"nonsense" * 100], lambda root: True))
    with pytest.raises(ArchiveProblem, match="has format 2, and this program knows 1"):
        list(sift([b'{"format":2,"rootKey":"7",'], lambda root: True))
