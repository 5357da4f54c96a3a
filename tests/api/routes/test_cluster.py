"""Status, topology, chaos; and what the application makes of failures underneath."""

import pytest
import structlog

from vivero.storage.postgres.errors import ConnectFailed, ConnectionLost, DataPoison, DeadlineExceeded, StorageBug
from vivero.storage.postgres.pool import PoolExhausted

KEY = 2251799813685249


async def test_status_is_the_health_of_the_program(client, health):
    assert (await client("GET", "/v2/status")).status == 204
    health.healthy = False
    answer = await client("GET", "/v2/status")
    assert (answer.status, answer.problem["title"]) == (503, "UNAVAILABLE")


async def test_topology_shows_the_role_of_this_node(rows, reader, health):
    (broker,) = (await reader("GET", "/v2/topology")).json["brokers"]
    assert broker["partitions"] == [{"partitionId": 1, "role": "inactive", "health": "unhealthy", "state": "active"}]
    rows.execute("INSERT INTO partitions (id, owner_node, lease_until) VALUES (2, 'other', now() + interval '1 h')")
    rows.execute("UPDATE partitions SET owner_node = 'node', lease_until = now() + interval '1 h' WHERE id = 1")
    answer = (await reader("GET", "/v2/topology")).json
    (broker,) = answer["brokers"]
    assert [(each["role"], each["health"]) for each in broker["partitions"]] == [
        ("leader", "healthy"),
        ("follower", "healthy"),
    ]
    assert (answer["partitionsCount"], answer["gatewayVersion"]) == (2, "8.9.0")


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
    assert bool(logged) == (title != "RESOURCE_EXHAUSTED")


async def test_a_read_is_repeated_once_when_its_connection_is_lost(rows, reader, stored, make_client):
    rows.instance()

    class Flaky:
        failures = 1

        def connection(self):
            if Flaky.failures:
                Flaky.failures -= 1
                return Broken(ConnectionLost("gone"))
            return stored.pool.connection()

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
