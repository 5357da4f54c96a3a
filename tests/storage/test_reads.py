"""The API's reads that are no searches."""

import json

import psycopg
import pytest

from tests.server_objects import new_role
from vivero.storage.postgres import driver
from vivero.storage.reads import diagnosis, figures, single_reads

PINNED, PINNED_MS = "2026-11-21T01:02:03Z", 1795222923000
INSTANCE = (
    "INSERT INTO process_instances (process_instance_key, root_key, process_definition_key, process_id,"
    " process_version, tenant_id, depth, state, tokens, live, incidents, interrupted, started_at, ended_at, version,"
    " created_position) VALUES (%s, 1, 9, 'p', 1, '<default>', 1, %s, '{}', 0, 0, false, now(), %s, 1, 1)"
)


@pytest.fixture
def sync(database):
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("UPDATE clock SET pinned_at = %s", [PINNED])
        yield connection


@pytest.fixture
async def connection(sync, database):
    connection = await driver.connect(database, name="vivero test")
    yield connection
    connection.close()


def put_variable(sync, key, scope, name, value):
    sync.execute("INSERT INTO variables VALUES (%s, %s, 1, 1, '<default>', %s, %s)", [key, scope, name, value])


async def test_the_installation_has_an_identity(sync, connection):
    assert await single_reads.cluster_id(connection) == str(
        sync.execute("SELECT cluster_id FROM cluster").fetchone()[0]
    )


async def test_the_file_of_a_definition(sync, connection):
    sync.execute("INSERT INTO resources (sha256, bytes) VALUES ('aa', %s)", [b"<xml/>\xff"])
    definition = "INSERT INTO process_definitions VALUES (%s, 1, 't', 'p', %s, NULL, NULL, 'f', 'aa', %s, now())"
    for key, state in ((1, "ACTIVE"), (2, "DRAINING"), (3, "DELETED")):
        sync.execute(definition, [key, key, state])
    assert await single_reads.definition_xml(connection, 1) == b"<xml/>\xff"
    assert await single_reads.definition_xml(connection, 2) == b"<xml/>\xff"
    assert await single_reads.definition_xml(connection, 3) is None
    assert await single_reads.definition_xml(connection, 4) is None


async def test_the_result_of_an_instance(sync, connection):
    sync.execute(INSTANCE, [1, "ACTIVATED", None])
    assert await single_reads.result(connection, 1, None) is None
    assert await single_reads.result(connection, 2, None) is None
    sync.execute("UPDATE process_instances SET state = 'COMPLETED', ended_at = now()")
    empty = await single_reads.result(connection, 1, None)
    assert (empty.state, empty.variables) == ("COMPLETED", b"{}")
    put_variable(sync, 10, 1, "b", "[1]")
    put_variable(sync, 11, 1, 'a"', '"x"')
    put_variable(sync, 12, 5, "inner", "1")
    assert json.loads((await single_reads.result(connection, 1, None)).variables) == {'a"': "x", "b": [1]}
    assert json.loads((await single_reads.result(connection, 1, ["b", "c"])).variables) == {"b": [1]}


async def test_an_instance_has_a_root_whether_it_runs_or_not(sync, connection):
    sync.execute(INSTANCE, [1, "COMPLETED", PINNED])
    assert await single_reads.root_of_instance(connection, 1) == 1
    assert await single_reads.root_of_instance(connection, 2) is None


async def test_a_scope_sees_the_innermost_variables_and_the_engines_time(sync, connection):
    sync.execute(INSTANCE, [1, "ACTIVATED", None])
    sync.execute(
        "INSERT INTO element_instances (element_instance_key, root_key, process_instance_key, scope_key, path,"
        " process_definition_key, process_id, element_id, element_type, tenant_id, state, loop_index, tokens, live,"
        " incidents, interrupted, started_at) VALUES (2, 1, 1, 1, '{2,1}', 9, 'p', 'e', 'TASK', 't', 'ACTIVATED', -1,"
        " '{}', 0, 0, false, now())"
    )
    put_variable(sync, 10, 1, "x", "1")
    put_variable(sync, 11, 2, "x", "2")
    put_variable(sync, 12, 1, "y", "3")
    assert await single_reads.scope(connection, None) == (PINNED_MS, b"{}")
    assert await single_reads.scope(connection, 99) == (PINNED_MS, None)
    assert json.loads((await single_reads.scope(connection, 1))[1]) == {"x": 1, "y": 3}
    assert json.loads((await single_reads.scope(connection, 2))[1]) == {"x": 2, "y": 3}


async def test_documents_are_counted_by_store(connection):
    await connection.script(
        "INSERT INTO document_contents (tenant_id, store_id, object_name, sha256, bytes) VALUES"
        " ('a', 'postgres', NULL, 'x', 5), ('b', 'postgres', NULL, 'x', 7), ('a', 'postgres', NULL, NULL, 11),"
        " ('a', 's3', 'o', NULL, 13)"
    )
    assert await figures.read(connection, "documents") == [("postgres", 2, 12, 11), ("s3", 0, 0, 13)]


async def test_a_role_without_rights_counts_the_sessions_of_others(database, connection):
    """They take from the limit of connections, too. The doctor says what the role does not see."""
    with new_role(database, "plain") as role:
        await connection.execute(f'GRANT pg_read_all_data TO "{role}"')
        all_seen = await figures.read(connection, "connections")
        await connection.execute(f'SET ROLE "{role}"')
        ((state, count),) = await figures.read(connection, "connections")
        facts = await diagnosis.read(connection, 0.0)
        await connection.execute("RESET ROLE")
    assert "active" in [row[0] for row in all_seen]
    assert (state, count >= 1) == ("unknown", True)
    assert (facts.sees_others, facts.connections >= 1) == (False, True)
    assert (await diagnosis.read(connection, 0.0)).sees_others
