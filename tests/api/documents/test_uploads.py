"""Uploads: what is stored, what is refused, and what a failure leaves."""

import hashlib
from functools import partial

import pytest
import trio

from tests.api.documents.conftest import FORM, form, part
from vivero.api.documents import upload as upload_module
from vivero.engine.documents.pace import PART_BYTES
from vivero.storage.documents import contents
from vivero.storage.postgres.errors import ConnectionLost

NOTHING = (0, 0, 0, 0)


async def test_a_reference_has_all_that_clients_know_of_a_document(documents):
    answer = await documents.post(
        part("file", b"hello", "näme.txt", "text/plain"),
        part("metadata", {"processDefinitionId": "order", "processInstanceKey": "7", "customProperties": {"a": 1}}),
        target="/v2/documents?documentId=mine&storeId=postgres",
    )
    assert (answer.status, answer.json) == (
        201,
        {
            "camunda.document.type": "camunda",
            "storeId": "postgres",
            "documentId": "mine",
            "contentHash": hashlib.sha256(b"hello").hexdigest(),
            "metadata": {
                "contentType": "text/plain",
                "fileName": "näme.txt",
                "expiresAt": None,
                "size": 5,
                "processDefinitionId": "order",
                "processInstanceKey": "7",
                "customProperties": {"a": 1},
            },
        },
    )
    assert documents.stored == (1, 1, 1, 5)


@pytest.mark.parametrize("size", [0, 1, PART_BYTES - 1, PART_BYTES, 2 * PART_BYTES + 7])
async def test_a_file_of_any_size_comes_back(documents, size):
    content = bytes(range(251)) * (size // 251 + 1)
    reference = await documents.upload(content[:size])
    assert (await documents.get(reference["documentId"])).body == content[:size]
    assert documents.stored == (1, 1, -(-size // PART_BYTES), size)


async def test_the_metadata_may_come_first_and_wins(documents):
    answer = await documents.post(
        part("metadata", {"fileName": "b.pdf", "contentType": "application/pdf", "size": 5}),
        part("file", b"hello", "a.txt", "text/plain"),
    )
    metadata = answer.json["metadata"]
    assert (metadata["fileName"], metadata["contentType"]) == ("b.pdf", "application/pdf")


async def test_a_file_without_a_name_has_the_name_of_the_document(documents):
    answer = await documents.post(part("file", b"x"), target="/v2/documents?documentId=mine")
    assert answer.json["metadata"]["fileName"] == "mine"
    assert answer.json["metadata"]["contentType"] == "application/octet-stream"


@pytest.mark.parametrize("target", ["/v2/documents", "/v2/documents/batch"])
async def test_an_empty_name_in_the_metadata_is_none(documents, target):
    names = ("files", "metadataList") if target.endswith("batch") else ("file", "metadata")
    answer = await documents.post(part(names[0], b"x", "a.txt"), part(names[1], {"fileName": ""}), target=target)
    (reference,) = answer.json.get("createdDocuments", [answer.json])
    assert (answer.status, reference["metadata"]["fileName"]) == (201, "a.txt")


async def test_equal_contents_are_stored_once_and_the_last_document_deletes(documents):
    first, second = await documents.upload(b"same", "a"), await documents.upload(b"same", "b")
    assert documents.stored == (2, 1, 1, 4)
    assert (await documents.get(first["documentId"], method="DELETE")).status == 204
    assert documents.stored == (1, 1, 1, 4)
    assert (await documents.get(second["documentId"])).body == b"same"
    assert (await documents.get(second["documentId"], method="DELETE")).status == 204
    assert documents.stored == NOTHING
    assert (await documents.get(second["documentId"], method="DELETE")).status == 404


async def test_an_id_is_taken_once(documents):
    await documents.upload(b"one", target="/v2/documents?documentId=mine")
    answer = await documents.post(part("file", b"two", "b"), target="/v2/documents?documentId=mine")
    assert (answer.status, answer.problem["title"]) == (409, "ALREADY_EXISTS")
    assert documents.stored == (1, 1, 1, 3)


@pytest.mark.parametrize("same", [True, False])
async def test_of_two_uploads_with_one_id_at_the_same_time_one_is_stored(documents, same):
    statuses = []

    async def upload(content):
        answer = await documents.post(part("file", content, "a"), target="/v2/documents?documentId=mine")
        statuses.append(answer.status)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(upload, b"one")
        nursery.start_soon(upload, b"one" if same else b"two")
    assert sorted(statuses) == [201, 409]
    assert documents.stored == (1, 1, 1, 3)


async def test_many_uploads_of_the_same_bytes_share_one_content(documents):
    async with trio.open_nursery() as nursery:
        for n in range(6):
            nursery.start_soon(documents.upload, b"same" * 100, f"file {n}")
    assert documents.stored == (6, 1, 1, 400)


FILE = part("file", b"hello", "a.txt")


@pytest.mark.parametrize(
    ("parts", "status", "detail"),
    [
        ([part("metadata", {})], 400, "No file provided"),
        ([FILE, FILE], 400, "more than 1 parts [file]"),
        ([FILE, part("metadata", b"{")], 400, "Part [metadata]: Request body cannot be parsed"),
        ([FILE, part("metadata", {"color": 1})], 400, "Part [metadata]: Request property [color] cannot be parsed"),
        ([FILE, part("metadata", b" " * 65_537)], 400, "Part [metadata] is larger than 65536 bytes"),
        ([FILE, part("metadata", {"size": 6})], 400, "size is '6', but the file has 5 bytes"),
        ([FILE, part("metadata", {"contentType": "text/plain\r\nX: y"})], 400, "is not a media type"),
        ([FILE, part("metadata", {"fileName": "../x"})], 400, 'fileName "../x" has separators'),
        ([FILE, part("metadata", {"fileName": "a\\b"})], 400, "has separators"),
        ([FILE, part("metadata", {"fileName": "a\u202efdp.exe"})], 400, "control characters"),
        ([FILE, part("metadata", {"fileName": "ä" * 128})], 400, "256 bytes long"),
        ([FILE, part("metadata", b'{"fileName": "a\\u0000b"}')], 400, "Part [metadata]"),
        ([FILE, part("metadata", {"processInstanceKey": "x"})], 400, "[processInstanceKey]"),
        ([FILE, part("metadata", {"expiresAt": "tomorrow"})], 400, "[expiresAt] cannot be parsed"),
        ([FILE, part("metadata", {"expiresAt": "0001-01-01T00:00:00+14:00"})], 400, "the years 1970 and 9998"),
        ([FILE, part("metadata", {"expiresAt": "9999-12-31T23:59:59-14:00"})], 400, "the years 1970 and 9998"),
        ([part("files", b"x", "a")], 400, "Request property [files] cannot be parsed"),
        ([part("file", b"x", b"UTF-8''a%00b")], 201, None),
        ([part("file", b"x", b'x; filename*=UTF-8\'\'a%00b')], 400, "control character"),
    ],
)  # fmt: skip
async def test_what_is_wrong_is_named_and_leaves_nothing(documents, parts, status, detail):
    answer = await documents.post(*parts)
    assert answer.status == status
    if detail is not None:
        assert detail in answer.problem["detail"]
        assert documents.stored == NOTHING


@pytest.mark.parametrize("id", ["batch", "..", "a%2Fb", "a%20b", "a%00b", "x" * 201, ""])
async def test_an_id_fits_into_a_path(documents, id):
    answer = await documents.post(FILE, target=f"/v2/documents?documentId={id}")
    assert answer.status == 400


async def test_another_type_of_body_is_415_and_another_store_400(documents):
    answer = await documents.client("POST", "/v2/documents", b"{}", [(b"content-type", b"application/json")])
    assert answer.status == 415
    answer = await documents.post(FILE, target="/v2/documents?storeId=gcp")
    assert "no document store with storeId 'gcp'" in answer.problem["detail"]


@pytest.mark.parametrize("limits", [{"max_bytes": 2 * PART_BYTES}])
async def test_a_file_beyond_the_limit_is_refused_wherever_it_is_noticed(documents):
    answer = await documents.post(part("file", b"x" * (2 * PART_BYTES + 1), "a"))
    assert (answer.status, answer.problem["title"]) == (413, "Content Too Large")
    assert "[file] is larger than 524288 bytes" in answer.problem["detail"]
    declared = (b"content-length", b"1000000")
    answer = await documents.post(FILE, headers=[declared])
    assert answer.status == 413
    assert (
        "a request with one file of 524288 bytes (documents.max_bytes), and 65536 of metadata"
        in (answer.problem["detail"])
    )
    assert documents.stored == NOTHING


@pytest.mark.parametrize("limits", [{"max_tenant_bytes": 10}])
async def test_a_tenant_has_a_quota_for_what_it_stores(documents):
    reference = await documents.upload(b"123456")
    answer = await documents.post(part("file", b"1234567", "b"))
    assert (answer.status, answer.problem["title"]) == (507, "Insufficient Storage")
    assert documents.stored == (1, 1, 1, 6)
    await documents.get(reference["documentId"], method="DELETE")
    await documents.upload(b"1234567")


def chunks_of(body, size):
    return [body[start : start + size] for start in range(0, len(body), size)]


async def test_a_body_may_arrive_in_pieces_of_any_size(documents):
    body = form(part("file", b"a\r\n--b\r\n" * 20, "a"), part("metadata", {"fileName": "b"}))
    for size in (1, 7, 64):
        answer = await documents.client("POST", "/v2/documents", headers=[FORM], chunks=chunks_of(body, size))
        assert answer.status == 201
        assert (await documents.get(answer.json["documentId"])).body == b"a\r\n--b\r\n" * 20


async def test_a_client_that_leaves_in_between_leaves_nothing(documents):
    body = form(part("file", b"x" * (2 * PART_BYTES + 100), "a"), part("metadata", {"fileName": "b"}))
    documents.client.gone.set()
    for end in (0, 60, PART_BYTES + 500, 2 * PART_BYTES + 110, len(body) - 5):
        chunks = [*chunks_of(body[:end], 65_536), b""]
        await leaving(documents, chunks)
        assert documents.stored == NOTHING, end


async def leaving(documents, chunks):
    """Send these chunks of a longer body, then leave."""
    parts, sent = list(chunks), []

    async def receive():
        await trio.lowlevel.checkpoint()
        return (
            {"type": "http.request", "body": parts.pop(0), "more_body": True} if parts else {"type": "http.disconnect"}
        )

    async def send(message):
        await trio.lowlevel.checkpoint()
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/v2/documents", "query_string": b"", "headers": [FORM]}
    await documents.client.app(scope, receive, send)
    assert sent == []


async def test_a_stopped_server_leaves_nothing(documents, monkeypatch):
    reached = trio.Event()

    async def stall(self, data):
        if self.size > PART_BYTES:
            reached.set()
            await trio.sleep_forever()
        await write(self, data)

    write = upload_module.Upload.write
    monkeypatch.setattr(upload_module.Upload, "write", stall)
    chunks = chunks_of(form(part("file", b"x" * (2 * PART_BYTES), "a")), 65_536)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(documents.client, "POST", "/v2/documents", headers=[FORM], chunks=chunks))
        with trio.fail_after(30):
            await reached.wait()
        assert documents.stored == (0, 1, 1, PART_BYTES)
        nursery.cancel_scope.cancel()
    assert documents.stored == NOTHING


async def test_an_outage_is_an_outage_and_what_is_left_is_dead_later(documents, monkeypatch):
    async def lost(*_args):
        raise ConnectionLost("gone")

    with monkeypatch.context() as patch:
        patch.setattr(contents, "complete", lost)
        patch.setattr(contents, "give_up", lost)
        answer = await documents.post(FILE)
    assert answer.status == 503
    assert documents.stored == (0, 1, 1, 5)
    async with documents.services.reads.pool.connection() as connection:
        (key,) = await contents.unused(connection, "postgres", 10, dead_s=0)
        assert await contents.unused(connection, "postgres", 10) == []
        assert await contents.drop(connection, key) is False
        assert documents.stored == (0, 1, 1, 5)
        await contents.drop(connection, key, dead_s=0)
    assert documents.stored == NOTHING


async def test_an_upload_that_was_given_up_meanwhile_is_told(documents, monkeypatch):
    async def given_up(connection, key, *rest):
        await contents.give_up(connection, key)
        return await add(connection, key, *rest)

    add = contents.add
    monkeypatch.setattr(contents, "add", given_up)
    answer = await documents.post(FILE)
    assert (answer.status, answer.problem["title"]) == (503, "UNAVAILABLE")
    assert documents.stored == NOTHING


BATCH = "/v2/documents/batch"


async def test_a_batch_stores_all_files_in_their_order(documents):
    files = [part("files", content, name) for content, name in ((b"one", "1"), (b"two", "2"), (b"one", "3"))]
    answer = await documents.post(*files, target=BATCH)
    assert answer.status == 201
    assert [each["metadata"]["fileName"] for each in answer.json["createdDocuments"]] == ["1", "2", "3"]
    assert answer.json["failedDocuments"] == []
    assert documents.stored == (3, 2, 2, 6)


@pytest.mark.parametrize("limits", [{"max_bytes": 5}])
async def test_a_batch_names_the_files_that_are_not_stored(documents):
    answer = await documents.post(
        *(part("files", b"long" * 2, "long.txt"), part("files", b"good", "x"), part("files", b"none")),
        *(part("metadataList", {}), part("metadataList", {"fileName": "good.txt"}), part("metadataList", {})),
        target=BATCH,
    )
    assert answer.status == 207
    (created,) = answer.json["createdDocuments"]
    assert created["metadata"]["fileName"] == "good.txt"
    failed = [(each["fileName"], each["status"], each["title"]) for each in answer.json["failedDocuments"]]
    assert failed == [("long.txt", 413, "Content Too Large"), ("", 400, "INVALID_ARGUMENT")]
    assert documents.stored == (1, 1, 1, 4)


@pytest.mark.parametrize(
    ("parts", "detail"),
    [
        (
            [part("files", b"a", "a"), part("metadataList", {}), part("metadataList", {})],
            "1 parts [files], but 2 parts",
        ),
        ([part("metadataList", {})], "No files provided"),
        ([part("files", b"a", "a")] * 3, "more than 2 parts [files]"),
        ([part("files", b"a", "a"), part("metadataList", {"x": 1})], "Part [metadataList]"),
    ],
)
@pytest.mark.parametrize("limits", [{"max_files": 2}])
async def test_a_batch_that_is_wrong_as_a_whole_stores_nothing(documents, parts, detail):
    answer = await documents.post(*parts, target=BATCH)
    assert answer.status == 400
    assert detail in answer.problem["detail"]
    assert documents.stored == NOTHING
