"""The audit after a fault: what the load's books say against what PostgreSQL says."""

import json
from collections import Counter

import psycopg

from tests.process.program import eventually

UNSETTLED = """
    SELECT (SELECT count(*) FROM process_instances WHERE ended_at IS NULL)
         + (SELECT count(*) FROM inbox)
         + (SELECT count(*) FROM command_log c WHERE NOT EXISTS (
                SELECT FROM event_log e
                WHERE e.partition_id = c.partition_id AND e.position = c.position AND e.seq = 0))"""

EVENTS = """
    SELECT event ->> 0, count(*) FROM event_log, json_array_elements(events::json) AS event GROUP BY 1"""

KEYS = """
    SELECT key FROM (
        SELECT process_instance_key AS key FROM process_instances
        UNION ALL SELECT element_instance_key FROM element_instances
        UNION ALL SELECT job_key FROM jobs
        UNION ALL SELECT variable_key FROM variables
        UNION ALL SELECT process_definition_key FROM process_definitions
        UNION ALL SELECT deployment_key FROM deployments) all_keys
    GROUP BY key HAVING count(*) > 1"""

GAPS = """
    SELECT * FROM (
        SELECT from_pos, to_pos, lag(to_pos) OVER (ORDER BY from_pos) AS before FROM batches WHERE partition_id = 1) b
    WHERE before IS NOT NULL AND before <> from_pos"""


async def settled(dsn, within_s=60.0):
    """Wait until every command was processed and every instance has ended."""

    async def nothing_open():
        return await _ask(dsn, UNSETTLED) == [(0,)]

    await eventually(nothing_open, "every command is processed and every instance has ended", within_s=within_s)


async def _ask(dsn, query):
    # Asynchronous only in form: the server is on this machine, and the answer is quick.
    with psycopg.connect(dsn, autocommit=True) as connection:
        return connection.execute(query).fetchall()


async def audit(dsn, books, jobs=1):
    """Fail unless every acknowledged instance exists exactly once and has ended, and nothing exists that was refused.

    Each has so many `jobs`. Returns how many instances there are, for people.
    """
    instances = await _ask(
        dsn, "SELECT substr(tags[1], 2)::int, process_instance_key::text, state FROM process_instances"
    )
    of_number = Counter(number for number, _, _ in instances)
    keys = {number: key for number, key, _ in instances}
    assert {number: n for number, n in of_number.items() if n > 1} == {}, "instances that exist more than once"
    missing = {number: key for number, key in books.started.items() if keys.get(number) != key}
    assert missing == {}, "acknowledged instances that do not exist, or under another key"
    assert set(keys) - set(books.started) - books.unknown == set(), (
        "instances whose clients were told that they were not made"
    )
    assert {state for _, _, state in instances} <= {"COMPLETED"}
    await _audit_jobs(dsn, books, len(instances), jobs)
    await _audit_log(dsn, len(instances), jobs)
    assert {
        number: found for number, found in books.awaited.items() if found != {"number": number, "done": number}
    } == {}
    return len(instances)


async def _audit_jobs(dsn, books, instances, each):
    jobs = await _ask(dsn, "SELECT job_key::text, process_instance_key, state FROM jobs")
    of_instance = Counter(instance for _, instance, _ in jobs)
    assert len(of_instance) == instances, "every instance has a job"
    assert set(of_instance.values()) <= {each}, "every instance has its jobs once"
    assert {state for _, _, state in jobs} <= {"COMPLETED"}
    assert [job for job, times in books.completed.items() if times > 1] == [], "jobs completed more than once"
    assert set(books.completed) <= {job for job, _, _ in jobs}


async def _audit_log(dsn, instances, jobs):
    assert await _ask(dsn, KEYS) == [], "keys that were given out twice"
    assert await _ask(dsn, GAPS) == [], "the cursor has a gap"
    events = dict(await _ask(dsn, EVENTS))
    found = {name: events.get(name, 0) for name in ("InstanceCreated", "JobCreated", "JobCompleted")}
    assert found == {"InstanceCreated": instances, "JobCreated": jobs * instances, "JobCompleted": jobs * instances}
    variables = await _ask(
        dsn,
        "SELECT i.tags[1], v.name, v.value FROM process_instances i"
        " LEFT JOIN variables v ON v.process_instance_key = i.process_instance_key",
    )
    wrong = [row for row in variables if row[1] is None or f"n{json.loads(row[2])}" != row[0]]
    assert wrong == [], "every instance has its own variables"
    assert len(variables) == 2 * instances
