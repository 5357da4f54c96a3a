"""Incidents of an instance and of all that it called, over rows of the database."""

import pytest

KEY = 2251799813685249
ROOT, CALLED, DEEPER, OTHER = KEY, KEY + 100, KEY + 200, KEY + 300
SUB, CALL, TASK, CALL_BELOW, OUTSIDE = (KEY + n for n in (10, 11, 12, 13, 14))


@pytest.fixture
def tree(rows):
    """A sub-process with a task and a call in the root; what is called calls one more; beside it, another instance.

    An incident at the root itself, at the task, in both called instances (one resolved), outside, and in the other.
    """
    rows.instance(ROOT)
    rows.instance(CALLED, root_key=ROOT, parent_process_instance_key=ROOT, parent_element_instance_key=CALL, depth=2)
    rows.instance(
        DEEPER, root_key=ROOT, parent_process_instance_key=CALLED, parent_element_instance_key=CALL_BELOW, depth=3
    )
    rows.instance(OTHER)
    rows.element(SUB, element_type="SUB_PROCESS")
    rows.element(CALL, scope_key=SUB, path=[CALL, SUB, ROOT], element_type="CALL_ACTIVITY")
    rows.element(TASK, scope_key=SUB, path=[TASK, SUB, ROOT])
    rows.element(OUTSIDE)
    rows.element(CALL_BELOW, process_instance_key=CALLED, scope_key=CALLED, path=[CALL_BELOW, CALLED])
    rows.incident(1, element_instance_key=ROOT)
    rows.incident(2, element_instance_key=TASK)
    rows.incident(3, process_instance_key=CALLED, element_instance_key=CALLED)
    rows.incident(4, process_instance_key=DEEPER, element_instance_key=DEEPER + 1, state="RESOLVED", resolved_at="now")
    rows.incident(5, element_instance_key=OUTSIDE)
    rows.incident(6, root_key=OTHER, process_instance_key=OTHER)


@pytest.fixture
def found(tree, reader):
    """The keys of the incidents that a search finds: `await found("process-instances", key, filter)`."""

    async def search(kind, key, filter=None):
        answer = await reader("POST", f"/v2/{kind}/{key}/incidents/search", {"filter": filter or {}})
        assert answer.status == 200, answer.body
        assert answer.json["page"]["totalItems"] == len(answer.json["items"])
        return [int(item["incidentKey"]) for item in answer.json["items"]]

    return search


@pytest.mark.parametrize(
    ("instance", "incidents"), [(ROOT, [1, 2, 3, 4, 5]), (CALLED, [3, 4]), (DEEPER, [4]), (OTHER, [6])]
)
async def test_incidents_of_an_instance_are_those_of_what_it_called_too(found, instance, incidents):
    assert await found("process-instances", instance) == incidents


@pytest.mark.parametrize(
    ("element", "incidents"), [(SUB, [2, 3, 4]), (CALL, [3, 4]), (TASK, [2]), (CALL_BELOW, [4]), (OUTSIDE, [5])]
)
async def test_incidents_of_an_element_are_those_within_it_and_of_what_was_called_there(found, element, incidents):
    assert await found("element-instances", element) == incidents


async def test_a_filter_narrows_them_to_one_of_the_instances_or_elements(found):
    assert await found("process-instances", ROOT, {"processInstanceKey": str(CALLED)}) == [3]
    assert await found("process-instances", CALLED, {"processInstanceKey": str(ROOT)}) == []
    assert await found("process-instances", ROOT, {"state": "ACTIVE"}) == [1, 2, 3, 5]
    assert await found("element-instances", SUB, {"elementInstanceKey": str(TASK)}) == [2]
    assert await found("element-instances", CALL, {"state": "RESOLVED"}) == [4]


@pytest.mark.parametrize(
    ("kind", "key", "what"),
    [
        ("process-instances", SUB, "Process Instance"),
        ("element-instances", ROOT, "Element Instance"),
        ("element-instances", 7, "Element Instance"),
    ],
)
async def test_incidents_of_what_is_not_there(tree, reader, kind, key, what):
    problem = (await reader("POST", f"/v2/{kind}/{key}/incidents/search")).problem
    assert (problem["status"], problem["detail"]) == (404, f"{what} with key '{key}' not found")


async def test_what_the_path_asks_for_is_no_filter(tree, reader):
    for name in ("root", "process instance", "element instance"):
        problem = (await reader("POST", "/v2/incidents/search", {"filter": {name: "1"}})).problem
        assert problem["detail"] == f"Request property [filter.{name}] cannot be parsed"
