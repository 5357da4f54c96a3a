"""Timers and the clock over HTTP."""

import pytest

from tests.api.changed_services import changed
from vivero.api import app as api_app
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.core.records.timers import FireTimer, MoveTimer

KEY = 2251799813685249
NEW_YEAR_MS = 1_798_761_600_000


@pytest.fixture
def timer(rows):
    """Puts a timer into the table."""

    def put(key=KEY + 5, **row):
        defaults = {
            "timer_key": key,
            "partition_id": 1,
            "root_key": KEY,
            "process_instance_key": KEY,
            "element_instance_key": key + 1000,
            "process_definition_key": KEY,
            "process_id": "order",
            "target_element_id": "wait",
            "type": "INTERMEDIATE",
            "due_at_ms": NEW_YEAR_MS,
            "repetitions": 1,
            "state": "PENDING",
            "tenant_id": "<default>",
            "created_at": "2026-11-18T11:06:40.123Z",
        }
        rows.put("timers", **(defaults | row))

    return put


async def test_the_timers_of_an_instance_are_listed(timer, reader):
    timer(type="BOUNDARY", repetitions=-1)
    timer(KEY + 6, process_instance_key=KEY + 1)
    timer(KEY + 7, state="TRIGGERED", triggered_at="2026-11-19T00:00:00Z", ended_at="2026-11-19T00:00:00Z")
    asked = {"filter": {"processInstanceKey": str(KEY), "state": "PENDING"}, "sort": [{"field": "dueDate"}]}
    answer = await reader("POST", "/v2/timers/search", asked)
    assert answer.json["items"] == [
        {
            "timerKey": str(KEY + 5),
            "type": "BOUNDARY",
            "state": "PENDING",
            "dueDate": "2027-01-01T00:00:00.000Z",
            "repetitions": -1,
            "elementId": "wait",
            "elementInstanceKey": str(KEY + 1005),
            "processDefinitionId": "order",
            "processDefinitionKey": str(KEY),
            "processInstanceKey": str(KEY),
            "rootProcessInstanceKey": str(KEY),
            "tenantId": "<default>",
            "creationTime": "2026-11-18T11:06:40.123Z",
            "triggerTime": None,
            "endTime": None,
        }
    ]
    late = {"filter": {"dueDate": {"$gt": "2027-01-01T00:00:00Z"}}}
    assert (await reader("POST", "/v2/timers/search", late)).json["items"] == []
    ended = (await reader("GET", f"/v2/timers/{KEY + 7}")).json
    assert (ended["state"], ended["triggerTime"]) == ("TRIGGERED", "2026-11-19T00:00:00.000Z")
    assert (await reader("GET", f"/v2/timers/{KEY + 9}")).status == 404


async def test_a_timer_is_fired_and_moved_by_commands(client, engine):
    assert (await client("POST", "/v2/timers/7/trigger")).status == 204
    assert (await client("PATCH", "/v2/timers/7", {"dueDate": "2027-01-01T01:00:00+01:00"})).status == 204
    assert [item.command for item in engine.appended] == [FireTimer(7), MoveTimer(7, NEW_YEAR_MS)]
    assert [item.key for item in engine.appended] == [7, 7]


async def test_a_timer_that_is_gone_is_not_found(client, engine):
    engine.rejection = Rejection(RejectionCode.NOT_FOUND, "Expected to fire timer with key '7'")
    assert (await client("POST", "/v2/timers/7/trigger")).problem["title"] == "NOT_FOUND"


@pytest.mark.parametrize("body", [{}, {"dueDate": "soon"}, {"dueDate": "2027-01-01T00:00:00"}, {"dueDate": 5}])
async def test_a_due_date_that_cannot_be_read_is_refused(client, engine, body):
    assert (await client("PATCH", "/v2/timers/7", body)).status == 400
    assert engine.appended == []


# ---- the clock


async def test_the_clock_is_not_for_clients_unless_they_are_told_so(reader, rows):
    for method, path in (("PUT", "/v2/clock"), ("POST", "/v2/clock/reset")):
        answer = await reader(method, path, {"timestamp": 0})
        assert (answer.status, answer.problem["title"]) == (403, "FORBIDDEN")
    assert rows.execute("SELECT revision FROM clock").fetchone() == (0,)


async def test_the_clock_is_pinned_and_reset_and_everybody_told(stored, rows, reader):
    told = []
    reader.app = api_app.build(changed(stored, clock_changed=lambda: told.append(clock())))

    def clock():
        return rows.execute("SELECT revision, to_epoch_ms(pinned_at), to_epoch_ms(clock_now()) FROM clock").fetchone()

    assert (await reader("PUT", "/v2/clock", {"timestamp": NEW_YEAR_MS})).status == 204
    assert (await reader("POST", "/v2/clock/reset")).status == 204
    assert told[0] == (1, NEW_YEAR_MS, NEW_YEAR_MS)
    assert told[1][:2] == (2, None)
    assert abs(told[1][2] - rows.execute("SELECT to_epoch_ms(now())").fetchone()[0]) < 60_000


@pytest.mark.parametrize("body", [{}, {"timestamp": None}, {"timestamp": -1}, {"timestamp": 1e30}, {"timestamp": "x"}])
async def test_a_timestamp_that_no_clock_shows_is_refused(make_client, engine, body):
    client = make_client(clock_changed=lambda: None)
    assert (await client("PUT", "/v2/clock", body)).status == 400
