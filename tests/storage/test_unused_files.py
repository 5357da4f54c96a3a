"""Deployed files are deleted when nothing can need them any more, and no deployment loses its own."""

import re

import pytest
import trio
import trio.testing

from vivero.engine.retention.chores import deleting_files
from vivero.storage.postgres.plans import BY_INDEX
from vivero.storage.postgres.sql_files import beside
from vivero.storage.retention import unused_files
from vivero.storage.state import definitions

BYTES = b"x" * 5000
OLD = "UPDATE resources SET unused_since = now() - interval '2 days'"
PROCESS = """
    INSERT INTO process_definitions (process_definition_key, deployment_key, tenant_id, process_id, version,
        resource_name, sha256, state, deployed_at)
    VALUES ({key}, 1, '{tenant}', 'p', 1, 'p.bpmn', 'aa', '{state}', now())"""
DECISIONS = """
    INSERT INTO decision_requirements (decision_requirements_key, deployment_key, tenant_id, requirements_id, version,
        name, resource_name, sha256, state, deployed_at)
    VALUES (1, 1, 't', 'r', 1, 'r', 'r.dmn', '{sha256}', '{state}', now());
    INSERT INTO decision_definitions (decision_definition_key, deployment_key, tenant_id, decision_id, version, name,
        decision_requirements_key, sha256, imports, state, deployed_at)
    VALUES (2, 1, 't', 'd', 1, 'd', 1, '{sha256}', '{imports}', '{state}', now())"""
OTHERS = """
    INSERT INTO {table} ({kind}_key, deployment_key, tenant_id, {kind}_id, version, resource_name, sha256, state,
        deployed_at)
    VALUES (1, 1, 't', 'f', 1, 'f', 'aa', '{state}', now())"""
DELETED = PROCESS.format(key=1, tenant="t", state="DELETED")
INSTANCES = """
    INSERT INTO element_counts VALUES (2, 1, '', 3, 0, 0);
    INSERT INTO element_count_changes (partition_id, process_definition_key, element_id, active, completed, canceled)
    VALUES (2, 1, '', {0}, 0, 0)"""

USED = {
    "a definition": PROCESS.format(key=1, tenant="t", state="ACTIVE"),
    "one that drains": PROCESS.format(key=1, tenant="t", state="DRAINING"),
    "one of another tenant": f"{DELETED}; {PROCESS.format(key=2, tenant='u', state='ACTIVE')}",
    "a deleted one with instances": f"{DELETED}; {INSTANCES.format(-2)}",
    "decisions": DECISIONS.format(sha256="aa", imports="{}", state="ACTIVE"),
    "decisions that import it": DECISIONS.format(sha256="bb", imports="{aa}", state="ACTIVE"),
    "a generic resource": OTHERS.format(table="generic_resources", kind="resource", state="ACTIVE"),
    "a form": OTHERS.format(table="forms", kind="form", state="ACTIVE"),
    "a deleted form, which tasks show": OTHERS.format(table="forms", kind="form", state="DELETED"),
}
UNUSED = {
    "nothing": "SELECT",
    "a deleted definition": DELETED,
    "one whose instances have ended": f"{DELETED}; {INSTANCES.format(-3)}",
    "deleted decisions": DECISIONS.format(sha256="aa", imports="{}", state="DELETED"),
    "deleted decisions that import it": DECISIONS.format(sha256="bb", imports="{aa}", state="DELETED"),
    "a deleted generic resource": OTHERS.format(table="generic_resources", kind="resource", state="DELETED"),
}


@pytest.fixture
async def files(connection):
    """A connection to a database with the file `aa`."""
    await connection.script("SELECT make_partition(2)")
    await definitions.store_resources(connection, [("aa", BYTES)])
    return connection


async def left(connection):
    return [name for (name,) in (await connection.execute("SELECT sha256 FROM resources ORDER BY 1")).rows]


async def judge(connection, age=OLD):
    """Mark the files, let time go by, and delete."""
    await unused_files.mark(connection, "", 10)
    await connection.script(f"{age} WHERE unused_since IS NOT NULL")
    return await unused_files.delete(connection, 3600, 10)


@pytest.mark.parametrize("user", USED.values(), ids=USED)
async def test_a_file_that_something_uses_stays(files, user):
    await files.script(user)
    assert await judge(files) == 0
    await files.script(OLD)
    assert await unused_files.delete(files, 3600, 10) == 0, "somebody used it after it was marked"
    await unused_files.mark(files, "", 10)
    assert (await files.execute("SELECT unused_since FROM resources")).rows == [(None,)]


@pytest.mark.parametrize("user", UNUSED.values(), ids=UNUSED)
async def test_a_file_that_nothing_uses_is_deleted_after_its_time(files, user):
    await files.script(user)
    assert await judge(files, "UPDATE resources SET unused_since = now() - interval '1 minute'") == 0
    assert await judge(files) == 1
    assert await left(files) == []


async def test_a_file_that_is_stored_again_counts_as_new(files):
    await unused_files.mark(files, "", 10)
    await files.script(OLD)
    await definitions.store_resources(files, [("aa", BYTES)])
    assert await unused_files.delete(files, 3600, 10) == 0
    assert await definitions.resource(files, "aa") == BYTES


@pytest.mark.parametrize("first", ["the deployment", "the deletion"])
async def test_a_file_that_is_stored_during_its_deletion_is_there_afterwards(files, connect, first):
    other = await connect()
    await files.script(OLD)

    async def store(connection):
        await definitions.store_resources(connection, [("aa", BYTES)])

    async def delete(connection):
        await unused_files.delete(connection, 3600, 10)

    begins, follows = (store, delete) if first == "the deployment" else (delete, store)
    async with trio.open_nursery() as nursery, files.transaction():
        await begins(files)
        nursery.start_soon(follows, other)
        await trio.testing.wait_all_tasks_blocked(0.05)
    assert await definitions.resource(files, "aa") == BYTES
    other.close()


@pytest.mark.parametrize(
    ("waiting", "deleted"),
    [
        (["DEPLOYMENT:CREATE"], 0),
        (["JOB:COMPLETE", "DEPLOYMENT:CREATE"], 0),
        (["JOB:COMPLETE"] * 3, 1),
        (["JOB:COMPLETE"] * unused_files.MANY_COMMANDS, 0),
    ],
    ids=["a deployment", "behind another command", "others", "very many"],
)
async def test_a_deployment_that_waits_in_the_log_keeps_files(files, waiting, deleted):
    """It may wait for days, because the program stood still."""
    base = 1 << 51
    await files.execute(
        "INSERT INTO command_log (partition_id, position, append_id, ord, at, tenant_id, intent, payload)"
        " SELECT 1, $1 + n, gen_random_uuid(), 0, now(), 't', intent, ''"
        " FROM unnest($2::text[]) WITH ORDINALITY AS w(intent, n)",
        (base, waiting),
    )
    assert await judge(files) == deleted
    await files.execute("INSERT INTO batches VALUES (1, $1, $2, 1, 1)", (base + 1, base + len(waiting)))
    assert await judge(files) == 1 - deleted, "the commands are done"


@pytest.mark.parametrize("target", [1, -1])
async def test_a_deployment_that_another_partition_sends_keeps_files(files, target):
    await files.execute(
        "INSERT INTO inbox (target_partition, tenant_id, intent, payload) VALUES ($1, 't', 'DEPLOYMENT:CREATE', '')",
        (target,),
    )
    assert await judge(files) == 0


async def test_the_chore_walks_over_all_files_and_begins_again(files):
    await files.script(USED["a definition"])
    await definitions.store_resources(files, [(name, BYTES) for name in ("ab", "ac", "ad", "ae")])
    work = deleting_files(2, unused_s=0)
    rounds = 1
    while await work(files, None):
        rounds += 1
    assert (await left(files), rounds) == (["aa"], 6)
    await files.script("UPDATE process_definitions SET state = 'DELETED'")
    while await work(files, None):
        pass
    assert await left(files) == []


@pytest.mark.parametrize("name", ["mark", "delete"])
async def test_files_are_judged_by_indexes(files, name):
    """Also in a new database, without statistics: a file costs a few look-ups, however many versions there are."""
    for setting, value in BY_INDEX.items():
        await files.script(f"SET {setting} = {value}")
    text = beside(unused_files.__file__)[name].text
    for number, value in {"$1": "''" if name == "mark" else "1", "$2": "10", "$3": "1", "$4": "'x'", "$5": "9"}.items():
        text = text.replace(number, value)
    lines = "\n".join(line for (line,) in (await files.execute(f"EXPLAIN {text}")).rows)
    used = set(re.findall(r"(?:using|Scan on) (\w+)", lines))
    assert used >= {
        *("process_definitions_resource", "element_counts_instances", "decision_requirements_resource"),
        *("decision_definitions_imports", "generic_resources_resource", "forms_resource"),
    }, lines
    assert "Seq Scan on resources" not in lines
