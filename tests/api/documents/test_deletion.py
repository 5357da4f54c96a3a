"""Documents that end with their process instance, and the chores that delete what has ended."""

from hashlib import sha256

import psycopg
import pytest
import trio

from tests.api.documents.conftest import do_chores
from tests.api.rows import KEY, NOW
from vivero.storage.access import directory
from vivero.storage.documents import contents
from vivero.storage.documents import documents as rows_of_documents
from vivero.storage.postgres.errors import ConnectionLost
from vivero.storage.retention import history


async def delete_instance(documents, reason):
    async with documents.services.reads.pool.connection() as connection:
        return await history.delete_trees(connection, [KEY], reason)


@pytest.mark.parametrize(
    ("limits", "reason", "left"),
    [
        ({}, history.REQUEST, 4),
        ({}, history.ERASURE, 2),
        ({"with_instances": True}, history.REQUEST, 2),
    ],
)
async def test_a_document_may_go_with_its_instance(documents, reason, left):
    """Not with a running one, with another one, or with one of another tenant."""
    documents.rows.instance(KEY)
    documents.rows.instance(KEY + 1, parent_process_instance_key=KEY, tenant_id="<default>", ended_at=NOW)
    documents.rows.instance(KEY + 2, ended_at=NOW)
    for key in (KEY, KEY + 1, KEY + 2):
        await documents.upload(b"%d" % key, processInstanceKey=str(key))
    await documents.upload(b"other", "of b", processInstanceKey=str(KEY))
    documents.rows.execute("INSERT INTO tenants (tenant_id, name) VALUES ('b', '')")
    documents.rows.execute("UPDATE documents SET tenant_id = 'b' WHERE file_name = 'of b'")
    await delete_instance(documents, reason)
    await do_chores(documents)
    assert documents.stored[0] == 4
    documents.rows.execute("UPDATE process_instances SET ended_at = %s, state = 'COMPLETED'", [NOW])
    await delete_instance(documents, reason)
    await do_chores(documents)
    assert documents.stored[:3] == (left, left, left)


async def test_chores_delete_what_has_expired_and_what_nobody_needs(documents):
    await documents.upload(b"old", expiresAt="2020-01-01T00:00:00Z")
    kept = await documents.upload(b"same", expiresAt="2020-01-01T00:00:00Z")
    await documents.upload(b"same")
    documents.rows.execute(
        "INSERT INTO document_contents (tenant_id, store_id, alive_at) VALUES"
        " ('<default>', 'postgres', now() - interval '2 hours'), ('<default>', 'postgres', now())"
    )
    documents.rows.execute("INSERT INTO document_link_keys (secret, created_at) VALUES ('', '2020-01-01'), ('', now())")
    await do_chores(documents)
    assert documents.stored == (1, 2, 1, 4)
    assert documents.one("SELECT count(*) FROM document_link_keys") == 1
    assert (await documents.get(kept["documentId"])).status == 404


async def test_a_deleted_document_is_deleted_whatever_happens_to_its_content(documents, monkeypatch):
    async def lost(*_args):
        raise ConnectionLost("gone")

    reference = await documents.upload()
    with monkeypatch.context() as patch:
        patch.setattr(contents, "drop", lost)
        assert (await documents.get(reference["documentId"], method="DELETE")).status == 204
    assert documents.stored == (0, 1, 1, 5)
    await do_chores(documents)
    assert documents.stored == (0, 0, 0, 0)


async def test_a_large_content_is_deleted_in_many_short_statements(documents, monkeypatch):
    monkeypatch.setattr("vivero.storage.documents.contents.PARTS", 2)
    reference = await documents.upload(bytes(5 * 256 * 1024))
    await documents.get(reference["documentId"], method="DELETE")
    assert documents.stored == (0, 1, 3, 3 * 256 * 1024)
    await do_chores(documents)
    assert documents.stored == (0, 0, 0, 0)


async def test_an_expiry_and_an_upload_of_the_same_bytes_never_wait_for_each_other(documents):
    """The contents have the reverse order of their sums. The upload holds the first one that the expiry wants."""
    sums = {content: sha256(content).hexdigest() for content in (b"1", b"2", b"3")}
    for content in sorted(sums, key=sums.__getitem__, reverse=True):
        await documents.upload(content, expiresAt="2020-01-01T00:00:00Z")
    connections, expired = documents.services.reads.pool.connection, []
    async with connections() as uploading, connections() as expiring, trio.open_nursery() as nursery:

        async def expire():
            expired.append(await rows_of_documents.expire(expiring, 10))

        keys = {sum: await contents.begin(uploading, "<default>", "postgres") for sum in sorted(sums.values())}
        (first, key), *others = keys.items()
        async with uploading.transaction():
            await contents.complete(uploading, key, first)
            nursery.start_soon(expire)
            while not (expired or documents.one("SELECT count(*) FROM pg_locks WHERE NOT granted")):
                await trio.lowlevel.checkpoint()
            found = [await contents.complete(uploading, key, sum) for sum, key in others]
    assert expired == [3]
    assert len(set(found) & set(keys.values())) == 0


async def test_the_documents_of_a_deleted_tenant_go_also_those_that_come_late(documents):
    """An upload that begins before the deletion ends behind it. A later tenant with the id inherits nothing."""
    documents.rows.execute("INSERT INTO tenants (tenant_id, name) VALUES ('gone', ''), ('kept', '')")
    for name in ("gone", "kept"):
        await documents.upload(name.encode(), name)
        for table in ("documents", "document_contents", "document_usage"):
            documents.rows.execute(f"UPDATE {table} SET tenant_id = '{name}' WHERE tenant_id = '<default>'")
    async with documents.services.reads.pool.connection() as connection:
        assert await directory.delete(connection, directory.TENANT, "gone") == "done"
    documents.rows.execute("INSERT INTO tenants (tenant_id, name) VALUES ('gone', '')")
    await do_chores(documents)
    assert documents.stored == (1, 1, 1, 4)
    documents.rows.execute("DELETE FROM tenants WHERE tenant_id = 'kept'")
    await do_chores(documents)
    assert documents.stored == (0, 0, 0, 0)


@pytest.mark.parametrize(
    "bad", ["NULL, 0, 1, 'a', 0", "{}, 0, NULL, 'a', 0", "{}, 0, 1, NULL, 0", "{}, 0, 2, 'a', 0", "{}, -1, 1, 'a', 0"]
)
async def test_the_database_takes_no_part_that_is_none(documents, bad):
    async with documents.services.reads.pool.connection() as connection:
        key = await contents.begin(connection, "<default>", "postgres")
    with pytest.raises(psycopg.errors.CheckViolation):
        documents.rows.execute(f"SELECT add_document_part({bad.format(key)})")
    assert documents.stored == (0, 1, 0, 0)
