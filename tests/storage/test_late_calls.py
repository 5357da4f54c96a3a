"""Every call that writes, on whatever connection, comes late: given up, and repeated or overtaken on another.

Each case makes a call whose bytes the proxy keeps, lets happen what the program does then, and delivers: nothing
changes any more. Appends are in `test_late.py`, whole terms of a consumer in `test_late_terms.py`.
"""

import inspect
import os
import re
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any
from uuid import uuid4

import pytest
import trio

from tests.eventually import eventually_blocked
from tests.named_sql import STORAGE, named_sql_files
from vivero.storage.access import audit_log, directory, identities, sessions
from vivero.storage.background import (
    agents,
    alert_rules,
    event_consumers,
    inbound,
    job_executions,
    outbox,
    usual_durations,
)
from vivero.storage.background.agents import CallRecord
from vivero.storage.background.alert_rules import AlertDelivery, DueRule
from vivero.storage.background.inbound import ReceiverRow
from vivero.storage.background.outbox import EventId
from vivero.storage.cluster import clock, leadership, maintenance, nodes, routes
from vivero.storage.documents import contents, documents, link_keys
from vivero.storage.log import attempts, command_log, transaction_inbox
from vivero.storage.log.attempts import Suspicion
from vivero.storage.postgres import announcer, driver, notification_listener
from vivero.storage.postgres.errors import ConnectionLost
from vivero.storage.postgres.queries import label
from vivero.storage.postgres.sql_files import beside, load, statement
from vivero.storage.retention import (
    archives,
    decision_instances,
    erasure,
    erasure_by_value,
    history,
    unused_files,
    usage,
)
from vivero.storage.schema import migrate
from vivero.storage.schema.migration_files import Migration, MigrationError
from vivero.storage.state import cluster_variables, definitions, message_channels, save, task_listeners, variable_values
from vivero.storage.state.cluster_variables import ClusterVariable
from vivero.storage.state.task_listeners import GlobalTaskListener
from vivero.storage.work import activation, batch_operations, timers
from vivero.storage.work.activation import ActivationRequest

TIMES = int(os.environ.get("VIVERO_LATE", "1"))
"""The number of times that each call comes late."""
DAY_MS = 24 * 3_600_000
ASK = ActivationRequest("work", "<default>", 1, 60_000, "w")
NAMED = ASK._replace(names=["x"])
FENCED = ("save.", "attempts.clear", "timers.note_stuck")
"""Statements of batches: the fence stands before each."""


@dataclass(frozen=True)
class Case:
    """`call` is made in vain; `then` is what the program, or others, do before it comes."""

    statement: str
    call: Any
    then: Any
    setup: str = ""


JOB = """
    DELETE FROM jobs;
    INSERT INTO jobs (job_key, root_key, process_instance_key, element_instance_key, path, process_definition_key,
        process_id, process_version, element_id, type, kind, listener_event, listener_index, state, retries, priority,
        headers, tags, tenant_id, created_at, updated_at, ready)
    SELECT n, 1, 1, 2, '{2,1}', 9, 'p', 1, 'task', 'work', 'BPMN_ELEMENT', 'UNSPECIFIED', 0, 'CREATED', 3, 0,
        '{}', '{}', '<default>', now(), now(), true
    FROM generate_series(1, 3) n;
"""
PIN = "UPDATE clock SET pinned_at = now() + interval '10 days', revision = revision + 1;"
"""For what is purged: by this clock it has ended long ago."""
KEYS = f"""{PIN}
    DELETE FROM idempotency_keys;
    INSERT INTO idempotency_keys SELECT 't', 'old' || n, '', 1, now() + interval '1 day' FROM generate_series(1, 3) n;
"""
ENDED = """
    DELETE FROM process_instances; DELETE FROM deleted_trees; DELETE FROM retention_clocks;
    UPDATE partitions SET epoch = 7 WHERE id = 1;
    INSERT INTO process_instances (process_instance_key, root_key, process_definition_key, created_position, version,
        started_at, ended_at, process_version, depth, live, incidents, interrupted, process_id, tenant_id, state,
        tokens)
    SELECT n, n, 1, 1, 1, now(), now(), 1, 1, 0, 0, false, 'p', 't', 'COMPLETED', '{}' FROM generate_series(1, 3) n;
"""
NO_OLD_VALUES = """
    DELETE FROM variables; DELETE FROM unhashed_variables; UPDATE partitions SET epoch = 7 WHERE id = 1;
    INSERT INTO unhashed_variables VALUES (1, 0, 3);
"""
OLD_VALUES = NO_OLD_VALUES + "INSERT INTO variables SELECT n, n, 1, 1, 't', 'x', '1.0' FROM generate_series(1, 3) n;"
OLD_VALUES_OF_OTHERS = OLD_VALUES + "UPDATE unhashed_variables SET upto = NULL;"
LOGGED = (1 << 51) + 9_000_000
ERASURE = f"""
    DELETE FROM event_log WHERE position = {LOGGED}; DELETE FROM command_log WHERE position = {LOGGED};
    INSERT INTO event_log (partition_id, position, seq, root_key, events, version, processed_at)
    VALUES (1, {LOGGED}, 0, {LOGGED}, '[1]', 1, now());
    INSERT INTO command_log (partition_id, position, append_id, ord, at, tenant_id, intent, payload)
    VALUES (1, {LOGGED}, gen_random_uuid(), 1, now(), 't', 'X:Y', 'x');
"""
FAILED = "00000000-0000-0000-0000-000000000001"
BY_VALUE = f"""
    DELETE FROM deleted_trees; DELETE FROM idempotency_keys; DELETE FROM batch_operations; DELETE FROM job_counts;
    DELETE FROM job_executions WHERE id = '{FAILED}';
    INSERT INTO deleted_trees (root_key, reason) VALUES ({LOGGED}, 'REQUEST');
    INSERT INTO idempotency_keys VALUES ('t', 'k', '', {LOGGED}, now());
    INSERT INTO batch_operations
        (batch_operation_key, type, open, resource, filter, actor_kind, actor_id, request_key, body_sha)
    VALUES (1, 'CANCEL_PROCESS_INSTANCE', false, 'incidents', '{{"x":1}}', 'USER', 'u', 'r', '');
    DELETE FROM batch_operation_items;
    INSERT INTO batch_operation_items
        (item_number, batch_operation_key, item_key, type, state, process_id, tenant_id, error) OVERRIDING SYSTEM VALUE
    VALUES (1, 1, 1, 'CANCEL_PROCESS_INSTANCE', 'FAILED', 'p', 't', 'x');
    INSERT INTO job_counts VALUES (now(), 't', 'mail', 'COMPLETED', 'w', 1, 3, now());
    INSERT INTO job_executions (id, job_type, state) VALUES ('{FAILED}', 'mail', 'failed');
    DELETE FROM user_task_comments;
    INSERT INTO user_task_comments (user_task_key, process_instance_key, root_key, tenant_id, author, created_at, text)
    VALUES (1, 1, 1, 't', 'a', now(), 'x');
    DELETE FROM saved_views;
    INSERT INTO saved_views OVERRIDING SYSTEM VALUE
    VALUES (1, 't', 'USER', 'a', '', 'user-tasks', 'x', '', false, now(), now());
    DELETE FROM model_drafts;
    INSERT INTO model_drafts OVERRIDING SYSTEM VALUE VALUES (1, 't', 'x.bpmn', '<x/>', 1, 'a', now(), 'a', now());
"""
OF_COMMENT = "SELECT array_agg(comment_key) FROM user_task_comments"
OLD_LOG = f"""{ENDED}
    DELETE FROM event_log; DELETE FROM command_log; DELETE FROM batches;
    INSERT INTO batches VALUES (1, {1 << 51}, {(1 << 51) + 5}, 1, 1);
    INSERT INTO event_log (partition_id, position, seq, events, version, processed_at)
    SELECT 1, (1::bigint << 51) + n, 0, '[]', 1, to_timestamp(n) FROM generate_series(1, 5) n;
    INSERT INTO command_log (partition_id, position, append_id, ord, at, tenant_id, intent, payload)
    SELECT 1, (1::bigint << 51) + n, gen_random_uuid(), 1, to_timestamp(n), 't', 'X:Y', '' FROM generate_series(1, 5) n;
"""
OLD_MS = 3_000
DELETED_TREES = (
    ENDED + "INSERT INTO deleted_trees SELECT (1::bigint << 51) + n, now(), 'REQUEST' FROM generate_series(1, 3) n;"
)
RETENTION = ENDED + "INSERT INTO retention_clocks VALUES (1, now() - interval '1 day');"
KEPT = history.Kept(5, 6, "a start lock")
TIMERS = f"""{PIN}
    DELETE FROM timers;
    INSERT INTO timers (timer_key, partition_id, process_definition_key, process_id, target_element_id, type, due_at_ms,
        repetitions, state, tenant_id, created_at, ended_at)
    SELECT n, 1, 9, 'p', 'e', 'START_EVENT', 0, 1, 'TRIGGERED', 't', now(), now() + interval '1 day'
    FROM generate_series(1, 3) n;
"""
STUCK = """
    DELETE FROM stuck_timers;
    INSERT INTO stuck_timers (timer_key, due_at_ms, partition_id, noted_at, reason) VALUES (1, 5, 1, now(), 'r');
"""
HISTORY = f"""{PIN}
    DELETE FROM subscriptions; DELETE FROM message_correlations;
    INSERT INTO subscriptions (subscription_key, root_key, part_key, process_instance_key, element_instance_key,
        process_definition_key, process_id, process_name, process_version, target_element_id, type, kind, name,
        correlation_key, interrupting, state, tenant_id, created_at, updated_at, ended_at)
    SELECT n, 1, 1, 1, 2, 9, 'p', 'p', 1, 'e', 'BOUNDARY', 'MESSAGE', 'm', 'k', true, 'CORRELATED', 't', now(), now(),
        now() + interval '1 day' FROM generate_series(1, 3) n;
    INSERT INTO message_correlations (message_correlation_key, message_key, subscription_key, name, correlation_key,
        root_key, process_instance_key, process_definition_key, process_id, element_id, element_instance_key, tenant_id,
        correlated_at)
    SELECT n, 1, 1, 'm', 'k', 1, 1, 9, 'p', 'e', 2, 't', now() + interval '1 day' FROM generate_series(1, 3) n;
    DELETE FROM decision_instances;
    INSERT INTO decision_instances (decision_instance_key, decision_evaluation_key, number, tenant_id,
        decision_definition_key, decision_id, name, version, type, root_decision_definition_key,
        decision_requirements_key, state, result, inputs, rules, evaluated_at)
    SELECT n, n - 1, 1, 't', 9, 'd', 'd', 1, 'CONTEXT', 9, 8, 'EVALUATED', '1', '[]', '[]', now() + interval '1 day'
    FROM generate_series(2, 4) n;
"""
MESSAGES = """
    UPDATE partitions SET epoch = 7 WHERE id = 1;
    DELETE FROM messages;
    INSERT INTO messages (message_key, partition_id, tenant_id, name, correlation_key, message_id, deadline_ms,
        variables, given)
    SELECT n, 1, 't', 'm', 'k', '', 0, '{}', '{}' FROM generate_series(1, 3) n;
"""
NO_ATTEMPTS = "DELETE FROM attempts;"
INBOX = """
    INSERT INTO inbox (target_partition, tenant_id, intent, payload)
    VALUES (1, 't', 'X:Y', '{}'), (1, 't', 'X:Y', '{}');
"""
TRANSACTIONS = """
    DELETE FROM transaction_inbox; DELETE FROM transaction_outcomes; DELETE FROM job_executions;
    INSERT INTO transaction_inbox (target_partition, id, tenant_id, intent, payload, size, audit, role_name)
    VALUES (1, 1, 't', 'X:Y', '{}', 2, '{}', 'r'), (1, 2, 't', 'X:Y', '{}', 2, '{}', 'r'),
        (0, 3, '*', 'BACKGROUND_JOB:ADD', '{"type":"mail"}', 2,
            '{"actor_type":"CLIENT","category":"X","entity_type":"Y","operation":"CREATE"}', 'r');
"""
TRANSACTION_OUTCOMES = """
    DELETE FROM transaction_outcomes;
    INSERT INTO transaction_outcomes
    SELECT 1, n, 't', 'r', n, NULL, now() - n * interval '1 h' FROM generate_series(0, 3) n;
"""
COUNTS = """
    UPDATE partitions SET epoch = 7 WHERE id = 1;
    INSERT INTO element_count_changes (partition_id, process_definition_key, element_id, active, completed, canceled)
    SELECT 1, 9, 'e', 1, 0, 0 FROM generate_series(1, 5);
    INSERT INTO job_count_changes (partition_id, tenant_id, type, worker, status, jobs, last_at)
    SELECT 1, 't', 'work', 'w', 'COMPLETED', 1, now() FROM generate_series(1, 5);
"""


JOBS = """
    DELETE FROM job_executions; DELETE FROM job_dispatchers; DELETE FROM paused_job_types;
    UPDATE job_pauses SET pauses = 0;
    INSERT INTO job_dispatchers (node) VALUES ('a');
    INSERT INTO job_executions (id, job_type, execute_at)
    VALUES ('00000000-0000-0000-0000-00000000000a', 'waits', 'epoch');
    INSERT INTO job_executions (id, job_type, state, attempt_index, failed_at)
    VALUES ('00000000-0000-0000-0000-00000000000b', 'failed', 'failed', 5, 'epoch');
    INSERT INTO job_executions (id, job_type, state, node, lease, alive_at, execute_at)
    VALUES ('00000000-0000-0000-0000-00000000000c', 'runs', 'running', 'a', '00000000-0000-0000-0000-0000000000cc',
        'epoch', 'epoch');
    INSERT INTO job_executions (id, job_type, execute_at)
    VALUES ('00000000-0000-0000-0000-00000000000d', 'later', '2200-01-01');
"""
_ID = "00000000-0000-0000-0000-0000000000"
RUN = job_executions.Run(f"{_ID}0c", "runs", 0, None, None, None, f"{_ID}cc", 0, 0, 0)
FOLLOWER = job_executions.Run(f"{_ID}0c", "runs", 0, None, None, 1, f"{_ID}cc", 0, 0, 0)
DISPATCHER = job_executions.Dispatcher("a", 1)
ENDS = job_executions.Outcomes
FIVE = job_executions.PullLimits({"waits": 5}, 5)
OFTEN = job_executions.Scheduled("often", "PT1S", 5)


OUTBOX = """
    DELETE FROM outbox_deliveries;
    INSERT INTO outbox_deliveries (partition_id, position, seq, ordinal, root_key, type, document, state, attempts)
    VALUES (1, 1, 0, 0, 7, 'E', '{}', 'pending', 0), (1, 2, 0, 0, 7, 'E', '{}', 'held', 0),
        (1, 3, 0, 0, 8, 'E', '{}', 'dead', 2);
"""
DEAD_CONSUMER = """
    DELETE FROM event_consumers; INSERT INTO event_consumers VALUES ('dead', 1, 7, 0, 0);
    INSERT INTO job_executions (job_type, partition_id) VALUES ('dead', 1);
"""
DEAD = event_consumers.ConsumerPlace("dead", 1, 7, 0, 0)
NEW_DELIVERY = outbox.NewDelivery(EventId(1, 9, 0, 0), 9, "E", "{}")
DUE_DELIVERY = outbox.Delivery(EventId(1, 1, 0, 0), 7, "E", "{}", False, 0, 0, 0)


def execution(id, type, state, attempt, failed_ms=None):
    return job_executions.ExecutionView(
        f"{_ID}{id}", type, state, attempt, 0, None, 0, failed_ms, None, None, None, None, None, 0
    )


def ended(**outcome):
    return lambda c: job_executions.exchange(c, DISPATCHER, ENDS(**outcome))


def goes_on(error=None):
    return job_executions.Rescheduled(RUN, 1_900_000_000_000, 1, 0, error)


async def dispatched(connection):
    await job_executions.exchange(connection, DISPATCHER, ENDS(), FIVE)


async def dispatches_again(case, connection):
    """The dispatcher connects again, and then pulls."""
    after = await job_executions.register(connection, "a", [])
    await job_executions.exchange(connection, after, ENDS(), FIVE)


async def taken_by_another(case, connection):
    await connection.script("UPDATE job_executions SET node = 'b', lease = gen_random_uuid() WHERE state = 'running'")


async def cancelled_and_runs_again(case, connection):
    await case.call(connection)
    [found], _ = await job_executions.search(connection, RUN.id)
    await job_executions.retry(connection, found)


async def others_failed_and_were_added(case, connection):
    """It is repeated, and there are new ones that must stay."""
    await case.call(connection)
    await connection.script(
        "INSERT INTO job_executions (job_type) VALUES ('waits');"
        "INSERT INTO job_executions (job_type, state, failed_at) VALUES ('failed', 'failed', now())"
    )


async def registered_again(case, connection):
    await job_executions.register(connection, "a", [])


async def acknowledged_more(case, connection):
    await event_consumers.acknowledge(connection, FOLLOWER, event_consumers.EventPlace(6, 0, 0))


async def paused_again(case, connection):
    await job_executions.set_paused(connection, "waits", True)


async def resumed_again(case, connection):
    await job_executions.set_paused(connection, "waits", False)


async def again(case, connection):
    """The call is repeated."""
    await case.call(connection)


async def claimed(case, connection):
    """The next term of the same node."""
    await leadership.claim(connection, 1, "a")


async def worked_again(case, connection):
    """The next term does what the batch in doubt would have done."""
    await _batch(connection, fenced=save.fence)


async def gone_on_again(case, connection):
    await _batch(connection, fenced=between)


def between(partition, epoch, position, _to, next_key):
    return save.fence_between(partition, epoch, position, next_key, True)


async def _batch(connection, fenced):
    """A batch of the term that begins with it; what it does shows how often it was done."""
    claim = await leadership.claim(connection, 1, "a")
    fence = fenced(1, claim.epoch, claim.position, claim.position + 1, claim.next_key)
    mark = "INSERT INTO resources (sha256, bytes) VALUES (gen_random_uuid()::text, '')"
    await connection.pipeline([fence, (mark, ())])


async def purged_and_set_back(case, connection):
    """It is repeated, the clock is reset, and there are new rows that must stay."""
    await case.call(connection)
    await clock.reset(connection)
    await connection.script(case.setup.removeprefix(PIN))


async def renew(connection):
    await leadership.renew(connection, await leadership.claim(connection, 1, "a"))


async def begin_attempt(connection):
    claim = await leadership.claim(connection, 1, "a")
    await attempts.begin(connection, 1, claim.epoch, 1)


async def end_attempt(connection):
    claim = await leadership.claim(connection, 1, "a")
    await attempts.begin(connection, 1, claim.epoch, 1)
    await attempts.end(connection, Suspicion(1, claim.epoch, 1, 1, True), "late")


async def ended_by_the_next_term(case, connection):
    """It counts the attempt of the term before, and makes one itself."""
    claim = await leadership.claim(connection, 1, "a")
    await attempts.end(connection, Suspicion(1, claim.epoch - 1, 1, 1, True), "repeated")
    await attempts.begin(connection, 1, claim.epoch, 1)


async def suspect(connection):
    claim = await leadership.claim(connection, 1, "a")
    await connection.execute(beside(attempts.__file__)["suspect"], (1, claim.epoch, 1, 9))


async def end_owner(connection):
    await connection.execute(beside(leadership.__file__)["end_owner"], (1, leadership.LEASE_S))


async def taken_back_and_leased(case, connection):
    await activation.take_back(connection, ASK.type, ASK.tenant, [TOKEN])
    await activation.activate(connection, ASK)


async def given_back_and_leased(case, connection):
    await activation.release(connection, [activation.Lease(1, str(TOKEN))])
    await activation.activate(connection, ASK)


async def taken_back(case, connection):
    await activation.take_back(connection, ASK.type, ASK.tenant, [TOKEN])


async def extended_by_less(case, connection):
    await activation.extend(connection, 1, 30_000, None)


async def reset(case, connection):
    await clock.reset(connection)


async def pinned(case, connection):
    await clock.pin(connection, 1)


async def leased(connection):
    """Under the token, whatever happened before."""
    await connection.script("DELETE FROM void_leases")
    await activation.activate(connection, ASK, token=TOKEN)


async def made(connection):
    await connection.execute(beside(maintenance.__file__)["make_log_partitions"], ((1 << 51) + 50_000_000,))


async def trimmed(connection):
    await maintenance.trim_cursor(connection, 1, 7, None)


async def notified(connection):
    await connection.execute(announcer._NOTIFY, (["channel"], ["{}"]))


async def pinged(connection):
    await connection.execute(notification_listener._PING, ("channel", "name"))


async def take_back_of(connection):
    await activation.take_back(connection, ASK.type, ASK.tenant, [TOKEN])


async def release_of(connection):
    await activation.release(connection, [activation.Lease(1, str(TOKEN))])


async def release_one_of(connection):
    await connection.execute(beside(activation.__file__)["release_one"], (1, [str(TOKEN)]))


async def hand_over(connection):
    await leadership.hand_over(connection, await leadership.claim(connection, 1, "a"))


async def create_one_more(connection):
    """The partitions of a new database."""
    count = (await connection.execute(beside(leadership.__file__)["count"])).rows[0][0]
    await leadership.create(connection, count + 1)


async def add_one_more(connection):
    count = (await connection.execute(beside(leadership.__file__)["count"])).rows[0][0]
    await routes.add_partitions(connection, count + 1, count + 1, trio.current_time() + 60)


async def pin_tenant(connection):
    await routes.pin(connection, "<default>", [1])


async def update_group(connection, name):
    async with connection.transaction():
        assert await directory.update(connection, directory.GROUP, "g", (name, None)) == "done"


def erases(statement, *values):
    return lambda c: c.execute(beside(erasure.__file__)[statement], values)


def by_value(statement, *values):
    return lambda c: c.execute(beside(erasure_by_value.__file__)[statement], values)


async def empties_comments(c):
    (keys,) = (await c.execute(OF_COMMENT)).rows[0]
    return await c.execute(beside(erasure_by_value.__file__)["empty_comments"], ([1], keys))


async def nothing(case, connection):
    """A statement within a transaction: others wait for its locks until the session in doubt has ended."""


NODE = nodes.Registration("a", ["engine"], "1", 1, "", 0)
GRANT = directory.Authorization("USER", "ann", "RESOURCE", "*", ("READ",))
OTHER_NODE = nodes.Registration("b", ["engine"], "1", 1, "", 0)


async def register(connection):
    await nodes.register(connection, NODE)


async def heartbeat(connection):
    await nodes.register(connection, NODE)
    await nodes.beat(connection, "a", [1])


async def connected_again(case, connection):
    """The task of the node goes on over a new connection. It is not ready for any partition yet."""
    await nodes.register(connection, NODE)
    await nodes.beat(connection, "a", [])


async def restarted(case, connection):
    """The node leaves, and its program begins again, as another node."""
    await nodes.leave(connection, "a")
    await nodes.register(connection, OTHER_NODE)


async def drain(connection):
    assert await nodes.set_draining(connection, "a", True)


async def log_more(connection):
    assert await nodes.set_log_levels(connection, "a", {"vivero.engine": "debug"})


async def logged_more_and_back(case, connection):
    """The operator repeats it, and then takes it back."""
    await log_more(connection)
    assert await nodes.set_log_levels(connection, "a", {})


async def drained_and_back(case, connection):
    """The operator repeats it, and then takes it back."""
    await drain(connection)
    assert await nodes.set_draining(connection, "a", False)


REGISTERED = """
    DELETE FROM nodes;
    INSERT INTO nodes (id, roles, version, schema, host, port, pid, backend_start)
    VALUES ('a', '{engine}', '1', 1, '', 0, 1, now());
"""
NO_NODES = "DELETE FROM nodes;"
IDENTITIES = """
    DELETE FROM api_tokens; DELETE FROM users; DELETE FROM members;
    INSERT INTO users (username, password_hash) VALUES ('ann', 'first');
    INSERT INTO api_tokens (name, sha256, roles, tenants) VALUES ('worker', '\\x00', '{}', '{}');
"""
RECORDS = """
    DELETE FROM audit_log;
    INSERT INTO audit_log (at, actor_type, actor_id, category, entity_type, entity_key, operation, result)
    SELECT now() - interval '9 days', 'USER', 'ann', 'ADMIN', 'USER', 'bob', 'DELETE', 'SUCCESS'
    FROM generate_series(1, 3);
"""
SESSIONS = """
    DELETE FROM sessions;
    INSERT INTO sessions (key, sha256, username, provider, seen_at, expires_at)
    OVERRIDING SYSTEM VALUE
    VALUES (4711, '\\x31', 'ann', 'PASSWORD', now() - interval '1 hour', now() + interval '1 hour');
"""
SESSION_KEY = 4711
NEW_SESSION = sessions.NewSession("ann", sessions.PASSWORD)
ASSIGNED = IDENTITIES + "INSERT INTO members VALUES ('ROLE', 'admin', 'USER', 'ann'), ('ROLE', 'admin', 'USER', 'bob');"
ROLE, ANN, BOB = ("ROLE", "admin"), ("USER", "ann"), ("USER", "bob")


BATCHES = """
    DELETE FROM batch_operations; DELETE FROM batch_operation_items; UPDATE partitions SET epoch = 7 WHERE id = 1;
    INSERT INTO batch_operations (batch_operation_key, type, state, resource, filter, actor_kind, actor_id, request_key,
        body_sha, total, scanned)
    VALUES (1, 'CANCEL_PROCESS_INSTANCE', 'CREATED', 'process-instances', '{}', 'USER', 'ann', 'a', '', 0, false),
        (2, 'CANCEL_PROCESS_INSTANCE', 'ACTIVE', 'process-instances', '{}', 'USER', 'ann', 'b', '', 4, true),
        (3, 'CANCEL_PROCESS_INSTANCE', 'ACTIVE', 'process-instances', '{}', 'USER', 'ann', 'c', '', 0, true);
    INSERT INTO batch_operation_items (batch_operation_key, type, item_key, process_instance_key, root_key, process_id,
        tenant_id, position)
    SELECT 2, 'CANCEL_PROCESS_INSTANCE', n, n, n, 'p', 't', CASE WHEN n > 2 THEN 0 END FROM generate_series(1, 4) n;
"""
NO_BATCHES = "DELETE FROM batch_operations;"
OLD_BATCHES = f"""{PIN}
    DELETE FROM batch_operations; DELETE FROM batch_operation_items;
    INSERT INTO batch_operations (batch_operation_key, type, state, open, ended_at, resource, filter, actor_kind,
        actor_id, request_key, body_sha)
    SELECT n, 'CANCEL_PROCESS_INSTANCE', 'COMPLETED', false, now() + n * interval '1 day', 'process-instances', '{{}}',
        'USER', 'ann', n, ''
    FROM generate_series(1, 3) n;
    INSERT INTO batch_operation_items (batch_operation_key, type, item_key, process_instance_key, root_key, process_id,
        tenant_id)
    SELECT 1, 'CANCEL_PROCESS_INSTANCE', n, n, n, 'p', 't' FROM generate_series(1, 2) n;
"""
BATCH = batch_operations.Operation(
    1, "CANCEL_PROCESS_INSTANCE", "CREATED", "process-instances", 0, batch_operations.Creator("USER", "ann"),
    batch_operations.CallerBounds(), None,
)  # fmt: skip
NEW_BATCH = batch_operations.NewOperation(
    BATCH.type, BATCH.resource, "{}", BATCH.creator, BATCH.bounds, "of this request", b""
)
ITEMS = [batch_operations.Item(key, "p", "t") for key in (1, 2)]
ITEM_ENDS = [batch_operations.ItemEnd(3, "COMPLETED"), batch_operations.ItemEnd(1, "CANCELED")]


def batch_status(changes):
    return batch_operations.Status("ACTIVE", changes, True)


ARCHIVE = """
    DELETE FROM archive_files; DELETE FROM archive_erasures;
    INSERT INTO archive_files (name, partition_id, state, trees, first_key, last_key, waiting)
    VALUES ('writing', 1, 'WRITING', NULL, NULL, NULL, '{}'), ('complete', 1, 'COMPLETE', 2, 7, 8, '{7,8}'),
        ('removed', 1, 'REMOVED', 2, 7, 8, '{}');
    DELETE FROM user_task_comments;
    INSERT INTO user_task_comments
        (user_task_key, process_instance_key, root_key, tenant_id, author, created_at, text, archive_file)
    VALUES (7, 7, 7, 't', 'a', now(), 'x', NULL), (8, 8, 8, 't', 'a', now(), 'x', 'complete');
"""
CONTENTS = archives.Contents("00", 5, [7, 8], [7, 8])


async def erase(connection):
    assert await archives.replace(connection, "complete", "writing", CONTENTS, [9], "r")


async def adopt(connection):
    async with connection.transaction():
        assert await archives.adopt(connection, "adopted", 1, datetime(2026, 1, 31, tzinfo=UTC), CONTENTS)


async def purge_batches(connection):
    await batch_operations.purge(connection, DAY_MS, 10)


UNUSED_FILES = """
    DELETE FROM resources;
    INSERT INTO resources (sha256, bytes, unused_since) VALUES ('aa', '', now() - interval '2 days'), ('bb', '', NULL);
"""


async def stored_again(case, connection):
    """The file is deleted, and somebody deploys it again."""
    await case.call(connection)
    await definitions.store_resources(connection, [("aa", b"")])


TOKEN = uuid4()
LEASED = (
    JOB
    + f"""
    DELETE FROM void_leases;
    UPDATE jobs SET ready = false, available_at = now() + interval '1 h', lease_token = '{TOKEN}', worker = 'w'
    WHERE job_key = 1;
"""
)
DOCUMENTS = """
    DELETE FROM documents; DELETE FROM document_parts; DELETE FROM document_contents; DELETE FROM document_usage;
    INSERT INTO document_usage VALUES ('t', 12);
    INSERT INTO document_contents (content_key, tenant_id, store_id, bytes, alive_at) OVERRIDING SYSTEM VALUE
        VALUES (1, 't', 'postgres', 3, now()), (2, 't', 'postgres', 3, '-infinity');
    INSERT INTO document_contents (content_key, tenant_id, store_id, object_name, bytes, alive_at)
        OVERRIDING SYSTEM VALUE
        VALUES (3, 't', 's3', 'three', 3, now() - interval '1 day'), (4, 't', 's3', 'four', 3, '-infinity');
    INSERT INTO document_parts VALUES (1, 0, 'abc'), (2, 0, 'abc');
    DELETE FROM document_link_keys;
    INSERT INTO document_link_keys (secret, created_at) VALUES ('', now() - interval '1 day'), ('', now());
"""
USAGE = """
    DELETE FROM deleted_usage; DELETE FROM deleted_assignees;
    DELETE FROM instance_counts; DELETE FROM instance_durations;
    INSERT INTO instance_counts VALUES ('2000-01-01T00:15:00Z', 1, 1, 1, 0, 0, 0);
    INSERT INTO instance_durations VALUES ('2000-01-01T00:00:00Z', 1, 1, 1, 1);
    INSERT INTO deleted_usage VALUES ('processInstances', '2000-01-01T00:15:00Z', 't', 1);
    INSERT INTO deleted_assignees SELECT now() - days * interval '1 day', 't', usage_assignee('ann')
    FROM unnest(ARRAY[1, 100, 1000]) AS days;
"""
USUAL = """
    DELETE FROM process_instances; DELETE FROM instance_durations; DELETE FROM usual_durations;
    INSERT INTO process_instances (process_instance_key, root_key, process_definition_key, process_id, process_version,
        tenant_id, depth, state, tokens, live, incidents, interrupted, started_at, version, created_position)
    VALUES (1, 1, 9, 'p', 1, 't', 1, 'ACTIVATED', '{}', 0, 0, false, now(), 1, 1);
    INSERT INTO instance_durations VALUES (usage_day(clock_now()), 9, 70, 1, 100);
    INSERT INTO usual_durations VALUES (8, 1, now()), (9, 1, now());
"""
ALERTS = """
    DELETE FROM alert_rules;
    INSERT INTO alert_rules (alert_rule_key, tenant_id, name, process_id, metric, threshold, clears_at, every_s, url,
        made_by, created_at, updated_at, next_at, since) OVERRIDING SYSTEM VALUE
    VALUES (1, 't', 'n', '', 'RUNNING', 1, 1, 60, 'https://example.org', 'a', now(), now(), now(), now());
    INSERT INTO alert_deliveries (alert_rule_key, revision, kind, state, made_at, due_at, attempts)
    VALUES (1, -2, 'RAISED', 'PENDING', now(), '-infinity', 1), (1, -1, 'TEST', 'PENDING', now(), '-infinity', 0);
    UPDATE alert_deliveries SET error = 'x' WHERE revision = -2;
"""
AGENT_CALL = CallRecord("c", 1, "PROMPT", 7, "openai", "m", "ANSWERED", "d", None, 1, 2, 0, None, "", ["tool"], [])
ANSWERS = f"""{JOB}
    DELETE FROM agent_answers;
    INSERT INTO agent_answers VALUES (2, 'd', 1, 't', now(), 'x');
"""
RECEIVERS = """
    DELETE FROM inbound_connectors;
    INSERT INTO inbound_connectors VALUES (9, 'wait', 't', 'p', 'x', 'ACTIVE', 1, 0, 0, NULL, NULL, NULL, 'a', now());
"""
RECEIVER = ReceiverRow(9, "wait", "t", "p", "x", "FAILING", 2, 1, 1, None, None, "e")
TRIM = load(STORAGE / "background" / "alert_rules.sql")["trim"]


async def evaluates(connection):
    await alert_rules.evaluated(connection, DueRule(1, 0, "t", "", "RUNNING"), 9, None)


async def tries(connection):
    given = (
        1,
        -2,
        "RAISED",
        9,
        datetime.now(UTC),
        1,
        "n",
        "t",
        "",
        "RUNNING",
        1,
        "URL",
        "https://example.org",
        None,
        0,
    )
    await alert_rules.tried(connection, AlertDelivery(*given), None, None)


PLACE = documents.DocumentPlace("d", "postgres", "t")
OF_MESSAGE = f"""{DOCUMENTS}{MESSAGES}
    INSERT INTO documents (document_id, store_id, tenant_id, content_key, content_type, file_name, created_at,
        custom_properties, goes_with_instance)
    VALUES ('d', 'postgres', 't', 1, '', '', now(), '{{}}', false);
"""
CASES = [
    Case(
        "documents.belong_to_message",
        lambda c: documents.belong(c, documents.DocumentOwner(1), [PLACE]),
        lambda _, c: message_channels.expire(c, 1, 7, 10),
        OF_MESSAGE,
    ),
    Case(
        "documents.belong_to_pending_start",
        lambda c: documents.belong(c, documents.DocumentOwner(1, True), [PLACE]),
        again,
        OF_MESSAGE,
    ),
    Case(
        "documents.belong_to_instance",
        lambda c: documents.belong(c, documents.DocumentOwner(instance=1), [PLACE]),
        again,
        OF_MESSAGE,
    ),
    Case("contents.add", lambda c: contents.add(c, 1, 3, 3, b"def", 0), again, DOCUMENTS),
    Case("contents.give_up", lambda c: contents.give_up(c, 1), again, DOCUMENTS),
    Case("contents.drop", lambda c: contents.drop(c, 2), again, DOCUMENTS),
    Case("contents.claim", lambda c: contents.claim(c, "s3", 0, 10), again, DOCUMENTS),
    Case("contents.forget", lambda c: contents.forget(c, 4), again, DOCUMENTS),
    Case("alert_rules.evaluated", evaluates, again, ALERTS),
    Case("alert_rules.trim", lambda c: c.execute(TRIM, (1, 1)), again, ALERTS),
    Case("alert_rules.claim", lambda c: alert_rules.claim(c, 10, 60), again, ALERTS),
    Case("alert_rules.tried", tries, again, ALERTS),
    Case("inbound.save", lambda c: inbound.save(c, [RECEIVER], "a"), again, RECEIVERS),
    Case("inbound.forget", lambda c: inbound.forget(c, []), again, RECEIVERS),
    Case("agents.keep_answer", lambda c: agents.keep_answer(c, 1, "d", "t", "x"), again, ANSWERS),
    Case("agents.record_call", lambda c: agents.record(c, 1, AGENT_CALL), again, ANSWERS),
    Case("usage.compact", lambda c: usage.compact(c, 62 * DAY_MS, 10), again, USAGE),
    Case("usage.purge", lambda c: usage.purge(c, 730 * DAY_MS, 10), again, USAGE),
    Case("usual_durations.compute", usual_durations.compute, again, USUAL),
    Case("link_keys.purge", lambda c: link_keys.purge(c, 3600, 10), again, DOCUMENTS),
    Case("command_log.forward", lambda c: command_log.forward(c, 1, 10), again, INBOX),
    Case("transaction_inbox.take", lambda c: transaction_inbox.take(c, 1, 0, 10, 1000), again, TRANSACTIONS),
    Case("job_executions.take_queued", lambda c: job_executions.take_queued(c, 0, 10), again, TRANSACTIONS),
    Case("transaction_inbox.purge", lambda c: transaction_inbox.purge(c, 3_600_000, 10), again, TRANSACTION_OUTCOMES),
    Case("command_log.purge_keys", lambda c: command_log.purge_keys(c, 3_600_000, 10), purged_and_set_back, KEYS),
    Case("timers.purge", lambda c: timers.purge(c, DAY_MS, 10), purged_and_set_back, TIMERS),
    Case("timers.purge_stuck", lambda c: c.execute(beside(timers.__file__)["purge_stuck"]), again, STUCK),
    Case(
        "message_channels.purge_subscriptions",
        lambda c: message_channels.purge_subscriptions(c, DAY_MS, 10),
        purged_and_set_back,
        HISTORY,
    ),
    Case(
        "message_channels.purge_correlations",
        lambda c: message_channels.purge_correlations(c, DAY_MS, 10),
        purged_and_set_back,
        HISTORY,
    ),
    Case(
        "decision_instances.purge",
        lambda c: decision_instances.purge(c, DAY_MS, 10),
        purged_and_set_back,
        HISTORY,
    ),
    Case("decision_instances.delete", lambda c: decision_instances.delete_evaluations(c, [1, 2]), again, HISTORY),
    Case("archives.begin", lambda c: archives.begin(c, "new", 1), again, ARCHIVE),
    Case("archives.mark_comments", lambda c: archives.mark_comments(c, "complete", [7]), again, ARCHIVE),
    Case("archives.move_comments", erase, nothing, ARCHIVE),
    Case("archives.complete", lambda c: archives.complete(c, "writing", CONTENTS), again, ARCHIVE),
    Case("archives.give_up", lambda c: archives.give_up(c, "writing"), again, ARCHIVE),
    Case("archives.forget", lambda c: archives.forget(c, "removed"), again, ARCHIVE),
    Case("archives.mark_missing", lambda c: archives.mark_missing(c, "complete"), again, ARCHIVE),
    Case("archives.let_go", lambda c: archives.let_go(c, [7, 8]), again, ARCHIVE),
    Case("archives.forget_lost", lambda c: archives.forget_lost(c, "complete"), again, ARCHIVE),
    Case("archives.adopt", adopt, nothing, ARCHIVE),
    Case("archives.settle", lambda c: archives.settle(c, 1), again, ARCHIVE),
    Case("archives.remove", erase, nothing, ARCHIVE),
    Case("archives.record_erasure", erase, nothing, ARCHIVE),
    Case("history.delete_trees", lambda c: history.delete_trees(c, [1, 2], history.REQUEST), again, ENDED),
    Case("history.delete_old_trees", lambda c: history.delete_old_trees(c, 1, 7, [1, 2]), again, ENDED),
    Case("history.begin_clock", lambda c: history.advance_clock(c, 1, 7, 10, 0), again, ENDED),
    Case("history.advance_clock", lambda c: history.advance_clock(c, 1, 7, 10, 0), again, RETENTION),
    Case("history.note_run", lambda c: history.note_run(c, 1, 7, 0, 5, "away", KEPT, "consumer"), again, RETENTION),
    Case("history.drop_log_partitions", lambda c: history.drop_log_partitions(c, 1, 7, 0), again, ENDED),
    Case("history.delete_old_log_rows", lambda c: history.delete_old_log_rows(c, 1, 7, OLD_MS, 10), again, OLD_LOG),
    Case("history.purge_deleted", lambda c: history.purge_deleted(c, 1, 7, 10), again, DELETED_TREES),
    Case("erasure.replace_events", erases("replace_events", LOGGED, 0, "[2]"), again, ERASURE),
    Case("erasure.empty_events", erases("empty_events", [LOGGED]), again, ERASURE),
    Case("erasure.empty_commands", erases("empty_commands", [LOGGED]), again, ERASURE),
    Case("erasure.forget_keys", erases("forget_keys", [LOGGED]), again, BY_VALUE),
    Case("erasure_by_value.replace", by_value("replace", 1, LOGGED, 0, "[2]"), again, ERASURE),
    Case("erasure_by_value.record_trees", by_value("record_trees", [LOGGED]), again, BY_VALUE),
    Case("erasure_by_value.delete_expired", by_value("delete_expired", [1, 2]), again, MESSAGES),
    Case("erasure_by_value.empty_comments", empties_comments, again, BY_VALUE),
    Case("erasure_by_value.delete_views", by_value("delete_views", [1]), again, BY_VALUE),
    Case("erasure_by_value.delete_drafts", by_value("delete_drafts", [1]), again, BY_VALUE),
    Case("erasure_by_value.erase_creators", by_value("erase_creators", [1]), again, BY_VALUE),
    Case("erasure_by_value.erase_editors", by_value("erase_editors", [1]), again, BY_VALUE),
    Case("erasure_by_value.delete_rules", by_value("delete_rules", [1]), again, ALERTS),
    Case("erasure_by_value.rename_rules", by_value("rename_rules", [1]), again, ALERTS),
    Case("erasure_by_value.erase_makers", by_value("erase_makers", [1]), again, ALERTS),
    Case("erasure_by_value.empty_notices", by_value("empty_notices", [1], [-2]), again, ALERTS),
    Case("erasure_by_value.delete_keys", by_value("delete_keys", ["t"], ["k"]), again, BY_VALUE),
    Case("erasure_by_value.empty_batches", by_value("empty_batches", [1]), again, BY_VALUE),
    Case("erasure_by_value.empty_items", by_value("empty_items", [1]), again, BY_VALUE),
    Case("erasure_by_value.delete_executions", by_value("delete_executions", [FAILED]), again, BY_VALUE),
    Case("erasure_by_value.rename_workers", by_value("rename_workers", ["w"]), again, BY_VALUE),
    Case("message_channels.expire", lambda c: message_channels.expire(c, 1, 7, 10), again, MESSAGES),
    Case("leadership.claim", lambda c: leadership.claim(c, 1, "a"), claimed),
    Case("leadership.skip_lost", lambda c: leadership.claim(c, 1, "a"), claimed, "TRUNCATE since_recovery;"),
    Case("leadership.renew", renew, claimed),
    Case("attempts.begin", begin_attempt, claimed, NO_ATTEMPTS),
    Case("attempts.end", end_attempt, ended_by_the_next_term, NO_ATTEMPTS),
    Case("attempts.suspect", suspect, claimed, NO_ATTEMPTS),
    Case("leadership.end_owner", end_owner, claimed),
    Case("save.fence", partial(_batch, fenced=save.fence), worked_again),
    Case("save.fence_between", partial(_batch, fenced=between), gone_on_again),
    Case("maintenance.make_log_partitions", made, again),
    Case("maintenance.trim", trimmed, again),
    Case("maintenance.total_element_counts", lambda c: maintenance.total_element_counts(c, 1, 7, 100), again, COUNTS),
    Case("variable_values.begin", lambda c: variable_values.hash_next(c, 1, 7), again, OLD_VALUES_OF_OTHERS),
    Case("variable_values.hash", lambda c: variable_values.hash_next(c, 1, 7), again, OLD_VALUES),
    Case("variable_values.finish", lambda c: variable_values.hash_next(c, 1, 7), again, NO_OLD_VALUES),
    Case("definitions.store_resources", lambda c: definitions.store_resources(c, [("aa", b"x")]), again),
    Case("unused_files.mark", lambda c: unused_files.mark(c, "", 10), again, UNUSED_FILES),
    Case("unused_files.delete", lambda c: unused_files.delete(c, 3600, 10), stored_again, UNUSED_FILES),
    Case("clock.pin", lambda c: clock.pin(c, 1_900_000_000_000), reset),
    Case("clock.shift", lambda c: clock.shift(c, 3_600_000), pinned),
    *(
        Case(f"activation.{name}", call, taken_back, JOB + "DELETE FROM void_leases;")
        for name, call in {
            "activate": lambda c: activation.activate(c, ASK, token=TOKEN),
            "activate_named": lambda c: activation.activate(c, NAMED, token=TOKEN),
            "activate_small": lambda c: activation.activate_plainly(c, ASK, activation.SMALL_BYTES, TOKEN),
            "activate_small_named": lambda c: activation.activate_plainly(c, NAMED, activation.SMALL_BYTES, TOKEN),
            "activate_near": lambda c: activation.activate_plainly(c, ASK, activation.SMALL_BYTES, TOKEN, 1),
            "activate_near_named": lambda c: activation.activate_plainly(c, NAMED, activation.SMALL_BYTES, TOKEN, 1),
        }.items()
    ),
    Case("activation.take_back", take_back_of, taken_back_and_leased, LEASED),
    Case("activation.release", release_of, given_back_and_leased, LEASED),
    Case("activation.release_one", release_one_of, given_back_and_leased, LEASED),
    Case("activation.extend", lambda c: activation.extend(c, 1, 3_600_000, None), extended_by_less, LEASED),
    Case("leadership.hand_over", hand_over, claimed),
    Case("leadership.make_partitions", create_one_more, nothing),
    Case("leadership.spread_slots", create_one_more, nothing),
    Case("routes.make_partitions", add_one_more, nothing),
    Case("routes.unpin", pin_tenant, nothing),
    Case("routes.pin", pin_tenant, nothing),
    Case("routes.changed", pin_tenant, nothing),
    Case("routes.tell", pin_tenant, nothing),
    Case("nodes.register", register, connected_again, NO_NODES),
    Case("nodes.beat", heartbeat, connected_again, NO_NODES),
    Case("nodes.leave", lambda c: nodes.leave(c, "a"), restarted, REGISTERED),
    Case("nodes.set_draining", drain, drained_and_back, REGISTERED),
    Case("nodes.set_log_levels", log_more, logged_more_and_back, REGISTERED),
    Case("sessions.seen", lambda c: sessions.seen(c, b"1"), again, SESSIONS),
    Case("sessions.create_session", lambda c: sessions.create(c, b"2", NEW_SESSION, 60), again, SESSIONS),
    Case("sessions.end_session", lambda c: sessions.end(c, b"1"), again, SESSIONS),
    Case("sessions.end_sessions_of", lambda c: sessions.end_all(c, b"1"), again, SESSIONS),
    Case("sessions.end_chosen_session", lambda c: sessions.end_chosen(c, SESSION_KEY, "ann"), again, SESSIONS),
    Case("sessions.end_sessions_of_user", lambda c: sessions.end_of_user(c, "ann"), again, SESSIONS),
    Case("identities.token_used", lambda c: identities.token_used(c, b"\0"), again, IDENTITIES),
    Case(
        "identities.create_first_admin",
        lambda c: identities.create_first_admin(c, "first", "hash"),
        again,
        "DELETE FROM users; DELETE FROM members;",
    ),
    Case("job_executions.register", lambda c: job_executions.register(c, "a", []), registered_again, JOBS),
    Case("job_executions.hand_back", lambda c: job_executions.hand_back(c, DISPATCHER, []), dispatches_again, JOBS),
    Case("job_executions.pull", dispatched, dispatches_again, JOBS),
    Case(
        "job_executions.keep_alive",
        lambda c: job_executions.keep_alive(c, [RUN.lease]),
        taken_by_another,
        JOBS,
    ),
    Case("job_executions.complete", ended(completed=[RUN]), again, JOBS),
    Case("job_executions.go_on", ended(go_on=[goes_on()]), again, JOBS),
    Case("job_executions.fail", ended(failed=[goes_on("e")]), again, JOBS),
    Case("job_executions.fail_scheduled", ended(failed_scheduled=[goes_on("e")]), again, JOBS),
    Case("job_executions.recover", lambda c: job_executions.recover(c, {"runs": (5, 30_000)}), again, JOBS),
    Case(
        "job_executions.ensure_scheduled",
        lambda c: job_executions.ensure_scheduled(c, DISPATCHER, [OFTEN]),
        registered_again,
        JOBS + "INSERT INTO job_executions (job_type, schedule) VALUES ('often', 'PT2S');",
    ),
    Case("job_executions.ensure_consumers", lambda c: job_executions.ensure_consumers(c, ["mirror"]), again, JOBS),
    Case("job_executions.complete_one", lambda c: job_executions.complete_one(c, RUN), again, JOBS),
    Case("job_executions.go_on_one", lambda c: job_executions.go_on_one(c, RUN, 1_900_000_000_000), again, JOBS),
    Case(
        "job_executions.nudge",
        lambda c: job_executions.exchange(c, DISPATCHER, ENDS(), consumers=job_executions.Consumers(["mirror"], [1])),
        again,
        JOBS + "INSERT INTO job_executions (job_type, partition_id, execute_at) VALUES ('mirror', 1, '2200-01-01');",
    ),
    Case(
        "event_consumers.begin",
        lambda c: event_consumers.begin(c, "mirror", 1, False),
        again,
        "DELETE FROM event_consumers;",
    ),
    Case(
        "event_consumers.acknowledge",
        lambda c: event_consumers.acknowledge(c, FOLLOWER, event_consumers.EventPlace(5, 0, 1)),
        acknowledged_more,
        JOBS + "INSERT INTO event_consumers VALUES ('runs', 1, 4, 0, 0) ON CONFLICT DO NOTHING;",
    ),
    Case("event_consumers.drop", lambda c: event_consumers.drop(c, [DEAD], True), again, JOBS + OUTBOX + DEAD_CONSUMER),
    Case("outbox.add", lambda c: outbox.add(c.execute, FOLLOWER, [NEW_DELIVERY]), taken_by_another, JOBS + OUTBOX),
    Case("outbox.done", lambda c: outbox.done(c, FOLLOWER, EventId(1, 1, 0, 0)), again, JOBS + OUTBOX),
    Case("outbox.failed", lambda c: outbox.failed(c, FOLLOWER, DUE_DELIVERY, "no", 0.0), again, JOBS + OUTBOX),
    Case("outbox.retry", lambda c: outbox.retry(c, EventId(1, 3, 0, 0), 2), again, OUTBOX),
    Case("outbox.drop", lambda c: outbox.drop(c, EventId(1, 3, 0, 0), 2), again, OUTBOX),
    Case("job_executions.add", lambda c: job_executions.add(c, f"{_ID}0e", "new", None, 5), again, JOBS),
    Case(
        "job_executions.run_now",
        lambda c: job_executions.run_now(c, execution("0d", "later", "pending", 0)),
        again,
        JOBS,
    ),
    Case(
        "job_executions.retry",
        lambda c: job_executions.retry(c, execution("0b", "failed", "failed", 5, 0)),
        again,
        JOBS,
    ),
    Case(
        "job_executions.cancel",
        lambda c: job_executions.cancel(c, execution("0c", "runs", "running", 0)),
        cancelled_and_runs_again,
        JOBS,
    ),
    Case(
        "job_executions.delete",
        lambda c: job_executions.delete(c, execution("0b", "failed", "failed", 5)),
        lambda case, c: job_executions.retry(c, execution("0b", "failed", "failed", 5, 0)),
        JOBS,
    ),
    Case("job_executions.pause", lambda c: job_executions.set_paused(c, "waits", True), resumed_again, JOBS),
    Case(
        "job_executions.resume",
        lambda c: job_executions.set_paused(c, "waits", False),
        paused_again,
        JOBS + "INSERT INTO paused_job_types VALUES ('waits');",
    ),
    Case(
        "job_executions.delete_failed",
        lambda c: job_executions.delete_failed(c, None, 1000, 10),
        others_failed_and_were_added,
        JOBS,
    ),
    Case(
        "job_executions.delete_pending",
        lambda c: job_executions.delete_pending(c, "waits", 1000, 10),
        others_failed_and_were_added,
        JOBS + "UPDATE job_executions SET created_at = 'epoch';",
    ),
    Case(
        "job_executions.purge",
        lambda c: job_executions.purge(c, DAY_MS, 10),
        others_failed_and_were_added,
        JOBS,
    ),
    Case("audit_log.purge", lambda c: audit_log.purge(c, DAY_MS, 10), again, RECORDS),
    Case("batch_operations.create", lambda c: batch_operations.create(c, NEW_BATCH), again, NO_BATCHES),
    Case(
        "batch_operations.change",
        lambda c: batch_operations.change(c, 2, batch_status(0), "SUSPENDED"),
        lambda case, c: batch_operations.change(c, 2, batch_status(0), "CANCELED"),
        BATCHES,
    ),
    Case(
        "batch_operations.add_items",
        lambda c: batch_operations.add_items(c, 7, BATCH, [batch_operations.Candidate(9, 9, 9, "p", "t")], False),
        again,
        BATCHES,
    ),
    Case(
        "batch_operations.reject_filter", lambda c: batch_operations.reject_filter(c, 7, 1, "too slow"), again, BATCHES
    ),
    Case("batch_operations.take", lambda c: batch_operations.take(c, 7, 2, ITEMS), again, BATCHES),
    Case("batch_operations.mark", lambda c: batch_operations.mark(c, 7, 2, [(3, 33), (4, 34)]), again, BATCHES),
    Case("batch_operations.settle", lambda c: batch_operations.settle(c, 7, 2, ITEM_ENDS), again, BATCHES),
    Case("batch_operations.finish", lambda c: batch_operations.finish(c, 7, 3), again, BATCHES),
    Case("batch_operations.purge_items", purge_batches, purged_and_set_back, OLD_BATCHES),
    Case("batch_operations.purge_operations", purge_batches, purged_and_set_back, OLD_BATCHES),
    Case("announce", notified, again),
    Case("ping", pinged, again),
]
LISTENER = GlobalTaskListener("audit", "audit", 3, 50, False, ["all"])
LISTENERS = "DELETE FROM global_task_listeners; UPDATE definitions_seq SET n = 0;"
WITH_LISTENER = (
    LISTENERS + "INSERT INTO global_task_listeners VALUES (DEFAULT, 'audit', 'first', 3, 50, false, '{all}');"
)


VARIABLE = ClusterVariable("acme", "limit", "1", "{}")
VARIABLES = (
    "DELETE FROM cluster_variables; UPDATE definitions_seq SET n = 0;"
    " INSERT INTO tenants (tenant_id, name) VALUES ('acme', 'first') ON CONFLICT DO NOTHING;"
)
WITH_VARIABLE = VARIABLES + "INSERT INTO cluster_variables VALUES (DEFAULT, 'acme', 'limit', '0', '0', '{}');"


def in_transaction(change, *values):
    """A change of the catalogue in its transaction, as requests make it."""

    async def call(connection):
        async with connection.transaction():
            await change(connection, *values)

    return call


CHANGES = [
    Case(
        "task_listeners.create",
        in_transaction(task_listeners.create, LISTENER),
        in_transaction(task_listeners.create, LISTENER._replace(type="again")),
        LISTENERS,
    ),
    Case(
        "task_listeners.replace",
        in_transaction(task_listeners.replace, LISTENER._replace(type="second")),
        in_transaction(task_listeners.replace, LISTENER._replace(type="third")),
        WITH_LISTENER,
    ),
    Case(
        "task_listeners.delete",
        in_transaction(task_listeners.delete, "audit"),
        in_transaction(task_listeners.replace, LISTENER._replace(type="second")),
        WITH_LISTENER,
    ),
    Case(
        "task_listeners.configure",
        lambda c: task_listeners.configure(c, [LISTENER]),
        lambda c: task_listeners.configure(c, [LISTENER._replace(type="again")]),
        LISTENERS,
    ),
    Case(
        "cluster_variables.create",
        in_transaction(cluster_variables.create, VARIABLE),
        in_transaction(cluster_variables.delete, "acme", "limit"),
        VARIABLES,
    ),
    Case(
        "cluster_variables.replace",
        in_transaction(cluster_variables.replace, VARIABLE),
        in_transaction(cluster_variables.replace, VARIABLE._replace(value="2")),
        WITH_VARIABLE,
    ),
    Case(
        "cluster_variables.delete",
        in_transaction(cluster_variables.delete, "acme", "limit"),
        in_transaction(cluster_variables.create, VARIABLE),
        WITH_VARIABLE,
    ),
    Case(
        "identities.create_user",
        lambda c: identities.create_user(c, "bob", "hash"),
        lambda c: directory.delete(c, directory.USER, "bob"),
        IDENTITIES,
    ),
    Case(
        "identities.set_password",
        lambda c: identities.set_password(c, "ann", "second"),
        lambda c: identities.set_password(c, "ann", "third"),
        IDENTITIES,
    ),
    Case(
        "identities.assign",
        lambda c: identities.assign(c, ROLE, ANN),
        lambda c: identities.unassign(c, ROLE, ANN),
        IDENTITIES + "INSERT INTO members VALUES ('ROLE', 'admin', 'USER', 'bob');",
    ),
    Case(
        "identities.unassign",
        lambda c: identities.unassign(c, ROLE, BOB),
        lambda c: identities.assign(c, ROLE, BOB),
        ASSIGNED,
    ),
    Case(
        "identities.create_token",
        lambda c: identities.create_token(c, "new", b"1", [], [], None),
        lambda c: identities.revoke_token(c, "new"),
        IDENTITIES,
    ),
    Case(
        "identities.revoke_token",
        lambda c: identities.revoke_token(c, "worker"),
        lambda c: identities.create_token(c, "worker", b"2", [], [], None),
        IDENTITIES,
    ),
    Case(
        "identities.rotate_token",
        lambda c: identities.rotate_token(c, "worker", b"2", None),
        lambda c: identities.rotate_token(c, "worker", b"3", None),
        IDENTITIES,
    ),
    Case(
        "UPDATE api_tokens",
        lambda c: directory.delete(c, directory.TENANT, "acme"),
        lambda c: directory.create(c, directory.TENANT, "acme", ("again", None)),
        IDENTITIES + "DELETE FROM tenants WHERE tenant_id = 'acme';"
        "INSERT INTO tenants (tenant_id, name) VALUES ('acme', 'first');"
        "UPDATE api_tokens SET tenants = '{acme}'; UPDATE definitions_seq SET n = 0;",
    ),
    Case(
        "WITH found",
        partial(update_group, name="second"),
        partial(update_group, name="third"),
        "DELETE FROM user_groups; INSERT INTO user_groups (group_id, name) VALUES ('g', 'first');",
    ),
    Case(
        "UPDATE authorizations",
        lambda c: directory.update_authorization(c, 1, replace(GRANT, owner_id="ann")),
        lambda c: directory.update_authorization(c, 1, replace(GRANT, owner_id="bob")),
        "DELETE FROM authorizations;"
        " INSERT INTO authorizations OVERRIDING SYSTEM VALUE VALUES (1, 'USER', 'cid', 'RESOURCE', '*', '{READ}');",
    ),
    Case(
        "routes.pin",
        pin_tenant,
        lambda c: routes.pin(c, "<default>", [2]),
        "DELETE FROM tenant_partitions; UPDATE definitions_seq SET n = 0;",
    ),
]
"""Changes by an administrator, in a transaction. `then` is the opposite: it waits for the change that is in doubt."""
FIRST = {(statement, "statement") for statement in ("identities.set_password", "WITH found", "UPDATE authorizations")}
"""They lock nothing before, so the opposite does not wait; they are undone when their sessions end."""
APPENDS = {"command_log.append", "command_log.append_fresh", "command_log.begin_appends"}
OF_DOCUMENTS = {f"documents.{name}" for name in ("add", "delete", "release", "expire", "orphans")} | {
    "contents.complete"
}
WITHOUT_EFFECT = {"contents.begin", "link_keys.add"}
"""An upload that nobody goes on with, and a key that signs nothing: both are deleted later."""
WITH_CHANGES = {
    *("audit_log.add", "audit_log.refuse"),
    "task_comments.add",
    *(f"agents.{name}" for name in ("reserve", "settle", "forget_usage", "stop", "resume")),
    *("saved_views.save", "saved_views.delete"),
    *(f"alert_rules.{name}" for name in ("drop_waiting", "save", "mute", "delete", "test")),
    *("model_drafts.add", "model_drafts.change", "model_drafts.delete"),
    *("database_roles.forget", "database_roles.grant", "database_roles.revoke"),
    *("history.delete_queued", "erasure_by_value.delete_queued"),
    "task_listeners.changed",
    "cluster_variables.changed",
    *OF_DOCUMENTS,
}
"""They stand in the batch or in the transaction of a change. (A record of a failure is written once.)"""
WRITES = re.compile(
    r"\b(INSERT INTO|UPDATE \w+|DELETE FROM)\b|pg_notify|pg_terminate"
    r"|\b(SELECT|FROM) (?!unnest|json|pg_|set_|keepers_of)\w+\(\$1"
)


def test_every_call_that_writes_is_tried_late():
    statements = [one for path in named_sql_files() for one in load(path).values()]
    writing = {one.name for one in statements if WRITES.search(one.text)}
    fenced = {name for name in writing if name.startswith(FENCED)}
    assert len(fenced) > 30
    elsewhere = {"save.fence", "save.fence_between", "announce", "ping", "leadership.skip_lost"}
    named = {case.statement for case in [*CASES, *CHANGES] if " " not in case.statement}
    assert writing - fenced - APPENDS - WITH_CHANGES - WITHOUT_EFFECT == named - elsewhere


def test_every_put_of_the_directory_is_tried_late():
    writing = [name for name, function in vars(directory).items() if "UPDATE" in getsource_or_nothing(function)]
    assert writing == ["update", "delete", "update_authorization"]


def getsource_or_nothing(value):
    return inspect.getsource(value) if inspect.isfunction(value) else ""


@pytest.fixture
async def connection(database):
    """A connection past the proxy."""
    connection = await driver.connect(database)
    yield connection
    connection.close()


GENERATED = ("stored_at", "created_at", "key")


async def state(connection, besides=("stored_at",)):
    """All rows of all tables, and which tables there are. (Storing what is there renews its date, no more.)"""
    found = await connection.execute(
        "SELECT relname::text FROM pg_class"
        " WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace ORDER BY 1"
    )
    names = tuple(name for (name,) in found.rows)
    return names, (await connection.execute(reading(names, besides))).rows


@cache
def reading(names, besides):
    """The statement that reads these tables. A connection plans it once, which takes twice as long as to read them."""
    tables = (
        f"SELECT '{name}', (to_jsonb(t) - '{{{','.join(besides)}}}'::text[])::text FROM {name} t" for name in names
    )
    return statement("state", f"{' UNION ALL '.join(tables)} ORDER BY 1, 2", "")


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.statement, marks=pytest.mark.long if number % 10 else ())
        for number, case in enumerate(CASES)
    ],
)
async def test_a_call_that_comes_late_changes_nothing(case, proxy, database, connection, request):
    if case.statement == "nodes.register":
        request.getfixturevalue("new_sessions")  # it compares the times at which they began
    for _ in range(TIMES):
        early = await driver.connect(proxy.dsn(database))
        later = await driver.connect(database)
        if case.setup:
            await connection.script(case.setup)
        await case.call(early)
        if case.setup:
            await connection.script(case.setup)
        keep_from(early, proxy, case.statement)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lost, case.call, early)
            await proxy.until_kept()
            early.abort()
        await case.then(case, later)
        before = await state(connection)
        said = await proxy.deliver()
        assert said, "nothing came: the test did not bite"
        assert await state(connection) == before
        later.close()


@pytest.mark.parametrize("at", ["statement", "COMMIT"])
@pytest.mark.parametrize("case", CHANGES, ids=lambda case: case.statement)
async def test_a_change_in_doubt_is_not_overtaken(case, at, proxy, database, connection):
    """The opposite change has the last word: it waits until the late one is done, or undone."""
    async with driver_connections(proxy.dsn(database), database) as (early, later):
        await connection.script(case.setup)
        if at == "COMMIT":
            await case.call(connection)
        await case.then(connection)
        expected = await state(connection, besides=GENERATED)
        await connection.script(case.setup)
        await case.call(early)
        await connection.script(case.setup)
        keep_from(early, proxy, case.statement if at == "statement" else at)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lost, case.call, early)
            await proxy.until_kept()
            early.abort()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(case.then, later)
            if (case.statement, at) not in FIRST:
                await eventually_blocked(connection)
            assert await proxy.deliver(), "nothing came: the test did not bite"
        assert await state(connection, besides=GENERATED) == expected


@asynccontextmanager
async def driver_connections(*dsns):
    connections = [await driver.connect(dsn) for dsn in dsns]
    yield connections
    for each in connections:
        each.close()


async def test_partitions_of_a_new_database_are_made_once(proxy, database, connection):
    """Another program that makes them waits for the transaction in doubt, and finds them made."""
    async with driver_connections(proxy.dsn(database), database) as (early, later):
        await leadership.create(early, 1)
        keep_from(early, proxy, "COMMIT")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lost, lambda c: leadership.create(c, 3), early)
            await proxy.until_kept()
            early.abort()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(leadership.create, later, 3)
            await eventually_blocked(connection)
            assert await proxy.deliver(), "nothing came: the test did not bite"
        owners = await connection.execute("SELECT partition_id, count(*) FROM slots GROUP BY 1 ORDER BY 1")
        assert owners.rows == [(1, 342), (2, 341), (3, 341)]


def keep_from(connection, proxy, statement):
    """The proxy keeps what this connection says from this statement on."""
    execute, pipeline = connection.execute, connection.pipeline

    async def executing(query, *arguments, **options):
        if label(query).startswith(statement):
            proxy.hold()
        return await execute(query, *arguments, **options)

    async def pipelining(calls, **options):
        if statement in map(label, [query for query, _ in calls]):
            proxy.hold()
        return await pipeline(calls, **options)

    connection.execute, connection.pipeline = executing, pipelining


async def lost(call, connection):
    with pytest.raises(ConnectionLost):
        await call(connection)


MIGRATION = Migration(1, "late", "CREATE TABLE late (); INSERT INTO late DEFAULT VALUES", "00")


@pytest.mark.parametrize("at", ["SELECT pg_advisory_lock($1)", "BEGIN", "INSERT INTO schema_migrations", "COMMIT"])
async def test_a_migration_that_comes_late_is_made_once(empty_database, proxy, at):
    """The lock is the session's: nobody else migrates before that has ended, or said all that it has to say."""
    early, later = await driver.connect(proxy.dsn(empty_database)), await driver.connect(empty_database)
    execute = early.execute

    async def executing(query, *arguments, **options):
        if label(query).startswith(at):
            proxy.hold()
        return await execute(query, *arguments, **options)

    early.execute = executing
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lost, partial(migrate.migrate, migrations=[MIGRATION]), early)
        await proxy.until_kept()
        early.abort()
    if at.startswith("SELECT"):
        await migrate.migrate(later, [MIGRATION])
    else:
        with pytest.raises(MigrationError, match="another program"):
            await migrate.migrate(later, [MIGRATION], lock_wait_s=0.1)
    await proxy.deliver()
    await migrate.migrate(later, [MIGRATION])
    assert (await later.execute("SELECT count(*) FROM late")).rows == [(1,)]
    later.close()
