"""GET /v2/process-instances/{key}/events: what a program needs to replay an instance."""

import pytest

from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.api.rows import KEY, NOW
from tests.api.test_large_bodies import Refusing
from vivero.api import app
from vivero.api.computing.large_histories import LARGE_ROWS
from vivero.core.commands.conditional_change import conditional
from vivero.core.records.codec import encode_command
from vivero.core.records.conditional_changes import ChangeIfMatch
from vivero.core.records.instances import (
    ElementActivating,
    ElementCompleted,
    IncidentRaised,
    InstanceCreated,
    SetVariables,
)
from vivero.core.records.jobs import CompleteJob
from vivero.engine.compute.problems import Busy

PATH = f"/v2/process-instances/{KEY}/events"
CREATED = InstanceCreated(KEY, KEY, "order", 1, None, None, "<default>", None, ())


async def test_commands_with_the_fields_of_their_events(happened, reader):
    happened(3, CREATED, ElementActivating(KEY + 1, KEY, "work", "TASK", ("in",)))
    happened(5, ElementCompleted(KEY + 1, ("out",)), command=CompleteJob(KEY + 9))
    happened(5, IncidentRaised(KEY + 2, KEY + 1, "job", "JOB_NO_RETRIES", "no more"), seq=1)
    first, second = (await reader("GET", PATH)).json["items"]
    assert (first["commandPosition"], first["at"], first["intent"]) == ("3", NOW, None)
    created, activating = first["events"]
    assert (created["type"], created["key"], created["processId"]) == ("InstanceCreated", str(KEY), "order")
    assert (
        activating.items()
        >= {
            "type": "ElementActivating",
            "key": str(KEY + 1),
            "scope": str(KEY),
            "element": "work",
            "subjectType": "TASK",
            "consumed": ["in"],
        }.items()
    )
    assert second["intent"] == "JOB:COMPLETE"
    assert [event["type"] for event in second["events"]] == ["ElementCompleted", "IncidentRaised"]
    assert second["events"][1]["subjectType"] == "JOB_NO_RETRIES"


async def test_pages_go_on_where_the_last_one_ended(happened, reader, monkeypatch):
    monkeypatch.setattr("vivero.api.routes.traces.MAX_ROWS", 2)
    happened(3, CREATED)
    happened(4, ElementCompleted(KEY))
    page = (await reader("GET", PATH)).json
    rest = (await reader("GET", f"{PATH}?after={page['next']}")).json
    assert [item["commandPosition"] for item in page["items"] + rest["items"]] == ["3", "4"]
    assert rest["next"] is None


async def test_what_follows_from_an_earlier_command_names_it(happened, rows, reader):
    """One that was held, with its change if it was conditional; the answer to a request that waited tells nothing."""
    payload = encode_command(conditional(SetVariables(KEY, {}), KEY, (1,)))
    common = {"partition_id": 0, "append_id": "0" * 32, "ord": 0, "at": NOW, "tenant_id": "<default>"}
    rows.put("command_log", position=2, **common, intent=ChangeIfMatch.intent, payload=payload)
    happened(3, CREATED, command=CompleteJob(KEY + 9))
    happened(3, ElementCompleted(KEY), seq=1)
    happened(3, ElementCompleted(KEY), seq=2)
    happened(3, seq=3)
    rows.execute("UPDATE event_log SET request = 3 WHERE position = 3 AND seq = 1")
    rows.execute("UPDATE event_log SET request = 2 WHERE position = 3 AND seq = 2")
    rows.execute("UPDATE event_log SET request = 1 WHERE position = 3 AND seq = 3")
    items = (await reader("GET", PATH)).json["items"]
    told = [(item["intent"], item["change"], item["requestPosition"], len(item["events"])) for item in items]
    assert told == [("JOB:COMPLETE", None, None, 2), (ChangeIfMatch.intent, SetVariables.intent, "2", 1)]


async def test_an_unknown_instance(reader):
    assert (await reader("GET", PATH)).problem["status"] == 404


async def test_what_a_newer_version_wrote_is_told(happened, reader):
    happened(3, CREATED, version=2)
    for path in (PATH, f"/v2/process-instances/{KEY}/trace"):
        answer = await reader("GET", path)
        assert answer.status == 503, path
        assert "the events have format 2, and this program knows 1" in answer.json["detail"]


@pytest.mark.parametrize("what", ["events", "trace"])
async def test_large_pages_are_made_elsewhere(happened, reader, stored, what):
    happened(3, CREATED)
    happened(4, *(ElementCompleted(KEY + number, ("out",)) for number in range(1_000)))
    path = f"/v2/process-instances/{KEY}/{what}"
    first, second = (await reader("GET", path)).json["items"]
    assert (len(first["lines" if what == "trace" else "events"]), stored.files.compute.stats.done) == (1, 1)
    assert len(second["lines" if what == "trace" else "events"]) == 1_000
    assert [item["commandPosition"] for item in (await reader("GET", f"{path}?after=4")).json["items"]] == []
    assert stored.files.compute.stats.done == 1


async def test_many_small_rows_are_made_elsewhere(happened, reader, stored):
    for position in range(3, 3 + LARGE_ROWS):
        happened(position, ElementCompleted(KEY))
    assert len((await reader("GET", PATH)).json["items"]) == LARGE_ROWS
    assert stored.files.compute.stats.done == 1


async def test_a_page_for_which_there_is_no_process(happened, stored):
    happened(4, *(ElementCompleted(KEY + number, ("out",)) for number in range(1_000)))
    answer = await Client(app.build(changed(stored, compute=Refusing(Busy("100 tasks wait")))))("GET", PATH)
    assert (answer.status, answer.problem["title"]) == (503, "RESOURCE_EXHAUSTED")
