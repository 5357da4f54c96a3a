"""Handing out jobs, on PostgreSQL: who gets which, leases and their end, and nobody waiting for anybody."""

import json
import re
from dataclasses import replace
from functools import partial
from itertools import product
from uuid import uuid4

import psycopg
import pytest
import trio

from tests.eventually import eventually
from vivero.api.activation.job_turns import FAIR_EVERY, JobTurns
from vivero.storage.postgres import driver
from vivero.storage.postgres.errors import ConnectionLost
from vivero.storage.postgres.plans import by_index
from vivero.storage.postgres.sql_files import Statement
from vivero.storage.work import activation
from vivero.storage.work.activation import (
    AT_ONCE,
    MAX_TIMEOUT_MS,
    MAX_VARIABLES,
    ActivationRequest,
    Lease,
    Refusal,
    at_once,
)
from vivero.storage.work.scan_bounds import SubjectBounds

PINNED = "2026-11-21T01:02:03Z"
ROOM = 4_000_000
"""Bytes that an answer may have."""
PINNED_MS = 1795222923000


@pytest.fixture
def sync(database):
    """A psycopg connection to a database with the schema and a clock that stands still."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("UPDATE clock SET pinned_at = %s", [PINNED])
        yield connection


@pytest.fixture
def connect(sync, database):
    return partial(driver.connect, database, name="vivero test")


@pytest.fixture
async def connection(connect):
    connection = await connect()
    yield connection
    connection.close()


def put_job(sync, key, **row):
    defaults = {
        "job_key": key,
        "root_key": 1,
        "process_instance_key": (row.get("path") or [1])[-1],
        "element_instance_key": 2,
        "path": [2, 1],
        "process_definition_key": 9,
        "process_id": "order",
        "process_version": 4,
        "element_id": "task",
        "type": "work",
        "kind": "BPMN_ELEMENT",
        "listener_event": "UNSPECIFIED",
        "listener_index": 0,
        "state": "CREATED",
        "retries": 3,
        "priority": 0,
        "headers": '{"h":"1"}',
        "tags": ["t"],
        "tenant_id": "<default>",
        "created_at": PINNED,
        "updated_at": PINNED,
        "ready": True,
    } | row
    names, places = ", ".join(defaults), ", ".join(["%s"] * len(defaults))
    sync.execute(f"INSERT INTO jobs ({names}) VALUES ({places})", list(defaults.values()))


def put_variable(sync, key, scope, name, value, instance=1):
    values = [key, scope, instance, name, value]
    sync.execute("INSERT INTO variables VALUES (%s, %s, %s, 1, '<default>', %s, %s)", values)


def move_clock(sync, seconds):
    sync.execute("UPDATE clock SET pinned_at = pinned_at + %s * interval '1 second'", [seconds])


def columns(sync, key, *names):
    return sync.execute(f"SELECT {', '.join(names)} FROM jobs WHERE job_key = %s", [key]).fetchone()


async def activate(connection, limit=10, type="work", timeout_ms=1000, worker="w"):
    return (
        await activation.activate(connection, ActivationRequest(type, "<default>", limit, timeout_ms, worker), ROOM)
    ).leases


def keys(leases):
    return sorted(lease.job_key for lease in leases)


async def test_a_lease_is_a_token_a_time_and_a_worker(sync, connection):
    put_job(sync, 1)
    (lease,) = await activate(connection)
    ready, available_at, worker, token, expiries = columns(
        sync, 1, "ready", "to_epoch_ms(available_at)", "worker", "lease_token::text", "expiries"
    )
    assert (ready, available_at, worker, expiries) == (False, PINNED_MS + 1000, "w", 0)
    assert (lease.job_key, lease.token) == (1, token)
    assert await activate(connection) == []


async def test_only_jobs_of_the_type_and_tenant_are_given(sync, connection):
    put_job(sync, 1)
    put_job(sync, 2, type="other")
    put_job(sync, 3, tenant_id="t2")
    assert keys(await activate(connection)) == [1]


async def test_higher_priorities_and_older_jobs_come_first(sync, connection):
    for key, priority in ((1, 0), (2, 5), (3, 5), (4, -1)):
        put_job(sync, key, priority=priority)
    assert [keys(await activate(connection, 1)) for _ in range(4)] == [[2], [3], [1], [4]]


async def test_an_expired_lease_is_given_again_and_counted(sync, connection):
    put_job(sync, 1)
    put_job(sync, 2, priority=9)
    first = (await activate(connection, 2))[0]
    move_clock(sync, 0.999)
    assert await activate(connection) == []
    move_clock(sync, 0.001)
    assert keys(await activate(connection)) == [1, 2]
    token, expiries = columns(sync, first.job_key, "lease_token::text", "expiries")
    assert token != first.token
    assert expiries == 1


async def test_a_backoff_ends_without_counting_as_expired(sync, connection):
    put_job(sync, 1, ready=False, available_at="2026-11-21T01:02:05Z", state="FAILED")
    assert await activate(connection) == []
    assert await activation.next_available_ms(connection, "work", "<default>") == 2000
    move_clock(sync, 2)
    assert keys(await activate(connection)) == [1]
    assert columns(sync, 1, "expiries") == (0,)


async def test_a_closed_job_is_never_given(sync, connection):
    put_job(sync, 1, ready=False, state="COMPLETED", ended_at=PINNED)
    move_clock(sync, 10**6)
    assert await activate(connection) == []
    assert await activation.next_available_ms(connection, "work", "<default>") is None


async def test_a_lease_is_never_longer_than_a_date_can_be(sync, connection):
    put_job(sync, 1)
    await activate(connection, timeout_ms=2**63 - 1)
    assert columns(sync, 1, "to_epoch_ms(available_at)") == (PINNED_MS + MAX_TIMEOUT_MS,)


async def test_two_workers_at_once_get_different_jobs(sync, connect):
    """A transaction that was left open by one keeps nobody waiting: its rows are skipped."""
    for key in range(1, 7):
        put_job(sync, key)
    one, other = await connect(), await connect()
    await one.execute("BEGIN")
    first = await activate(one, 3)
    with trio.fail_after(5):
        second = await activate(other, 6)
    await one.execute("COMMIT")
    assert keys(first) == [1, 2, 3]
    assert keys(second) == [4, 5, 6]
    one.close()
    other.close()


@pytest.mark.parametrize("plain", [True, False])
async def test_an_activation_uses_the_partial_indexes(sync, connection, plain):
    sync.execute(
        "INSERT INTO jobs (job_key, root_key, process_instance_key, element_instance_key, path, process_definition_key,"
        " process_id, process_version, element_id, type, kind, listener_event, listener_index, state, retries,"
        " priority, headers, error_code, error_message, business_id, tags, tenant_id, created_at, updated_at, ended_at,"
        " ready, available_at, worker, lease_token, expiries)"
        " SELECT n, 1, 1, 2, '{}', 9, 'p', 1, 'e', 'work', 'BPMN_ELEMENT', 'UNSPECIFIED', 0, 'CREATED',"
        " 3, 0, '{}', NULL, NULL, NULL, '{}', '<default>', now(), now(), NULL, n % 2 = 0,"
        " CASE WHEN n % 2 = 1 THEN now() + n * interval '1 s' END, NULL, NULL, 0 FROM generate_series(1, 20000) n"
    )
    sync.execute("ANALYZE jobs")
    ask = ActivationRequest("work", "<default>", 10, 1000, "w")
    statement, values = (activation.plain_lease_statement if plain else activation.lease_statement)(ask, uuid4())
    assert isinstance(statement, Statement)
    plan = "\n".join(row[0] for row in (await connection.execute(f"EXPLAIN {statement.text}", values)).rows)
    assert "jobs_ready" in plan
    assert "jobs_leased" in plan
    assert "Seq Scan on jobs" not in plan
    condition = plan.partition("jobs_leased")[2].partition("\n")[2].partition("\n")[0]
    assert re.search(r"Index Cond: .*\(available_at <= (\$\d|\(InitPlan \d+\))", condition), plan


async def test_a_job_is_shown_with_the_variables_that_it_sees(sync, connection):
    put_job(sync, 1, business_id="b")
    put_variable(sync, 10, 1, "x", "1")
    put_variable(sync, 11, 1, "shadowed", '"outer"')
    put_variable(sync, 12, 2, "shadowed", '{"in": [1.50]}')
    put_variable(sync, 13, 3, "elsewhere", "true")
    put_variable(sync, 14, 1, 'quo"te\\', "null")
    (lease,) = await activate(connection)
    (job,) = await activation.activated_jobs(connection, [lease], None, False)
    assert json.loads(job) == {
        "type": "work",
        "processDefinitionId": "order",
        "processDefinitionVersion": 4,
        "elementId": "task",
        "customHeaders": {"h": "1"},
        "worker": "w",
        "retries": 3,
        "deadline": PINNED_MS + 1000,
        "variables": {"x": 1, "shadowed": {"in": [1.5]}, 'quo"te\\': None},
        "tenantId": "<default>",
        "physicalTenantId": "default",
        "jobKey": "1",
        "processInstanceKey": "1",
        "processDefinitionKey": "9",
        "elementInstanceKey": "2",
        "kind": "BPMN_ELEMENT",
        "listenerEventType": "UNSPECIFIED",
        "userTask": None,
        "tags": ["t"],
        "rootProcessInstanceKey": "1",
        "businessId": "b",
        "priority": 0,
        "jobLeaseToken": None,
    }
    assert b"1.50" in job
    (job,) = await activation.activated_jobs(connection, [lease], ["x", "unknown"], True)
    assert json.loads(job)["variables"] == {"x": 1}
    assert json.loads(job)["jobLeaseToken"] == lease.token
    (job,) = await activation.activated_jobs(connection, [lease], ["unknown"], True)
    assert json.loads(job)["variables"] == {}


async def test_few_small_jobs_come_with_their_leases(sync, connection):
    """Exactly as they are read afterwards, in the same order."""
    put_job(sync, 1, path=[3, 2, 1])
    put_job(sync, 2, path=[], priority=7, business_id="b", tags=["a", "b"], headers='{"h": "ü"}')
    put_variable(sync, 10, 1, "x", "1")
    put_variable(sync, 11, 2, "x", '"' + "y" * 1900 + '"')
    put_variable(sync, 12, 3, 'quo"te\\', "1.50")
    put_variable(sync, 13, 4, "elsewhere", "true")
    for names, with_token, plain in product((None, ["x"], []), (False, True), (False, True)):
        ask = ActivationRequest("work", "<default>", 5, 1000, "w", names, with_token)
        if plain:
            leases = (await activation.activate_plainly(connection, ask, ROOM, uuid4())).leases
        else:
            leases = (await activation.activate(connection, ask)).leases
        assert [lease.job_key for lease in leases] == [2, 1]
        assert [lease.job for lease in leases] == await activation.activated_jobs(connection, leases, names, with_token)
        await activation.release(connection, leases)


@pytest.mark.parametrize(
    ("jobs", "size", "together"),
    [(50, 100, True), (1, 1998, True), (1, 1999, False), (40, 1500, False)],
)
async def test_large_ones_do_not(sync, connection, jobs, size, together):
    """A value of 2,000 bytes may be stored elsewhere; 60 kB fit into a socket."""
    for key in range(jobs):
        put_job(sync, key)
    put_variable(sync, 1, 1, "x", '"' + "y" * size + '"')
    leases = await activate(connection, 100)
    assert len(leases) == jobs
    assert [lease.job is not None for lease in leases] == [together] * jobs
    assert len(await activation.activated_jobs(connection, leases, None, False)) == jobs


def put_what_is_not_small(sync, what):
    """A second job, beside one that is small."""
    put_job(sync, 2, path=[5, 2], headers=json.dumps({"h": "x" * 59_400}) if what == "headers" else "{}")
    match what:
        case "a value":
            put_variable(sync, 1, 2, "x", '"' + "y" * 1999 + '"', instance=2)
        case "many variables":
            for number in range(51):
                put_variable(sync, number, 2 if number else 5, f"v{max(number, 1)}", "1", instance=2)
        case "all together":
            for number in range(40):
                put_variable(sync, number, 2, f"v{number}", '"' + "y" * 1480 + '"', instance=2)


@pytest.fixture
def never_slow(monkeypatch):
    """No plain look says that it was slow, on however slow a machine."""
    statement = activation.ACTIVATE_SMALL
    assert statement.text.count("'3 milliseconds'") == 1
    patient = replace(statement, text=statement.text.replace("'3 milliseconds'", "'1 hour'"))
    monkeypatch.setattr(activation, "ACTIVATE_SMALL", patient)


@pytest.mark.parametrize("what", ["a value", "many variables", "all together", "headers"])
@pytest.mark.usefixtures("never_slow")
async def test_a_plain_look_leases_small_jobs_or_none(sync, connection, what):
    put_job(sync, 1, path=[1])
    put_what_is_not_small(sync, what)
    plainly = partial(activation.activate_plainly, connection)
    ask = ActivationRequest("work", "<default>", 10, 1000, "w")
    assert await plainly(ask, ROOM, uuid4()) == ([], True, False)
    assert keys((await plainly(ask._replace(limit=1), ROOM, uuid4())).leases) == [1]
    assert await plainly(ask, ROOM, uuid4()) == ([], True, False)
    sync.execute("DELETE FROM variables WHERE name = (SELECT max(name) FROM variables)")
    sync.execute("UPDATE jobs SET headers = '{}'")
    assert keys((await plainly(ask, ROOM, uuid4())).leases) == [2]


@pytest.mark.usefixtures("never_slow")
async def test_a_plain_look_leases_what_fits_or_nothing(sync, connection):
    for key in range(3):
        put_job(sync, key)
    ask = ActivationRequest("work", "<default>", 10, 1000, "w")
    assert await activation.activate_plainly(connection, ask, 2000, uuid4()) == ([], True, False)
    assert len((await activation.activate_plainly(connection, ask, 2200, uuid4())).leases) == 3


def first_keys(partition, count):
    return [(partition << 51) + number for number in range(1, count + 1)]


async def look_near(connection, limit, first):
    ask = ActivationRequest("work", "<default>", limit, 1000, "w")
    return keys((await activation.activate_plainly(connection, ask, ROOM, uuid4(), first)).leases)


@pytest.mark.parametrize("returned", [False, True])
async def test_jobs_of_one_partition_come_first(sync, connection, returned):
    """Also jobs that were given back, which another index range has."""
    one, two, three = (first_keys(partition, 6) for partition in (1, 2, 3))
    for key in (*one, *two, *three):
        put_job(sync, key, returned=returned)
    assert await look_near(connection, 4, 2) == two[:4]
    assert await look_near(connection, 4, 3) == three[:4]
    assert await look_near(connection, 4, 2) == [*one[:2], *two[4:]]
    assert await look_near(connection, 50, 3) == [*one[2:], *three[4:]]
    assert await look_near(connection, 50, 3) == []


async def test_a_higher_priority_goes_before_the_partition(sync, connection):
    one, two = first_keys(1, 2), first_keys(2, 2)
    put_job(sync, one[0], priority=1)
    put_job(sync, one[1], priority=9)
    put_job(sync, two[0], priority=5, returned=True)
    put_job(sync, two[1], priority=9)
    assert await look_near(connection, 1, 2) == two[1:]
    assert await look_near(connection, 1, 2) == one[1:]
    assert await look_near(connection, 1, 1) == two[:1]
    assert await look_near(connection, 1, 2) == one[:1]


async def test_under_a_lasting_backlog_the_oldest_job_of_each_partition_is_soon_activated(sync, connection):
    """Each look finds more jobs of partition 1 than it takes. The node leads partition 1, or none, or all."""
    for led in ([1], [], [1, 2, 3]):
        sync.execute("DELETE FROM jobs")
        for key in (*first_keys(1, 60), *first_keys(2, 30), *first_keys(3, 30)):
            put_job(sync, key, returned=key % 2 == 0)
        turns, bounds, oldest = JobTurns(lambda: [1, 2, 3], partial(list, led)), SubjectBounds(0.0), {}
        for number in range(1 + 3 * FAIR_EVERY):
            leases = await look_near(connection, 5, turns.first(bounds))
            bounds.note_plain(0.0, large=False, slow=False, full=len(leases) == 5)
            for key in leases:
                oldest.setdefault(key >> 51, (key, number))
        assert [oldest[partition][0] for partition in (1, 2, 3)] == [first_keys(n, 1)[0] for n in (1, 2, 3)]


async def test_one_statement_leases_fifty_jobs_at_most(sync, connection):
    for key in range(AT_ONCE + 10):
        put_job(sync, key)
    assert len(await activate(connection, 1000)) == AT_ONCE
    assert len(await activate(connection, 1000)) == 10


async def test_a_statement_looks_up_so_many_names_at_most(sync, connection):
    for key in range(10):
        put_job(sync, key)
    names = [f"v{number}" for number in range(1000)]
    leases, *_ = await look(connection, ROOM, names)
    assert len(leases) == 5
    assert at_once(ActivationRequest("work", "<default>", 50, 1, "w", names * 6)) == 1


async def look(connection, room, names=None, variables=MAX_VARIABLES, limit=50):
    ask, token = ActivationRequest("work", "<default>", limit, 1000, "w", names), uuid4()
    return activation.read_activation(
        await connection.execute(*activation.lease_statement(ask, token, room, variables))
    )


def put_large(sync, job, size, name="large"):
    put_job(sync, job, path=[job])
    put_variable(sync, job, job, name, '"' + "x" * (size - 2) + '"', instance=job)


async def test_only_as_many_are_leased_as_fit(sync, connection):
    for job in range(1, 6):
        put_large(sync, job, 1_000_000)
    leases, too_large, _ = await look(connection, 3_500_000)
    assert keys(leases) == [1, 2, 3]
    assert 1_000_000 < too_large.size < 1_001_000
    assert (too_large.job_key, too_large.lease) == (4, None)
    assert [columns(sync, job, "ready") for job in (4, 5)] == [(True,), (True,)]


async def test_what_follows_a_large_job_waits_behind_it(sync, connection):
    """By priority and age as ever; it is told of, for whoever has room for it."""
    put_large(sync, 1, 10)
    put_large(sync, 2, 3_900_000)
    put_large(sync, 3, 10)
    assert keys((await look(connection, 60_000)).leases) == [1]
    leases, too_large, _ = await look(connection, 60_000)
    assert (leases, too_large.job_key) == ([], 2)
    assert keys((await look(connection, too_large.size)).leases) == [2]
    assert keys((await look(connection, 60_000)).leases) == [3]


async def test_sizes_are_those_of_the_answer(sync, connection):
    """Large in what counts: headers, names that are escaped, and what is hidden by another of its name."""
    put_job(sync, 1, headers=json.dumps({"h": "x" * 50_000}))
    put_variable(sync, 10, 1, '"\x01' * 400, '"' + "é" * 100_000 + '"')
    put_variable(sync, 11, 1, "hidden", '"' + "y" * 500_000 + '"')
    put_variable(sync, 12, 2, "hidden", "1")
    (lease,), *_ = await look(connection, ROOM)
    (job,) = await activation.activated_jobs(connection, [lease], None, False)
    assert abs(lease.size - len(job)) < 300


async def test_only_named_variables_count(sync, connection):
    put_large(sync, 1, 3_900_000)
    put_variable(sync, 100, 1, "x", "1")
    (lease,), *_ = await look(connection, 60_000, ["x", "unknown"])
    assert json.loads(lease.job)["variables"] == {"x": 1}


async def test_named_variables_are_found_by_scope_and_name(sync, connection):
    """Not by name alone, which may be that of a variable of every instance, nor by scope, which may have thousands."""
    put_job(sync, 1)
    sync.execute(
        "INSERT INTO variables SELECT n, n / 50, n / 100, 1, '<default>', 'v' || n % 50, '1'"
        " FROM generate_series(1, 20000) n"
    )
    sync.execute("ANALYZE variables")
    await connection.execute(*by_index())
    for statement, count in (
        (activation.ACTIVATE_NAMED, 15),
        (activation.ACTIVATE_SMALL_NAMED, 9),
        (activation.ACTIVATED_NAMED, 4),
    ):
        await connection.script(f"PREPARE planned AS {statement.text}")
        values = ["NULL"] * count
        rows = (await connection.execute(f"EXPLAIN EXECUTE planned ({', '.join(values)})")).rows
        plan = "\n".join(row[0] for row in rows)
        assert "variables_of_scopes" in plan, plan
        condition = r"Index Cond: \(\(process_instance_key = .+\) AND \(scope_key = s(\.s)?\) AND \(name = n(\.n)?\)\)"
        assert re.search(condition, plan.replace("wanted.", "")), plan
        await connection.script("DEALLOCATE planned")


async def test_a_job_with_more_variables_than_are_looked_at_does_not_fit(sync, connection):
    """Unless others hide none of them: the look stops early, and knows no size then."""
    for job in (1, 2):
        put_job(sync, job, path=[job * 10, job])
        for number in range(5):
            put_variable(sync, job * 100 + number, job, f"v{number}", "1", instance=job)
        put_variable(sync, job * 100 + 9, job * 10, "v0", "1", instance=job)
    assert (await look(connection, ROOM, variables=5))[:2] == ([], (1, None, None))
    assert keys((await look(connection, ROOM, variables=6)).leases) == [1, 2]
    assert keys((await look(connection, ROOM, ["v0", "v1"], variables=2)).leases) == []


async def test_behind_the_first_job_only_a_thousand_variables_are_looked_at(sync, connection):
    for job in (1, 2):
        put_job(sync, job, path=[job])
    sync.execute(
        "INSERT INTO variables SELECT n, i, i, 1, '<default>', 'v' || n, '1'"
        " FROM generate_series(1, 2002) n, LATERAL (SELECT 1 + n % 2) one(i)"
    )
    leases, too_large, _ = await look(connection, ROOM)
    assert (keys(leases), too_large) == ([1], (2, None, None))
    assert keys((await look(connection, ROOM)).leases) == [2]


async def test_the_lease_of_a_job_that_does_not_fit_is_told_of(sync, connection):
    """The lease was over: a worker that is given the job meanwhile has another."""
    put_large(sync, 1, 3_900_000)
    (lease,), *_ = await look(connection, ROOM)
    assert (await look(connection, 60_000))[:2] == ([], None)
    move_clock(sync, 2)
    assert (await look(connection, 60_000)).too_large.lease == lease.token


async def test_a_job_that_is_no_longer_leased_is_left_out(sync, connection):
    put_job(sync, 1)
    put_job(sync, 2)
    leases = await activate(connection)
    sync.execute("UPDATE jobs SET lease_token = NULL WHERE job_key = 1")
    (job,) = await activation.activated_jobs(connection, leases, None, False)
    assert json.loads(job)["jobKey"] == "2"


async def test_giving_back_makes_available_what_is_still_leased(sync, connection):
    put_job(sync, 1)
    put_job(sync, 2)
    leases = await activate(connection)
    sync.execute("UPDATE jobs SET lease_token = gen_random_uuid() WHERE job_key = 2")
    assert await activation.release(connection, leases) == [("work", "<default>")]
    assert columns(sync, 1, "ready", "available_at", "lease_token", "worker") == (True, None, None, None)
    assert columns(sync, 2, "ready") == (False,)
    assert keys(await activate(connection)) == [1]


async def test_what_was_leased_to_nobody_is_taken_back(sync, connection):
    lost, held = uuid4(), uuid4()
    for number in (1, 2, 3):
        put_job(sync, number)
    await activation.activate(connection, ActivationRequest("work", "<default>", 2, 1000, "w"), token=lost)
    await activation.activate(connection, ActivationRequest("work", "<default>", 1, 1000, "w"), token=held)
    sync.execute(
        "UPDATE jobs SET ready = false, available_at = NULL, lease_token = NULL, state = 'COMPLETED' WHERE job_key = 2"
    )
    assert await activation.take_back(connection, "work", "<default>", [lost, uuid4()]) == 1
    assert columns(sync, 1, "ready", "available_at", "lease_token", "worker") == (True, None, None, None)
    assert keys(await activate(connection)) == [1]


async def test_taking_back_waits_for_no_job(sync, connection, database):
    """The engine saves several jobs in whatever order: who holds one of them and waits for another is a deadlock."""
    token = uuid4()
    for number in (1, 2):
        put_job(sync, number)
    await activation.activate(connection, ActivationRequest("work", "<default>", 2, 1000, "w"), token=token)
    with psycopg.connect(database) as engine:
        engine.execute("UPDATE jobs SET retries = 5 WHERE job_key = 1")
        assert await activation.take_back(connection, "work", "<default>", [token]) == 1
        engine.execute("UPDATE jobs SET retries = 5 WHERE job_key = 2")
    assert columns(sync, 2, "ready", "retries") == (True, 5)
    assert await activation.take_back(connection, "work", "<default>", [token]) == 1


async def test_giving_back_does_not_revive_a_finished_job(sync, connection):
    put_job(sync, 1)
    leases = await activate(connection)
    sync.execute("UPDATE jobs SET ready = false, available_at = NULL, lease_token = NULL, state = 'COMPLETED'")
    assert await activation.release(connection, leases) == []
    assert await activate(connection) == []


async def test_a_lease_is_extended_from_now(sync, connection):
    put_job(sync, 1)
    (lease,) = await activate(connection)
    move_clock(sync, 0.5)
    assert await activation.extend(connection, 1, 5000, None) == ("work", "<default>")
    assert columns(sync, 1, "to_epoch_ms(available_at)") == (PINNED_MS + 5500,)
    assert await activation.extend(connection, 1, 7000, lease.token) == ("work", "<default>")
    assert await activation.next_available_ms(connection, "work", "<default>") == 7000


async def test_what_cannot_be_extended(sync, connection):
    put_job(sync, 1)
    put_job(sync, 2)
    put_job(sync, 3, ready=False, available_at="2026-11-21T02:00:00Z", state="FAILED")
    extend = partial(activation.extend, connection)
    put_job(sync, 4, ready=False, ended_at="2026-11-21T00:00:00Z", state="COMPLETED")
    assert await extend(99, 1, None) is Refusal.NO_JOB
    assert await extend(4, 1, None) is Refusal.NO_JOB
    assert await extend(1, 1, None) is Refusal.NOT_LEASED
    assert await extend(3, 1, None) is Refusal.NOT_LEASED
    (lease,) = await activate(connection, 1)
    other = Lease(1, "00000000-0000-4000-8000-000000000000")
    assert await extend(1, 1, other.token) is Refusal.OTHER_LEASE
    move_clock(sync, 1)
    assert await extend(1, 1, lease.token) is Refusal.NOT_LEASED


async def test_who_leases_large_jobs_and_does_not_read_the_answer_holds_no_row(sync, database, proxy, nursery):
    for key in range(50):
        put_job(sync, key)
    put_variable(sync, 1, 1, "large", '"' + "x" * 70_000 + '"')
    slow = await driver.connect(proxy.dsn(database), name="slow reader")
    assert await activate(slow, type="none") == []  # prepared: one request more will pass
    proxy.stall = True

    async def lease():
        with pytest.raises(ConnectionLost):
            await activate(slow, 50)

    nursery.start_soon(lease)
    ready = "SELECT count(*) FROM jobs WHERE ready"
    await eventually(lambda: sync.execute(ready).fetchone(), accept=lambda found: found == (0,))
    sync.execute("SET lock_timeout = '1s'")
    sync.execute("UPDATE jobs SET state = 'COMPLETED', ready = false, available_at = NULL, lease_token = NULL")
    slow.abort()


async def test_a_client_that_does_not_read_its_jobs_holds_no_row(sync, database, connection, proxy, nursery):
    """The engine must be able to write a job while megabytes of it wait in a socket that nobody reads."""
    put_job(sync, 1)
    for n in range(8):
        put_variable(sync, 10 + n, 1, f"large{n}", '"' + "x" * 4_000_000 + '"')
    leases, *_ = await look(connection, 40_000_000)
    slow = await driver.connect(proxy.dsn(database), name="slow reader")
    assert await activation.activated_jobs(slow, [], None, False) == []  # prepared: one request more will pass
    proxy.stall = True

    async def read():
        with pytest.raises(ConnectionLost):
            await activation.activated_jobs(slow, leases, None, False)

    nursery.start_soon(read)
    query = (
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'slow reader' AND wait_event = 'ClientWrite'"
    )
    await eventually(lambda: sync.execute(query).fetchone(), accept=lambda found: found != (0,))
    sync.execute("SET lock_timeout = '1s'")
    sync.execute("UPDATE jobs SET state = 'COMPLETED', ready = false, available_at = NULL, lease_token = NULL")
    slow.abort()
