"""PostgreSQL finds rows for the engine by index, even with plans that were made while the tables were empty."""

import re
from pathlib import Path

import psycopg
import pytest

from vivero.storage.postgres.plans import BY_INDEX
from vivero.storage.postgres.sql_files import load

pytestmark = pytest.mark.new_database
"""An autovacuum would leave the sizes that its tables had in an earlier test: PostgreSQL would plan for those."""

STORAGE = Path(__file__).parents[3] / "storage"
GENERIC_PLANS = 160_000
"""The first version that explains a plan for any parameters."""

SMALL = {"slot_detours", "slots", "void_leases", "clock", "definitions_seq", "start_subscriptions", "pg_stat_activity"}
"""Tables that are read as a whole."""

CONSUMER = [
    statement
    for name in ("load", "save", "message_channels")
    for statement in load(STORAGE / "state" / f"{name}.sql").values()
    if statement.name != "save.definitions_moved"
] + [load(STORAGE / "access" / "audit_log.sql")[name] for name in ("add", "refuse")]
ACTIVATION = list(load(STORAGE / "work" / "activation.sql").values())


@pytest.fixture
def connection(module_database):
    with psycopg.connect(module_database, autocommit=True) as connection:
        if connection.info.server_version < GENERIC_PLANS:
            pytest.skip("PostgreSQL before 16 explains no statement with parameters")
        yield connection


def use_indexes(connection, settings=BY_INDEX):
    for name, value in settings.items():
        connection.execute(f"SET {name} = {value}")


def plan(connection, statement):
    explained = connection.pgconn.exec_(f"EXPLAIN (GENERIC_PLAN) {statement.text}".encode())
    assert not explained.error_message, explained.error_message
    return "\n".join(explained.get_value(line, 0).decode() for line in range(explained.ntuples))


def tables_read_whole(connection, statement):
    return set(re.findall(r"Seq Scan on (\w+)", plan(connection, statement))) - SMALL


@pytest.mark.parametrize("statement", CONSUMER, ids=lambda statement: statement.name)
def test_a_batch_reads_and_saves_by_index(connection, statement):
    use_indexes(connection)
    assert tables_read_whole(connection, statement) == set()


@pytest.mark.parametrize(
    ("statement", "table"),
    [
        ("families", "process_definitions"),
        ("forms", "forms"),
        ("decision_requirements", "decision_requirements"),
        ("generic_resources", "generic_resources"),
    ],
)
def test_what_was_deployed_together_is_found_by_an_index(connection, statement, table):
    """Each deployment of known files asks for it, whatever else there is."""
    use_indexes(connection)
    lines = plan(connection, load(STORAGE / "state" / "load.sql")[statement])
    assert re.search(rf"{table}_deployment\b.*\n *Index Cond: \(deployment_key = ANY", lines), lines


@pytest.mark.parametrize("statement", ACTIVATION, ids=lambda statement: statement.name)
def test_jobs_are_activated_by_index(connection, statement):
    use_indexes(connection)
    assert tables_read_whole(connection, statement) == set()


LARGE = ("process_instances", "element_instances", "jobs", "variables")
WHOLE_SCAN = re.compile(rf"Index (?:Only )?Scan using (\w+) on (?:{'|'.join(LARGE)})\b.*\n(?! *Index Cond)")
"""An index that is read from its beginning to its end. Its condition would stand in the next line."""
ENDED = """
INSERT INTO {table} ({columns}) SELECT {values} FROM generate_series(1, 2000) AS i
"""
SAMPLES = {"bigint": "i", "integer": "0", "text": "'x'", "boolean": "false", "timestamp with time zone": "now()"}
SAMPLES |= {"json": "'{}'", "ARRAY": "'{}'", "uuid": "gen_random_uuid()", "smallint": "0"}


def add_ended_rows(connection, table):
    """As many as make the indexes of ended rows larger than those of live rows, which stay empty."""
    columns = connection.execute(
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'public'"
        " AND table_name = %s AND (is_nullable = 'NO' OR column_name = 'ended_at') AND is_generated = 'NEVER'",
        (table,),
    ).fetchall()
    values = ", ".join(SAMPLES[kind] for _, kind in columns)
    names = ", ".join(f'"{name}"' for name, _ in columns)
    connection.execute(ENDED.format(table=table, columns=names, values=values))
    connection.execute(f"VACUUM ANALYZE {table}")


@pytest.mark.parametrize("history", [False, True], ids=["in a new database", "while nothing is live"])
def test_no_plan_reads_all_live_rows_whenever_it_was_made(database, history):
    """A burst of work would make each batch slower by all that is live, until PostgreSQL gathers statistics again."""
    with psycopg.connect(database, autocommit=True) as connection:
        if connection.info.server_version < GENERIC_PLANS:
            pytest.skip("PostgreSQL before 16 explains no statement with parameters")
        use_indexes(connection)
        for table in LARGE if history else ():
            add_ended_rows(connection, table)
        plans = {one.name: plan(connection, one) for one in [*CONSUMER, *ACTIVATION]}
    assert {name: WHOLE_SCAN.findall(text) for name, text in plans.items() if WHOLE_SCAN.search(text)} == {}


def assert_outcomes_are_found_by_the_primary_key(connection):
    """Another index of the log contains positions behind the root's key: it would be read as a whole."""
    text = plan(connection, load(STORAGE / "log" / "command_log.sql")["outcomes"])
    assert re.search(r"event_log_1_0_pkey.*\n.*partition_id = .* AND \(\"?position\"? = ", text), text
    assert "root_key" not in text
    assert "Seq Scan" not in text


@pytest.mark.parametrize("settings", [{}, BY_INDEX], ids=["default", "new"])
def test_outcomes_are_found_by_the_primary_key_in_an_empty_log(connection, settings):
    use_indexes(connection, settings)
    assert_outcomes_are_found_by_the_primary_key(connection)


@pytest.mark.usefixtures("connection")
def test_outcomes_are_found_by_the_primary_key_in_an_empty_log_that_was_vacuumed(database):
    """In a database of its own: the other tests expect tables that nobody has vacuumed."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE event_log")
        use_indexes(connection)
        assert_outcomes_are_found_by_the_primary_key(connection)


VARIABLES_OF_SCOPES = (
    r"using variables_of_scopes on .*\n *Index Cond: \(\(process_instance_key = .+\) AND \(scope_key = "
)
INNER_INSTANCES = r"using element_instances_scope on .*\n *Index Cond: \(?\(scope_key = "


@pytest.mark.parametrize(
    ("file", "name", "found"),
    [
        ("load", "variables", VARIABLES_OF_SCOPES),
        ("snapshots", "characters", VARIABLES_OF_SCOPES),
        ("load", "children_ahead", INNER_INSTANCES),
        ("load", "children_of", INNER_INSTANCES),
        ("snapshots", "inner_instances", INNER_INSTANCES),
    ],
)
def test_indexes_that_serve_few_statements_serve_these(connection, file, name, found):
    """Variables by instance and scope, and inner instances of paged loops, which alone are in their index."""
    use_indexes(connection)
    text = plan(connection, load(STORAGE / "state" / f"{file}.sql")[name])
    assert re.search(found, text), text


def test_an_unprepared_session_would_read_whole_tables(connection):
    """The plan without the settings: without this the tests above could not fail."""
    assert any(tables_read_whole(connection, statement) for statement in [*CONSUMER, *ACTIVATION])


@pytest.mark.parametrize("name", ["take", "mark", "settle"])
def test_items_of_a_batch_operation_that_statistics_do_not_know_are_found_by_their_keys(database, name):
    """With the batch alone a statement would read all of its items, for each portion of them."""
    arguments = {
        "take": "2, ARRAY[7, 8], 1",
        "mark": "2, ARRAY[7, 8], ARRAY[1, 2], 1",
        "settle": "2, ARRAY[7, 8], ARRAY['COMPLETED', 'FAILED'], ARRAY[NULL, 'no'], 1",
    }
    with psycopg.connect(database, autocommit=True) as connection:
        use_indexes(connection, BY_INDEX | {"plan_cache_mode": "force_custom_plan"})
        connection.execute(
            "INSERT INTO batch_operation_items (batch_operation_key, type, item_key, process_instance_key, root_key,"
            " process_id, tenant_id, state) SELECT 1, 'CANCEL_PROCESS_INSTANCE', i, i, i, 'p', '', 'COMPLETED'"
            " FROM generate_series(1, 3000) AS i"
        )
        connection.execute("ANALYZE batch_operation_items")
        text = load(STORAGE / "work" / "batch_operations.sql")[name].text
        connection.pgconn.exec_(f"PREPARE asked AS {text}".encode())
        found = connection.execute(f"EXPLAIN EXECUTE asked ({arguments[name]})").fetchall()
    lines = "\n".join(line for (line,) in found)
    assert re.search(r"Scan using batch_operation_items_.*\n *Index Cond: .*(item_key|position\"?) = ", lines), lines


def test_whether_a_background_job_repeats_is_found_among_any_number_of_executions(connection):
    """Each addition of a job asks it."""
    use_indexes(connection, {"enable_seqscan": "off"})
    text = plan(connection, load(STORAGE / "background" / "job_executions.sql")["repeats"])
    assert {"job_executions_schedule", "job_executions_consumer"} <= set(re.findall(r"job_executions_\w+", text))
