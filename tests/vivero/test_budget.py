"""What several processes need."""

from dataclasses import replace

import psycopg
import pytest

from vivero import budget, program
from vivero.config import Config
from vivero.roles import Role


@pytest.mark.parametrize(
    ("roles", "partitions", "needed"),
    [("api,engine,jobs,web", 1, 32), ("api,engine,jobs", 4, 41), ("api", 4, 23), ("engine", 2, 33), ("jobs", 9, 5)],
)
def test_connections_of_a_process(roles, partitions, needed):
    assert budget.connections(Config(roles=roles, partitions=partitions)) == needed


def test_a_program_has_no_more_connections_than_that(up, database, ask, eventually):
    """The pools open theirs when they are needed, so their connections do not count."""
    program = up(database)
    others = "count(*) FILTER (WHERE application_name NOT IN ('vivero:api', 'vivero:leasing', 'vivero:large-jobs'))"
    query = (
        f"SELECT {others} FROM pg_stat_activity WHERE application_name LIKE 'vivero:%' AND datname = current_database()"
    )
    eventually(lambda: ask(database, query) >= 10)
    assert ask(database, query) <= budget.connections(Config()) - 18, program.logged


def test_too_little_of_anything_is_told_with_what_to_do():
    two = Config(processes=2)
    assert budget.too_few_connections(two, 64) is None
    assert "2 processes need up to 64 connections, 32 each, and PostgreSQL grants 63" in budget.too_few_connections(
        two, 63
    )
    needed = budget.memory_bytes(two)
    assert budget.too_little_memory(two, 2 * needed) is None
    assert "lower http.memory_bytes" in budget.too_little_memory(two, 2 * needed - 1)
    assert budget.memory_bytes(Config(roles=Role.JOBS)) == budget.BASE_BYTES


async def test_several_processes_do_not_start_without_their_connections(database):
    config = Config(processes=2)
    with pytest.raises(program.TooFewConnections, match=r"PostgreSQL grants 47: raise its max_connections"):
        await program.check_budget(database, config)
    await program.check_budget(database, replace(config, processes=1))


async def test_the_limit_of_the_database_counts(database):
    with psycopg.connect(database, autocommit=True) as connection:
        name = connection.execute("SELECT current_database()").fetchone()[0]
        connection.execute(f"ALTER DATABASE {name} CONNECTION LIMIT 20")
        with pytest.raises(program.TooFewConnections, match="PostgreSQL grants 20"):
            await program.check_budget(database, Config(processes=2))
