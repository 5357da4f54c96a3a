"""User tasks over HTTP: the commands that requests become, what is refused, what is found."""

import pytest

from tests.api.official import decode
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.core.records.user_tasks import AssignUserTask, ClaimUserTask, CompleteUserTask, UpdateUserTask

KEY = 2251799813685249
TASK = KEY + 9
PATH = f"/v2/user-tasks/{TASK}"
NOW = "2026-11-18T11:06:40.123Z"


# ---- commands


@pytest.mark.parametrize(
    ("body", "command"),
    [
        ({"assignee": "ada"}, AssignUserTask(TASK, "ada")),
        ({"assignee": "ada", "allowOverride": True, "action": "hand over"}, AssignUserTask(TASK, "ada", "hand over")),
        ({"assignee": "ada", "allowOverride": None, "action": None}, AssignUserTask(TASK, "ada")),
        ({"assignee": "ada", "allowOverride": False}, ClaimUserTask(TASK, "ada")),
    ],
)
async def test_assigning(client, engine, body, command):
    answer = await client("POST", f"{PATH}/assignment", body)
    assert (answer.status, answer.body) == (204, b"")
    assert engine.command == command


async def test_unassigning(client, engine):
    assert (await client("DELETE", f"{PATH}/assignee", b"", [(b"content-type", b"application/json")])).status == 204
    assert engine.command == AssignUserTask(TASK, None, "unassign")


async def test_completing(client, engine):
    assert (await client("POST", f"{PATH}/completion", {"variables": {"x": 1}, "action": "approve"})).status == 204
    assert (engine.command.key, engine.command.action) == (TASK, "approve")
    assert bytes(engine.command.variables["x"]) == b"1"


@pytest.mark.parametrize("body", [b"", b"{}", b'{"variables":null,"action":null}'])
async def test_completing_without_anything(client, engine, body):
    assert (await client("POST", f"{PATH}/completion", body)).status == 204
    assert engine.command == CompleteUserTask(TASK)


@pytest.mark.parametrize(
    ("changeset", "changes"),
    [
        ({"dueDate": "2030-01-01T00:00:00Z"}, {"due_at": 1_893_456_000_000}),
        ({"dueDate": "2030-01-01T01:00:00.5+01:00"}, {"due_at": 1_893_456_000_500}),
        ({"dueDate": "2030-01-01T01:00:00+01:00[Europe/Berlin]"}, {"due_at": 1_893_456_000_000}),
        ({"dueDate": "2030-01-01T00:00Z"}, {"due_at": 1_893_456_000_000}),
        ({"dueDate": "", "followUpDate": None}, {"due_at": None}),
        (
            {"candidateUsers": [], "candidateGroups": ["a", "b"]},
            {"candidate_users": (), "candidate_groups": ("a", "b")},
        ),
        ({"priority": 0}, {"priority": 0}),
    ],
)
async def test_updating(client, engine, changeset, changes):
    assert (await client("PATCH", PATH, {"changeset": changeset})).status == 204
    assert engine.command == UpdateUserTask(TASK, changes)


@pytest.mark.parametrize("date", ["2030-01-01", "2030-01-01T00:00:00", "2030-01-01T00:00:00[Europe/Berlin]", "T", "Z"])
async def test_a_date_without_an_offset_is_no_moment(client, engine, date):
    problem = (await client("PATCH", PATH, {"changeset": {"followUpDate": date}})).problem
    assert problem["detail"].startswith(f"The provided follow-up date '{date}' cannot be parsed as a date")
    assert engine.appended == []


async def test_an_action_alone_is_an_update(client, engine):
    assert (await client("PATCH", PATH, {"action": "escalate"})).status == 204
    assert engine.command == UpdateUserTask(TASK, {}, "escalate")


NO_UPDATE = (
    'No update data provided. Provide at least an "action" or a non-null value for a supported attribute in the'
    ' "changeset".'
)


@pytest.mark.parametrize(
    ("method", "path", "body", "detail"),
    [
        ("POST", "/assignment", {}, "No assignee provided."),
        ("POST", "/assignment", {"assignee": " "}, "No assignee provided."),
        (
            "POST",
            "/assignment",
            {"assignee": "x" * 1025},
            "The provided assignee is 1025 bytes long but must not be longer than 1024 bytes.",
        ),
        ("PATCH", "", {}, NO_UPDATE),
        ("PATCH", "", {"changeset": {"priority": None}}, NO_UPDATE),
        (
            "PATCH",
            "",
            {"changeset": {"dueDate": "soon", "followUpDate": "1969-01-01T00:00:00Z", "priority": 101}},
            "The provided due date 'soon' cannot be parsed as a date according to RFC 3339, section 5.6. The provided"
            " follow-up date '1969-01-01T00:00:00Z' cannot be parsed as a date according to RFC 3339, section 5.6. The"
            " value for priority is '101' but must be within the [0,100] range.",
        ),
        (
            "PATCH",
            "",
            {"changeset": {"candidateUsers": ["x" * 1000] * 101}},
            "The provided candidateUsers have 101000 characters but must not have more than 100000.",
        ),
        (
            "PATCH",
            "",
            {"changeset": {"candidateUsers": ["u"] * 1001, "candidateGroups": ["ü" * 513]}},
            "The provided candidateUsers are 1001 but must not be more than 1000. The provided name in candidateGroups"
            " is 1026 bytes long but must not be longer than 1024 bytes.",
        ),
    ],
)
async def test_what_cannot_be_followed(client, engine, method, path, body, detail):
    problem = (await client(method, PATH + path, body)).problem
    assert (problem["status"], problem["title"], problem["detail"]) == (400, "INVALID_ARGUMENT", detail)
    assert engine.appended == []


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"changeset": {"priority": "high"}}, "changeset.priority"),
        ({"changeset": {"assignee": "ada"}}, "changeset.assignee"),
        ({"dueDate": ""}, "dueDate"),
    ],
)
async def test_what_cannot_be_read(client, body, path):
    problem = (await client("PATCH", PATH, body)).problem
    assert (problem["title"], problem["detail"]) == ("Bad Request", f"Request property [{path}] cannot be parsed")


@pytest.mark.parametrize(
    ("method", "path", "body", "verb"),
    [
        ("POST", "/assignment", {"assignee": "ada"}, "ASSIGN"),
        ("POST", "/assignment", {"assignee": "ada", "allowOverride": False}, "CLAIM"),
        ("DELETE", "/assignee", {}, "ASSIGN"),
        ("PATCH", "", {"action": "x"}, "UPDATE"),
        ("POST", "/completion", {}, "COMPLETE"),
    ],
)
@pytest.mark.parametrize(("code", "status"), [("NOT_FOUND", 404), ("INVALID_STATE", 409)])
async def test_what_is_rejected(client, engine, method, path, body, verb, code, status):
    engine.rejection = Rejection(RejectionCode(code), "Expected otherwise")
    problem = (await client(method, PATH + path, body)).problem
    assert (problem["status"], problem["title"]) == (status, code)
    assert problem["detail"] == f"Command '{verb}' rejected with code '{code}': Expected otherwise"


# ---- reading


@pytest.fixture
def task(rows):
    """Puts a row of a user task with its element and instance."""

    def put(key=TASK, **row):
        defaults = {
            "user_task_key": key,
            "root_key": KEY,
            "process_instance_key": KEY,
            "element_instance_key": KEY + 1,
            "process_definition_key": KEY,
            "process_id": "order",
            "process_version": 1,
            "element_id": "task",
            "state": "CREATED",
            "candidate_groups": [],
            "candidate_users": [],
            "priority": 50,
            "headers": "{}",
            "tags": [],
            "tenant_id": "<default>",
            "created_at": NOW,
        }
        rows.put("user_tasks", **(defaults | row))

    rows.instance()
    rows.element()
    return put


async def test_a_task_with_nothing_but_what_it_must_have(task, reader):
    task()
    answer = await reader("GET", PATH)
    assert answer.json == {
        "name": None,
        "state": "CREATED",
        "assignee": None,
        "elementId": "task",
        "candidateGroups": [],
        "candidateUsers": [],
        "processDefinitionId": "order",
        "creationDate": NOW,
        "completionDate": None,
        "followUpDate": None,
        "dueDate": None,
        "tenantId": "<default>",
        "externalFormReference": None,
        "processDefinitionVersion": 1,
        "customHeaders": {},
        "priority": 50,
        "userTaskKey": str(TASK),
        "elementInstanceKey": str(KEY + 1),
        "processName": None,
        "processDefinitionKey": str(KEY),
        "processInstanceKey": str(KEY),
        "rootProcessInstanceKey": str(KEY),
        "businessId": None,
        "formKey": None,
        "tags": [],
    }
    assert decode("UserTaskResult", answer.json).additional_properties == {}


async def test_a_task_with_everything(task, reader):
    task(
        name="Decide",
        assignee="ada",
        candidate_groups=["a", "b"],
        candidate_users=["u"],
        due_at=NOW,
        follow_up_at=NOW,
        ended_at=NOW,
        state="COMPLETED",
        headers='{"color":"red"}',
        external_form="form",
        business_id="b-1",
        tags=["x"],
        process_name="Order",
    )
    found = (await reader("GET", PATH)).json
    names = (
        "name",
        "assignee",
        "candidateGroups",
        "candidateUsers",
        "dueDate",
        "followUpDate",
        "completionDate",
        "state",
    )
    assert [found[name] for name in names] == ["Decide", "ada", ["a", "b"], ["u"], NOW, NOW, NOW, "COMPLETED"]
    names = ("customHeaders", "externalFormReference", "businessId", "tags", "processName")
    assert [found[name] for name in names] == [{"color": "red"}, "form", "b-1", ["x"], "Order"]
    assert decode("UserTaskResult", found).custom_headers.additional_properties == {"color": "red"}


async def test_a_task_that_is_not_there(task, reader):
    for path in ("", "/form"):
        problem = (await reader("GET", PATH + path)).problem
        assert (problem["status"], problem["detail"]) == (404, f"User Task with key '{TASK}' not found")
    for path in ("/variables/search", "/effective-variables/search"):
        assert (await reader("POST", PATH + path)).problem["detail"] == f"User Task with key '{TASK}' not found"


async def test_a_task_without_a_form(task, reader):
    task()
    answer = await reader("GET", f"{PATH}/form")
    assert (answer.status, answer.body) == (204, b"")


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        ({}, "012"),
        ({"state": "CREATED"}, "01"),
        ({"state": {"$in": ["completed", "CANCELED"]}}, "2"),
        ({"state": {"$neq": "CREATED"}}, "2"),
        ({"assignee": "ada"}, "0"),
        ({"assignee": {"$exists": False}}, "12"),
        ({"assignee": {"$like": "a*"}}, "0"),
        ({"candidateGroup": "a"}, "01"),
        ({"candidateGroup": {"$eq": "b"}}, "0"),
        ({"candidateGroup": {"$neq": "b"}}, "12"),
        ({"candidateGroup": {"$in": ["b", "c"]}}, "02"),
        ({"candidateGroup": {"$notIn": ["b", "c"]}}, "1"),
        ({"candidateGroup": {"$eq": "b", "$in": [], "$notIn": []}}, "0"),
        ({"candidateGroup": {"$in": []}}, "012"),
        ({"candidateGroup": {"$like": "?"}}, "012"),
        ({"candidateGroup": {"$like": "a*", "$neq": "b"}}, "1"),
        ({"candidateUser": {"$exists": True}}, "1"),
        ({"candidateUser": {"$exists": False}}, "02"),
        ({"priority": {"$gt": 50, "$lt": 90}}, "1"),
        ({"elementId": "task", "userTaskKey": str(TASK + 1)}, "1"),
        ({"dueDate": {"$lt": "2027-01-01T00:00:00Z"}}, "1"),
        ({"tags": ["x"]}, "2"),
        ({"$or": [{"assignee": "ada"}, {"tags": ["x"]}]}, "02"),
        ({"processInstanceVariables": [{"name": "x", "value": "1"}]}, "012"),
        ({"localVariables": [{"name": "x", "value": "1"}]}, ""),
        ({"localVariables": [{"name": "y", "value": {"$like": "*"}}]}, "012"),
    ],
)
async def test_filters(task, rows, reader, filter, expected):
    rows.variable()
    rows.variable(KEY + 20, "y", "2", scope_key=KEY + 1)
    task(TASK, assignee="ada", candidate_groups=["a", "b"])
    task(TASK + 1, candidate_groups=["a"], candidate_users=["u"], priority=70, due_at=NOW)
    task(TASK + 2, candidate_groups=["c"], tags=["x"], state="COMPLETED", ended_at=NOW, priority=90)
    answer = await reader("POST", "/v2/user-tasks/search", {"filter": filter})
    assert answer.status == 200, answer.body
    assert "".join(str(int(item["userTaskKey"]) - TASK) for item in answer.json["items"]) == expected


async def test_filters_that_cannot_be_read(task, reader):
    for filter, path in [
        ({"candidateGroup": 5}, "filter.candidateGroup"),
        ({"candidateGroup": {"$gt": "a"}}, "filter.candidateGroup.$gt"),
        ({"candidateGroup": {"$in": "a"}}, "filter.candidateGroup.$in"),
        ({"candidateGroup": {"$in": [1]}}, "filter.candidateGroup.$in[0]"),
        ({"candidateUser": {"$exists": 1}}, "filter.candidateUser.$exists"),
        ({"elementId": {"$eq": "a"}}, "filter.elementId"),
    ]:
        problem = (await reader("POST", "/v2/user-tasks/search", {"filter": filter})).problem
        assert problem["detail"] == f"Request property [{path}] cannot be parsed"


@pytest.mark.parametrize(
    "field", ["creationDate", "completionDate", "followUpDate", "dueDate", "priority", "name", "businessId"]
)
async def test_sorting_and_paging(task, reader, field):
    task(TASK, priority=3, name="b", due_at=NOW)
    task(TASK + 1, priority=2, name="a")
    seen, after = [], None
    for _ in range(2):
        body = {"sort": [{"field": field, "order": "DESC"}], "page": {"limit": 1} | ({"after": after} if after else {})}
        answer = (await reader("POST", "/v2/user-tasks/search", body)).json
        assert len(decode("UserTaskSearchQueryResult", answer).items) == 1
        seen.append(answer["items"][0]["userTaskKey"])
        after = answer["page"]["endCursor"]
    assert sorted(seen) == [str(TASK), str(TASK + 1)]


# ---- variables


@pytest.fixture
def scopes(rows, task):
    """x in the instance and in the task, y in the instance; another task's own z."""
    rows.element(KEY + 30)
    task()
    task(TASK + 1, element_instance_key=KEY + 30)
    rows.variable(KEY + 20, "x", "1")
    rows.variable(KEY + 21, "y", '"' + "v" * 9000 + '"')
    rows.variable(KEY + 22, "x", "2", scope_key=KEY + 1)
    rows.variable(KEY + 23, "z", "3", scope_key=KEY + 30)


async def names_and_values(reader, path, body=b""):
    answer = await reader("POST", PATH + path, body)
    assert answer.status == 200, answer.body
    decode("VariableSearchQueryResult", answer.json)
    return [(item["name"], item["value"][:2], item["isTruncated"]) for item in answer.json["items"]]


async def test_variables_of_all_scopes(scopes, reader):
    found = await names_and_values(reader, "/variables/search")
    assert found == [("x", "1", False), ("y", '"v', True), ("x", "2", False)]
    found = await names_and_values(
        reader, "/variables/search?truncateValues=false", {"filter": {"name": {"$neq": "x"}}}
    )
    assert found == [("y", '"v', False)]


async def test_variables_that_the_task_sees(scopes, reader):
    sort = {"sort": [{"field": "name"}]}
    found = await names_and_values(reader, "/effective-variables/search", sort)
    assert found == [("x", "2", False), ("y", '"v', True)]
    page = {"page": {"from": 1, "limit": 1}, **sort}
    assert await names_and_values(reader, "/effective-variables/search", page) == [("y", '"v', True)]


@pytest.mark.parametrize("path", ["/variables/search", "/effective-variables/search"])
async def test_variables_are_not_filtered_by_the_task_of_the_path(scopes, reader, path):
    problem = (await reader("POST", PATH + path, {"filter": {"userTaskKey": "1"}})).problem
    assert problem["detail"] == "Request property [filter.userTaskKey] cannot be parsed"
