"""Documents in a directory and in a bucket: what is stored, what fails, and what each failure leaves."""

import errno
import io
import os
import re
import threading
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest
import trio
from botocore.retries.standard import ExponentialBackoff

from tests.api.changed_services import changed
from tests.api.documents.conftest import do_chores, part
from tests.engine.documents.bucket_server import (
    ACCESS_KEY,
    BUCKET,
    CUT,
    LEAST_PART,
    REGION,
    SECRET,
    in_full,
    serving,
)
from tests.eventually import eventually
from vivero.engine.buckets import client as bucket_client
from vivero.engine.documents import bucket as bucket_module
from vivero.engine.documents import directory as directory_module
from vivero.engine.documents.bucket import SpooledWriter
from vivero.engine.documents.directory import MARK, UNFINISHED, ContentFile
from vivero.engine.documents.opening import open_stores
from vivero.engine.documents.pace import PART_BYTES
from vivero.engine.documents.settings import DocumentSettings
from vivero.engine.documents.stores import DocumentStores, StoreProblem
from vivero.engine.documents.uploads import ContentUpload
from vivero.storage.documents import contents
from vivero.storage.postgres.errors import ConnectionLost

NOTHING = (0, 0, 0, 0)
LARGE = LEAST_PART
"""Larger files are uploaded in parts."""
in_directory = pytest.mark.parametrize("limits", ["directory"], indirect=True)
in_bucket = pytest.mark.parametrize("limits", ["s3"], indirect=True)
connect = cache(bucket_client.connect)
"""A client takes a tenth of a second to make."""


class InDirectory:
    """A store in a directory, and the files that tests look at."""

    def __init__(self, settings) -> None:
        self.directory = settings.directory

    @property
    def left(self):
        """Whole files, and unfinished ones."""
        files = [path for path in self.directory.rglob("*") if path.is_file() and path.name != MARK]
        unfinished = sum(path.name.endswith(UNFINISHED) for path in files)
        return len(files) - unfinished, unfinished

    def lose(self):
        for path in self.directory.rglob("*"):
            if path.is_file() and path.name != MARK:
                path.unlink()


class InBucket:
    """A store in a bucket, and the objects that tests look at."""

    def __init__(self, server) -> None:
        self.server = server

    @property
    def left(self):
        return self.server.left

    def lose(self):
        self.server.objects.clear()


@pytest.fixture(scope="module")
def server():
    with serving() as server:
        yield server


def of_bucket(server, **more):
    access = {"s3_endpoint": server.url, "s3_region": REGION, "s3_access_key": ACCESS_KEY, "s3_secret": SECRET}
    return {"store": "s3", "bucket": f"s3://{BUCKET}/of/vivero"} | access | more


@pytest.fixture(params=["directory", "s3"])
def limits(request, tmp_path, monkeypatch):
    monkeypatch.setattr(bucket_module, "connect", connect)
    monkeypatch.setattr(ExponentialBackoff, "delay_amount", lambda *_context: 0)
    monkeypatch.setattr(bucket_module, "PART_BYTES", LARGE)
    if request.param == "directory":
        return {"store": "directory", "directory": tmp_path / "of" / "vivero"}
    server = request.getfixturevalue("server")
    server.objects.clear()
    server.uploads.clear()
    server.fault = lambda *_request: None
    return of_bucket(server)


@pytest.fixture
def stores(stored, limits):
    return open_stores(DocumentSettings(**limits), stored.reads.pool.connection)


@pytest.fixture
def objects(limits, request):
    settings = DocumentSettings(**limits)
    return InDirectory(settings) if settings.directory else InBucket(request.getfixturevalue("server"))


@pytest.mark.parametrize("size", [0, 1, PART_BYTES + 7, LARGE, 2 * LARGE + 1])
async def test_a_file_of_any_size_comes_back_whole_and_in_ranges(documents, objects, size):
    content = bytes(range(251)) * (size // 251 + 1)
    content = content[:size]
    reference = await documents.upload(content)
    assert reference["storeId"] == documents.services.documents.stores.default
    assert reference["contentHash"] == sha256(content).hexdigest()
    assert (await documents.get(reference["documentId"])).body == content
    if size > 1:
        answer = await documents.get(reference["documentId"], (b"range", b"bytes=1-%d" % (size // 2)))
        assert (answer.status, answer.body) == (206, content[1 : size // 2 + 1])
    assert documents.stored == (1, 1, 0, size)
    assert objects.left == (1, 0)


async def test_equal_contents_are_one_object_and_the_last_document_deletes_it(documents, objects):
    first, second = await documents.upload(b"same", "a"), await documents.upload(b"same", "b")
    assert (documents.stored, objects.left) == ((2, 1, 0, 4), (1, 0))
    await documents.get(first["documentId"], method="DELETE")
    assert (await documents.get(second["documentId"])).body == b"same"
    await documents.get(second["documentId"], method="DELETE")
    assert (documents.stored, objects.left) == (NOTHING, (0, 0))


async def test_a_document_stays_readable_when_the_default_changes(documents):
    old = await documents.upload(b"old")
    stores = DocumentStores(objects=documents.services.documents.stores.objects)
    documents.services = changed(documents.services, documents=replace(documents.services.documents, stores=stores))
    documents = documents.on_another_node()
    new = await documents.upload(b"new")
    assert new["storeId"] == "postgres"
    for reference, content in ((old, b"old"), (new, b"new")):
        assert (await documents.get(reference["documentId"])).body == content


async def test_a_store_without_settings_is_not_forgotten(documents, objects):
    reference = await documents.upload(b"old")
    of_documents = replace(documents.services.documents, stores=DocumentStores())
    documents.services = changed(documents.services, documents=of_documents)
    documents = documents.on_another_node()
    assert (await documents.get(reference["documentId"])).status == 503
    assert (await documents.get(reference["documentId"], method="DELETE")).status == 204
    await do_chores(documents)
    assert (documents.stored, objects.left) == ((0, 1, 0, 3), (1, 0))


@pytest.mark.parametrize("bad", [{"size": 1}, {"fileName": "../x"}])
async def test_a_refused_file_leaves_nothing(documents, objects, bad):
    answer = await documents.post(part("file", bytes(PART_BYTES + 9), "a"), part("metadata", bad))
    assert answer.status == 400
    assert (documents.stored, objects.left) == (NOTHING, (0, 0))


async def test_a_quota_holds_before_the_bytes_are_written(documents, objects):
    settings = replace(documents.services.documents.settings, max_tenant_bytes=PART_BYTES + 5)
    documents.services = changed(documents.services, documents=replace(documents.services.documents, settings=settings))
    documents = documents.on_another_node()
    assert (await documents.post(part("file", bytes(PART_BYTES + 6), "a"))).status == 507
    assert (documents.stored, objects.left) == (NOTHING, (0, 0))


@in_bucket
@pytest.mark.parametrize(
    ("answer", "begin", "whole"),
    [
        (lambda first, last, size: (0, size - 1, 200), 0, True),
        (lambda first, last, size: (0, size - 1, 200), 10, False),
        (lambda first, last, size: (0, last - first, 206), 10, False),
        (lambda first, last, size: (first, last, 200), 10, False),
        (lambda first, last, size: (first, last, 206), 10, True),
    ],
    ids=["the whole object", "the whole object for a part", "another range", "no range", "the range"],
)
async def test_a_bucket_that_serves_no_ranges_gives_no_wrong_bytes(objects, stores, answer, begin, whole):
    content = bytes(range(100))
    objects.server.objects["of/vivero/name"] = content
    objects.server.ranged = answer
    try:
        if whole:
            assert await stores.objects["s3"].read("name", begin, 50) == content[begin:50]
        else:
            with pytest.raises(StoreProblem, match="it must serve ranges"):
                await stores.objects["s3"].read("name", begin, 50)
    finally:
        objects.server.ranged = in_full


@in_directory
async def test_a_file_that_nobody_waits_for_any_more_is_closed(stores, monkeypatch):
    """The thread makes it after the request was cancelled."""
    opened, closed = list[int](), list[int]()
    begun, go_on = threading.Event(), threading.Event()
    make, close = os.open, os.close

    def slow(path, *arguments):
        if not str(path).endswith(UNFINISHED):
            return make(path, *arguments)
        begun.set()
        go_on.wait(30)
        opened.append(make(path, *arguments))
        return opened[0]

    def noted(file):
        close(file)
        closed.append(file)

    await (await stores.objects["directory"].writer("first")).close()
    monkeypatch.setattr(os, "open", slow)
    monkeypatch.setattr(os, "close", noted)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stores.objects["directory"].writer, "abandoned")
        await trio.to_thread.run_sync(begun.wait, 30)
        nursery.cancel_scope.cancel()
    go_on.set()
    await eventually(lambda: opened, accept=lambda found: bool(found) and found[0] in closed)


async def test_a_lost_object_is_404_and_can_be_deleted(documents, objects):
    reference = await documents.upload(b"lost")
    objects.lose()
    assert (await documents.get(reference["documentId"])).status == 404
    assert (await documents.get(reference["documentId"], method="DELETE")).status == 204
    assert documents.stored == NOTHING


async def test_what_a_killed_program_leaves_is_collected_an_hour_later(documents, objects, monkeypatch):
    """At each step: the row alone, some bytes, all bytes without a document."""
    of_documents = documents.services.documents
    objects_of = of_documents.stores.objects[of_documents.stores.default]
    for step in range(3):
        name = f"{step}" * 32
        async with documents.services.reads.pool.connection() as connection:
            key = await contents.begin(connection, "<default>", of_documents.stores.default, name)
            await contents.add(connection, key, 0, 4, None, 0)
        if step:
            writer = await objects_of.writer(name)
            await writer.write(b"four")
            if step == 2:
                await writer.finish(_alive)
            await writer.close()  # as the end of a process closes its files
    if isinstance(objects, InBucket):
        objects.server.uploads["left"] = f"of/vivero/{'0' * 32}", {}
    await do_chores(documents)
    assert documents.stored == (0, 3, 0, 12)
    documents.rows.execute("UPDATE document_contents SET alive_at = now() - interval '2 hours'")
    await do_chores(documents)
    assert (documents.stored, objects.left) == (NOTHING, (0, 0))


async def _alive():
    await trio.lowlevel.checkpoint()


async def test_an_upload_that_was_given_up_meanwhile_brings_nothing_back(documents, objects, monkeypatch):
    """A program that stood still for an hour finds its object deleted, and its row gone."""

    async def late(self, alive):
        documents.rows.execute("UPDATE document_contents SET alive_at = now() - interval '2 hours'")
        await do_chores(documents)
        await finish(self, alive)

    kind = ContentFile if isinstance(objects, InDirectory) else SpooledWriter
    finish = kind.finish
    monkeypatch.setattr(kind, "finish", late)
    assert (await documents.post(part("file", b"late", "a"))).status == 503
    assert (documents.stored, objects.left) == (NOTHING, (0, 0))


async def test_an_outage_behind_the_commit_keeps_the_object(documents, objects, monkeypatch):
    """The document is there, though the client was told otherwise: its bytes must be there, too."""

    def unanswered(*_args):
        raise ConnectionLost("no answer to the commit")

    monkeypatch.setattr(ContentUpload, "keep", unanswered)
    answer = await documents.post(part("file", b"kept", "a"))
    assert answer.status == 503
    assert (documents.stored, objects.left) == ((1, 1, 0, 4), (1, 0))


# ------------------------------------------------------------------------------------------------------ the directory


@pytest.fixture
def directory(limits):
    return limits["directory"]


@in_directory
async def test_a_directory_that_is_gone_is_an_error_and_never_made_anew(documents, directory):
    reference = await documents.upload(b"kept")
    away = directory.rename(directory.with_name("away"))
    for there in (False, True):
        if there:
            directory.mkdir()  # the mount point without its file system
        assert (await documents.post(part("file", b"new", "a"))).status == 503
        assert (await documents.get(reference["documentId"])).status == 503
        assert set(directory.parent.iterdir()) == {away, *([directory] if there else [])}
        assert not there or list(directory.iterdir()) == []
    assert documents.stored == (1, 1, 0, 4)
    assert (await documents.get(reference["documentId"], method="DELETE")).status == 204
    await do_chores(documents)
    assert documents.stored == (0, 1, 0, 4)
    directory.rmdir()
    away.rename(directory)
    await do_chores(documents)
    assert documents.stored == NOTHING


@in_directory
async def test_a_directory_that_cannot_be_written_is_an_outage(documents, directory):
    directory.parent.mkdir()
    directory.write_text("a file")
    answer = await documents.post(part("file", b"new", "a"))
    assert (answer.status, str(directory) in answer.body.decode()) == (503, False)
    directory.unlink()
    await do_chores(documents)
    assert documents.stored == NOTHING


@in_directory
async def test_names_of_files_and_folders_are_flushed(documents, directory, monkeypatch):
    flushed = []
    monkeypatch.setattr(directory_module, "flush_directory", flushed.append)
    await documents.upload(b"x", "../../name of the client".replace("/", ""))
    (file,) = [path for path in directory.rglob("*") if path.is_file() and path.name != MARK]
    assert flushed[-2:] == [file.parent, directory]
    assert re.fullmatch("[0-9a-f]{32}", file.name)


# --------------------------------------------------------------------------------------------------------- the bucket


@pytest.fixture
def bucket(limits, server):
    server.calls.clear()
    return server


def failing(server, status, method, times, **query):
    """Fail so many requests of this kind."""
    left = [times]

    def fault(given, _key, found):
        if given != method or not query.items() <= found.items() or not left[0]:
            return None
        left[0] -= 1
        return status

    server.fault = fault


@in_bucket
@pytest.mark.parametrize("status", [500, 503, CUT])
async def test_a_request_that_fails_once_is_repeated(documents, bucket, status):
    failing(bucket, status, "PUT", 1, partNumber="2")
    content = bytes(2 * LARGE + 5)
    reference = await documents.upload(content)
    assert bucket.calls.count("PUT partNumber uploadId") == 3
    failing(bucket, status, "GET", 1)
    assert (await documents.get(reference["documentId"])).body == content
    assert bucket.left == (1, 0)


@in_bucket
@pytest.mark.parametrize(
    ("method", "query"), [("PUT", {"partNumber": "2"}), ("POST", {"uploads": ""}), ("POST", {"uploadId": None})]
)
async def test_an_upload_that_fails_is_aborted(documents, bucket, method, query):
    if query == {"uploadId": None}:
        bucket.fault = lambda given, _key, found: 500 if given == "POST" and "uploadId" in found else None
    else:
        failing(bucket, 500, method, 100, **query)
    answer = await documents.post(part("file", bytes(2 * LARGE), "a"))
    assert answer.status == 503
    assert (documents.stored, bucket.left) == (NOTHING, (0, 0))


@in_bucket
async def test_an_upload_that_cannot_be_aborted_is_aborted_by_a_chore(documents, bucket):
    bucket.fault = lambda method, _key, query: 500 if method == "DELETE" or query.get("partNumber") == "2" else None
    assert (await documents.post(part("file", bytes(2 * LARGE), "a"))).status == 503
    assert (documents.stored, bucket.left) == ((0, 1, 0, 2 * LARGE), (0, 1))
    bucket.fault = lambda *_request: None
    await do_chores(documents)
    assert (documents.stored, bucket.left) == (NOTHING, (0, 0))


@in_bucket
async def test_an_upload_without_an_answer_is_deleted_twice(documents, bucket):
    """The store may do it after the deletion: an hour later the object is deleted again."""
    bucket.fault = lambda method, *_request: CUT if method == "PUT" else None
    assert (await documents.post(part("file", b"late", "a"))).status == 503
    (name,) = documents.rows.execute("SELECT object_name FROM document_contents").fetchone()
    bucket.objects[f"of/vivero/{name}"] = b"late"
    await do_chores(documents)
    assert (documents.stored, bucket.left) == ((0, 1, 0, 4), (1, 0))
    bucket.fault = lambda *_request: None
    documents.rows.execute("UPDATE document_contents SET alive_at = now() - interval '2 hours'")
    await do_chores(documents)
    assert (documents.stored, bucket.left) == (NOTHING, (0, 0))


class FullDisk(io.RawIOBase):
    """A temporary file without space. A small write fails when the buffer is written."""

    def writable(self):
        return True

    readable = seekable = writable

    def tell(self):
        return 0

    def write(self, _data):
        raise OSError(errno.ENOSPC, "No space left on device")


@in_bucket
@pytest.mark.parametrize("size", [1, PART_BYTES + 1])
async def test_a_full_disk_for_temporary_files_is_an_outage(documents, bucket, monkeypatch, size):
    monkeypatch.setattr("tempfile.TemporaryFile", lambda: io.BufferedRandom(FullDisk()))
    assert (await documents.post(part("file", b"x" * size, "a"))).status == 503
    documents.rows.execute("UPDATE document_contents SET alive_at = now() - interval '2 hours'")
    await do_chores(documents)
    assert (documents.stored, bucket.left) == (NOTHING, (0, 0))


@in_bucket
async def test_a_bucket_that_is_away_stops_no_deletion_of_others(documents, bucket):
    (gone,) = [await documents.upload(b"in the bucket")]
    other = await documents.upload(b"in rows", target="/v2/documents?storeId=postgres")
    bucket.fault = lambda *_request: 503
    assert (await documents.get(gone["documentId"])).status == 503
    for reference in (gone, other):
        assert (await documents.get(reference["documentId"], method="DELETE")).status == 204
    await do_chores(documents)
    assert documents.stored == (0, 1, 0, 13)
    bucket.fault = lambda *_request: None
    await do_chores(documents)
    assert (documents.stored, bucket.left) == (NOTHING, (0, 0))


@in_bucket
async def test_an_upload_in_parts_shows_that_it_lives(documents, bucket, monkeypatch):
    """A slow network needs more than an hour for a large file: each part counts."""
    alive = []

    async def count(connection, key, at, size, *rest):
        alive.append(size)
        return await add(connection, key, at, size, *rest)

    add = contents.add
    monkeypatch.setattr(contents, "add", count)
    await documents.upload(bytes(2 * LARGE + 1))
    assert alive[-3:] == [0, 0, 0]


@in_bucket
async def test_a_stop_does_not_wait_for_a_bucket(documents, bucket):
    reached, go_on = threading.Event(), threading.Event()

    def stall(method, *_request):
        if method == "PUT":
            reached.set()
            go_on.wait(30)

    bucket.fault = stall
    async with trio.open_nursery() as nursery:
        nursery.start_soon(documents.post, part("file", b"late", "a"))
        await trio.to_thread.run_sync(reached.wait, 30)
        nursery.cancel_scope.cancel()
    assert documents.stored == (0, 1, 0, 4)
    go_on.set()


@in_bucket
@pytest.mark.parametrize("wrong", [{"s3_secret": "wrong"}, {"bucket": "s3://other"}])
async def test_wrong_access_is_an_outage_whose_answer_names_nothing(documents, bucket, limits, wrong):
    stores = open_stores(DocumentSettings(**limits | wrong), documents.services.reads.pool.connection)
    documents.services = changed(documents.services, documents=replace(documents.services.documents, stores=stores))
    answer = await documents.on_another_node().post(part("file", b"x", "a"))
    assert answer.status == 503
    assert "s3://" not in answer.body.decode()


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"store": "gcp"}, "store must be one of postgres, directory, s3"),
        ({"store": "s3"}, "the store 's3' needs the setting documents.bucket"),
        ({"store": "directory"}, "needs the setting documents.directory"),
        ({"directory": Path("here")}, "directory must be an absolute path"),
        ({"bucket": "/directory"}, "bucket must be s3://bucket"),
        ({"bucket": "s3://x/", "s3_secret": "x"}, "does not name a bucket"),
        ({"bucket": "s3://bkt", "s3_secret": "x"}, "s3_access_key and s3_secret belong together"),
        ({"bucket": "s3://bkt", "s3_endpoint": "minio"}, "s3_endpoint must be a URL"),
    ],
)
def test_what_cannot_be_set(wrong, why):
    with pytest.raises(ValueError, match=why):
        DocumentSettings(**wrong)


def test_a_bucket_is_in_the_path_or_in_the_host():
    for path_style, host in ((True, "s3.example.org"), (False, "files.s3.example.org")):
        bucket = bucket_client.Bucket("files", "", "http://s3.example.org", REGION, ACCESS_KEY, SECRET, path_style)
        url = connect(bucket).generate_presigned_url("get_object", Params={"Bucket": "files", "Key": "k"})
        assert url.startswith(f"http://{host}/")
