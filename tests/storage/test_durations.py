"""Histograms of durations: buckets, and percentiles from them."""

from collections import Counter
from random import Random

import pytest

from vivero.storage.background import usual_durations
from vivero.storage.postgres import driver
from vivero.storage.search.process_instances import PROCESS_INSTANCES
from vivero.storage.search.queries import SearchQuery
from vivero.storage.search.statements import statement
from vivero.storage.state.durations import bounds_of, bucket_of, percentiles

YEARS_MS = 2**63 - 1


@pytest.mark.parametrize(
    ("duration", "bucket"),
    [(-5, 0), (0, 0), (1, 1), (3, 3), (4, 4), (7, 7), (8, 8), (9, 8), (10, 9), (15, 11), (16, 12), (YEARS_MS, 247)],
)
def test_buckets(duration, bucket):
    assert bucket_of(duration) == bucket


def test_each_duration_is_within_the_bounds_of_its_bucket(seed):
    random = Random(seed)
    for duration in (*range(5_000), *(random.randrange(2 ** random.randrange(1, 63)) for _ in range(5_000))):
        first, beyond = bounds_of(bucket_of(duration))
        assert first <= duration < beyond
        assert beyond - first <= max(1, first / 4)


def test_buckets_follow_one_another():
    for bucket in range(247):
        assert bounds_of(bucket)[1] == bounds_of(bucket + 1)[0]


@pytest.mark.parametrize("shape", ["even", "two humps", "exponential"])
def test_percentiles_are_within_a_quarter_of_the_true_ones(seed, shape):
    random = Random(seed)
    draw = {
        "even": lambda: random.randrange(1, 100_000),
        "two humps": lambda: random.choice((random.randrange(10, 30), random.randrange(5_000, 9_000))),
        "exponential": lambda: 1 + int(random.expovariate(1 / 60_000)),
    }[shape]
    durations = sorted(draw() for _ in range(2_001))
    histogram = Counter(map(bucket_of, durations)).items()
    for share, found in zip((0.5, 0.95), percentiles(histogram, (0.5, 0.95)), strict=True):
        true = [durations[max(0, int(share * 2_001) + step)] for step in (-1, 0, 1)]
        assert min(true) * 0.75 <= found <= max(true) * 1.25


def test_a_single_duration_is_every_percentile():
    assert percentiles([(bucket_of(3), 7)], (0.01, 0.5, 0.99)) == [3, 3, 3]


async def test_the_usual_duration_of_a_version_is_its_90th_percentile(database, seed):
    """Only versions with open instances have one. Some have too few completed ones, or only short or old ones."""
    random = Random(seed)
    histograms = {
        key: Counter(bucket_of(int(random.expovariate(1 / 3_600_000 / key))) for _ in range(20 + key))
        for key in range(1, 9)
    }
    histograms |= {11: Counter({70: 19}), 12: Counter({3: 500}), 13: Counter({70: 100}), 14: Counter({70: 100})}
    connection = await driver.connect(database, name="vivero test")
    try:
        await connection.execute("INSERT INTO usual_durations VALUES (11, 1, now()), (14, 1, now()), (12, 1, now())")
        for key, histogram in histograms.items():
            days = [31, 32] if key == 13 else [0, 29]
            for number, (bucket, completed) in enumerate(histogram.items()):
                day = days[number % 2]
                await connection.execute(
                    "INSERT INTO instance_durations"
                    " VALUES (usage_day(clock_now() - $1::int * interval '1 day'), $2, $3, 1, $4)",
                    [day, key, bucket, completed],
                )
            await connection.execute(
                "INSERT INTO process_instances (process_instance_key, root_key, process_definition_key, process_id,"
                " process_version, tenant_id, depth, state, tokens, live, incidents, interrupted, started_at, ended_at,"
                " version, created_position)"
                " SELECT $1::bigint, $1, $1, 'p', 1, 't', 1, 'ACTIVATED', '{}', 0, 0, false, now(),"
                " CASE WHEN $1::bigint = 14 THEN now() END, 1, 1",
                [key],
            )
        await usual_durations.compute(connection)
        rows = (await connection.execute("SELECT process_definition_key, usual_ms FROM usual_durations")).rows
    finally:
        connection.close()
    expected = {
        key: max(percentiles(histogram.items(), (0.9,))[0], 60_000) for key, histogram in histograms.items() if key < 11
    }
    assert dict(rows) == pytest.approx(expected | {12: 60_000}, rel=0, abs=1), "floats round otherwise than numerics"


async def test_a_search_of_late_instances_reads_no_others_where_no_model_has_a_due_time(database):
    """All due times are NULL, and PostgreSQL cannot know the time of the query while it plans."""
    connection = await driver.connect(database, name="vivero test")
    try:
        await connection.script("""
            INSERT INTO process_instances (process_instance_key, root_key, part_key, process_definition_key, process_id,
                process_version, tenant_id, depth, state, tokens, live, incidents, interrupted, started_at, ended_at,
                version, created_position)
            SELECT n, n, n, n % 10, 'p', 1, 't', 1, 'ACTIVATED', '{}', 0, 0, false, now(),
                CASE WHEN n % 4 > 0 THEN now() END, 1, 1
            FROM generate_series(1, 20000) n;
            INSERT INTO usual_durations SELECT n, 60000, now() FROM generate_series(0, 9) n;
            ANALYZE process_instances, usual_durations;
            SET enable_sort = off; SET random_page_cost = 1""")  # as in a table that is large, and vacuumed
        text, values = statement(PROCESS_INSTANCES, SearchQuery({"isLate": True}, limit=10))
        plan = (await connection.execute(f"EXPLAIN {text}", values)).rows
    finally:
        connection.close()
    assert any("process_instances_due" in line for (line,) in plan), plan
    assert any("Index Only Scan using process_instances_open" in line for (line,) in plan), plan
