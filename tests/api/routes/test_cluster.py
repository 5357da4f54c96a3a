"""Status, topology, chaos; and what the application makes of failures underneath."""

from uuid import UUID

import pytest
import structlog

from tests.api.changed_services import changed
from tests.api.rows import NOW
from vivero.api import app
from vivero.storage.postgres.errors import ConnectFailed, ConnectionLost, DataPoison, DeadlineExceeded, StorageBug
from vivero.storage.postgres.pool import PoolExhausted
from vivero.storage.reads import status_figures

KEY = 2251799813685249


async def test_status_is_the_health_of_the_program(client, health):
    assert (await client("GET", "/v2/status")).status == 204
    health.healthy = False
    answer = await client("GET", "/v2/status")
    assert (answer.status, answer.problem["title"]) == (503, "UNAVAILABLE")
    assert answer.problem["detail"].startswith("A part of the program makes no progress: consumer-2;")


SESSION = "pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()"
"""The session of the connection of `rows`, which is open during the test."""


def register(rows, *nodes):
    for number, (node, roles) in enumerate(nodes, 1):
        rows.execute(
            "INSERT INTO nodes (id, number, roles, version, schema, host, port, pid, backend_start)"
            f" OVERRIDING SYSTEM VALUE SELECT '{node}', {number}, '{roles}', '0.1.0', 13, 'host', 8080, {SESSION}"
        )


def lead(rows, partition, node):
    rows.execute(
        "UPDATE partitions SET owner_node = %s, lease_until = clock_timestamp() + interval '4 s',"
        f" (owner_pid, owner_backend_start) = (SELECT {SESSION}) WHERE id = %s",
        (node, partition),
    )


async def test_topology_shows_the_roles_of_live_engine_nodes(rows, reader, health):
    rows.execute("SELECT make_partition(2)")
    register(rows, ("other", "{engine}"), ("node", "{api,engine}"), ("api", "{api}"), ("dead", "{engine}"))
    rows.execute("UPDATE nodes SET heartbeat_at = now() - interval '6 s' WHERE id = 'dead'")
    lead(rows, 1, "node")
    answer = (await reader("GET", "/v2/topology")).json
    assert [(broker["brokerId"], broker["nodeId"], broker["port"]) for broker in answer["brokers"]] == [
        ("node", 2, 8080),
        ("other", 1, 8080),
    ]
    assert [[(each["role"], each["health"]) for each in broker["partitions"]] for broker in answer["brokers"]] == [
        [("leader", "healthy"), ("inactive", "unhealthy")],
        [("follower", "healthy"), ("inactive", "unhealthy")],
    ]
    assert (answer["clusterSize"], answer["partitionsCount"], answer["gatewayVersion"]) == (2, 2, "8.9.0")
    health.healthy = False
    own, other = (await reader("GET", "/v2/topology")).json["brokers"]
    assert own["partitions"][0]["health"] == "unhealthy"
    assert other["partitions"][0]["health"] == "healthy"


async def test_the_status_of_a_node_has_its_figures(client, services):
    client.app = app.build(changed(services, figures=lambda: {"definitions": {"entries": 3}}))
    answer = (await client("GET", "/cluster/status")).json
    assert answer == {"nodeId": "node", "healthy": True, "definitions": {"entries": 3}}


async def test_nodes_are_listed_and_drained(rows, reader):
    register(rows, ("other", "{engine}"), ("node", "{api,engine}"))
    lead(rows, 1, "other")
    answer = (await reader("GET", "/cluster/nodes")).json
    assert (answer["thisNode"], answer["partitionsWithoutLeader"]) == ("node", [])
    assert [(node["nodeId"], node["state"], node["roles"], node["partitions"]) for node in answer["nodes"]] == [
        ("other", "LIVE", ["engine"], [1]),
        ("node", "LIVE", ["api", "engine"], []),
    ]
    rows.execute("LISTEN vivero_nodes")
    assert (await reader("PUT", "/cluster/nodes/other/draining")).status == 204
    assert (await reader("GET", "/cluster/nodes")).json["nodes"][0]["state"] == "DRAINING"
    assert (await reader("DELETE", "/cluster/nodes/other/draining")).status == 204
    assert (await reader("GET", "/cluster/nodes")).json["nodes"][0]["state"] == "LIVE"
    assert len(list(rows.notifies(timeout=20, stop_after=2))) == 2
    answer = await reader("PUT", "/cluster/nodes/nobody/draining")
    assert (answer.status, answer.problem["title"]) == (404, "NOT_FOUND")


async def test_levels_of_loggers_are_changed_at_a_node(rows, reader):
    register(rows, ("other", "{engine}"), ("node", "{api,engine}"))
    rows.execute("LISTEN vivero_nodes")
    path = "/cluster/nodes/other/log-levels"

    async def levels():
        return [node["logLevels"] for node in (await reader("GET", "/cluster/nodes")).json["nodes"]]

    assert (await reader("PUT", path, {"levels": {"vivero.api": "error"}})).status == 204
    assert (await reader("PUT", path, {"levels": {"vivero.engine": "debug"}})).status == 204
    assert await levels() == [{"vivero.engine": "debug"}, {}]
    assert (await reader("DELETE", path)).status == 204
    assert await levels() == [{}, {}]
    assert len(list(rows.notifies(timeout=20, stop_after=3))) == 3
    answer = await reader("PUT", "/cluster/nodes/nobody/log-levels", {"levels": {}})
    assert (answer.status, answer.problem["title"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({}, "No levels provided"),
        (
            {"levels": {"vivero": "loud"}},
            "levels has 'loud' for vivero, but a level is one of debug, info, warning, error",
        ),
        ({"levels": {"a b": "info"}}, "levels has the logger 'a b', but a logger has the name of a module"),
        ({"levels": {"a" * 201: "info"}}, "with at most 200 characters"),
        (
            {"levels": {f"a{number}": "info" for number in range(51)}},
            "levels has 51 loggers, but at most 50 are allowed",
        ),
    ],
)
@pytest.mark.harmless
async def test_wrong_levels_are_refused_with_the_reason(reader, body, told):
    answer = await reader("PUT", "/cluster/nodes/node/log-levels", body)
    assert (answer.status, answer.problem["title"]) == (400, "INVALID_ARGUMENT")
    assert told in answer.problem["detail"]


async def test_figures_of_the_database(rows, reader):
    found = (await reader("GET", "/cluster/figures")).json
    assert [(each["partitionId"], each["hasLeader"]) for each in found["partitions"]] == [(1, False)]
    assert found["jobs"] == {"ready": 0, "leased": 0, "backoff": 0, "failed": 0}
    assert (found["incidents"], found["instances"]) == ({"active": 0}, {"running": 0})
    assert found["server"]["databaseBytes"] > 1_000_000


async def test_figures_count_what_waits_up_to_a_limit(rows, reader, monkeypatch):
    rows.instance()
    for number, row in enumerate(
        (
            {"ready": True},
            {"ready": False, "lease_token": str(UUID(int=1)), "available_at": NOW},
            {"ready": False, "available_at": NOW},
            {"ready": False, "state": "FAILED"},
            {"ready": False, "state": "COMPLETED", "ended_at": NOW},
        )
    ):
        rows.job(KEY + 40 + number, element_instance_key=KEY + 60 + number, **row)
    rows.incident()
    found = (await reader("GET", "/cluster/figures")).json
    assert found["jobs"] == {"ready": 1, "leased": 1, "backoff": 1, "failed": 1}
    assert (found["incidents"], found["maxCount"]) == ({"active": 1}, 100_000)
    monkeypatch.setattr(status_figures, "MAX_COUNT", 2)
    assert sum((await reader("GET", "/cluster/figures")).json["jobs"].values()) == 2


async def test_a_figure_that_takes_too_long_is_left_out(rows, reader, monkeypatch):
    async def read(connection, group):
        if group == "jobs":
            raise DeadlineExceeded("too long")
        return await read_figures(connection, group)

    read_figures = status_figures.read
    monkeypatch.setattr(status_figures, "read", read)
    found = (await reader("GET", "/cluster/figures")).json
    assert (found["jobs"], found["timers"]["pending"]) == (None, 0)


class Broken:
    """A pool whose connections fail: with these errors, one after the other."""

    def __init__(self, *errors) -> None:
        self.errors = list(errors)

    def connection(self):
        return self

    async def __aenter__(self) -> "Broken":
        return self

    async def __aexit__(self, *_) -> None:
        return None

    async def execute(self, statement, params):
        raise self.errors.pop(0)


@pytest.mark.parametrize(
    ("errors", "status", "title"),
    [
        ((ConnectFailed("no"),), 503, "UNAVAILABLE"),
        ((ConnectionLost("gone"), ConnectionLost("gone again")), 503, "UNAVAILABLE"),
        ((DeadlineExceeded("slow"),), 504, "DEADLINE_EXCEEDED"),
        ((PoolExhausted("all in use"),), 503, "RESOURCE_EXHAUSTED"),
        ((DataPoison("no such value"),), 400, "Bad Request"),
        ((StorageBug("syntax"),), 500, "INTERNAL"),
        ((ZeroDivisionError("ours"),), 500, "INTERNAL"),
    ],
)
async def test_reads_that_fail(services, make_client, errors, status, title):
    with structlog.testing.capture_logs() as logged:
        client = make_client(pool=Broken(*errors))
        answer = await client("GET", f"/v2/process-instances/{KEY}")
    assert (answer.status, answer.problem["title"]) == (status, title)
    assert "gone" not in answer.problem["detail"]
    assert any(entry["event"] != "request" for entry in logged) == (title != "RESOURCE_EXHAUSTED")


async def test_a_read_is_repeated_once_when_its_connection_is_lost(rows, reader, stored, make_client):
    rows.instance()

    class Flaky:
        failures = 1

        def connection(self):
            if Flaky.failures:
                Flaky.failures -= 1
                return Broken(ConnectionLost("gone"))
            return stored.reads.pool.connection()

    assert (await make_client(pool=Flaky())("GET", f"/v2/process-instances/{KEY}")).status == 200


async def test_chaos_is_not_there_unless_asked_for(client):
    assert (await client("POST", "/chaos/children/consumer")).status == 404


async def test_chaos_hurts_a_child(make_client):
    hurt = []

    def chaos(name, kind):
        if name != "consumer":
            raise KeyError(name)
        hurt.append(kind)
        return kind != "hang"

    client = make_client(chaos=chaos)
    assert (await client("POST", "/chaos/children/consumer")).status == 204
    assert (await client("POST", "/chaos/children/consumer", {"kind": "cancel"})).status == 204
    assert (await client("POST", "/chaos/children/consumer?kind=hang")).status == 409
    assert hurt == ["raise", "cancel", "hang"]
    assert (await client("POST", "/chaos/children/consumer?kind=shout")).status == 400
    assert (await client("POST", "/chaos/children/nobody")).status == 404
