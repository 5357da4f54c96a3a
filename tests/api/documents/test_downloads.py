"""Downloads: ranges, headers that keep browsers from running a document, expiry, and links."""

import pytest
import trio

from vivero.api.documents import links
from vivero.api.documents.links import LinkKeys
from vivero.api.documents.serving import DocumentLost
from vivero.api.http.downloads import disposition
from vivero.api.http.problems import Problem
from vivero.engine.documents.pace import PART_BYTES
from vivero.storage.documents.documents import DocumentPlace

CONTENT = bytes(range(256)) * (PART_BYTES // 128)
"""Two parts."""


@pytest.mark.parametrize(
    ("asked", "status", "first", "end"),
    [
        ("bytes=0-0", 206, 0, 1),
        ("bytes=0-", 200, 0, None),
        ("bytes=5-9", 206, 5, 10),
        ("bytes=-3", 206, -3, None),
        ("bytes=-9999999999", 200, 0, None),
        (f"bytes={PART_BYTES - 2}-{PART_BYTES + 1}", 206, PART_BYTES - 2, PART_BYTES + 2),
        (f"bytes={PART_BYTES}-99999999", 206, PART_BYTES, None),
        ("bytes=9-5", 200, 0, None),
        ("bytes=0-1,4-5", 200, 0, None),
        ("bytes=-", 200, 0, None),
        ("lines=1-2", 200, 0, None),
    ],
)
async def test_a_range_is_a_part_of_the_bytes(documents, asked, status, first, end):
    id = (await documents.upload(CONTENT))["documentId"]
    answer = await documents.get(id, (b"range", asked.encode()))
    expected = CONTENT[first:end]
    assert (answer.status, answer.body) == (status, expected)
    assert answer.headers[b"content-length"] == b"%d" % len(expected)
    if status == 206:
        begin = first % len(CONTENT)
        place = f"bytes {begin}-{begin + len(expected) - 1}/{len(CONTENT)}"
        assert answer.headers[b"content-range"] == place.encode()


@pytest.mark.parametrize(("size", "asked"), [(5, "bytes=5-"), (5, "bytes=-0"), (0, "bytes=0-0"), (0, "bytes=-1")])
async def test_a_range_outside_of_the_document_is_416(documents, size, asked):
    id = (await documents.upload(b"x" * size))["documentId"]
    answer = await documents.get(id, (b"range", asked.encode()))
    assert answer.status == 416
    assert answer.headers[b"content-range"] == b"bytes */%d" % size


async def test_a_range_of_another_version_is_not_mixed_in(documents):
    reference = await documents.upload(b"hello")
    asked, id = (b"range", b"bytes=1-2"), reference["documentId"]
    tag = f'"{reference["contentHash"]}"'.encode()
    assert (await documents.get(id, asked, (b"if-range", tag))).body == b"el"
    assert (await documents.get(id, asked, (b"if-range", b'"other"'))).body == b"hello"


async def test_no_browser_runs_a_document(documents):
    page = b"<script>alert(1)</script>"
    id = (await documents.upload(page, 'x".html', contentType="text/html"))["documentId"]
    for method in ("GET", "HEAD"):
        headers = (await documents.get(id, method=method)).headers
        assert headers[b"content-disposition"].startswith(b"attachment; ")
        assert headers[b"x-content-type-options"] == b"nosniff"
        assert headers[b"content-security-policy"] == b"default-src 'none'; sandbox"
        assert (headers[b"content-type"], headers[b"content-length"]) == (b"text/html", b"%d" % len(page))


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("a.txt", "attachment; filename=\"a.txt\"; filename*=UTF-8''a.txt"),
        ('x"; y=z', "attachment; filename=\"x__ y_z\"; filename*=UTF-8''x%22%3B%20y%3Dz"),
        ("größe 1.pdf", "attachment; filename=\"gr__e 1.pdf\"; filename*=UTF-8''gr%C3%B6%C3%9Fe%201.pdf"),
    ],
)
def test_a_name_never_leaves_its_header(name, header):
    assert disposition(name) == (b"content-disposition", header.encode())


async def test_a_head_request_reads_no_part(documents):
    id = (await documents.upload(CONTENT))["documentId"]
    documents.rows.execute("DELETE FROM document_parts")
    answer = await documents.get(id, method="HEAD")
    assert (answer.status, answer.headers[b"content-length"]) == (200, b"%d" % len(CONTENT))


async def test_the_hash_is_compared_if_it_is_given(documents):
    reference = await documents.upload(b"hello")
    id = reference["documentId"]
    assert (await documents.get(id, query=f"?contentHash={reference['contentHash'].upper()}")).status == 200
    assert "not that of the document" in (await documents.get(id, query="?contentHash=ab")).problem["detail"]
    assert (await documents.get("unknown")).status == 404


async def test_a_download_of_what_is_deleted_meanwhile_breaks_off(documents):
    id = (await documents.upload(CONTENT))["documentId"]
    documents.rows.execute("DELETE FROM document_parts WHERE first > 0")
    with pytest.raises(DocumentLost, match=f"ends at byte {PART_BYTES}"):
        await documents.get(id)
    documents.rows.execute("DELETE FROM document_parts")
    assert (await documents.get(id)).status == 404


async def test_an_expired_document_is_gone_before_it_is_deleted(documents):
    reference = await documents.upload(b"hello", expiresAt="2020-01-01T00:00:00Z")
    assert reference["metadata"]["expiresAt"] == "2020-01-01T00:00:00.000Z"
    assert (await documents.get(reference["documentId"])).status == 404


@pytest.mark.parametrize("limits", [{"ttl": "P1D"}])
async def test_a_document_without_an_expiry_has_that_of_the_settings(documents):
    assert (await documents.upload(b"hello"))["metadata"]["expiresAt"] is not None
    explicit = await documents.upload(b"hello", expiresAt="2099-01-01T00:00:00+01:00")
    assert explicit["metadata"]["expiresAt"] == "2098-12-31T23:00:00.000Z"


async def link(documents, id, ttl_ms=60_000, **headers):
    answer = await documents.client(
        "POST", f"/v2/documents/{id}/links", {"timeToLive": ttl_ms}, [(b"host", b"localhost:1")]
    )
    assert answer.status == 201, answer.body
    return answer.json


async def open_link(documents, url, *headers):
    assert url.startswith("http://localhost:1/v2/document-links/")
    return await documents.client("GET", url.removeprefix("http://localhost:1"), headers=headers)


async def test_a_link_shows_its_document_and_nothing_else(documents):
    id = (await documents.upload(b"hello"))["documentId"]
    other = (await documents.upload(b"other"))["documentId"]
    url = (await link(documents, id))["url"]
    assert (await open_link(documents, url)).body == b"hello"
    assert (await open_link(documents, url, (b"range", b"bytes=1-1"))).body == b"e"
    place, _, text = url.rpartition("/")
    said, _, mac = text.partition(".")
    foreign = (await link(documents, other))["url"].rpartition("/")[2].partition(".")[0]
    for wrong in ("", f"{said}.", f"{said}.{mac[:-2]}AA", f"{foreign}.{mac}", said, "x.y", "a.b.c", "%ff.x"):
        assert (await open_link(documents, f"{place}/{wrong}")).status == 404


async def test_a_link_ends_with_its_time_or_its_document_or_its_key(documents):
    id = (await documents.upload(b"hello", target="/v2/documents?documentId=mine"))["documentId"]
    short, long = await link(documents, id, 1), await link(documents, id)
    assert short["expiresAt"] < long["expiresAt"]
    documents.rows.execute("SELECT pg_sleep(0.002)")
    assert (await open_link(documents, short["url"])).status == 404
    await documents.get(id, method="DELETE")
    await documents.upload(b"another", target="/v2/documents?documentId=mine")
    assert (await open_link(documents, long["url"])).status == 404
    third = (await link(documents, id))["url"]
    documents.rows.execute("DELETE FROM document_link_keys")
    assert (await open_link(documents.on_another_node(), third)).status == 404


async def test_keys_are_replaced_each_week_and_verify_until_their_last_link_has_ended(documents):
    id = (await documents.upload(b"hello"))["documentId"]
    first = (await link(documents, id))["url"]
    documents.rows.execute("UPDATE document_link_keys SET created_at = created_at - interval '8 days'")
    second = (await link(documents, id))["url"]
    assert documents.one("SELECT count(*) FROM document_link_keys") == 2
    for url in (first, second):
        assert (await open_link(documents, url)).status == 200
    documents.rows.execute("UPDATE document_link_keys SET created_at = created_at - interval '8 days'")
    other = documents.on_another_node()
    assert [(await open_link(other, url)).status for url in (first, second)] == [404, 200]


async def test_links_with_unknown_keys_ask_the_database_once_a_second_and_wait_for_it(documents, monkeypatch):
    """Another node may have made the key since this one looked."""
    monkeypatch.setattr(links, "UNKNOWN_S", 0.01)
    asked = []

    def connections():
        asked.append(1)
        return documents.services.reads.pool.connection()

    text = await LinkKeys(60).sign(connections, 1, DocumentPlace("a", "postgres", "t"), 1)
    other = LinkKeys(60)
    documents.rows.execute("DELETE FROM document_link_keys")
    asked.clear()

    async def refused():
        assert await other.opened(connections, text, "a") is None

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(refused)
    assert len(asked) == 1
    text = await LinkKeys(60).sign(connections, 1, DocumentPlace("a", "postgres", "t"), 1)
    assert await other.opened(connections, text, "a") is not None, "not refused, although it has just looked"


async def test_an_address_can_try_a_bounded_number_of_links_with_unknown_keys(documents, monkeypatch, mock_clock):
    """They wait and look for keys. Links with known keys, other addresses and texts that are no links do not count."""
    connections, place = documents.services.reads.pool.connection, DocumentPlace("a", "postgres", "t")
    unknown = await LinkKeys(60).sign(connections, 1, place, 1)
    documents.rows.execute("DELETE FROM document_link_keys")
    keys = LinkKeys(60)
    monkeypatch.setattr(links, "UNKNOWN_S", 0.0)  # nothing waits; the pace of `keys` is made
    known = await keys.sign(connections, 1, place, 1)
    for _ in range(links.UNKNOWN_BURST):
        assert await keys.opened(connections, known, "a") is not None
        assert await keys.opened(connections, "x", "a") is None
        assert await keys.opened(connections, unknown, "a") is None
    with pytest.raises(Problem) as refused:
        await keys.opened(connections, unknown, "a")
    assert (refused.value.status, refused.value.headers) == (429, ((b"retry-after", b"1"),))
    assert await keys.opened(connections, unknown, "b") is None
    assert await keys.opened(connections, known, "a") is not None
    mock_clock.jump(1)
    assert await keys.opened(connections, unknown, "a") is None, "a second later it may try again"


async def test_a_page_with_many_links_opens_on_a_node_that_has_just_started(documents):
    """The node has no keys yet. They are read once, and the links do not count as unknown."""
    connections, place = documents.services.reads.pool.connection, DocumentPlace("a", "postgres", "t")
    text = await LinkKeys(60).sign(connections, 1, place, 1)
    node, opened = LinkKeys(60), []

    async def open_link():
        opened.append(await node.opened(connections, text, "a"))

    async with trio.open_nursery() as nursery:
        for _ in range(links.UNKNOWN_BURST + 5):
            nursery.start_soon(open_link)
    assert len(opened) == links.UNKNOWN_BURST + 5
    assert None not in opened


@pytest.mark.parametrize("ttl", [0, -1, 7 * 24 * 3600 * 1000 + 1, "x", 1.5])
async def test_the_life_of_a_link_has_limits(documents, ttl):
    id = (await documents.upload(b"hello"))["documentId"]
    answer = await documents.client("POST", f"/v2/documents/{id}/links", {"timeToLive": ttl})
    assert answer.status == 400
    assert "timeToLive" in answer.problem["detail"]
    assert (await documents.client("POST", f"/v2/documents/{id}/links", b"")).status == 201
    assert (await documents.client("POST", "/v2/documents/unknown/links", b"")).status == 404
