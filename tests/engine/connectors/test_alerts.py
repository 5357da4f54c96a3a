"""Alert rules on PostgreSQL: when they are raised and cleared, and how their notices come to a receiver."""

import pytest

from vivero.engine.alerts import chores as alert_chores
from vivero.engine.alerts.deliveries import RETRY
from vivero.engine.connectors.http.signed_posts import signature
from vivero.engine.connectors.outbox.settings import OutboxSettings
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.jobs.execution import Execution
from vivero.storage.access import directory
from vivero.storage.background import alert_rules
from vivero.storage.background.alert_rules import METRICS, MOST_DELIVERIES, AlertRule
from vivero.storage.background.job_executions import Run
from vivero.storage.postgres.pool import Pool
from vivero.storage.search.alert_rules import ALERT_RULES

ALLOWED = ConnectorSettings(enabled=True, allowed_targets="127.0.0.1")
NO_OUTBOX = OutboxSettings()
RUN = Execution(Run("id", "x", 0, None, None, None, "lease", 0, 0, 0, 0))


@pytest.fixture
def pool(connect):
    made = Pool(lambda deadline: connect(deadline=deadline), 3)
    yield made
    made.close()


@pytest.fixture
def do(pool):
    """Does a chore of alerts once: `evaluate` or `deliver`."""

    async def do(settings=ALLOWED, secrets=dict, outbox=NO_OUTBOX):
        for job in alert_chores.chores(settings, outbox, pool.connection, secrets):
            await job.handler(RUN)

    return do


@pytest.fixture
def make(connection, server):
    """Saves a rule."""

    async def make(name="late", **more):
        given = {"process": "order", "metric": "INCIDENTS", "threshold": 3, "clears_at": 1, "every_s": 60}
        given |= {"url": server.url, "to_outbox": False, "secret": None, "made_by": "ada", "tenant": "t", **more}
        async with connection.transaction():
            return await alert_rules.save(connection, AlertRule(name=name, **given), 100)

    return make


@pytest.fixture
def incidents(connection):
    """Makes this many open incidents, and lets all rules be due, in the time that follows."""

    async def put(count, process="order", tenant="t"):
        await connection.execute("DELETE FROM incidents")
        await connection.execute(
            "INSERT INTO incidents (incident_key, root_key, part_key, process_instance_key, element_instance_key,"
            " process_definition_key, process_id, element_id, stage, argument, type, message, state, tenant_id,"
            " created_at) SELECT n, 1, 1, 1, 1, 9, $2, 'e', '', '0', 'X', 'm', 'ACTIVE', $3, now()"
            " FROM generate_series(1, $1::int) n",
            (count, process, tenant),
        )
        await due(connection)

    return put


async def due(connection):
    await connection.execute("UPDATE alert_rules SET next_at = '-infinity'")
    await connection.execute("UPDATE alert_deliveries SET due_at = '-infinity'")


def told(server):
    return [(request.json["kind"], request.json["value"]) for request in server.received]


async def one(connection, columns):
    (row,) = (await connection.execute(f"SELECT {columns} FROM alert_rules")).rows
    return tuple(row)


async def test_a_rule_is_raised_above_its_threshold_and_cleared_below_another_value(make, do, incidents, server):
    """Between the two nothing changes, so a figure that swings around the threshold tells once."""
    key = await make(secret="shared")
    for count in (3, 4, 9, 3, 2, 4, 1, 3, 0):
        await incidents(count)
        await do(secrets=lambda: {"shared": "s3cret"})
    assert told(server) == [("RAISED", 4), ("CLEARED", 1)]
    first, second = server.received
    assert first.json["rule"] == {
        "alertRuleKey": str(key),
        "name": "late",
        "tenantId": "t",
        "processDefinitionId": "order",
        "metric": "INCIDENTS",
        "threshold": 3,
    }
    assert first.headers["x-vivero-event-id"] == first.json["id"] != second.json["id"]
    signed = signature("s3cret", int(first.headers["x-vivero-timestamp"]), first.body)
    assert first.headers["x-vivero-signature"] == f"sha256={signed}"


async def test_a_notice_is_an_event_for_the_receiver_of_the_outbox_instead(make, do, incidents, server):
    """The operator has chosen the receiver, which may be a private host, and its secret signs."""
    key = await make(url="", to_outbox=True)
    outbox = OutboxSettings(url=server.url, alerts=True, secret="s3cret")
    for count in (4, 0):
        await incidents(count)
        await do(ConnectorSettings(), outbox=outbox)
    first, second = server.received
    assert (first.json["type"], second.json["type"]) == ("AlertRaised", "AlertCleared")
    assert first.json["id"] == first.headers["x-vivero-event-id"] == f"alert-{key}-2"
    assert (first.json["data"]["value"], first.json["data"]["rule"]["name"]) == (4, "late")
    assert (first.json["partitionId"], first.json["commandPosition"]) == (None, None)
    signed = signature("s3cret", int(first.headers["x-vivero-timestamp"]), first.body)
    assert first.headers["x-vivero-signature"] == f"sha256={signed}"


async def test_of_two_receivers_a_broken_one_holds_up_nothing_of_the_other(make, do, incidents, server, connection):
    """The outbox takes no alerts until the URL has heard of the end, and then of both in their order."""
    key = await make(to_outbox=True)
    await incidents(4)
    await do()
    refused = "NO_OUTBOX: the outbox takes no alerts: set outbox.url and outbox.alerts"
    assert await shown(connection) == ("PENDING", refused)
    await incidents(0)
    await do()
    assert await alert_rules.test(connection, key)
    assert not await alert_rules.test(connection, key), "one waits for each"
    await do()
    assert await alert_rules.test(connection, key), "one waits for the outbox, and none for the URL"
    await do()
    assert told(server) == [("RAISED", 4), ("CLEARED", 0), ("TEST", 0), ("TEST", 0)]
    server.received.clear()
    for _ in range(3):
        await due(connection)
        await do(outbox=OutboxSettings(url=server.url, alerts=True))
    events = [each.json.get("type") for each in server.received]
    assert events == ["AlertRaised", "AlertCleared", "AlertTested"]
    assert len({each.headers["x-vivero-event-id"] for each in server.received}) == 3
    assert await shown(connection) == ("DELIVERED", None)


async def test_each_receiver_has_all_of_its_attempts(make, do, incidents, server, connection):
    """The URL is given up, and the outbox hears of it later."""
    await make(to_outbox=True)
    server.answer = lambda request: (503, {}, b"")
    await incidents(9)
    await do(outbox=OutboxSettings(url=server.url, alerts=True))
    await connection.execute(
        "UPDATE alert_deliveries SET attempts = $1 WHERE receiver = 'URL'", (RETRY.max_attempts - 1,)
    )
    await due(connection)
    await do(outbox=OutboxSettings(url=server.url, alerts=True))
    assert await shown(connection) == ("PENDING", "HTTP status 503")
    server.answer = lambda request: (200, {}, b"")
    await due(connection)
    await do(outbox=OutboxSettings(url=server.url, alerts=True))
    rows = (await connection.execute("SELECT receiver, state, attempts FROM alert_deliveries ORDER BY revision")).rows
    assert rows == [("URL", "FAILED", RETRY.max_attempts), ("OUTBOX", "DELIVERED", 3)]
    assert await shown(connection) == ("FAILED", "HTTP status 503")


async def shown(connection):
    """The state and the error of the delivery that people see."""
    found = await connection.execute(f"SELECT d.state, d.error FROM {ALERT_RULES.source}")
    return found.rows[0]


async def test_only_the_own_tenant_and_process_count(make, do, incidents, server):
    await make("one")
    await make("all", process="")
    for process, tenant in (("order", "other"), ("other", "other")):
        await incidents(9, process, tenant)
        await do()
    assert server.received == []
    await incidents(9, "other")
    await do()
    assert [request.json["rule"]["name"] for request in server.received] == ["all"]


@pytest.mark.parametrize("metric", METRICS)
async def test_each_figure_is_counted(make, do, connection, metric):
    """The figure of nothing is 0. `OLDEST_SECONDS` is by the engine's clock."""
    await make(metric=metric)
    await do()
    assert await one(connection, "value, error, is_raised") == (0, None, False)
    put = {
        "RUNNING": "INSERT INTO element_counts VALUES (1, 9, '', 7, 0, 0)",
        "NEW_INCIDENTS": "INSERT INTO instance_counts VALUES (usage_period(clock_now()), 9, 1, 0, 0, 0, 7),"
        " (usage_period(clock_now() - interval '2 hours'), 9, 1, 0, 0, 0, 99)",
        "INCIDENTS": "INSERT INTO incidents (incident_key, root_key, part_key, process_instance_key,"
        " element_instance_key, process_definition_key, process_id, element_id, stage, argument, type, message, state,"
        " tenant_id, created_at) SELECT n, 1, 1, 1, 1, 9, 'order', 'e', '', '0', 'X', 'm', 'ACTIVE', 't', now()"
        " FROM generate_series(1, 7) n",
        "OPEN_TASKS": "INSERT INTO user_tasks (user_task_key, root_key, part_key, process_instance_key,"
        " element_instance_key, process_definition_key, process_id, process_version, element_id, state,"
        " candidate_groups, candidate_users, priority, headers, tags, tenant_id, created_at)"
        " SELECT n, 1, 1, 1, 1, 9, 'order', 1, 'e', 'CREATED', '{}', '{}', 50, '{}', '{}', 't', now()"
        " FROM generate_series(1, 7) n",
        "OLDEST_SECONDS": "INSERT INTO process_instances (process_instance_key, root_key, process_definition_key,"
        " created_position, version, started_at, process_version, depth, live, incidents, interrupted, process_id,"
        " tenant_id, state, tokens) SELECT n, n, 9, 1, 1, clock_now() - n * interval '1 second', 1, 1, 0, 0, false,"
        " 'order', 't', 'ACTIVATED', '{}' FROM generate_series(1, 7) n",
    }[metric]
    await connection.execute("UPDATE clock SET pinned_at = now()")
    await connection.execute(
        "INSERT INTO process_definitions (process_definition_key, deployment_key, tenant_id, process_id, version,"
        " resource_name, sha256, state, deployed_at) VALUES (9, 1, 't', 'order', 1, 'r', 'x', 'ACTIVE', now())"
    )
    await connection.execute(put)
    await due(connection)
    await do()
    assert await one(connection, "value, error, is_raised") == (7, None, True)


async def test_a_muted_rule_tells_afterwards_what_has_changed(make, do, incidents, connection, server):
    key = await make()
    await connection.execute("UPDATE alert_rules SET muted_until = clock_timestamp() + interval '1 hour'")
    for count in (9, 0, 9):
        await incidents(count)
        await do()
    assert await one(connection, "is_raised, is_told") == (True, False)
    assert server.received == []
    await alert_rules.mute(connection, key, None)
    await due(connection)
    await do()
    assert told(server) == [("RAISED", 9)]


async def test_a_rule_that_tells_somebody_else_begins_anew(make, do, incidents, connection, server):
    """The new receiver hears that the rule is raised, and nothing that waited for the old one."""
    key = await make()
    await incidents(9)
    await do()
    server.answer = lambda request: (500, {}, b"")
    await incidents(0)
    await do()
    server.answer = lambda request: (200, {}, b"")
    assert await make(url=f"{server.url}?new") == key
    assert await one(connection, "value, is_raised, is_told") == (None, False, False)
    await incidents(8)
    await do()
    assert await make(url=f"{server.url}?new", threshold=4) == key
    await incidents(7)
    await do()
    assert told(server) == [("RAISED", 9), ("CLEARED", 0), ("RAISED", 8)]


async def test_a_notice_is_repeated_until_it_is_taken_and_given_up_in_the_end(make, do, incidents, connection, server):
    """The end waits behind the beginning. Each attempt has the same id."""
    await make()
    server.answer = lambda request: (500, {}, b"secret of the receiver")
    await incidents(9)
    for _ in range(3):
        await do()
        await due(connection)
    await incidents(0)
    server.answer = lambda request: (200 if len(server.received) > 5 else 302, {}, b"")
    for _ in range(4):
        await do()
        await due(connection)
    assert [kind for kind, _ in told(server)] == ["RAISED"] * 6 + ["CLEARED"]
    assert len({request.json["id"] for request in server.received}) == 2
    server.answer = lambda request: (503, {}, b"")
    await incidents(9)
    for _ in range(RETRY.max_attempts + 3):
        await do()
        await due(connection)
    rows = (await connection.execute("SELECT state, attempts, error FROM alert_deliveries ORDER BY revision")).rows
    assert [tuple(row) for row in rows] == [
        ("DELIVERED", 6, None),
        ("DELIVERED", 1, None),
        ("FAILED", RETRY.max_attempts, "HTTP status 503"),
    ]


@pytest.mark.parametrize(
    ("settings", "url", "secret", "error"),
    [
        (ConnectorSettings(enabled=True), None, None, "FORBIDDEN_ADDRESS"),
        (ConnectorSettings(enabled=True), "http://[::ffff:169.254.169.254]/latest", None, "FORBIDDEN_ADDRESS"),
        (ConnectorSettings(allowed_targets="127.0.0.1"), None, None, "DISABLED"),
        (ALLOWED, None, "absent", "NO_SECRET"),
        (ALLOWED, "gopher://127.0.0.1/", None, "INVALID_INPUT"),
        (ALLOWED, "http://xn--/", None, "INVALID_INPUT"),
    ],
)
async def test_what_connectors_may_not_call_is_not_called(
    make, do, incidents, connection, server, settings, url, secret, error
):
    await make(url=url or server.url, secret=secret)
    await incidents(9)
    await do(settings)
    assert server.received == []
    ((found,),) = (await connection.execute("SELECT error FROM alert_deliveries")).rows
    assert found.startswith(error)


async def test_a_crash_behind_the_call_repeats_the_notice_under_its_id(make, do, incidents, connection, server):
    """Nobody wrote an outcome, so the claim ends after its lease."""
    await make()
    await incidents(9)
    [rule] = await alert_rules.due(connection, 10)
    await alert_rules.evaluated(connection, rule, 9, None)
    [lost] = await alert_rules.claim(connection, 10, 60)
    await do()
    assert server.received == [], "the lease of the lost attempt lasts"
    await connection.execute("UPDATE alert_deliveries SET due_at = '-infinity'")
    await do()
    assert [request.json["id"] for request in server.received] == [lost.id]
    await alert_rules.tried(connection, lost, "it comes late", None)
    assert (await connection.execute("SELECT state FROM alert_deliveries")).rows == [("DELIVERED",)]


async def test_an_evaluation_that_a_crash_took_gives_the_same_notice_again(make, incidents, connection):
    await make()
    await incidents(9)
    [rule] = await alert_rules.due(connection, 10)
    ids = []
    for value in (9, 10):
        await connection.execute("BEGIN")
        await alert_rules.evaluated(connection, rule, value, None)
        [delivery] = await alert_rules.claim(connection, 10, 60)
        ids.append(delivery.id)
        await connection.execute("ROLLBACK")
    assert ids[0] == ids[1]


async def test_of_two_evaluations_one_happens(make, incidents, connection):
    """An evaluation that comes late changes nothing, nor does one of a rule that was changed or deleted meanwhile."""
    key = await make()
    await incidents(9)
    [rule] = await alert_rules.due(connection, 10)
    for _ in range(2):
        await alert_rules.evaluated(connection, rule, 9, None)
    assert (await connection.execute("SELECT count(*) FROM alert_deliveries")).rows == [(1,)]
    await due(connection)
    [rule] = await alert_rules.due(connection, 10)
    await make(threshold=100)
    await alert_rules.evaluated(connection, rule, 0, None)
    assert await one(connection, "value, is_raised") == (9, True)
    await alert_rules.delete(connection, key)
    await alert_rules.evaluated(connection, rule, 0, None)
    assert (await connection.execute("SELECT count(*) FROM alert_deliveries")).rows == [(0,)]


async def test_a_rule_whose_figure_takes_too_long_says_so_and_rests(make, do, connection, monkeypatch):
    await make(metric="RUNNING")
    monkeypatch.setattr(alert_chores, "VALUE_MS", 1)
    await connection.execute("BEGIN")
    await connection.execute("LOCK TABLE process_definitions IN ACCESS EXCLUSIVE MODE")
    await do()
    await connection.execute("ROLLBACK")
    error, rests = await one(connection, "error, next_at > clock_timestamp() + interval '500 seconds'")
    assert (error, rests) == ("reading the figure took more than 1 ms", True)
    await due(connection)
    monkeypatch.undo()
    await do()
    assert await one(connection, "error, value") == (None, 0)


async def test_a_clock_that_was_set_back_holds_up_no_rule_and_no_notice(make, do, incidents, connection, server):
    await make()
    await incidents(9)
    await connection.execute("UPDATE alert_rules SET next_at = 'infinity'")
    await do()
    await connection.execute(
        "UPDATE alert_deliveries SET state = 'PENDING', due_at = clock_timestamp() + interval '2 d'"
    )
    await do()
    assert told(server) == [("RAISED", 9)] * 2


async def test_deliveries_of_a_rule_are_bounded(make, connection):
    key = await make()
    for _ in range(MOST_DELIVERIES + 5):
        assert await alert_rules.test(connection, key)
        assert not await alert_rules.test(connection, key), "one already waits"
        await connection.execute("UPDATE alert_deliveries SET state = 'FAILED'")
    assert (await connection.execute("SELECT count(*) FROM alert_deliveries")).rows == [(MOST_DELIVERIES,)]


async def test_the_rules_of_a_tenant_end_with_it(make, connection):
    key = await make()
    await make(tenant="other")
    await alert_rules.test(connection, key)
    await connection.execute("INSERT INTO tenants (tenant_id, name) VALUES ('t', 't')")
    assert await directory.delete(connection, directory.TENANT, "t") == "done"
    assert await one(connection, "tenant_id") == ("other",)
    assert (await connection.execute("SELECT count(*) FROM alert_deliveries")).rows == [(0,)]
