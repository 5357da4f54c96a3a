"""Commands that clients queue in their own transactions: checks at the call, commits, and the way to the log."""

import json

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from tests.server_objects import new_role
from vivero.storage.access import database_roles
from vivero.storage.background import job_executions
from vivero.storage.log import command_log, transaction_inbox
from vivero.storage.retention import history

ZERO = 1 << 51
"""The position before the first."""
BYTES = 1_000_000
JOB = ZERO + 77
LEASE = "00000000-0000-0000-0000-0000000000aa"

CATALOGUE = f"""
    INSERT INTO tenants (tenant_id, name) VALUES ('acme', 'Acme');
    INSERT INTO process_definitions (process_definition_key, deployment_key, tenant_id, process_id, version,
        resource_name, sha256, state, deployed_at)
    VALUES (1, 1, '<default>', 'order', 1, 'o', 'o', 'ACTIVE', now()),
        (2, 1, 'acme', 'order', 1, 'o', 'o', 'ACTIVE', now()),
        (3, 1, '<default>', 'old', 1, 'o', 'o', 'DRAINING', now());
    INSERT INTO jobs (job_key, root_key, process_instance_key, element_instance_key, path, process_definition_key,
        process_id, process_version, element_id, type, kind, listener_event, listener_index, state, retries, priority,
        headers, tags, tenant_id, created_at, updated_at, ended_at, ready, lease_token)
    SELECT {JOB} + n, 1, 1, 2, '{{2,1}}', 9, 'p', 1, 'task', 'work', 'BPMN_ELEMENT', 'UNSPECIFIED', 0, 'CREATED', 3, 0,
        '{{}}', '{{}}', tenant, now(), now(), CASE n WHEN 2 THEN now() END, false, '{LEASE}'
    FROM (VALUES (0, '<default>'), (1, 'acme'), (2, '<default>')) AS t(n, tenant);
    INSERT INTO job_dispatchers (node, types) VALUES ('a', '{{mail}}');
"""


@pytest.fixture
def caller(database):
    """A session of the owner of the tables."""
    with psycopg.connect(database) as session:
        session.execute(CATALOGUE)
        session.commit()
        yield session


@pytest.fixture
def role(caller, database):
    """The name of a role without rights. It ends with the test."""
    with new_role(database, "shop") as name:
        yield name
        caller.close()  # what it has locked in a transaction would keep the role


def value(session, query, *values):
    return session.execute(query, values).fetchone()[0]


def start(session, process="order", variables="{}", **more):
    named = "".join(f", {name} => %({name})s" for name in more)
    query = f"SELECT start_process(%(process)s, %(variables)s::jsonb{named})"
    return session.execute(query, {"process": process, "variables": variables, **more}).fetchone()[0]


def refused(session, query, *values):
    """The error of a call, whose transaction is rolled back."""
    with pytest.raises(psycopg.Error) as caught:
        session.execute(query, values)
    session.rollback()
    return caught.value.sqlstate, caught.value.diag.message_primary


async def logged(connection, partition=1):
    rows = await connection.execute(
        "SELECT position, intent, tenant_id, payload FROM command_log WHERE partition_id = $1 ORDER BY position",
        (partition,),
    )
    return [(at, intent, tenant, json.loads(payload)) for at, intent, tenant, payload in rows.rows]


async def take(connection, partition=1, above=0, most=100, most_bytes=BYTES):
    return await transaction_inbox.take(connection, partition, above, most, most_bytes)


# ------------------------------------------------------------------------------------------------ transactions


async def test_a_commit_queues_a_command_and_a_move_brings_it_into_the_log(connection, caller):
    assert not (await command_log.look(connection, 1)).has_transactions
    id = start(caller, variables='{"card": "x"}', business_id="b", tags=["t"])
    assert (await command_log.look(connection, 1)).has_transactions
    assert (await take(connection)).last_id is None
    assert caller.execute("SELECT state FROM outcome(%s)", (id,)).fetchall() == [("QUEUED",)]
    caller.commit()
    assert await transaction_inbox.waiting(connection, {1: 0, 2: 0}) == [1]
    assert await take(connection) == (ZERO + 1, id)
    ((at, intent, tenant, payload),) = await logged(connection)
    assert (at, intent, tenant) == (ZERO + 1, "PROCESS_INSTANCE_CREATION:CREATE", "<default>")
    assert payload == {
        "process_id": "order",
        "version": -1,
        "variables": {"card": "x"},
        "tags": ["t"],
        "business_id": "b",
    }
    assert await take(connection) == (None, None)
    assert caller.execute('SELECT state, "position" FROM outcome(%s)', (id,)).fetchall() == [("APPENDED", ZERO + 1)]


async def test_what_is_rolled_back_is_not_queued(connection, caller):
    start(caller)
    caller.rollback()
    start(caller, variables='{"n": 1}')
    caller.execute("SAVEPOINT before")
    start(caller, variables='{"n": 2}')
    caller.execute("ROLLBACK TO SAVEPOINT before")
    start(caller, variables='{"n": 3}')
    caller.commit()
    await take(connection)
    assert [payload["variables"] for *_, payload in await logged(connection)] == [{"n": 1}, {"n": 3}]


async def test_a_late_commit_is_found_and_holds_nobody_up(connection, caller, database):
    late = start(caller, variables='{"n": 1}')
    with psycopg.connect(database, autocommit=True) as other:
        soon = start(other, variables='{"n": 2}')
    assert await take(connection) == (ZERO + 1, soon)
    caller.commit()
    assert await transaction_inbox.waiting(connection, {1: soon}) == []
    assert await take(connection) == (ZERO + 2, late)
    assert [payload["variables"]["n"] for *_, payload in await logged(connection)] == [2, 1]


async def test_a_bounded_look_leaves_rows_of_older_transactions_alone(connection, caller, database):
    """The first id of such a transaction may lie before the look, and its last one behind."""
    start(caller)
    with psycopg.connect(database, autocommit=True) as other:
        soon = start(other)
        job = value(other, "SELECT defer('mail')")
    last = [start(caller), value(caller, "SELECT defer('mail')")]
    caller.commit()
    caller.execute(
        "UPDATE transaction_inbox SET began_at = began_at - interval '1 h' WHERE id <> ALL (%s)", ([soon, job],)
    )
    caller.commit()
    within = (1, soon - 1, 100, BYTES, 1_800_000)
    assert await transaction_inbox.take(connection, *within) == (ZERO + 1, soon)
    assert await transaction_inbox.waiting(connection, {0: 0, 1: 0}, 1_800_000) == [0]
    assert await job_executions.take_queued(connection, 0, 10, 1_800_000) == job
    assert await transaction_inbox.waiting(connection, {0: 0, 1: 0}, 1_800_000) == []
    assert await transaction_inbox.take(connection, *within) == (None, None)
    assert [(await take(connection)).last_id, await job_executions.take_queued(connection, 0, 10)] == last


async def test_a_prepared_transaction_is_queued_by_its_second_commit(connection, caller):
    if value(caller, "SELECT current_setting('max_prepared_transactions')::int") == 0:
        caller.rollback()
        pytest.skip("the server prepares no transactions")
    caller.tpc_begin(caller.xid(1, "queued", "here"))
    start(caller)
    caller.tpc_prepare()
    assert (await take(connection)).last_id is None
    caller.tpc_commit()
    assert (await take(connection)).last_position == ZERO + 1


async def test_serializable_callers_do_not_conflict(connection, caller, database):
    with psycopg.connect(database) as other:
        for session in (caller, other):
            session.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
        for session in (caller, other):
            start(session)
            session.execute("SELECT complete_job(%s)", (JOB,))
        caller.commit()
        other.commit()
    assert len(await logged(connection)) == 0
    await take(connection)
    assert len(await logged(connection)) == 4


async def test_a_transaction_keeps_its_order_in_bounded_moves(connection, caller):
    for n in range(10):
        start(caller, variables=json.dumps({"n": n, "filling": "x" * 1000}))
    caller.commit()
    moves = 0
    while (await take(connection, most=4, most_bytes=2000)).last_id is not None:
        moves += 1
    assert moves == 5
    assert [payload["variables"]["n"] for *_, payload in await logged(connection)] == list(range(10))


async def test_a_move_that_ends_before_its_commit_loses_nothing(connect, connection, caller):
    ids = [start(caller) for _ in range(3)]
    caller.commit()
    dying = await connect()
    await dying.execute("BEGIN")
    assert (await take(dying)).last_id == ids[-1]
    dying.close()
    assert (await take(connection)).last_id == ids[-1]
    assert len(await logged(connection)) == 3
    rows = await connection.execute("SELECT id FROM transaction_outcomes ORDER BY id")
    assert [id for (id,) in rows.rows] == ids


async def test_each_command_goes_to_its_partition(connection, caller):
    await connection.script("SELECT make_partition(2), make_partition(3); UPDATE slots SET partition_id = 2")
    caller.execute("INSERT INTO tenant_partitions VALUES ('acme', 3)")
    caller.commit()
    assert start(caller, tenant="acme") >> 51 == 3
    assert value(caller, "SELECT publish_message('paid', '4711')") >> 51 == 2
    assert value(caller, "SELECT complete_job(%s)", JOB) >> 51 == 1
    homes = {start(caller) >> 51 for _ in range(3)}
    caller.commit()
    assert len(homes) == 1, "one transaction starts all of its instances in one partition"
    for partition in (1, 2, 3):
        await take(connection, partition)
    assert "MESSAGE:PUBLISH" in [intent for _, intent, *_ in await logged(connection, 2)]
    assert ("acme", 3) in [(tenant, at >> 51) for at, _, tenant, _ in await logged(connection, 3)]


# ------------------------------------------------------------------------------------------------ checks at the call


@pytest.mark.parametrize(
    ("query", "state", "message"),
    [
        ("start_process('nosuch')", "P0002", 'there is no process "nosuch"'),
        ("start_process('order', version => 2)", "P0002", 'there is no process "order" with version 2'),
        ("start_process('old')", "P0002", 'there is no process "old"'),
        ("start_process('order', tenant => 'nosuch')", "P0002", 'there is no tenant "nosuch"'),
        ("start_process(NULL)", "22023", "process_id: a value is required"),
        ("start_process('order', '[]')", "22023", "variables: this is array, and must be a JSON object"),
        ("start_process('order', '{')", "22P02", "invalid input syntax for type json"),
        ("start_process('order', tags => '{a,a}')", "22023", "tags: {a,a} is not allowed"),
        ("start_process('order', tags => '{a b}')", "22023", "tags: a b is not allowed"),
        ("start_process('order', tags => ARRAY[NULL])", "22023", "tags: {NULL} is not allowed"),
        ("start_process('order', tags => '{{a},{b}}')", "22023", "tags: {{a},{b}} is not allowed"),
        ("start_process('order', business_id => repeat('x', 257))", "22023", "business_id: 257 characters"),
        ("start_process('order', jsonb_build_object('x', repeat('x', 1048576)))", "54000", "variables: 1048585 bytes"),
        ("start_process('order', jsonb_build_object(repeat('x', 1025), 1))", "22023", "variables: the name of a"),
        ("start_process('order', '{\"n\": 1e309}')", "22023", "variables: a number is outside"),
        (f"start_process('order', '{{\"n\": {'[' * 63}{']' * 63}}}')", "22023", "variables: the nesting"),
        ("publish_message('')", "22023", "name: a value is required"),
        ("publish_message('m', time_to_live => '-1 s')", "22023", "time_to_live: -00:00:01"),
        ("publish_message('m', time_to_live => '101 years')", "22023", "time_to_live: 101 years"),
        ("complete_job(5)", "P0002", "there is no job with the key 5"),
        ("complete_job(NULL)", "P0002", "there is no job with the key NULL"),
        (f"complete_job({JOB + 2})", "55000", f"the job {JOB + 2} has ended"),
        (f"complete_job({JOB}, lease => 'x')", "55000", f"the job {JOB} has another lease"),
        ("defer('nosuch')", "P0002", 'no node runs background jobs of the type "nosuch"'),
        ("defer('vivero.x')", "22023", "job_type: names that begin"),
        ("defer('nightly')", "22023", 'job_type: "nightly" has a schedule or follows events'),
        ("defer('mirror', allow_unknown => true)", "22023", 'job_type: "mirror" has a schedule or follows events'),
        ("defer('mail', at => 'infinity')", "22023", "at: infinity"),
    ],
)  # fmt: skip
async def test_a_bad_call_is_refused_with_its_reason(caller, query, state, message):
    caller.execute(
        "INSERT INTO job_executions (job_type, execute_at, schedule, partition_id)"
        " VALUES ('nightly', now(), '0 3 * * *', NULL), ('mirror', now(), NULL, 1)"
    )
    caller.commit()
    found, said = refused(caller, f"SELECT {query}")
    assert (found, said[: len(message)]) == (state, message)
    assert value(caller, "SELECT count(*) FROM transaction_inbox") == 0


async def test_the_deepest_values_and_the_largest_numbers_are_taken(connection, caller):
    deepest = "[" * 62 + "]" * 62
    start(caller, variables=f'{{"deep": {deepest}, "large": 1.7976931348623157e308, "small": 1e-400}}')
    start(caller, "old", version=1)
    caller.execute("SELECT complete_job(%s, lease => %s)", (JOB, LEASE))
    caller.commit()
    await take(connection)
    *_, (_, intent, tenants, payload) = await logged(connection)
    assert (intent, tenants, payload) == ("JOB:COMPLETE", "*", {"key": JOB, "variables": {}, "lease": LEASE})


async def test_a_full_inbox_refuses_and_a_move_makes_room(connection, caller, database):
    caller.execute("SELECT setval('transaction_inbox_room', 3)")
    ids = [start(caller) for _ in range(5)]
    caller.execute(
        "INSERT INTO transaction_inbox (target_partition, id, tenant_id, intent, payload, size, audit, role_name)"
        " SELECT 9, n, 't', 'X:Y', '', 1, '{}', 'r' FROM generate_series(1, 9995) n"
    )
    caller.commit()
    state, message = refused(caller, "SELECT start_process('order')")
    assert (state, message[:38]) == ("53400", "the inbox is full: 10000 commands with")
    await take(connection, most=2)
    assert start(caller) > ids[-1]
    caller.rollback()
    caller.execute("UPDATE transaction_inbox SET size = 30000 WHERE target_partition = 9")
    caller.commit()
    large = json.dumps({"x": "x" * 27_000})
    assert refused(caller, "SELECT start_process('order', %s)", large)[0] == "53400"
    caller.execute("SELECT setval('transaction_inbox_room', 1000)")
    small = json.dumps({"x": "x" * 26_000})
    assert start(caller, variables=small) > ids[-1], "10,000 of these have 256 MiB"


# ------------------------------------------------------------------------------------------------ rights


async def test_nobody_may_call_without_a_grant(caller, role, database):
    caller.execute(sql.SQL("GRANT USAGE ON SCHEMA public TO {}").format(sql.Identifier(role)))
    caller.commit()
    callable_by_role = value(
        caller,
        "SELECT count(*) FROM pg_proc p WHERE pronamespace = 'public'::regnamespace"
        " AND (prosecdef OR proname ~ '^(take|queue|check|make_room)_')"
        " AND has_function_privilege(%s, p.oid, 'EXECUTE')",
        role,
    )
    assert callable_by_role == 0
    with psycopg.connect(make_conninfo(database, user=role), autocommit=True) as session:
        assert refused(session, "SELECT start_process('order')")[0] == "42501"


async def grant(connection, role, *tenants):
    await database_roles.grant(connection, role, tenants)


async def test_a_role_has_the_tenants_that_it_was_granted(connection, caller, role, database):
    await grant(connection, role, "acme")
    with psycopg.connect(make_conninfo(database, user=role)) as session:
        own = start(session, tenant="acme")
        session.execute("SELECT complete_job(%s)", (JOB + 1,))
        session.commit()
        assert refused(session, "SELECT start_process('order')") == (
            "42501", f'the role "{role}" may not use the tenant "<default>"',
        )  # fmt: skip
        for query in (f"complete_job({JOB})", "start_process('old', tenant => 'acme')"):
            assert refused(session, f"SELECT {query}")[0] == "P0002"
        assert refused(session, "SELECT defer('mail')")[0] == "42501"
        assert refused(session, "SELECT count(*) FROM transaction_inbox")[0] == "42501"
        foreign = start(caller)
        caller.commit()
        assert session.execute("SELECT state FROM outcome(%s)", (own,)).fetchall() == [("QUEUED",)]
        assert session.execute("SELECT state FROM outcome(%s)", (foreign,)).fetchall() == []
    await take(connection)
    rows = await connection.execute("SELECT intent, tenant_id, audit FROM command_log ORDER BY position LIMIT 2")
    assert [(intent, tenant) for intent, tenant, _ in rows.rows] == [
        ("PROCESS_INSTANCE_CREATION:CREATE", "acme"), ("JOB:COMPLETE", "acme"),
    ]  # fmt: skip
    for *_, audit in rows.rows:
        assert json.loads(audit).items() >= {"actor_id": role, "actor_provider": "postgresql"}.items()


async def test_a_role_that_a_session_takes_on_counts_and_not_its_login(connection, caller, role, database):
    """A pooler logs in as a member of all roles, and takes on one of them."""
    await grant(connection, role, "acme")
    start(caller)
    caller.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(role)))
    start(caller, tenant="acme")
    assert refused(caller, "SELECT start_process('order')")[0] == "42501"
    caller.execute("RESET ROLE")


async def test_a_revoked_role_may_call_nothing_more(connection, caller, role, database):
    await grant(connection, role, "*")
    with psycopg.connect(make_conninfo(database, user=role), autocommit=True) as session:
        session.execute("SELECT defer('mail')")
        assert await database_roles.revoke(connection, role)
        assert not await database_roles.revoke(connection, role)
        assert refused(session, "SELECT start_process('order')")[0] == "42501"
    assert await database_roles.grants(connection) == []


async def test_a_role_does_not_inherit_the_tenants_of_a_dropped_one_of_its_name(connection, role):
    """Rows without a right to call are those of the dropped role."""
    await connection.execute(
        "INSERT INTO database_roles (role_name, tenant_id) VALUES ($1, '*'), ('other', '*')", (role,)
    )
    await grant(connection, role, "acme")
    assert ("other", ["*"], False) in await database_roles.grants(connection)
    assert (role, ["acme"], True) in await database_roles.grants(connection)
    await grant(connection, role, "<default>")
    assert (role, ["<default>", "acme"], True) in await database_roles.grants(connection)
    await connection.execute("DELETE FROM database_roles")


async def test_the_search_path_of_a_caller_leads_nowhere_else(connection, caller, role, database):
    await grant(connection, role, "<default>")
    caller.execute(
        sql.SQL("CREATE SCHEMA trap; GRANT ALL ON SCHEMA trap TO {0}; GRANT TEMPORARY ON DATABASE {1} TO {0}").format(
            sql.Identifier(role), sql.Identifier(caller.info.dbname)
        )
    )
    caller.commit()
    with psycopg.connect(make_conninfo(database, user=role), autocommit=True) as session:
        for place in ("trap", "pg_temp"):
            session.execute(f"CREATE TABLE {place}.database_roles AS SELECT %s AS role_name, '*' AS tenant_id", (role,))
        session.execute("SET search_path = pg_temp, trap, public")
        for call in ("start_process('order', tenant => 'acme')", "defer('mail')"):
            assert refused(session, f"SELECT public.{call}")[0] == "42501"
        session.execute("SELECT public.start_process('order')")
    caller.execute("DROP SCHEMA trap CASCADE")
    caller.commit()


# ------------------------------------------------------------------------------------------------ background jobs


async def test_background_jobs_become_executions(connection, caller):
    ids = [
        value(caller, "SELECT defer('mail', '{\"to\": \"ann\"}', unique_key => %s)", key) for key in ("k", "k", None)
    ]
    caller.commit()
    assert await job_executions.take_queued(connection, 0, 10) == ids[-1]
    found = caller.execute("SELECT payload, unique_key FROM job_executions ORDER BY unique_key").fetchall()
    assert found == [({"to": "ann"}, "k"), ({"to": "ann"}, None)]
    made = [caller.execute("SELECT state, execution_id FROM outcome(%s)", (id,)).fetchone() for id in ids]
    assert {state for state, _ in made} == {"DONE"}
    assert made[0] == made[1] != made[2]
    audited = caller.execute("SELECT actor_provider, operation, entity_key FROM audit_log").fetchall()
    assert sorted(audited) == sorted(("postgresql", "CREATE", str(id)) for _, id in made)


async def test_a_unique_key_of_an_open_transaction_delays_itself_alone(connection, caller, database):
    key, plain = value(caller, "SELECT defer('mail', unique_key => 'k')"), value(caller, "SELECT defer('mail')")
    caller.commit()
    with psycopg.connect(database) as handler:
        handler.execute("INSERT INTO job_executions (job_type, unique_key) VALUES ('mail', 'k')")
        assert await job_executions.take_queued(connection, 0, 10) == plain
        handler.commit()
    assert await job_executions.take_queued(connection, 0, 10) == key
    assert value(caller, "SELECT count(*) FROM job_executions") == 2


async def test_a_locked_table_of_executions_delays_no_append(connection, caller):
    value(caller, "SELECT defer('mail')")
    caller.commit()
    caller.execute("LOCK TABLE job_executions")
    assert await job_executions.take_queued(connection, 0, 10) is None
    caller.rollback()
    assert await job_executions.take_queued(connection, 0, 10) is not None


# ------------------------------------------------------------------------------------------------ erasure


async def test_an_erased_instance_takes_queued_completions_along(connection, caller):
    caller.execute(
        """INSERT INTO process_instances (process_instance_key, root_key, process_definition_key, created_position,
            version, started_at, ended_at, process_version, depth, live, incidents, interrupted, process_id, tenant_id,
            state, tokens) VALUES (1, 1, 1, 1, 1, now(), NULL, 1, 1, 0, 0, false, 'p', '<default>', 'ACTIVE', '{}')"""
    )
    id, other = value(caller, "SELECT complete_job(%s)", JOB), start(caller)
    caller.commit()
    await history.delete_trees(connection, [1], history.ERASURE)
    assert value(caller, "SELECT count(*) FROM transaction_inbox") == 2, "the instance runs"
    caller.execute("UPDATE process_instances SET ended_at = now(), state = 'COMPLETED'")
    caller.commit()
    await history.delete_trees(connection, [1], history.ERASURE)
    assert [caller.execute("SELECT state FROM outcome(%s)", (each,)).fetchone() for each in (id, other)] == [
        ("ERASED",), ("QUEUED",),
    ]  # fmt: skip
