"""Other people in the same database: readers, locks, administrators, rows that nobody of ours wrote."""

import contextlib
import uuid

import psycopg
import pytest
import trio

from tests.eventually import eventually

UNAVAILABLE = (503, 504)
TASK = """<bpmn:process id="{id}" isExecutable="true">
  <bpmn:startEvent id="start"/><bpmn:sequenceFlow id="f" sourceRef="start" targetRef="task"/>
  <bpmn:serviceTask id="task"><bpmn:extensionElements>
    <zeebe:taskDefinition type="{id}"/></bpmn:extensionElements></bpmn:serviceTask>
</bpmn:process>"""
TABLES = """
    SELECT relname FROM pg_class
    WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace ORDER BY relname"""


@contextlib.contextmanager
def session(target, *statements):
    """Somebody's open transaction that has done `statements`."""
    with psycopg.connect(target.database, application_name="somebody") as connection:
        for statement in statements:
            connection.execute(statement)
        yield connection
        connection.rollback()


# ---- readers


async def test_a_dump_while_partitions_of_the_logs_are_due(target):
    tables = ", ".join(name for (name,) in target.sql(TABLES))
    last = target.sql("SELECT last_value FROM log_position_1")[0][0]
    number = (last - (1 << 51)) // 10_000_000
    behind = (1 << 51) + (number + 1) * 10_000_000 - 20  # the next batches go on behind a boundary
    async with target.attacked(terms=0, tolerated=(503,)):  # the jump looks like commands that wait
        with session(
            target, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", f"LOCK TABLE {tables} IN ACCESS SHARE MODE"
        ):
            target.sql("SELECT setval('log_position_1', %s)", (behind,))

            async def made():
                names = {name for (name,) in target.sql(TABLES)}
                return {f"{log}_log_1_{number + 3}" for log in ("command", "event")} <= names

            await eventually(made, "partitions are made ahead beside the reader", within_s=30)
    assert target.sql("SELECT max(position) FROM command_log")[0][0] > behind + 20


async def test_counts_are_right_behind_an_old_snapshot(target):
    with session(target, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM element_counts"):
        async with target.attacked(terms=0, rounds=100):
            pass
    counted = "SELECT sum(active)::int, sum(completed)::int FROM counted_elements WHERE element_id = 'work'"
    real = (
        "SELECT count(*) FILTER (WHERE ended_at IS NULL)::int, count(*) FILTER (WHERE state = 'COMPLETED')::int "
        "FROM element_instances WHERE element_id = 'work'"
    )
    # One statement sees one state, also if the last requests of the others are still being worked off.
    [row] = target.sql(f"SELECT * FROM ({counted}) AS counted, ({real}) AS real")
    assert row[:2] == row[2:]


# ---- locks

LOCKS = {
    "a-table-for-a-second": "LOCK TABLE jobs, event_log IN ACCESS EXCLUSIVE MODE",
    "the-row-of-the-partition": "SELECT * FROM partitions WHERE id = 1 FOR UPDATE",
    "every-job": "SELECT * FROM jobs FOR UPDATE",
    "every-definition": "SELECT * FROM process_definitions FOR UPDATE",
    "every-count": "SELECT * FROM element_counts FOR UPDATE",
    "the-cursor": "SELECT * FROM batches FOR UPDATE",
    "the-append-lock": "SELECT pg_advisory_xact_lock(4711, 1)",
    "an-index-being-made": "CREATE INDEX somebodys ON command_log (intent)",
    "statistics": "LOCK TABLE element_instances IN SHARE UPDATE EXCLUSIVE MODE",
}


@pytest.mark.parametrize("name", LOCKS)
async def test_somebody_holds_a_lock_for_a_while(target, name):
    """Requests wait or are told to come again; nothing is lost, and everything goes on once the lock is gone."""
    async with target.attacked(tolerated=UNAVAILABLE, rounds=10) as others:
        with session(target, LOCKS[name]):
            await trio.sleep(1.5)
        await others.rounds_done(5, 60)


# ---- administrators

OURS = "FROM pg_stat_activity WHERE application_name LIKE 'vivero:%' AND datname = current_database()"


async def test_every_session_is_ended_again_and_again(target):
    """Each end of the consumer's session is a term: as many as we end, and no more."""
    async with target.attacked(tolerated=(0, *UNAVAILABLE), terms=3, rounds=10) as others:
        for _ in range(3):
            target.sql(f"SELECT pg_terminate_backend(pid) {OURS}")
            await others.rounds_done(2, 60)


async def test_every_statement_is_cancelled_again_and_again(target):
    async with target.attacked(tolerated=(0, *UNAVAILABLE), terms=20, rounds=10):
        for _ in range(20):
            target.sql(f"SELECT pg_cancel_backend(pid) {OURS} AND state = 'active'")
            await trio.sleep(0.02)


SETTINGS = {
    "default_transaction_isolation": "serializable",
    "statement_timeout": "1ms",
    "lock_timeout": "1ms",
    "idle_session_timeout": "300ms",
    "transaction_timeout": "1ms",
    "idle_in_transaction_session_timeout": "1ms",
    "exit_on_error": "on",
    "array_nulls": "off",
    "transform_null_equals": "on",
    "plpgsql.extra_errors": "all",
    "search_path": "nowhere",
    "DateStyle": "German",
    "TimeZone": "Asia/Kathmandu",
    "bytea_output": "escape",
    "standard_conforming_strings": "off",
    "enable_indexscan": "off",
    "default_transaction_read_only": "on",
}


PLAIN = "-c default_transaction_read_only=off -c statement_timeout=0 -c lock_timeout=0"


@pytest.mark.parametrize("name", SETTINGS)
async def test_the_database_has_an_odd_setting(target, name):
    """It holds for new sessions. We set what we rely on ourselves, or say what is wrong until it is taken back."""
    with psycopg.connect(target.database, autocommit=True, options=PLAIN) as own:

        def change(how):
            name_of_database = own.info.dbname
            own.execute(f"ALTER DATABASE {name_of_database} {how}")
            own.execute(f"SELECT pg_terminate_backend(pid) {OURS}")

        async with target.attacked(tolerated=(0, 500, *UNAVAILABLE), terms=60, rounds=5, within_s=90):
            try:
                change(f"SET {name} = '{SETTINGS[name]}'")
                await trio.sleep(1.5)
            finally:
                change(f"RESET {name}")


async def test_a_table_is_rewritten_while_it_is_used(target):
    async with target.attacked(tolerated=UNAVAILABLE, rounds=10):
        for statement in ("VACUUM FULL event_log", "REINDEX TABLE jobs", "CLUSTER variables USING variables_pkey"):
            with contextlib.suppress(psycopg.errors.DeadlockDetected):
                await trio.to_thread.run_sync(target.sql, statement)


# ---- notifications

PAYLOADS = [
    "",
    "x",
    "{",
    "[]",
    '{"1":"x"}',
    '{"x":1}',
    '{"1":-5}',
    '{"1":99999999999999999999}',
    "ä" * 3_000,
    '{"\\u0000":1}',
]


@pytest.mark.representative
async def test_notifications_that_nobody_of_ours_sent(target):
    channels = ("vivero_appended", "vivero_processed", "vivero_available")
    known = [name for (name,) in target.sql("SELECT DISTINCT pg_listening_channels()")]
    async with target.attacked(terms=0):
        for channel in (*channels, *known):
            for payload in PAYLOADS:
                target.sql("SELECT pg_notify(%s, %s)", (channel, payload))
        target.sql("SELECT pg_notify('vivero_appended', n::text) FROM generate_series(1, 20000) n")


# ---- rows that nobody of ours wrote

ROWS = {
    "no-such-intent": ("NO:SUCH", None, b"{}"),
    "no-json": ("PROCESS_INSTANCE:CANCEL", 5, b"{"),
    "not-utf-8": ("PROCESS_INSTANCE:CANCEL", 5, b'{"key":"\xff"}'),
    "other-fields": ("PROCESS_INSTANCE:CANCEL", 5, b'{"unknown":1}'),
    "an-empty-payload": ("PROCESS_INSTANCE:CANCEL", 5, b""),
    "deep": ("PROCESS_INSTANCE:CANCEL", 5, b"[" * 50_000),
    "a-number-too-large": ("PROCESS_INSTANCE:CANCEL", 5, b'{"key":' + b"9" * 400 + b"}"),
    "a-list": ("JOB:COMPLETE", 5, b"[1,2,3]"),
}


@pytest.mark.parametrize("name", ROWS)
async def test_a_row_of_the_log_that_cannot_be_read(target, name):
    intent, key, payload = ROWS[name]
    async with target.attacked():
        ((position,),) = target.sql(
            "INSERT INTO command_log (position, partition_id, append_id, ord, at, tenant_id, intent, key, payload) "
            "VALUES (nextval('log_position_1'), 1, %s, 0, now(), '<default>', %s, %s, %s) RETURNING position",
            (uuid.uuid4(), intent, key, payload),
        )

        async def processed():
            answer = await target.call("GET", f"/v2/commands/{position}")
            return answer.status == 200 and answer.json["status"] != "PENDING" and answer.json

        command = await eventually(processed, "the row is worked off", within_s=30)
    assert command["status"] == "REJECTED"
    assert str(position) in str(command)


@pytest.mark.representative
async def test_rows_of_the_inbox_that_cannot_be_read(target):
    async with target.attacked():
        for intent, key, payload in ROWS.values():
            target.sql(
                "INSERT INTO inbox (target_partition, request, tenant_id, intent, key, payload) "
                "VALUES (1, NULL, '<default>', %s, %s, %s)",
                (intent, key, payload),
            )

        async def empty():
            return target.sql("SELECT count(*) FROM inbox") == [(0,)]

        await eventually(empty, "the inbox is empty", within_s=30)


async def test_a_model_that_cannot_be_read_any_more(target):
    """Its instances stand still; others go on, also after the consumer has forgotten all models."""
    await target.deployed(TASK.format(id="damaged"))
    key = await target.created("damaged")
    target.sql(
        "UPDATE resources SET bytes = 'nonsense' WHERE sha256 IN "
        "(SELECT sha256 FROM process_definitions WHERE process_id = 'damaged')"
    )
    async with target.attacked(terms=3, tolerated=(0, *UNAVAILABLE)):
        assert await target.program.hurt("consumer", "raise") == 204
        answer = await target.call("POST", f"/v2/process-instances/{key}/cancellation", {})
        assert answer.status in (204, 500, 504), answer


async def test_the_cursor_has_a_row_of_a_stranger(target):
    """The fence refuses what does not go on from its position: a new term, and no loop."""
    async with target.attacked(terms=3, tolerated=(0, *UNAVAILABLE)):
        target.sql("UPDATE partitions SET epoch = epoch + 1 WHERE id = 1")


async def test_the_clock_is_moved_by_hand(target):
    async with target.attacked(terms=0):
        for revision in range(20):
            target.sql("UPDATE clock SET revision = revision + 1")
            assert revision < 20


async def test_definitions_seem_to_change_all_the_time(target):
    async with target.attacked(terms=0) as others:
        for _ in range(50):
            target.sql("UPDATE definitions_seq SET n = n + 1")
            target.sql("SELECT pg_notify('vivero_definitions', '')")
        await others.rounds_done(5, 60)


async def test_all_connections_of_the_server_are_taken(target):
    """Our own sessions stay; whoever needs a new one waits."""
    with contextlib.ExitStack() as taken:
        async with target.attacked(tolerated=(0, *UNAVAILABLE), rounds=10):
            with contextlib.suppress(psycopg.OperationalError):
                for _ in range(300):
                    taken.enter_context(psycopg.connect(target.database, application_name="somebody"))
            await trio.sleep(0.5)
            taken.close()
