"""Documents in calls: files that are sent, and responses that are stored."""

import json
import re
from dataclasses import replace
from hashlib import sha256

import msgspec
import psycopg
import pytest

from tests.engine.connectors.http_calls import HttpCalls
from tests.engine.connectors.test_http_json import SECRETS, job
from vivero.engine.connectors.outbound.documents import CallDocuments
from vivero.engine.connectors.work.results import Completion, Failure
from vivero.engine.connectors.work.secrets import UsedSecrets
from vivero.engine.documents.opening import open_stores
from vivero.engine.documents.settings import DocumentSettings
from vivero.engine.documents.uploads import DocumentStorage
from vivero.storage.documents import documents
from vivero.storage.postgres.driver import connect
from vivero.storage.postgres.errors import ConnectionLost
from vivero.storage.postgres.pool import Pool

CONTENT = bytes(range(256)) * 1100
"""A little more than a part."""


class Calls:
    """Calls with documents on a real database."""

    def __init__(self, database, client, storage) -> None:
        self.database, self.client, self.storage = database, client, storage

    async def work(self, inputs, **headers):
        connector = HttpCalls(self.client, CallDocuments(self.storage))
        made = msgspec.structs.replace(job(inputs, **headers), process_definition_id="order", process_instance_key="7")
        return await connector.work(made, UsedSecrets(SECRETS))

    async def stored(self, content=CONTENT):
        """The reference to a document, which a response of the server becomes."""
        reference = await CallDocuments(self.storage).store(job({}), "image/png", content)
        return json.loads(json.dumps(reference))

    def counted(self):
        with psycopg.connect(self.database, autocommit=True) as rows:
            return rows.execute(
                "SELECT (SELECT count(*) FROM documents), count(*), coalesce(sum(bytes), 0)::bigint"
                " FROM document_contents"
            ).fetchone()


@pytest.fixture(params=["postgres", "directory"])
async def calls(request, database, client, tmp_path):
    settings = DocumentSettings(store=request.param, directory=tmp_path / "files", max_bytes=1_000_000)
    pool = Pool(lambda deadline: connect(database, deadline=deadline), 2)
    yield Calls(database, client, DocumentStorage(settings, open_stores(settings, pool.connection), pool.connection))
    pool.close()


async def test_a_document_is_sent_as_its_bytes_with_its_type(server, calls):
    server.answer = lambda request: (200, {}, None)
    reference = await calls.stored()
    for given, expected in (
        ({}, "image/png"),
        ("", "image/png"),
        ({"Content-Type": None}, "image/png"),
        ({"content-type": "a/b"}, "a/b"),
    ):
        inputs = {"url": server.url, "method": "POST", "body": reference, "headers": given}
        assert isinstance(await calls.work(inputs), Completion)
        assert (server.received[-1].body, server.received[-1].headers["content-type"]) == (CONTENT, expected)
    await CallDocuments(calls.storage).delete([reference], "other")
    assert calls.counted()[0] == 1
    await CallDocuments(calls.storage).delete([reference], job({}).tenant_id)
    assert calls.counted()[0] == 0


@pytest.mark.parametrize("headers", ["X-Key: 1", ["X-Key"], 5])
async def test_headers_that_are_no_context_are_told(server, calls, headers):
    for body in (await calls.stored(), {"a": 1}):
        failed = await calls.work({"url": server.url, "method": "POST", "body": body, "headers": headers})
        assert (failed.variables["error"]["code"], failed.retries) == ("INVALID_INPUT", 0)
        assert "headers must be a context" in failed.message
    assert server.received == []


async def test_a_form_has_files_and_fields(server, calls):
    server.answer = lambda request: (200, {}, None)
    reference = await calls.stored(b"file \r\n")
    body = {"one": reference, "more": [reference, "text"], "n": 5, "none": None}
    headers = {"Content-Type": "multipart/form-data"}
    assert isinstance(
        await calls.work({"url": server.url, "method": "post", "body": body, "headers": headers}), Completion
    )
    sent = server.received[-1]
    boundary = sent.headers["content-type"].partition("boundary=")[2].encode()
    heads = [part.partition(b"\r\n\r\n")[0] for part in sent.body.split(b"--" + boundary)[1:-1]]
    assert [b"call-response" in head and b"image/png" in head for head in heads] == [True, True, False, False]
    assert sent.body.count(b"file \r\n") == 2


async def test_a_response_becomes_a_document_that_names_its_instance(server, calls):
    server.answer = lambda request: (200, {"Content-Type": "application/pdf"}, CONTENT)
    outcome = await calls.work({"url": server.url, "storeResponse": "true"}, resultVariable="whole")
    assert isinstance(outcome, Completion), outcome
    whole = outcome.variables["whole"]
    reference = whole["document"]
    assert (whole["status"], whole["body"]) == (200, None)
    assert reference["contentHash"] == sha256(CONTENT).hexdigest()
    assert reference["metadata"] == {
        "contentType": "application/pdf",
        "fileName": "call-response",
        "expiresAt": None,
        "size": len(CONTENT),
        "processDefinitionId": "order",
        "processInstanceKey": "7",
        "customProperties": {},
    }
    server.answer = lambda request: (200, {}, None)
    inputs = {"url": server.url, "method": "PUT", "body": json.loads(json.dumps(reference))}
    assert isinstance(await calls.work(inputs), Completion)
    assert server.received[-1].body == CONTENT
    assert calls.counted() == (1, 1, len(CONTENT))


async def test_a_response_that_expires_at_once_fails_the_call(server, calls):
    server.answer = lambda request: (200, {}, CONTENT)
    calls.storage = replace(calls.storage, settings=replace(calls.storage.settings, ttl="PT1M"))
    with psycopg.connect(calls.database, autocommit=True) as rows:
        rows.execute(
            "CREATE FUNCTION expire() RETURNS trigger LANGUAGE plpgsql AS"
            " 'BEGIN NEW.expires_at := clock_now() - interval ''1 second''; RETURN NEW; END';"
            "CREATE TRIGGER expire BEFORE INSERT ON documents FOR EACH ROW EXECUTE FUNCTION expire()"
        )
    failed = await calls.work({"url": server.url, "storeResponse": True})
    assert failed.variables["error"]["code"] == "DOCUMENT_STORE"
    assert "was deleted at once" in failed.message


@pytest.mark.parametrize(
    "wrong",
    [{"documentId": ""}, {"documentId": "a\0b"}, {"storeId": "a\0b"}, {"storeId": "gcp"}],
)
async def test_a_reference_that_leads_nowhere_is_told(server, calls, wrong):
    reference = await calls.stored() | wrong
    for body, headers in ((reference, {}), ({"a": [None, [], reference]}, {"Content-Type": "multipart/form-data"})):
        failed = await calls.work({"url": server.url, "method": "POST", "body": body, "headers": headers})
        assert (failed.variables["error"]["code"], failed.retries) == ("DOCUMENT_NOT_FOUND", 0)
    assert server.received == []


@pytest.mark.parametrize("empty", [{}, {"a": None}, {"a": []}, {"a": [None]}, [], "text", 5])
async def test_a_form_without_parts_is_told(server, calls, empty):
    headers = {"Content-Type": "multipart/form-data"}
    failed = await calls.work({"url": server.url, "method": "POST", "body": empty, "headers": headers})
    assert (failed.variables["error"]["code"], failed.retries) == ("INVALID_INPUT", 0)
    assert "multipart" in failed.message
    assert server.received == []


@pytest.mark.parametrize("field", ["documentId", "storeId", "contentHash"])
async def test_what_is_no_reference_is_sent_as_it_is(server, calls, field):
    """Nested references, too: only the parts of a form, alone or in lists, are files."""
    server.answer = lambda request: (200, {}, None)
    reference = await calls.stored()
    for body in (reference | {field: 5}, {"in": reference}, [reference]):
        assert isinstance(await calls.work({"url": server.url, "method": "POST", "body": body}), Completion)
        assert json.loads(server.received[-1].body) == body
    form = {"a": reference | {field: 5}, "b": [[reference], {"in": reference}]}
    headers = {"Content-Type": "multipart/form-data"}
    sent = await calls.work({"url": server.url, "method": "POST", "body": form, "headers": headers})
    assert isinstance(sent, Completion)
    assert CONTENT not in server.received[-1].body


async def test_the_expiry_in_a_reference_has_the_format_of_the_api(calls):
    calls.storage = replace(calls.storage, settings=replace(calls.storage.settings, ttl="PT1H"))
    expires_at = (await calls.stored())["metadata"]["expiresAt"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", expires_at), expires_at


async def test_an_error_and_a_response_that_is_too_large_are_not_stored(server, calls):
    server.answer = lambda request: (404, {}, {"why": "none"})
    failed = await calls.work({"url": server.url, "storeResponse": True})
    assert failed.variables["error"]["variables"]["response"]["body"] == {"why": "none"}
    server.answer = lambda request: (500, {}, bytes(20_000))
    failed = await calls.work({"url": server.url, "storeResponse": True})
    assert (failed.variables["error"]["code"], failed.variables["error"]["variables"]) == ("500", {})
    server.answer = lambda request: (200, {}, bytes(1_000_001))
    failed = await calls.work({"url": server.url, "storeResponse": True})
    assert (failed.variables["error"]["code"], failed.retries) == ("RESPONSE_TOO_LARGE", 0)
    assert calls.counted() == (0, 0, 0)


async def test_a_quota_leaves_nothing(server, calls):
    server.answer = lambda request: (200, {}, CONTENT)
    calls.storage = replace(calls.storage, settings=replace(calls.storage.settings, max_tenant_bytes=len(CONTENT) - 1))
    failed = await calls.work({"url": server.url, "storeResponse": True})
    assert (failed.variables["error"]["code"], failed.retries) == ("DOCUMENT_QUOTA", 0)
    assert calls.counted() == (0, 0, 0)


async def test_no_secret_is_in_a_stored_response(server, calls):
    server.answer = lambda request: (200, {}, b"before " + request.headers["x-key"].encode() + b" \xff")
    inputs = {"url": server.url, "headers": {"X-Key": "{{secrets.KEY}}"}, "storeResponse": True}
    outcome = await calls.work(inputs, resultVariable="whole")
    assert server.received[-1].headers["x-key"] == SECRETS["KEY"]
    assert outcome.variables["whole"]["document"]["contentHash"] == sha256(b"before *** \xff").hexdigest()


async def test_a_document_that_is_not_there_is_told(server, calls):
    reference = await calls.stored()
    wrong = [
        ({"documentId": "other"}, "DOCUMENT_NOT_FOUND"),
        ({"storeId": "s3"}, "DOCUMENT_NOT_FOUND"),
        ({"contentHash": "0" * 64}, "INVALID_INPUT"),
    ]
    for change, code in wrong:
        failed = await calls.work({"url": server.url, "method": "POST", "body": reference | change})
        assert (failed.variables["error"]["code"], failed.retries) == (code, 0)
    with psycopg.connect(calls.database, autocommit=True) as rows:
        rows.execute("UPDATE documents SET tenant_id = 'other'")
    failed = await calls.work({"url": server.url, "method": "POST", "body": reference})
    assert failed.variables["error"]["code"] == "DOCUMENT_NOT_FOUND"
    assert server.received == []


async def test_all_files_of_a_request_count(server, calls):
    reference = await calls.stored(bytes(600_000))
    headers = {"Content-Type": "multipart/form-data"}
    inputs = {"url": server.url, "method": "POST", "body": {"files": [reference, reference]}, "headers": headers}
    failed = await calls.work(inputs)
    assert "has 600000 bytes, and those of this request may have 400000 more" in failed.message
    assert (failed.retries, server.received) == (0, [])


async def test_a_store_that_is_away_and_an_outage_are_tried_again(server, calls, monkeypatch):
    async def lost(*_args):
        raise ConnectionLost("gone")

    server.answer = lambda request: (200, {}, CONTENT)
    monkeypatch.setattr(documents, "add", lost)
    failed = await calls.work({"url": server.url, "storeResponse": True})
    assert isinstance(failed, Failure)
    assert (failed.variables["error"]["code"], failed.retries) == ("DOCUMENT_STORE", None)
    assert calls.counted() == (0, 0, 0)
