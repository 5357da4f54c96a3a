"""The audit after a fault: what the load's ledger say against what PostgreSQL says."""

import json
from collections import Counter

import psycopg

from tests.eventually import eventually

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
        UNION ALL SELECT form_key FROM forms
        UNION ALL SELECT deployment_key FROM deployments) all_keys
    GROUP BY key HAVING count(*) > 1"""

GAPS = """
    SELECT * FROM (
        SELECT *, lag(to_pos) OVER cursor AS before, lag(epoch) OVER cursor AS epoch_before FROM batches
        WINDOW cursor AS (PARTITION BY partition_id ORDER BY from_pos)) b
    WHERE before <> from_pos OR epoch_before > epoch"""
"""A batch begins where the batch before it ended, and no earlier term commits after a later one."""

OPEN = """
    SELECT name, count FROM (
        SELECT 'elements' AS name, count(*) FROM element_instances WHERE ended_at IS NULL
        UNION ALL SELECT 'jobs', count(*) FROM jobs WHERE ended_at IS NULL
        UNION ALL SELECT 'timers', count(*) FROM timers WHERE state = 'PENDING'
        UNION ALL SELECT 'subscriptions', count(*) FROM subscriptions WHERE ended_at IS NULL
        UNION ALL SELECT 'subscriptions of channels', count(*) FROM channel_subscriptions
        UNION ALL SELECT 'start locks', count(*) FROM start_locks
        UNION ALL SELECT 'incidents', count(*) FROM incidents WHERE resolved_at IS NULL
        UNION ALL SELECT 'attempts', count(*) FROM attempts) open_rows
    WHERE count > 0"""
"""The rows that no ended instance leaves behind."""

LOOK_EVERY_S = 0.05
"""This question reads all commands and events: asked a hundred times a second, it takes as much CPU as the load."""

MESSAGES = "SELECT substr(message_id, 2)::int FROM messages WHERE name = 'told'"


async def settled(dsn, within_s=60.0):
    """Wait until every command was processed and every instance has ended."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        await eventually(
            lambda: _ask(connection, UNSETTLED) == [(0,)],
            "every command is processed and every instance has ended",
            within_s=within_s,
            every_s=LOOK_EVERY_S,
        )


def _ask(connection, query):
    return connection.execute(query).fetchall()


async def audit(dsn, ledger, jobs=1):
    """Fail unless every acknowledged instance exists exactly once and has ended, and nothing exists that was refused.

    Each has so many `jobs`. Returns how many instances there are, for people.
    """
    with psycopg.connect(dsn, autocommit=True) as connection:
        return _audit(connection, ledger, jobs)


def _audit(connection, ledger, jobs):
    instances = _ask(
        connection, "SELECT substr(tags[1], 2)::int, process_instance_key::text, state FROM process_instances"
    )
    of_number = Counter(number for number, _, _ in instances)
    keys = {number: key for number, key, _ in instances}
    assert {number: n for number, n in of_number.items() if n > 1} == {}, "instances that exist more than once"
    missing = {number: key for number, key in ledger.started.items() if keys.get(number) != key}
    assert missing == {}, "acknowledged instances that do not exist, or under another key"
    assert set(keys) - set(ledger.started) - ledger.unknown == set(), (
        "instances whose clients were told that they were not made"
    )
    states = {number: state for number, _, state in instances}
    assert states == {number: "TERMINATED" if number in ledger.canceled else "COMPLETED" for number in states}
    assert ledger.canceled <= set(states), "canceled instances that do not exist"
    assert _ask(connection, OPEN) == [], "rows that instances have left behind"
    _audit_messages(connection, ledger)
    ended = {key: state for _, key, state in instances}
    _audit_jobs(connection, ledger, ended, jobs)
    _audit_log(connection, len(instances), jobs, len(ledger.canceled))
    assert {
        number: found for number, found in ledger.awaited.items() if found != {"number": number, "done": number}
    } == {}
    return len(instances)


def _audit_messages(connection, ledger):
    published = Counter(number for (number,) in _ask(connection, MESSAGES))
    assert [number for number, times in published.items() if times > 1] == [], "messages that were published twice"
    assert ledger.told <= set(published), "acknowledged messages that do not exist"


def _audit_jobs(connection, ledger, ended, each):
    """`ended`: the key of each instance → its state. Jobs of canceled instances may be canceled."""
    jobs = _ask(connection, "SELECT job_key::text, process_instance_key::text, state FROM jobs")
    of_instance = Counter(instance for _, instance, _ in jobs)
    assert set(of_instance) == set(ended), "every instance has a job"
    assert set(of_instance.values()) <= {each}, "every instance has its jobs once"
    assert {state for _, instance, state in jobs if ended[instance] == "COMPLETED"} <= {"COMPLETED"}
    assert {state for _, _, state in jobs} <= {"COMPLETED", "CANCELED"}
    assert [job for job, times in ledger.completed.items() if times > 1] == [], "jobs completed more than once"
    assert set(ledger.completed) <= {job for job, _, state in jobs if state == "COMPLETED"}


def _audit_log(connection, instances, jobs, canceled):
    assert _ask(connection, KEYS) == [], "keys that were given out twice"
    assert _ask(connection, GAPS) == [], "the cursor has a gap, or an earlier term committed after a later one"
    events = Counter(dict(_ask(connection, EVENTS)))
    assert (events["InstanceCreated"], events["JobCreated"]) == (instances, jobs * instances)
    ((completed,),) = _ask(connection, "SELECT count(*) FROM jobs WHERE state = 'COMPLETED'")
    assert events["JobCompleted"] == completed >= jobs * (instances - canceled)
    variables = _ask(
        connection,
        "SELECT i.tags[1], v.name, v.value FROM process_instances i"
        " LEFT JOIN variables v ON v.process_instance_key = i.process_instance_key",
    )
    wrong = [row for row in variables if row[1] is None or f"n{json.loads(row[2])}" != row[0]]
    assert wrong == [], "every instance has its own variables"
    assert 2 * instances - canceled <= len(variables) <= 2 * instances
