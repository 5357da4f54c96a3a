"""Suggested mappings over HTTP, from stored models."""

from tests.api.conftest import KEY
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
