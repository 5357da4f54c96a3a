"""The doctor tries the stores of documents, and a backup says what it does not have."""

import psycopg
import pytest

from tests.engine.documents.bucket_server import ACCESS_KEY, BUCKET, REGION, SECRET, serving
from vivero.cli.server.backup import summary
from vivero.engine.documents.settings import DocumentSettings
from vivero.operations import backups
from vivero.operations.document_stores import examine
from vivero.operations.findings import Level
from vivero.storage.postgres import driver


@pytest.fixture
async def connection(database):
    connection = await driver.connect(database)
    yield connection
    connection.close()


def insert(database, store, *, complete=True, age="0"):
    values = ("x", "-infinity") if not complete else ("sum", None)
    with psycopg.connect(database, autocommit=True) as rows:
        rows.execute(
            "INSERT INTO document_contents (tenant_id, store_id, object_name, sha256, bytes, alive_at) VALUES"
            " ('<default>', %s, 'x', %s, 3000000, coalesce(%s::timestamptz, now()))",
            [store, values[0] if complete else None, values[1]],
        )


async def told(connection, **settings):
    found = await examine(DocumentSettings(**settings), connection, True)
    return [(one.level, one.text) for one in found]


async def test_without_other_stores_all_documents_are_in_the_database(connection):
    assert await told(connection) == [(Level.OK, "all are in the database")]


async def test_a_directory_is_tried_once_it_is_used(connection, database, tmp_path):
    directory = tmp_path / "files"
    ((level, text),) = await told(connection, directory=directory)
    assert (level, "is made at its first use" in text, directory.exists()) == (Level.OK, True, False)
    insert(database, "directory")
    _counted, (level, text) = await told(connection, directory=directory)
    assert (level, "lacks the file vivero-documents" in text) == (Level.PROBLEM, True)
    directory.mkdir()
    (directory / "vivero-documents").touch()
    counted, (level, text) = await told(connection, directory=directory)
    assert counted == (Level.OK, "1 files, 3 MB, are in the store 'directory', and not in backups of the database")
    assert (level, text) == (
        Level.OK,
        f"the store 'directory' can be written, read and deleted from: {directory}",
    )
    assert [path.name for path in directory.rglob("*") if path.is_file()] == ["vivero-documents"]
    (directory / "pr").rmdir()
    (directory / "pr").touch()
    _counted, (level, _text) = await told(connection, directory=directory)
    assert level is Level.PROBLEM


async def test_files_of_a_store_that_no_setting_names_are_a_problem(connection, database):
    insert(database, "s3")
    (found,) = await told(connection)
    assert found == (Level.PROBLEM, "1 files are in the store 's3', which no setting names")


async def test_files_that_stay_too_long_are_told(connection, database, tmp_path):
    insert(database, "directory", complete=False)
    (level, text), _store = await told(connection, directory=tmp_path)
    assert (level, text) == (Level.WARNING, "1 files of the store 'directory' should be deleted and are not")


async def test_a_bucket_is_tried(connection):
    with serving() as server:
        of_bucket = {"bucket": f"s3://{BUCKET}", "s3_endpoint": server.url, "s3_region": REGION}
        access = {"s3_access_key": ACCESS_KEY, "s3_secret": SECRET}
        assert await told(connection, **of_bucket, **access) == [
            (Level.OK, f"the store 's3' can be written, read and deleted from: s3://{BUCKET}/")
        ]
        assert (server.left, server.calls) == ((0, 0), ["PUT", "GET", "GET prefix uploads", "DELETE"])
        ((level, text),) = await told(connection, **of_bucket, **access | {"s3_secret": "wrong"})
        assert (level, "SignatureDoesNotMatch" in text) == (Level.PROBLEM, True)


async def test_a_backup_says_what_it_does_not_have(connection, database, tmp_path):
    insert(database, "s3")
    made = await backups.take(database, tmp_path / "backup", jobs=1, progress=lambda *_step: None)
    assert made.outside == {"s3": (1, 3_000_000)}
    assert backups.read_manifest(tmp_path / "backup").outside == made.outside
    assert summary(made).endswith(
        "Not in the backup: 1 files of documents (3.0 MB) are in the store 's3'. They need a backup of their own"
    )
