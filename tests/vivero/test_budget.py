"""The connections that several processes need."""

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
import trio
from psycopg.conninfo import conninfo_to_dict

from tests import plain_http
from tests.eventually import eventually_rows, eventually_sync
from tests.server_objects import new_role
from vivero import node
from vivero.api.access.settings import TenantSettings
from vivero.config import budget
from vivero.config.connection_budget import TooFewConnections, fit
from vivero.config.roles import Role
from vivero.config.sections import Config, DatabaseSettings
from vivero.engine.jobs.settings import JobSettings
from vivero.storage.cluster import nodes
from vivero.storage.cluster.nodes import Registration
from vivero.storage.postgres import driver
from vivero.storage.postgres.conninfo import with_user


@pytest.mark.parametrize(
    ("roles", "partitions", "needed"),
    [("api,engine,jobs,web", 1, 32), ("api,engine,jobs", 4, 41), ("api", 4, 23), ("engine", 2, 33), ("jobs", 9, 5)],
)
def test_connections_of_a_process(roles, partitions, needed):
    assert budget.connections(Config(roles=roles, partitions=partitions)) == needed


@pytest.mark.parametrize("module", sorted(Path(node.__file__).parent.glob("*.py")), ids=lambda path: path.name)
def test_each_connection_of_a_node_is_in_the_budget(module):
    found = re.findall(r"\b(?:dedicated|by_deadline)\(\s*(?:task_name\()?\"([a-z-]+)\"", module.read_text())
    found += re.findall(r"\"vivero:([a-z-]+)\"", module.read_text())
    assert set(found) <= set(budget.NEEDS)


def test_no_part_has_more_connections_than_its_budget(up, database, ask):
    """Connections of partitions have their numbers behind their names."""
    config = Config(partitions=2)
    program = up(database, "--partitions", "2")
    query = (
        "SELECT jsonb_object_agg(name, sessions) FROM ("
        "SELECT regexp_replace(application_name, '^vivero:|-[0-9]+$', '', 'g') AS name, count(*) AS sessions"
        " FROM pg_stat_activity WHERE application_name LIKE 'vivero:%'"
        " AND datname = current_database() GROUP BY 1) AS found"
    )
    eventually_sync(lambda: (ask(database, query) or {}).get("timers"), accept=lambda found: found == 2)
    found = ask(database, query)
    assert {"cluster", "appender", "listener", "completions", "consumer-writer", "chores"} <= set(found), program.logged
    assert {name: count for name, count in found.items() if count > budget.NEEDS[name](config)} == {}


def test_processes_with_the_same_roles_are_computed_once():
    """The sizes that a start tries, times 256 processes, took a minute of CPU."""
    config = Config(processes=256, engine_processes=85, partitions=85)
    processes = config.of_each_process
    engine, server = processes[0], processes[-1]
    assert [one is engine for one in processes] == [True] * 85 + [False] * 171
    assert all(one is server for one in processes[85:])
    assert budget.of_program(config) == 85 * budget.connections(engine) + 171 * budget.connections(server)


def test_too_little_memory_is_told_with_what_to_do():
    two = Config(processes=2)
    needed = budget.memory_bytes(two)
    assert budget.too_little_memory(two, 2 * needed) is None
    assert "lower http.memory_bytes" in budget.too_little_memory(two, 2 * needed - 1)
    assert budget.memory_bytes(Config(roles=Role.JOBS)) == budget.BASE_BYTES


WITH_JOBS = Config(jobs=JobSettings(module="jobs.py"))


@pytest.mark.parametrize(
    ("config", "granted", "pool_size", "jobs"),
    [
        (Config(), 100, 8, 10),
        (Config(), 32, 8, 10),
        (Config(), 31, 7, 10),
        (Config(), 20, 1, 10),
        (Config(), 17, 1, 10),
        (Config(), 16, None, None),
        (Config(processes=2), 64, 8, 10),
        (Config(processes=2), 63, 7, 10),
        (Config(processes=2, engine_processes=1), 57, 8, 10),
        (Config(processes=2, engine_processes=1), 56, 7, 10),
        (Config(database=DatabaseSettings(pool_size=2)), 19, 2, 10),
        (WITH_JOBS, 43, 8, 10),
        (WITH_JOBS, 28, 1, 8),
        (WITH_JOBS, 19, 1, 1),
        (WITH_JOBS, 18, None, None),
    ],
)
def test_pools_shrink_to_what_is_granted(config, granted, pool_size, jobs):
    fitted = budget.fitted(config, granted)
    assert fitted is None or budget.of_program(fitted) <= granted
    assert (fitted and fitted.database.pool_size, fitted and fitted.jobs.max_concurrent) == (pool_size, jobs)


@pytest.fixture
def limit(database):
    """Sets the limit of the database."""

    def make(sessions):
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {connection.info.dbname} CONNECTION LIMIT {sessions}")

    return make


@pytest.mark.new_database
async def test_the_limit_of_the_database_counts(database, limit):
    limit(20)
    fitted = await fit(database, Config())
    assert (fitted.database.pool_size, budget.connections(fitted)) == (1, 17)
    with psycopg.connect(database), psycopg.connect(database):
        expected = "2 processes need at least 34 .* and 18 are free .CONNECTION LIMIT of the database test_.*: 20, 2 by"
        with pytest.raises(TooFewConnections, match=expected):
            await fit(database, Config(processes=2))
        assert budget.connections(await fit(database, Config())) == 17


async def test_the_limit_of_the_role_counts(database):
    with role(database, "few", 12) as few:
        expected = f"needs at least 17 connections .*, and 12 are free .CONNECTION LIMIT of the role {few}: 12"
        with pytest.raises(TooFewConnections, match=expected):
            await fit(with_user(database, few), Config())


@contextmanager
def role(database, stem, limit):
    """The name of a role that may have so many sessions, and may read of the nodes."""
    with new_role(database, stem, f"LOGIN CONNECTION LIMIT {limit}") as name:
        with psycopg.connect(database) as administrator:
            administrator.execute(f"GRANT SELECT ON nodes TO {name}")
        yield name


@pytest.mark.new_database
async def test_sessions_of_nodes_that_run_count(database, limit):
    """Those of a node that was killed go away, so they are waited for; without any node they count for nothing."""
    limit(20)
    beside = [await driver.connect(database, name="vivero:api") for _ in range(4)]
    assert budget.connections(await fit(database, Config())) == 17
    await nodes.register(beside[0], Registration("a", ["api"], "1.0", 13, "host", 8080))
    await only(beside)
    with pytest.raises(TooFewConnections, match=r"and 16 are free .*: 20, 4 by other nodes in use"):
        await fit(database, Config(), gone_s=0)
    await only(beside)
    await nodes.register(beside[1], Registration("b", ["engine"], "1.0", 13, "host", 8080))
    fitted = await fit(database, Config(partitions=4))  # those move to it when that node ends
    assert (fitted.database.pool_size, fitted.partitions) == (1, 4)
    await nodes.leave(beside[1], "b")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(fit, database, Config())
        await trio.testing.wait_all_tasks_blocked(0.05)
        for connection in beside:
            connection.close()


async def only(connections):
    """Wait until these are the only sessions of the database: those that were closed end a moment later."""
    query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename IS NOT NULL"
    await eventually_rows(connections[0], [(len(connections),)], query)


async def test_the_second_role_has_a_limit_of_its_own(database):
    """Three processes, because four need nearly all connections of a server that other tests use, too."""
    with role(database, "reads", 2) as reads:
        settings = DatabaseSettings(reader_url=with_user(database, reads))
        config = Config(tenants=TenantSettings(enabled=True), database=settings)
        assert (await fit(database, config)).database.pool_size == 2
        divided = replace(config, processes=3, engine_processes=1)  # two of them serve clients
        assert (await fit(database, divided)).database.pool_size == 1
        with pytest.raises(
            TooFewConnections, match=r"reader_url: 3 processes need at least 3 connections .* 2 are free"
        ):
            await fit(database, replace(divided, engine_processes=0))
        assert (await fit(database, replace(config, roles="engine"))).database.pool_size == config.database.pool_size


@pytest.fixture
def few(empty_database):
    """An empty database whose owner may have few connections, which does not hold for superusers."""
    name = conninfo_to_dict(empty_database)["dbname"]
    with new_role(empty_database, "few", "LOGIN CONNECTION LIMIT 18") as few:
        with psycopg.connect(empty_database, autocommit=True) as administrator:
            administrator.execute(f"ALTER DATABASE {name} OWNER TO {few}")
        yield with_user(empty_database, few)


@pytest.mark.long
def test_with_few_connections_everything_is_served(few, up):
    """The pools have what is left, and requests wait for each other. The program ends before its role is dropped."""
    program = up(few)
    assert "the pools of connections are smaller than set" in program.logged
    with ThreadPoolExecutor(20) as threads:
        calls = [threads.submit(post, program, path, body) for _ in range(20) for path, body in ASKED.items()]
    assert {call.result() for call in calls} == {200}
    assert program.logged.count("connection lost") == 0


ASKED = {
    "/v2/process-instances/search": {},
    "/v2/jobs/activation": {"type": "t", "timeout": 1000, "maxJobsToActivate": 1, "requestTimeout": -1},
}


def post(program, path, body):
    return plain_http.post(f"{program.address}{path}", json=body, timeout=60).status_code
