"""GET /v2/process-instances/{key}/events: what a program needs to replay an instance."""

from tests.api.conftest import KEY, NOW
from vivero.engine.core.records.instances import ElementActivating, ElementCompleted, IncidentRaised, InstanceCreated
from vivero.engine.core.records.jobs import CompleteJob

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


async def test_an_unknown_instance(reader):
    assert (await reader("GET", PATH)).problem["status"] == 404


async def test_what_a_newer_version_wrote_is_told(happened, reader):
    happened(3, CREATED, version=2)
    for path in (PATH, f"/v2/process-instances/{KEY}/trace"):
        answer = await reader("GET", path)
        assert answer.status == 503, path
        assert "the events have format 2, and this program knows 1" in answer.json["detail"]
