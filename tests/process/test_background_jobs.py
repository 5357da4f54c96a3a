"""A thousand background jobs on two programs, one of which is killed: each runs to its end, and is counted right."""

from pathlib import Path

import psycopg
import pytest

from tests.eventually import eventually

pytestmark = pytest.mark.long

MODULE = Path(__file__).with_name("ledger_jobs.py")
COUNT = 1_000
OURS = "job_type IN ('exact', 'plain')"
SETTINGS = {"VIVERO_JOBS_STALE_THRESHOLD": "PT2S", "VIVERO_JOBS_KEEP_ALIVE_INTERVAL": "PT2S"}


async def test_kill_in_the_middle_of_a_thousand(make_program, database, unsafe, tmp_path):
    ledger = tmp_path / "ledger"
    environment = unsafe | SETTINGS | {"VIVERO_TEST_LEDGER": str(ledger)}
    nodes = [
        make_program("--database-url", database, "--jobs", str(MODULE), name=name, environment=environment)
        for name in ("a", "b")
    ]
    await nodes[0].restart()
    await nodes[1].restart()
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE TABLE exact_ledger (n int, attempt int)")
        for type in ("exact", "plain"):
            connection.execute(
                "INSERT INTO job_executions (job_type, payload) SELECT %s, to_jsonb(n) FROM generate_series(1, %s) n",
                (type, COUNT),
            )

        async def left(at_most):
            (count,) = connection.execute(f"SELECT count(*) FROM job_executions WHERE {OURS}").fetchone()
            return count <= at_most

        await eventually(lambda: left(COUNT * 3 // 2), "a quarter is done")
        running = f"SELECT count(*) FROM job_executions WHERE state = 'running' AND attempt_index = 0 AND {OURS}"
        await nodes[0].kill()
        (interrupted,) = connection.execute(running).fetchone()
        assert interrupted, "the kill hit runs"
        await eventually(lambda: left(0), "all are done")
        exact = connection.execute("SELECT n, attempt FROM exact_ledger").fetchall()
    assert sorted(n for n, _ in exact) == list(range(1, COUNT + 1)), "each exactly once"
    assert {attempt for _, attempt in exact} <= {0, 1}
    assert sum(attempt for _, attempt in exact) <= interrupted, "only interrupted runs are counted as attempts"
    plain = list(map(int, ledger.read_text().split()))
    assert set(plain) == set(range(1, COUNT + 1)), "each at least once"
    assert len(plain) - COUNT <= 10, "only what ran at the kill may have run twice"
