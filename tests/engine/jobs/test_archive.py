"""Ended trees are in one complete file before they are deleted, whatever is killed; there they are read and erased."""

import gzip
import json
import os
import random
import socket
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from stat import S_ISREG

import pytest
import trio
from botocore.exceptions import ClientError
from click.testing import CliRunner

from tests.core.engine import raw
from tests.core.models import ONE_TASK, end, process, start, task
from tests.engine.consumer.serial_runs import PINNED_MS, Serial, pin_clock, save_serially
from tests.engine.jobs import object_store
from tests.engine.jobs.object_store import InBucket
from tests.engine.jobs.test_history import QUICK
from vivero.cli import main
from vivero.core.records.jobs import CompleteJob
from vivero.engine.buckets import client as bucket_client
from vivero.engine.buckets.client import Bucket
from vivero.engine.jobs.execution import Execution
from vivero.engine.retention.archive import compression, s3
from vivero.engine.retention.archive.archive import Archive
from vivero.engine.retention.archive.compression import Compressor, decompressed, summed
from vivero.engine.retention.archive.directory import MARK, DirectoryStore, FileWriter, checksum
from vivero.engine.retention.archive.lines import sift
from vivero.engine.retention.archive.s3 import ObjectWriter, S3Store
from vivero.engine.retention.archive.stores import Missing
from vivero.engine.retention.archive.subjects import candidates, sought
from vivero.engine.retention.chore_settings import RetentionSettings
from vivero.engine.retention.chores import DAY_MS
from vivero.engine.retention.history import MAX_STEP_S, EndedInstances
from vivero.node.chores import SESSION
from vivero.storage.background.job_executions import Run
from vivero.storage.postgres.pool import Pool
from vivero.storage.retention import archives, history
from vivero.storage.retention.archives import ArchiveProblem
from vivero.storage.retention.erasure import ErasureSubject

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


class InDirectory:
    """A store in a directory, and what tests look at."""

    def __init__(self, directory) -> None:
        self.directory, self.store = directory, DirectoryStore(directory)

    def names(self):
        """The names of all files, also of unfinished ones."""
        return sorted(str(path.relative_to(self.directory)) for path in self.directory.rglob("*.*"))

    def stored(self, name):
        return (self.directory / name).read_bytes()

    def content(self, name):
        return gzip.decompress(self.stored(name))


@pytest.fixture(scope="module", autouse=True)
def clients():
    """Stores of the same settings share a client: to make one takes 0.1 s of CPU."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(s3, "connect", cache(bucket_client.connect))
        yield


@pytest.fixture(scope="module")
def endpoint():
    with object_store.serving() as endpoint:
        yield endpoint


@pytest.fixture(params=["directory", pytest.param("s3", marks=pytest.mark.long)])
def kept(request):
    """The store of the archive."""
    if request.param == "directory":
        yield InDirectory(request.getfixturevalue("directory"))
        return
    bucket = InBucket(request.getfixturevalue("endpoint"))
    yield bucket
    bucket.close()


@pytest.fixture
def archive(kept, pool):
    return Archive(kept.store, pool.connection)


@pytest.fixture(scope="module")
def ended():
    """A serial run of instances with a job and variables; each of the second half is called by another one."""
    serial = Serial()
    serial.deploy(ONE_TASK)
    serial.deploy(CALLS)
    for number in range(COUNT):
        serial.start("calls" if number >= COUNT // 2 else "p", number=number, text="two\nlines, ü")
    for job in sorted(serial.memory.state.jobs):
        serial.run(CompleteJob(job, raw({"done": True})))
    return serial


@pytest.fixture
async def roots(connection, ended):
    """The keys of the instances that have ended, which are saved forty days later."""
    await save_serially(connection, ended)
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
    return running(pool, connection, archive.before_deletion)


def running(pool, connection, before):
    """The same with this archive, or with none."""
    handler = EndedInstances(
        RetentionSettings(instances="P1D", catch_up=QUICK), pool.connection, before, lambda: clock[0]
    )
    clock = [0.0]

    async def run(times=2):
        for _ in range(times):
            epoch = (await connection.execute("SELECT epoch FROM partitions WHERE id = 1")).rows[0][0]
            await handler(Execution(Run("id", "x", 0, None, None, 1, "lease", 0, 0, 0, epoch)))
            clock[0] += MAX_STEP_S

    return run


def trees(kept):
    """Root → its line, of all files; and every file."""
    found = {}
    for name in kept.names():
        for line in kept.content(name).splitlines() if name.endswith(".jsonl.gz") else ():
            tree = json.loads(line)
            assert int(tree["rootKey"]) not in found, "a tree is there twice"
            found[int(tree["rootKey"])] = tree
    return found


async def left(connection):
    return (await connection.execute("SELECT count(*) FROM process_instances")).rows[0][0]


async def test_retention_archives_and_then_deletes(roots, retention, kept, connection):
    await retention()
    found = trees(kept)
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
    (name,) = kept.names()
    (file,) = await archives.files(connection, 10)
    assert (file.name, file.trees, file.first_key, file.last_key) == (name, COUNT, roots[0], roots[-1])
    assert (file.sha256, file.bytes) == summed([kept.stored(name)])


@pytest.mark.parametrize("kept", ["directory"], indirect=True)
async def test_files_are_for_the_program_alone(roots, retention, directory, connection):
    await retention()
    (path,) = directory.rglob("*.jsonl.gz")
    assert path.stat().st_mode & 0o777 == 0o600
    (file,) = await archives.files(connection, 10)
    assert (file.sha256, file.bytes) == checksum(path)


async def test_what_is_archived_is_not_archived_again(roots, archive, kept, connection):
    """Somebody is killed between the archive and the deletion, or the deletion has to wait."""
    assert await archive.before_deletion(roots[:4]) == roots[:4]
    assert await archive.before_deletion(roots) == roots
    assert sorted(trees(kept)) == roots
    assert [file.trees for file in await archives.files(connection, 10)] == [2, 4]


async def test_what_has_not_ended_is_not_archived(archive, kept, connection):
    serial = Serial()
    serial.deploy(process(start(), task("work"), end(), "start > work > end", id="p"))
    instance = serial.start("p")
    await save_serially(connection, serial)
    assert await archive.before_deletion([instance, instance + 1000]) == []
    assert kept.names() == []
    assert (await connection.execute("SELECT count(*) FROM archive_files")).rows == [(0,)]


async def late(connection):
    await connection.execute("UPDATE archive_files SET begun_at = begun_at - interval '2 hours'")


def close_alone(writer):
    """Nobody removes what a killed writer has begun."""
    writer.compressor.file.close()


@pytest.mark.parametrize("killed_in", ["write_tree", "finish", "archives.complete_new"])
async def test_whoever_is_killed_a_tree_is_neither_lost_nor_twice(
    roots, retention, kept, connection, monkeypatch, killed_in
):
    """The program ends in the middle of it: nothing cleans up. The next one goes on."""

    class Killed(BaseException):
        pass

    async def die(*_arguments):
        raise Killed

    with monkeypatch.context() as patched:
        if killed_in == "finish":
            patched.setattr(FileWriter, "finish", die)
            patched.setattr(ObjectWriter, "finish", die)
        else:
            patched.setattr(f"vivero.engine.retention.archive.archive.{killed_in}", die)
        patched.setattr(FileWriter, "close", close_alone)
        with pytest.raises(Killed):
            await retention()
    assert await left(connection) == COUNT + COUNT // 2
    await retention()
    assert await left(connection) == 0
    await late(connection)
    assert await Archive(kept.store, one(connection)).before_deletion([roots[0]]) == []  # it is deleted; others tidy up
    assert sorted(trees(kept)) == roots
    assert len(kept.names()) == 1
    assert (await connection.execute("SELECT count(*) FROM archive_files")).rows == [(1,)]


def one(connection):
    """A pool of this connection alone."""

    @asynccontextmanager
    async def lend():
        yield connection

    return lend


@pytest.fixture
def finishing(monkeypatch):
    """Call something after a file is stored, and before the database knows that."""

    @contextmanager
    def patched(then, times=10):
        def slowly(finish):
            async def finished(self):
                nonlocal times
                done = await finish(self)
                times -= 1
                if times >= 0:
                    await then()
                return done

            return finished

        with monkeypatch.context() as patched:
            for kind in (FileWriter, ObjectWriter):
                patched.setattr(kind, "finish", slowly(kind.finish))
            yield

    return patched


async def test_a_file_that_was_given_up_meanwhile_counts_for_nothing(roots, archive, kept, connection, finishing):
    """A writer that was frozen for hours: another one has deleted its file."""

    async def give_up():
        await connection.execute("DELETE FROM archive_files")

    with finishing(give_up):
        assert await archive.before_deletion(roots) == []
    assert kept.names() == []
    assert await archive.before_deletion(roots) == roots


async def test_of_two_writers_of_a_tree_one_counts(roots, archive, kept, connection, finishing):
    """Retention and a deletion by hand at the same time: the first that is complete has the tree."""
    other = Archive(kept.store, one(connection))

    async def overtake():
        with finishing(trio.lowlevel.checkpoint, 0):
            assert await other.before_deletion(roots[2:4]) == roots[2:4]

    with finishing(overtake, 1):
        assert await archive.before_deletion(roots) == roots
    assert sorted(trees(kept)) == roots
    assert [file.trees for file in await archives.files(connection, 10)] == [4, 2]
    assert len(kept.names()) == 2


async def test_what_is_deleted_or_erased_meanwhile_comes_into_no_file(roots, archive, kept, connection, finishing):
    async def erase():
        await history.delete_trees(connection, roots[:1], history.ERASURE)

    with finishing(erase, 1):
        assert await archive.before_deletion(roots) == roots[1:]
    assert sorted(trees(kept)) == roots[1:]


AGENT_CALL = """INSERT INTO agent_calls (job_key, call_id, process_instance_key, element_instance_key, process_id,
    element_id, tenant_id, ended_at, turn, cause, duration_ms, provider, model, outcome, request_digest, currency,
    tools_offered, tools_called)
VALUES (1, 'c', $1, 2, 'p', 'agent', '<default>', now(), 1, 'PROMPT', 7, 'openai', 'm', 'ANSWERED', 'd', '',
    '{}', '{}')"""


async def comment(connection, root, text):
    await connection.execute(
        "INSERT INTO user_task_comments (user_task_key, process_instance_key, root_key, tenant_id, author, created_at,"
        " text) VALUES (1, $1, $1, '<default>', 'ada', now(), $2)",
        (root, text),
    )


@pytest.mark.parametrize("kept", ["directory"], indirect=True)
async def test_a_comment_that_comes_after_the_file_is_archived_before_the_deletion(
    roots, archive, kept, connection, finishing
):
    """While the file is stored, or later. An erasure waits for nothing."""
    first, second, third = roots[:3]
    await comment(connection, first, "before")
    await connection.execute(AGENT_CALL, (first,))

    async def meanwhile():
        await comment(connection, first, "meanwhile")

    with finishing(meanwhile, 1):
        assert await archive.before_deletion(roots) == roots
    await comment(connection, second, "later")
    await comment(connection, third, "later")
    lacking = "a comment that the archive lacks"
    verdicts = await history.delete_trees(connection, [first, second, roots[3]], history.REQUEST)
    assert verdicts == {first: lacking, second: lacking, roots[3]: history.DELETED}
    assert await history.delete_trees(connection, [third], history.ERASURE) == {third: history.DELETED}
    assert await archive.before_deletion([first, second]) == [first, second]
    newest, _ = await archives.files(connection, 10)
    lines = {int(tree["rootKey"]): tree for tree in map(json.loads, kept.content(newest.name).splitlines())}
    texts = {root: [row["text"] for row in tree["user_task_comments"]] for root, tree in lines.items()}
    assert texts == {first: ["before", "meanwhile"], second: ["later"]}
    assert [row["model"] for tree in lines.values() for row in tree.get("agent_calls", ())] == ["m"]
    assert not any("archive_file" in row for tree in lines.values() for row in tree["user_task_comments"])
    await archive.erase([second], history.REQUEST)  # another file takes its place, and still has the comments
    assert await archive.before_deletion([first]) == [first]
    assert sorted(file.trees for file in await archives.files(connection, 10)) == [1, len(roots) - 1]
    verdicts = await history.delete_trees(connection, [first, second], history.REQUEST)
    assert verdicts == {first: history.DELETED, second: history.DELETED}


@pytest.mark.parametrize("kept", ["directory"], indirect=True)
async def test_a_comment_that_comes_before_the_archive_is_switched_off_keeps_no_tree(roots, archive, pool, connection):
    """The file will never have it. A deletion by hand lets its tree go alone."""
    assert await archive.before_deletion(roots) == roots
    first, second = roots[:2]
    await comment(connection, first, "later")
    await comment(connection, second, "later")
    await archives.let_go(connection, [first])
    lacking = {first: history.DELETED, second: "a comment that the archive lacks"}
    assert await history.delete_trees(connection, [first, second], history.REQUEST) == lacking
    await running(pool, connection, None)()
    assert await left(connection) == 0


@pytest.mark.parametrize("kept", ["directory"], indirect=True)
async def test_without_a_directory_nothing_is_deleted(roots, retention, directory, connection):
    directory.write_text("a file")
    with pytest.raises(ArchiveProblem, match="cannot write to the archive"):
        await retention()
    assert await left(connection) == COUNT + COUNT // 2


@pytest.mark.parametrize("kept", ["directory"], indirect=True)
async def test_a_damaged_disk_is_noticed_before_the_deletion(roots, retention, connection, monkeypatch):
    """A written file is read back."""
    fsync = os.fsync

    def damage(number):
        if S_ISREG(os.fstat(number).st_mode):
            os.ftruncate(number, 30)
        fsync(number)

    monkeypatch.setattr("vivero.engine.retention.archive.directory.os.fsync", damage)
    with pytest.raises(ArchiveProblem, match="is damaged"):
        await retention()
    assert await left(connection) == COUNT + COUNT // 2


@pytest.fixture(params=["gone", "empty"])
def unmounted(request):
    """Takes the archive's directory away, as when its file system is not mounted; what is returned brings it back."""

    def take(directory):
        away = directory.with_name("away")
        directory.rename(away)
        if request.param == "empty":
            directory.mkdir()

        def bring():
            if request.param == "empty":
                directory.rmdir()  # it is as empty as before
            away.rename(directory)

        return bring

    return take


async def test_nothing_is_deleted_while_the_directory_is_away(roots, pool, connection, directory, unmounted):
    """It is made at the first use only. Meanwhile each call says so, and each is right afterwards."""
    store, (first, *others) = DirectoryStore(directory), roots
    archive = Archive(store, pool.connection)
    assert await archive.before_deletion([first]) == [first]
    (file,) = await archives.files(connection, 10)
    bring = unmounted(directory)
    for attempt in (
        archive.before_deletion(others),
        archive.before_deletion([first]),
        archive.erase([first], "deletion"),
        archive.fault_of(file, quick=True),
        trio.to_thread.run_sync(store.check, True),
        trio.to_thread.run_sync(store.delete, file.name),
    ):
        with pytest.raises(
            ArchiveProblem, match=r"the archive's directory is (not there|empty), but the database knows"
        ):
            await attempt
    assert await archives.files(connection, 10) == [file]
    bring()
    assert await archive.before_deletion(others) == others
    assert await archive.fault_of(file, quick=False) is None


async def test_an_archive_of_an_earlier_version_is_known_by_its_files(roots, pool, directory):
    archive = Archive(DirectoryStore(directory), pool.connection)
    await archive.before_deletion(roots[:1])
    (directory / MARK).unlink()
    assert await archive.before_deletion(roots) == roots
    assert (directory / MARK).exists()


async def test_a_huge_tree_takes_little_memory(roots, archive, kept, connection, monkeypatch):
    """Its rows and its line pass through in parts."""
    largest = []
    put = Compressor.put

    def noted(self, data):
        largest.append(len(data))
        put(self, data)

    monkeypatch.setattr(Compressor, "put", noted)
    monkeypatch.setattr(compression, "CHUNK", 1 << 12)
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
    assert len(trees(kept)[roots[0]]["variables"]) >= 5_000
    (file,) = await archives.files(connection, 1)
    parts = list(archive.show(file, roots[0]))
    assert max(map(len, parts)) <= 1 << 12
    assert json.loads(b"".join(parts))["rootKey"] == str(roots[0])


# ---- reading and erasing


async def test_a_tree_is_erased_from_its_file_and_the_record_stays(roots, archive, retention, kept, connection):
    await retention()
    (before,) = kept.names()
    assert (await archive.erase([roots[1], roots[4], 77], "request 4711")).roots == [roots[1], roots[4]]
    assert sorted(trees(kept)) == [root for number, root in enumerate(roots) if number not in (1, 4)]
    assert before not in kept.names()
    (file,) = await archives.files(connection, 10)
    assert list(archive.show(file, roots[1])) == []
    assert file.trees == COUNT - 2
    found = {(one.root, one.reason) for one in await archives.erasures(connection, 10)}
    assert found == {(roots[1], "request 4711"), (roots[4], "request 4711")}
    assert (await archive.erase([roots[1]], "again")).roots == []
    assert (await archive.erase(roots, "all")).roots == [
        root for number, root in enumerate(roots) if number not in (1, 4)
    ]
    assert kept.names() == []
    assert await archives.files(connection, 10) == []


async def test_an_erasure_that_is_killed_leaves_the_whole_file_or_none(
    roots, archive, retention, kept, connection, monkeypatch
):
    await retention()

    class Killed(BaseException):
        pass

    async def die(*_arguments):
        raise Killed

    for step in ("archives.replace", "Archive._delete"):
        with monkeypatch.context() as patched:
            patched.setattr(f"vivero.engine.retention.archive.archive.{step}", die)
            with pytest.raises(Killed):
                await archive.erase([roots[0]], "r")
    await late(connection)
    await archive.before_deletion([roots[0]])  # tidies up
    assert sorted(trees(kept)) == roots[1:]
    assert len(kept.names()) == 1
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


# ---- an S3-compatible store


@pytest.fixture
def bucket(endpoint):
    bucket = InBucket(endpoint)
    yield bucket
    bucket.close()


@pytest.mark.parametrize("kept", ["s3"], indirect=True)
async def test_a_store_that_keeps_something_else_is_noticed_before_the_deletion(
    roots, retention, connection, monkeypatch
):
    """An uploaded file is read back."""
    parts = S3Store.parts

    def damaged(self, name):
        other = gzip.compress(b"".join(decompressed(parts(self, name), name)) + b"{}")
        yield other

    monkeypatch.setattr(S3Store, "parts", damaged)
    with pytest.raises(ArchiveProblem, match="is damaged: it is not what was written"):
        await retention()
    monkeypatch.setattr(S3Store, "parts", lambda self, name: [b"".join(parts(self, name))[:-5]])
    with pytest.raises(ArchiveProblem, match="is damaged: its end is missing"):
        await retention()
    assert await left(connection) == COUNT + COUNT // 2


@pytest.mark.parametrize("kept", ["s3"], indirect=True)
async def test_while_the_store_is_away_nothing_is_deleted(roots, archive, kept, connection):
    """The message says what is wrong. When the store is there again, it goes on."""
    kept.client.delete_bucket(Bucket=object_store.BUCKET)
    with pytest.raises(ArchiveProblem, match=r"cannot write to the archive s3://history/of/vivero/: .* NoSuchBucket"):
        await archive.before_deletion(roots)
    with pytest.raises(ArchiveProblem, match="cannot reach the archive"):
        kept.store.check(known=True)
    assert await left(connection) == COUNT + COUNT // 2
    kept.client.create_bucket(Bucket=object_store.BUCKET)
    assert kept.store.check(known=True) == "s3://history/of/vivero/"
    assert await archive.before_deletion(roots) == roots


async def test_a_store_that_does_not_answer_is_told(monkeypatch):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{closed.getsockname()[1]}"
    monkeypatch.setattr(bucket_client, "ATTEMPTS", 1)
    store = S3Store(Bucket("b", "", endpoint, "us-east-1", "a", "b"))
    with pytest.raises(ArchiveProblem, match=r"cannot reach the archive s3://b/: the store does not answer"):
        store.check(known=True)
    store.client.close()


def test_a_large_file_is_uploaded_in_parts(bucket, monkeypatch):
    """Beyond 8 MB; each part is a call of its own."""
    writer = bucket.store.writer("large")
    data = random.Random(1).randbytes(9_000_000)
    writer.compressor.put(data)
    writer.compressor.file.write(b"")
    trio.run(writer.finish)
    writer.close()
    assert bucket.content("large") == data
    bucket.store.delete("large")
    bucket.store.delete("large")
    with pytest.raises(ArchiveProblem, match=r"cannot read large from .*: the store answers NoSuchKey"):
        list(bucket.store.contents("large"))


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda data: data[:-4], "its end is missing"),
        (lambda data: data + b"x", "Not a gzipped file"),
        (lambda data: data[:20] + bytes([data[20] ^ 255]) + data[21:], "is damaged"),
    ],
)
def test_a_damaged_file_is_told(damage, why):
    whole = gzip.compress(b"0123456789" * 100)
    with pytest.raises(ArchiveProblem, match=why):
        list(decompressed([damage(whole)], "x"))
    assert b"".join(decompressed([whole[:9], whole[9:]], "x")) == b"0123456789" * 100


# ---- the command line


@pytest.fixture
def command(kept, migrated):
    """Runs `vivero archive …` on the database and the store of the test: its exit code and what it says."""
    environment = {"VIVERO_DATABASE_URL": migrated, "VIVERO_DATABASE_ALLOW_UNSAFE_COMMITS": "on"}
    if isinstance(kept, InDirectory):
        environment["VIVERO_RETENTION_ARCHIVE"] = str(kept.directory)
    else:
        access, secret = object_store.KEYS
        environment |= {
            "VIVERO_RETENTION_ARCHIVE": "s3://history/of/vivero",
            "VIVERO_RETENTION_ARCHIVE_ENDPOINT": kept.store.bucket.endpoint,
            "VIVERO_RETENTION_ARCHIVE_REGION": "us-east-1",
            "VIVERO_RETENTION_ARCHIVE_ACCESS_KEY": access,
            "VIVERO_RETENTION_ARCHIVE_SECRET": secret,
        }

    async def run(*arguments):
        def invoke():
            return CliRunner().invoke(main, ["archive", *map(str, arguments)], env=environment)

        result = await trio.to_thread.run_sync(invoke)
        return result.exit_code, result.stdout + result.stderr

    return run


async def test_people_list_show_and_erase(roots, archive, kept, command):
    assert await archive.before_deletion(roots) == roots
    code, said = await command("list", "--json")
    assert (code, json.loads(said)["trees"], json.loads(said)["file"]) == (0, COUNT, kept.names()[0])
    code, said = await command("show", roots[1])
    assert (code, json.loads(said)["rootKey"]) == (0, str(roots[1]))
    assert await command("erase", roots[1], "--reason", "r") == (0, f"erased {roots[1]}\n")
    code, said = await command("show", roots[1])
    assert code == 1
    assert "the archive has no process instance with the key" in said
    assert sorted(trees(kept)) == [roots[0], *roots[2:]]
    for name in kept.names():
        kept.store.delete(name)
    code, said = await command("show", roots[0])
    assert code == 1
    assert "cannot read" in said
    assert "Traceback" not in said


async def test_people_check_the_archive_and_forget_what_they_deleted(roots, archive, kept, command, connection):
    """Missing, damaged, unknown and refused files are named; what was deleted for good is forgotten, with a record."""
    for root in roots[:3]:
        assert await archive.before_deletion([root]) == [root]
    gone, bad, well = [each.name for root in roots[:3] for each in await archives.files_of(connection, root)]
    assert await command("check") == (0, "3 files, 0 faults\n")
    writer = kept.store.writer("1999-01-01/of-before-a-restore.jsonl.gz")
    await writer.finish()
    writer.close()
    kept.store.delete(gone)
    exchanged = kept.stored(well)[:-1] + b"\0"
    if isinstance(kept, InDirectory):
        (kept.directory / bad).write_bytes(exchanged)
    else:
        kept.client.put_object(Bucket=object_store.BUCKET, Key=kept.prefix + bad, Body=exchanged)
    await connection.execute("UPDATE archive_files SET bytes = $2 WHERE name = $1", (bad, len(exchanged)))
    await connection.execute("INSERT INTO archive_files (name, partition_id, begun_at) VALUES ('old', 1, 'epoch')")
    code, said = await command("check", "--json")
    found = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert (code, [(each["outcome"], each["file"]) for each in found if each["outcome"] in ("missing", "damaged")]) == (
        1,
        sorted([("missing", gone), ("damaged", bad)], key=lambda each: each[1]),
    )
    assert [(each["outcome"], each["file"]) for each in found][2:] == [
        ("unknown", "1999-01-01/of-before-a-restore.jsonl.gz"),
        ("not deleted", "old"),
    ]
    code, said = await command("check", "--quick")
    assert (code, "missing" in said, "damaged" in said) == (1, True, False)
    code, said = await command("forget", gone.partition("/")[0], "--reason", "old")
    assert (code, f"forgotten  {gone}" in said, f"delete them first: {min(bad, well)}" in said) == (1, True, True)
    code, said = await command("forget", gone, "--reason", "again")
    assert (code, "the database knows no such files" in said) == (1, True)
    rows = (await connection.execute("SELECT entity_key, operation, result, description FROM audit_log")).rows
    text = f"vivero archive forget {gone}: 1 trees from {roots[0]} to {roots[0]}: old"
    assert rows == [(gone, "DELETE", "SUCCESS", text)]
    assert await archive.before_deletion(roots[:1]) == roots[:1], "it is still in the tables, and gets another file"


def put(kept, name, data):
    """Put a file into the store, as people do."""
    if isinstance(kept, InDirectory):
        (kept.directory / name).parent.mkdir(parents=True, exist_ok=True)
        (kept.directory / name).write_bytes(data)
    else:
        kept.client.put_object(Bucket=object_store.BUCKET, Key=kept.prefix + name, Body=data)


async def test_after_a_restore_people_adopt_what_the_database_does_not_know(roots, archive, kept, command, connection):
    """The database is as before the file was written: it never had two of the trees, and still has two others."""
    assert await archive.before_deletion(roots[:4]) == roots[:4]
    (name,) = kept.names()
    await connection.execute("DELETE FROM archive_files")
    await connection.execute("DELETE FROM process_instances WHERE root_key = ANY ($1)", (roots[:2],))
    code, said = await command("check")
    assert (code, f"unknown  {name}" in said) == (1, True)
    assert (await command("show", roots[0]))[0] == 1
    assert await command("adopt", name.partition("/")[0]) == (0, f"adopted  {name}  4 trees\n")
    assert await command("check") == (0, "1 files, 0 faults\n")
    assert json.loads((await command("show", roots[0]))[1])["rootKey"] == str(roots[0])
    rows = (await connection.execute("SELECT entity_key, operation, result, description FROM audit_log")).rows
    assert rows == [(name, "CREATE", "SUCCESS", f"vivero archive adopt {name}: 4 trees from {roots[0]} to {roots[3]}")]

    await connection.execute("UPDATE variables SET value = '\"since\"' WHERE root_key = $1", (roots[2],))
    assert await archive.before_deletion(roots[2:4]) == roots[2:4], "they are archived once more"
    assert len(kept.names()) == 2
    code, said = await command("show", roots[2])
    assert {each["value"] for each in json.loads(said)["variables"]} == {'"since"'}, "the newer file has what happened"
    assert await command("erase", roots[2], "--reason", "r") == (0, f"erased {roots[2]}\n")
    lines = [line for name in kept.names() for line in kept.content(name).splitlines()]
    assert sorted(int(json.loads(line)["rootKey"]) for line in lines) == sorted([*roots[:2], roots[3], roots[3]])
    code, said = await command("adopt", name.partition("/")[0])
    assert (code, "the database knows all files of these names" in said) == (1, True)


async def test_what_is_no_file_of_the_archive_is_not_adopted(roots, archive, kept, command, connection):
    assert await archive.before_deletion(roots[:2]) == roots[:2]
    (name,) = kept.names()
    whole, day = kept.stored(name), name.partition("/")[0]
    assert await command("erase", roots[0], "--reason", "r") == (0, f"erased {roots[0]}\n")
    files = {
        name: whole,
        f"{day}/101500-p1-0123456789ab.jsonl.gz": whole[:-4],
        f"{day}/101500-p1-1123456789ab.jsonl.gz": gzip.compress(b""),
        f"{day}/101500-p2-2123456789ab.jsonl.gz": whole,
        f"{day}/101500-p1-3123456789ab.jsonl.gz": gzip.compress(b"[1, 2, 3]\n" * 50),
        f"{day}/of-somebody-else.jsonl.gz": whole,
        "2026-02-31/101500-p1-4123456789ab.jsonl.gz": whole,
    }
    for each, data in files.items():
        put(kept, each, data)
    code, said = await command("adopt", day, "2026-02-31")
    assert code == 1
    for text in (
        f"{name} has trees that were erased ({roots[0]}): it is an old copy. Delete it",
        "0123456789ab.jsonl.gz is damaged: its end is missing",
        "1123456789ab.jsonl.gz has no trees: delete it",
        "2123456789ab.jsonl.gz has trees of other partitions than its name says",
        "a line of the file is not of an archive",
        "of-somebody-else.jsonl.gz is not a name of a file of an archive",
        "4123456789ab.jsonl.gz is not a name of a file of an archive",
    ):
        assert text in said
    assert len(await archive.unknown()) == len(files)
    rows = (await connection.execute("SELECT entity_key, result FROM audit_log WHERE operation = 'CREATE'")).rows
    assert rows == [(name, "FAIL")]


# ---- a person's data


async def erased(archive, connection, subject, tenants=None):
    """The erasure of a person finds its trees file by file: each request is as short as can be."""
    found, after = [], ""

    async def record(inner, roots):
        await inner.execute(
            "INSERT INTO archive_erasures SELECT unnest($1::bigint[]), 'recorded', now(), 'r'", (roots,)
        )

    while after is not None:
        done = await archive.erase_subject(subject, after, tenants, record, 0)
        assert done.missing == []
        found, after = [*found, *done.roots], done.next
    return sorted(found)


@pytest.fixture
async def persons(roots, archive, connection):
    """Roots → what they have, in two files; some look like what others have."""
    odd = 'a"b\\c/\u0001\n\u2028ü😀</'
    await connection.execute("UPDATE process_instances SET business_id = $2 WHERE root_key = $1", (roots[0], odd))
    await connection.execute("UPDATE process_instances SET business_id = 'ann' WHERE root_key = $1", (roots[3],))
    await connection.execute("UPDATE process_instances SET business_id = 'ann2' WHERE root_key = $1", (roots[4],))
    for number, (name, value) in enumerate(
        [("email", '"ann"'), ("mail", '"ann"'), ("email", '{"email":"ann"}'), ("x", '{"business_id":"ann"}')]
    ):
        await connection.execute(
            "UPDATE variables SET name = $2, value = $3 WHERE root_key = $1 AND name = 'text'",
            (roots[number], name, value),
        )
    await connection.execute("UPDATE process_instances SET tenant_id = 't' WHERE root_key = $1", (roots[5],))
    await connection.execute(
        "UPDATE variables SET name = 'email', value = '\"ann\"' WHERE root_key = $1 AND name = 'text'", (roots[5],)
    )
    assert await archive.before_deletion(roots[:3]) == roots[:3]
    assert await archive.before_deletion(roots[3:]) == roots[3:]
    return odd


async def test_a_persons_trees_are_erased_from_all_files(persons, roots, archive, kept, connection):
    """By exact values: whatever a value has in it, and whatever else looks like it."""
    assert await erased(archive, connection, ErasureSubject("nobody")) == []
    assert await erased(archive, connection, ErasureSubject(persons)) == [roots[0]]
    assert await erased(archive, connection, ErasureSubject("ann")) == [roots[3]]
    assert await erased(archive, connection, ErasureSubject(variable="email", value='"ann"'), ["t"]) == [roots[5]]
    assert await erased(archive, connection, ErasureSubject(variable="email", value='"ann"')) == []
    assert sorted(trees(kept)) == [roots[1], roots[2], roots[4]]
    reasons = {(one.root, one.reason) for one in await archives.erasures(connection, 10)}
    assert reasons == {(root, reason) for root in (roots[0], roots[3], roots[5]) for reason in ("ERASURE", "r")}


async def test_trees_are_found_by_texts_and_by_values_however_they_are_spelled(persons, roots, archive, connection):
    assert await erased(archive, connection, ErasureSubject(texts=("nobody", "business"))) == []
    assert await erased(archive, connection, ErasureSubject(texts=(persons, "ann2"))) == [roots[0], roots[4]]
    assert await erased(archive, connection, ErasureSubject(variable="email", value='"\\u0061nn"'), ["t"]) == [roots[5]]
    assert await erased(archive, connection, ErasureSubject(variable="email", value='{ "email": "a\\u006en" }')) == [
        roots[2]
    ]


async def test_an_erasure_goes_on_when_the_store_is_back(persons, roots, archive, kept, connection, monkeypatch):
    """It is away in the middle: what was erased stays erased, and the same request goes on."""
    subject = ErasureSubject(variable="number", value="1")
    both = sorted({roots[1]})
    with monkeypatch.context() as patched:

        def away(*_arguments):
            raise ArchiveProblem("the store does not answer")

        patched.setattr(type(kept.store), "writer", away)
        with pytest.raises(ArchiveProblem):
            await erased(archive, connection, subject)
    assert sorted(trees(kept)) == roots
    assert await archives.erasures(connection, 10) == []
    assert await erased(archive, connection, subject) == both
    assert sorted(trees(kept)) == [root for root in roots if root not in both]


async def test_files_that_are_gone_are_named(persons, roots, archive, kept, connection):
    (file,) = await archives.files_of(connection, roots[0])
    kept.store.delete(file.name)
    done = await archive.erase_subject(ErasureSubject("ann"), "", None, None, 60)
    assert (done.missing, done.roots, done.next) == ([file.name], [roots[3]], None)


async def test_what_retention_writes_during_an_erasure_is_found_or_left_out(
    persons, roots, archive, kept, connection, finishing
):
    """The file is stored, and not complete: the person's tree is deleted, and the archive is searched."""
    await connection.execute("DELETE FROM archive_files")
    for name in kept.names():
        kept.store.delete(name)
    other = Archive(kept.store, one(connection))

    async def erase():
        with finishing(trio.lowlevel.checkpoint, 0):
            await history.delete_trees(connection, [roots[3]], history.ERASURE)
            assert await erased(other, connection, ErasureSubject("ann")) == []

    with finishing(erase, 1):
        assert await archive.before_deletion(roots) == [root for root in roots if root != roots[3]]
    assert roots[3] not in trees(kept)


@pytest.mark.parametrize("size", [1, 3, 10, 100])
def test_bytes_are_found_however_the_file_is_read(size):
    whole = line(1) + line(2, 50).replace(b"xxx", b'"business_id":"ann"', 1) + line(3)
    parts = [whole[at : at + size] for at in range(0, len(whole), size)]
    assert candidates(parts, *sought(ErasureSubject("ann"))) == {2}
    assert candidates(parts, *sought(ErasureSubject("bob"))) == set()


# ---- what goes wrong later


async def given_up(connection):
    """Another node tidies up what nobody completed for an hour."""
    await connection.execute("UPDATE archive_files SET state = 'REMOVED' WHERE state = 'WRITING'")
    await connection.execute("DELETE FROM archive_files WHERE state = 'REMOVED' AND sha256 IS NULL")


async def test_an_erasure_that_takes_too_long_loses_no_other_tree(
    roots, archive, retention, kept, connection, finishing
):
    """The new file was given up while it was written: the old one stays, with all of its trees."""
    await retention()
    with finishing(lambda: given_up(connection), 1), pytest.raises(ArchiveProblem, match="took too long"):
        await archive.erase([roots[0]], "r")
    assert sorted(trees(kept)) == roots
    assert [file.trees for file in await archives.files(connection, 10)] == [COUNT]
    assert await archives.erasures(connection, 10) == []
    await late(connection)
    await archive.delete_orphans(1)
    assert sorted(trees(kept)) == roots
    assert (await archive.erase([roots[0]], "r")).roots == [roots[0]]
    assert sorted(trees(kept)) == roots[1:]


async def test_a_file_that_takes_the_place_of_another_one_is_of_the_same_day_and_sorts_behind(
    roots, archive, retention, kept, connection
):
    """Old days are deleted together, and a search by name that comes to the old file comes to the new one."""
    await retention()
    await pin_clock(connection, PINNED_MS + 90 * DAY_MS)
    names = kept.names()
    for root in roots[:3]:
        await archive.erase([root], "r")
        names += kept.names()
    assert len({name.partition("/")[0] for name in names}) == 1
    for order in ('name COLLATE "C"', "name"):
        query = f"SELECT name FROM unnest($1::text[]) name ORDER BY {order}"
        assert [name for (name,) in (await connection.execute(query, (names,))).rows] == names
    assert len(names[3]) == len(names[1])


async def test_what_waits_for_a_file_that_is_gone_gets_another_one(roots, archive, retention, kept, connection):
    """It was archived and not yet deleted, and somebody has deleted old days, or an object is cut off."""
    assert await archive.before_deletion(roots[:4]) == roots[:4]
    (name,) = kept.names()
    kept.store.delete(name)
    assert await archive.before_deletion(roots) == roots
    assert sorted(trees(kept)) == roots
    assert await retention() is None
    assert await left(connection) == 0
    for root in roots:
        lines = [
            list(archive.show(each, root)) for each in await archives.files_of(connection, root) if each.name != name
        ]
        assert any(lines)


async def test_while_the_whole_store_is_away_no_file_counts_as_lost(roots, archive, kept, connection):
    assert await archive.before_deletion(roots) == roots
    (name,) = kept.names()
    if isinstance(kept, InDirectory):
        kept.directory.rename(kept.directory.parent / "elsewhere")
        kept.directory.write_text("no directory")
    else:
        kept.client.delete_object(Bucket=object_store.BUCKET, Key=kept.prefix + name)
        kept.client.delete_bucket(Bucket=object_store.BUCKET)
    with pytest.raises(ArchiveProblem):
        await archive.before_deletion(roots)
    assert (await connection.execute("SELECT cardinality(waiting) FROM archive_files")).rows == [(COUNT,)]
    if not isinstance(kept, InDirectory):
        kept.client.create_bucket(Bucket=object_store.BUCKET)


async def test_a_file_that_was_exchanged_is_not_taken_for_the_one_that_was_written(
    roots, archive, retention, kept, connection
):
    """It is a whole file, and has other trees: nothing is erased from it, and nobody is told that it was."""
    await retention()
    (name,) = kept.names()
    other = gzip.compress(b"")
    if isinstance(kept, InDirectory):
        (kept.directory / name).write_bytes(other)
    else:
        kept.client.put_object(Bucket=object_store.BUCKET, Key=kept.prefix + name, Body=other)
    done = await archive.erase([roots[0]], "r")
    assert (done.roots, done.missing, done.damaged) == ([], [], [name])
    done = await archive.erase_subject(ErasureSubject("ann"), "", None, None, 60)
    assert (done.roots, done.missing, done.damaged, done.next) == ([], [], [name], None)
    (file,) = await archives.files(connection, 10)
    with pytest.raises(ArchiveProblem, match="it is not what was written"):
        list(archive.show(file, roots[0]))


async def test_a_large_file_gets_no_further_trees(roots, archive, kept, connection, monkeypatch):
    """Trees of a thousand megabytes would take too long in one file."""
    monkeypatch.setattr("vivero.engine.retention.archive.archive.FILE_BYTES", 1)
    assert await archive.before_deletion(roots) == roots
    assert [file.trees for file in await archives.files(connection, 10)] == [1] * COUNT
    assert sorted(trees(kept)) == roots


async def test_reading_may_take_longer_than_one_part(roots, connection, monkeypatch):
    """Each part has a deadline, not all parts together."""
    with monkeypatch.context() as patched:
        patched.setattr(archives, "READ_S", 0.05)
        reading = archives.reading(connection)
        await reading.__aenter__()
    await connection.execute("SELECT pg_sleep(0.06)")
    await reading.__aexit__(None, None, None)
    assert not connection.in_transaction


async def test_what_nobody_needs_is_deleted_even_if_nothing_is_due(archive, pool, kept, connection):
    """An erasure was killed before it deleted the old file, which has the person's data."""
    writer = kept.store.writer("old.gz")
    await writer.finish()
    writer.close()
    assert kept.names() == ["old.gz"]
    await connection.execute(
        "INSERT INTO archive_files (name, partition_id, state, sha256) VALUES ('old.gz', 1, 'REMOVED', 'x')"
    )
    settings = RetentionSettings(instances="P1D")
    chore = EndedInstances(settings, pool.connection, archive.before_deletion, delete_orphans=archive.delete_orphans)
    epoch = (await connection.execute("SELECT epoch FROM partitions WHERE id = 1")).rows[0][0]
    await chore(Execution(Run("id", "x", 0, None, None, 1, "lease", 0, 0, 0, epoch)))
    assert kept.names() == []
    assert (await connection.execute("SELECT count(*) FROM archive_files")).rows == [(0,)]


async def test_what_cannot_be_deleted_stops_no_archive(roots, retention, kept, connection, monkeypatch):
    """Objects that are locked, or rights to write and not to delete."""
    await connection.execute(
        "INSERT INTO archive_files (name, partition_id, state, sha256) VALUES ('old', 1, 'REMOVED', 'x')"
    )

    def denied(*_arguments):
        raise ArchiveProblem("the store answers AccessDenied")

    with monkeypatch.context() as patched:
        patched.setattr(type(kept.store), "delete", denied)
        await retention()
    assert await left(connection) == 0
    states = "SELECT state FROM archive_files ORDER BY 1"
    assert (await connection.execute(states)).rows == [("COMPLETE",), ("REMOVED",)]


async def test_of_two_files_one_is_gone_and_the_other_one_is_shown_and_erased_from(
    roots, archive, kept, connection, command
):
    """The ranges of their keys overlap: the operator has deleted one of them."""
    others = [root for root in roots if root not in (roots[0], roots[-1])]
    assert await archive.before_deletion([roots[0], roots[-1]]) == [roots[0], roots[-1]]
    (name,) = kept.names()
    assert await archive.before_deletion(others) == others
    kept.store.delete(name)
    code, said = await command("show", others[0])
    assert (code, json.loads(said)["rootKey"]) == (0, str(others[0]))
    assert await command("erase", others[0], "--reason", "r") == (0, f"erased {others[0]}\n")
    code, said = await command("erase", roots[0], "--reason", "r")
    assert code == 1
    assert f"files that are missing or damaged: {name}" in said


@pytest.mark.parametrize("kept", ["directory"], indirect=True)
async def test_new_directories_are_on_disk_before_the_deletion(roots, archive, directory, monkeypatch):
    """After a power failure a file is there only if the names of all directories above it are."""
    flushed = []
    fsync = os.fsync

    def noted(number):
        flushed.append(os.stat(number).st_ino)
        fsync(number)

    monkeypatch.setattr("vivero.engine.retention.archive.directory.os.fsync", noted)
    assert await archive.before_deletion(roots) == roots
    (path,) = directory.rglob("*.jsonl.gz")
    assert {each.stat().st_ino for each in (path, path.parent, directory, directory.parent)} <= set(flushed)


def test_a_full_disk_of_temporary_files_is_a_problem_of_the_archive(bucket, monkeypatch):
    """Also when the last bytes are written, and when they are read again."""

    def full(*_arguments):
        raise OSError(28, "No space left on device")

    for name in ("compression.Compressor.end", "s3.summed"):
        writer = bucket.store.writer("x")
        with monkeypatch.context() as patched:
            patched.setattr(f"vivero.engine.retention.archive.{name}", full)
            with pytest.raises(ArchiveProblem, match=r"No space left on device. See TMPDIR"):
                trio.run(writer.finish)
        writer.close()


def test_a_store_that_says_that_an_absent_file_is_absent_has_deleted_it(bucket, monkeypatch):
    """Amazon's says nothing of it; others do."""

    def absent(**_arguments):
        raise ClientError({"Error": {"Code": "NoSuchKey"}}, "DeleteObject")

    monkeypatch.setattr(bucket.store.client, "delete_object", absent)
    bucket.store.delete("x")
    with pytest.raises(Missing):
        bucket.store.size("x")
