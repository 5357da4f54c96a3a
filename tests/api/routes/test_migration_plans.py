"""Suggested mappings over HTTP, from stored models."""

import pytest

from tests.api.rows import KEY
from tests.core.event_models import call, model
from tests.core.models import end, process, start, task

SOURCE = process(start(), task("a"), task("b", type="other"), end(), "start > a > b > end", id="order")
TARGET = process(start(), task("a"), task("c", type="new"), task("d"), end(), "start > a > c > d > end", id="order")
PLAN = f"/v2/process-definitions/{KEY}/migration-plan"


async def test_a_plan_has_reasons_and_counts(rows, reader):
    for key, content in ((KEY, SOURCE), (KEY + 1, TARGET)):
        rows.definition(key, sha256=str(key), version=1 + key - KEY)
        rows.put("resources", sha256=str(key), bytes=content)
    rows.execute("INSERT INTO element_counts VALUES (1, %s, 'b', 41, 0, 0)", [KEY])
    answer = await reader("POST", PLAN, {"targetProcessDefinitionKey": str(KEY + 1)})
    assert answer.status == 200, answer.body
    assert answer.json["mappingInstructions"] == [
        {"sourceElementId": id, "targetElementId": id} for id in ("start", "a", "end")
    ]
    assert answer.json["elements"][2] == {
        "elementId": "b",
        "elementName": "Task b",
        "elementType": "SERVICE_TASK",
        "targetElementId": None,
        "reason": None,
        "active": 41,
    }
    assert [one["reason"] for one in answer.json["elements"]] == ["SAME_ID", "SAME_ID", None, "SAME_ID"]


def calling(id, *called):
    calls = [call(f"c{number}", process) for number, process in enumerate(called)]
    return model(start(), *calls, end(), " > ".join(["start", *(f"c{number}" for number in range(len(calls)))]), id=id)


CALLER, CALLED, LATER = KEY + 10, KEY + 20, KEY + 21
"""Definitions: what runs calls `CALLED`, of which there is a later version."""


@pytest.fixture
def tree(rows):
    """Two trees: a caller with two called instances, one of which has ended, and one with another called instance."""
    files = {CALLER: calling("caller", "leaf", "leaf"), CALLED: SOURCE, LATER: TARGET}
    for key, content in files.items():
        process = "caller" if key == CALLER else "order"
        rows.definition(key, sha256=str(key), process_id=process, version=1 if key == CALLER else 1 + key - CALLED)
        rows.put("resources", sha256=str(key), bytes=content)
    for root, children in ((KEY + 100, (None, "2026-01-01")), (KEY + 200, (None,))):
        rows.instance(root, process_definition_key=CALLER, process_id="caller")
        of_caller = {"root_key": root, "process_instance_key": root, "process_definition_key": CALLER}
        rows.element(root + 1, **of_caller, element_id="c0", element_type="CALL_ACTIVITY")
        for number, ended in enumerate(children):
            of_root = {"root_key": root, "parent_process_instance_key": root, "parent_element_instance_key": root + 1}
            definition = {"process_definition_key": CALLED, "process_id": "order"}
            rows.instance(root + 10 + number, ended_at=ended, **of_root, **definition)


async def test_a_plan_for_called_instances(reader, tree):
    path = f"/v2/process-definitions/{CALLER}/migration-plan"
    answer = await reader("POST", path, target(CALLER) | {"includeCalled": True})
    assert answer.status == 200, answer.body
    (called,) = answer.json["calledInstances"]
    assert {name: called[name] for name in called if name not in ("elements", "mappingInstructions")} == {
        "sourceProcessDefinitionKey": str(CALLED),
        "targetProcessDefinitionKey": str(LATER),
        "processDefinitionId": "order",
        "sourceVersion": 1,
        "targetVersion": 2,
        "active": 2,
    }
    assert [one["sourceElementId"] for one in called["mappingInstructions"]] == ["start", "a", "end"]
    assert len(called["elements"]) == 4
    assert (await reader("POST", path, target(CALLER))).json["calledInstances"] == []


async def test_requests_that_make_no_plan(rows, reader):
    rows.definition(KEY)
    rows.put("resources", sha256="aa", bytes=b"<xml/>")
    for body, status in (({}, 400), ({"targetProcessDefinitionKey": "x"}, 400), (target(KEY + 7), 404)):
        assert (await reader("POST", PLAN, body)).status == status
    answer = await reader("POST", PLAN, target(KEY))
    assert (answer.status, answer.problem["title"]) == (409, "INVALID_STATE")
    assert (await reader("POST", PLAN.replace(str(KEY), str(KEY + 7)), target(KEY))).status == 404


def target(key):
    return {"targetProcessDefinitionKey": str(key)}
