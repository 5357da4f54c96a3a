"""The doctor's findings for a table of facts, and for a real server."""

from dataclasses import replace
from time import time_ns

import msgspec
import psycopg
import pytest
from click.testing import CliRunner

from vivero.cli import main
from vivero.cli.server.doctor import archive as archive_finding
from vivero.cli.server.doctor import disk, doctor
from vivero.config.sources import load
from vivero.operations.doctor import judge, worst
from vivero.operations.findings import Level
from vivero.storage.postgres import driver
from vivero.storage.postgres.connection_limit import Limit
from vivero.storage.reads import diagnosis
from vivero.storage.reads.diagnosis import DeadRows, Facts, Slot, Standby
from vivero.storage.retention.history import State
from vivero.storage.schema.migration_files import SCHEMA_VERSION

SETTINGS = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "synchronous_standby_names": "",
    "autovacuum": "on",
    "max_connections": "100",
    "shared_buffers": "16384 8kB",
    "max_wal_size": "1024 MB",
    "data_checksums": "on",
}
WELL = Facts("18.4", 0.01, 10**7, 1000, SETTINGS, connections=20, schema=SCHEMA_VERSION, nodes=1)


RAN = State(1, 1.0, 60.0, 5, 500, None, None, None, None, None, None)


def replaced(**changed):
    return msgspec.structs.replace(RAN, **changed)


def keeps(by, name):
    much = {"logs_oldest_s": 43 * 86_400.0, "logs_commands": 1234, "logs_bytes": 9_000_000}
    return replaced(logs_kept_by=by, logs_kept_name=name, logs_kept_s=41 * 86_400.0, **much)


WAITS = replaced(kept_key=77, overdue_s=2 * 86_400.0, kept_by="a start lock")


def told(facts):
    return {(one.subject, one.level.value): one.text for one in judge(facts) if one.level is not Level.OK}


def test_nothing_is_wrong_with_a_server_as_it_should_be():
    assert told(WELL) == {}
    assert worst(judge(WELL)) is Level.OK
    assert next(one.subject for one in judge(WELL)) == "server"


def test_retention_that_runs_is_well():
    assert told(replace(WELL, retention=[RAN, replaced(ran_s=None), replaced(kept_key=7, overdue_s=60.0)])) == {}


OF_SERVER, OF_ROLE = Limit("max_connections", 97, 20, 3), Limit("CONNECTION LIMIT of the role r", 30, 20, 0)


def settings(**changed):
    return replace(WELL, settings=SETTINGS | changed)


@pytest.mark.parametrize(
    ("facts", "subject", "level", "text"),
    [
        (replace(WELL, schema=None), "schema", "warning", "no tables yet"),
        (replace(WELL, schema=SCHEMA_VERSION - 1), "schema", "warning", f"needs {SCHEMA_VERSION}"),
        (replace(WELL, schema=SCHEMA_VERSION + 1), "schema", "problem", f"knows {SCHEMA_VERSION}"),
        (settings(fsync="off"), "durability", "problem", "fsync is off"),
        (settings(full_page_writes="off"), "durability", "problem", "full_page_writes is off"),
        (settings(synchronous_commit="local"), "durability", "problem", "synchronous_commit is local"),
        (settings(data_checksums="off"), "durability", "warning", "checksums are off"),
        (settings(autovacuum="off"), "vacuum", "problem", "autovacuum is off"),
        (replace(WELL, transaction_age=600_000_000), "vacuum", "warning", "600,000,000 old"),
        (replace(WELL, transaction_age=1_100_000_000), "vacuum", "problem", "1,100,000,000 old"),
        (replace(WELL, dead_rows=[DeadRows("jobs", 5, 90_000, -1)]), "vacuum", "warning", "jobs: 90,000 dead rows"),
        (replace(WELL, oldest_transaction_s=3600.0), "transactions", "warning", "open for 60 minutes"),
        (replace(WELL, sees_others=False), "transactions", "warning", "alerts on them are silent"),
        (replace(WELL, idle_in_transaction=2), "transactions", "warning", "2 sessions sit idle"),
        (
            replace(WELL, retention=[WAITS]),
            "retention",
            "warning",
            "instance 77 stays 2 days too long: a start lock",
        ),
        (replace(WELL, retention=[replaced(ran_s=4e4)]), "retention", "warning", "it ran 11 hours ago"),
        (
            replace(WELL, retention=[replaced(problem="AWAY", problem_s=600.0)]),
            "retention",
            "problem",
            "10 minutes: AWAY",
        ),
        (replace(WELL, retention=[replaced(behind_s=2e5)]), "retention", "warning", "2 days behind the engine's clock"),
        (
            replace(WELL, retention=[keeps("consumer", "bi")]),
            "retention",
            "warning",
            "bi has read nothing for 41.0 days",
        ),
        (replace(WELL, retention=[keeps("instance", "5")]), "retention", "warning", "1,234 commands and 9 MB since 43"),
        (replace(WELL, prepared=["gone"]), "transactions", "problem", "forgotten: gone"),
        (replace(WELL, connections=95), "connections", "problem", "95 of 100 are in use"),
        (
            replace(WELL, nodes=5, limits=[OF_SERVER]),
            "connections",
            "warning",
            "5 nodes may need 160: max_connections: 97",
        ),
        (replace(WELL, limits=[OF_SERVER, OF_ROLE]), "connections", "warning", "1 nodes may need 32: CONNECTION LIMIT"),
        (replace(WELL, invalid_indexes=["jobs_x"]), "indexes", "problem", "jobs_x is not valid"),
        (replace(WELL, slots=[Slot("old", False, 5e9)]), "replication", "warning", "keeps 5,000 MB"),
        (settings(synchronous_standby_names="b"), "replication", "problem", "no synchronous standby"),
        (replace(WELL, standbys=[Standby("b", "async", 2e8)]), "replication", "warning", "b is 200 MB behind"),
        (replace(WELL, clock_off_s=-7.0), "clocks", "warning", "by -7.0 s"),
        (replace(WELL, engine_clock_s=86_400.0), "clocks", "warning", "by +86,400 s"),
        (settings(shared_buffers="1024 8kB"), "speed", "warning", "shared_buffers is 8 MB"),
        (settings(max_wal_size="512 MB"), "speed", "warning", "max_wal_size is 512 MB"),
        (settings(random_page_cost="4"), "speed", "warning", "random_page_cost is 4 times seq_page_cost"),
        (settings(work_mem="1024 kB"), "speed", "warning", "work_mem is 1.0 MB"),
        (
            settings(work_mem="1048576 kB"),
            "speed",
            "warning",
            "work_mem is 1,074 MB for each sort",
        ),
        (settings(maintenance_work_mem="1024 kB"), "speed", "warning", "maintenance_work_mem is 1.0 MB"),
        (settings(commit_delay="10000"), "speed", "warning", "commit_delay is 10000"),
        (settings(autovacuum_naptime="3600 s"), "speed", "warning", "autovacuum_naptime is 3600 s"),
        (settings(checkpoint_timeout="30 s"), "speed", "warning", "checkpoint_timeout is 30 s"),
        (settings(max_locks_per_transaction="10"), "speed", "warning", "max_locks_per_transaction is 10"),
        (settings(track_activities="off"), "speed", "warning", "track_activities is off"),
        (settings(track_counts="off"), "vacuum", "problem", "track_counts is off, so autovacuum does nothing"),
        (settings(zero_damaged_pages="on"), "durability", "problem", "zero_damaged_pages is on"),
        (settings(ignore_checksum_failure="on"), "durability", "problem", "ignore_checksum_failure is on"),
        (
            settings(statement_timeout="5 ms"),
            "session",
            "warning",
            "statement_timeout is 5 ms for sessions",
        ),
        (
            settings(default_transaction_isolation="serializable"),
            "session",
            "warning",
            "nodes have read committed",
        ),
        (replace(WELL, of_role={"DateStyle": "German"}), "session", "warning", "DateStyle is German for sessions"),
        (settings(log_statement="all"), "privacy", "warning", "log_statement is all: the server's log has variables"),
        (settings(log_min_duration_statement="0 ms"), "privacy", "warning", "log_min_duration_statement is 0"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_is_wrong_is_told_with_what_to_do(facts, subject, level, text):
    (found,) = told(facts).items()
    assert found[0] == (subject, level)
    assert text in found[1]
    assert all(one.advice for one in judge(facts) if one.level is not Level.OK)


def test_a_synchronous_standby_that_is_there_is_well():
    facts = settings(synchronous_standby_names="b")
    assert told(replace(facts, standbys=[Standby("b", "sync", 0.0), Standby("hidden", "async", None)])) == {}


async def test_a_real_server_is_examined(connection):
    facts = await diagnosis.read(connection, time_ns() / 1e9)
    assert facts.schema == SCHEMA_VERSION
    assert facts.settings.keys() >= SETTINGS.keys()
    assert abs(facts.clock_off_s) < 60
    assert facts.connections >= 1
    assert judge(facts)


async def test_settings_of_a_role_are_those_that_sessions_of_others_begin_with(database):
    """The session of the command has made its own."""
    with psycopg.connect(database, autocommit=True) as administrator:
        administrator.execute(f"ALTER DATABASE {administrator.info.dbname} SET statement_timeout = '7s'")
        administrator.execute(f"ALTER DATABASE {administrator.info.dbname} SET work_mem = '1MB'")
    connection = await driver.connect(database)
    facts = await diagnosis.read(connection, time_ns() / 1e9)
    connection.close()
    assert facts.of_role == {"statement_timeout": "7s", "work_mem": "1MB"}
    assert {("session", "warning"), ("speed", "warning")} <= told(facts).keys()
    assert tuple(dict.fromkeys(diagnosis.SETTINGS)) == diagnosis.SETTINGS


async def test_a_failed_index_and_a_moved_clock_are_found(connection):
    await connection.execute("CREATE INDEX broken ON jobs (type)")
    await connection.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'broken'::regclass")
    await connection.execute("UPDATE clock SET shift = '90 s'")
    facts = await diagnosis.read(connection, time_ns() / 1e9)
    assert facts.invalid_indexes == ["broken"]
    assert {("indexes", "problem"), ("clocks", "warning")} <= told(facts).keys()


def test_the_command_prints_findings_and_its_exit_code_tells_of_problems(database):
    done = CliRunner().invoke(doctor, ["--database-url", database, "--json"])
    assert '"subject":"server"' in done.output.replace(" ", ""), done.output
    problems = '"level":"problem"' in done.output.replace(" ", "")
    assert done.exit_code == int(problems)


async def test_the_archive_is_looked_at(tmp_path):
    async def said(known=False, **archive):
        flags = {f"retention.{name}": value for name, value in archive.items()}
        found = await archive_finding(load(environment={}, flags=flags), known)
        return found.level, found.text

    assert await said() == (Level.OK, "there is none: retention.archive names one")
    assert await said(archive=str(tmp_path / "new")) == (Level.OK, f"{tmp_path}/new can be reached")
    level, text = await said(known=True, archive=str(tmp_path / "new"))
    assert (level, "is not there, but the database knows files in it" in text) == (Level.PROBLEM, True)
    (tmp_path / "file").write_text("")
    level, text = await said(archive=str(tmp_path / "file" / "below"))
    assert (level, "cannot be written from here" in text) == (Level.PROBLEM, True)


def test_the_disk_of_another_machine_is_not_known():
    chosen = load(environment={}, flags={"database.url": "postgresql://x"})
    assert "not known from here" in disk(chosen).text


@pytest.mark.parametrize("command", [("doctor",), ("backup", "copy"), ("migrate", "--check")], ids=" ".join)
def test_a_look_makes_no_database(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, [*command, "--data-dir", str(tmp_path / "none")])
    assert done.exit_code == 1
    assert "there is no database at" in done.stderr
    assert list(tmp_path.iterdir()) == []
