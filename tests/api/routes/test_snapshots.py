"""Snapshots over HTTP, and changes that are conditional on their entity tags."""

import json

import msgspec
import pytest

from vivero.api.commands.preconditions import expected_versions
from vivero.api.http.problems import Problem
from vivero.api.http.request import Request
from vivero.core.commands.conditional_change import change_of
from vivero.core.records.conditional_changes import ChangeIfMatch
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.core.records.instances import CancelInstance

KEY = 2251799813685249
CHANGES = [
    ("POST", f"/v2/process-instances/{KEY}/cancellation", None),
    ("POST", f"/v2/process-instances/{KEY}/modification", {"terminateInstructions": [{"elementInstanceKey": "8"}]}),
    (
        "POST",
        f"/v2/process-instances/{KEY}/migration",
        {"targetProcessDefinitionKey": "8", "mappingInstructions": [{"sourceElementId": "a", "targetElementId": "b"}]},
    ),
    ("POST", f"/v2/process-instances/{KEY}/suspension", None),
    ("POST", f"/v2/process-instances/{KEY}/resumption", None),
    ("POST", f"/v2/process-instances/{KEY}/business-id-assignment", {"businessId": "order-7"}),
    ("POST", "/v2/element-instances/ad-hoc-activities/7/activation", {"elements": [{"elementId": "a"}]}),
    ("PUT", "/v2/element-instances/7/variables", {"variables": {"x": {"y": [1.50]}}}),
    ("POST", "/v2/incidents/7/resolution", None),
    ("POST", "/v2/jobs/7/completion", {"variables": {"x": 1}}),
    ("POST", "/v2/jobs/7/failure", {"retries": 1}),
    ("POST", "/v2/jobs/7/error", {"errorCode": "A"}),
    ("PATCH", "/v2/jobs/7", {"changeset": {"retries": 1}}),
    ("POST", "/v2/user-tasks/7/completion", None),
    ("POST", "/v2/user-tasks/7/assignment", {"assignee": "jo"}),
    ("DELETE", "/v2/user-tasks/7/assignee", None),
    ("PATCH", "/v2/user-tasks/7", {"changeset": {"priority": 7}}),
    ("POST", "/v2/timers/7/trigger", None),
    ("PATCH", "/v2/timers/7", {"dueDate": "2027-01-01T01:00:00Z"}),
]


async def test_a_snapshot_has_the_version_as_its_tag(rows, reader):
    rows.definition()
    rows.instance(version=7, part_key=KEY, live=1, tokens='{"task": 1}')
    rows.element(part_key=KEY)
    rows.variable(value='{"b": 1, "a": [1.50, null]}')
    rows.job(part_key=KEY)
    answer = await reader("GET", f"/v2/process-instances/{KEY}/snapshot")
    assert (answer.status, answer.headers[b"etag"], answer.headers[b"content-type"]) == (
        200,
        b'"7"',
        b"application/json",
    )
    assert answer.json["version"] == 7
    assert [element["elementId"] for element in answer.json["elements"]] == ["order", "task"]
    assert b'"value":{"b": 1, "a": [1.50, null]}' in answer.body
    for tags, status in (('"7"', 304), ('"6", W/"7"', 304), ("*", 304), ('"6"', 200)):
        headers = [(b"if-none-match", tags.encode())]
        again = await reader("GET", f"/v2/process-instances/{KEY}/snapshot", headers=headers)
        assert (again.status, again.headers[b"etag"]) == (status, b'"7"')


async def test_of_one_version_only_the_end_of_a_backoff_can_change(rows, reader):
    """It disappears when a worker leases the job again. Whether a job is leased is not part of the tree."""
    rows.definition()
    rows.instance(version=7, part_key=KEY, live=1, tokens='{"task": 1}')
    rows.element(part_key=KEY)
    rows.job(part_key=KEY, state="FAILED", ready=False, available_at="2026-01-01T00:00:00Z")
    document = (await reader("GET", f"/v2/process-instances/{KEY}/snapshot")).json
    assert document["jobs"][0].pop("availableAt") == 1_767_225_600_000
    lease = "UPDATE jobs SET lease_token = gen_random_uuid(), worker = 'w', available_at = '2027-01-01T00:00:00Z'"
    for change in (lease, "UPDATE jobs SET available_at = '2026-02-01T00:00:00Z'"):
        rows.execute(change)
        leased = await reader("GET", f"/v2/process-instances/{KEY}/snapshot")
        assert (leased.headers[b"etag"], leased.json) == (b'"7"', document)


async def test_there_is_no_snapshot_of_what_is_not_a_root(rows, reader):
    rows.definition()
    rows.instance()
    rows.instance(KEY + 100, root_key=KEY, parent_process_instance_key=KEY, depth=2)
    assert (await reader("GET", f"/v2/process-instances/{KEY + 9}/snapshot")).problem["status"] == 404
    problem = (await reader("GET", f"/v2/process-instances/{KEY + 100}/snapshot")).problem
    assert (problem["status"], problem["title"]) == (409, "INVALID_STATE")
    assert f"Get the snapshot of the root '{KEY}' instead" in problem["detail"]


async def test_a_tree_beyond_the_limit_has_none(rows, reader):
    rows.definition()
    rows.instance(in_parts=10_001)
    problem = (await reader("GET", f"/v2/process-instances/{KEY}/snapshot")).problem
    assert problem["status"] == 409
    assert "it has more than 10000 live elements" in problem["detail"]


@pytest.mark.parametrize(("method", "path", "body"), CHANGES, ids=[f"{method} {path}" for method, path, _ in CHANGES])
async def test_every_change_can_be_conditional(client, engine, method, path, body):
    content = b"" if body is None else json.dumps(body).encode()
    plain = await client(method, path, content)
    assert plain.status < 300, plain.body
    answer = await client(method, path, content, [(b"if-match", b'"6", "7"')])
    assert answer.status == plain.status
    without, conditional = (item.command for item in engine.appended)
    assert isinstance(conditional, ChangeIfMatch)
    assert (conditional.versions, conditional.key) == ((6, 7), engine.appended[0].key)
    assert msgspec.json.encode(change_of(conditional)) == msgspec.json.encode(without)
    assert type(change_of(conditional)) is type(without)


async def test_a_version_that_does_not_match_is_412(client, engine):
    engine.rejection = Rejection(RejectionCode.PRECONDITION_FAILED, "its version is 8")
    answer = await client("POST", f"/v2/process-instances/{KEY}/cancellation", b"", [(b"if-match", b'"7"')])
    assert (answer.problem["status"], answer.problem["title"]) == (412, "PRECONDITION_FAILED")
    assert answer.problem["detail"] == "Command 'CANCEL' rejected with code 'PRECONDITION_FAILED': its version is 8"


async def test_a_star_asks_for_nothing_but_existence(client, engine):
    await client("POST", f"/v2/process-instances/{KEY}/cancellation", b"", [(b"if-match", b" * ")])
    assert engine.command == CancelInstance(KEY)


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ('"7"', (7,)),
        ('"7","8" , "9"', (7, 8, 9)),
        (', "7",', (7,)),
        ('W/"7"', ()),
        ('"seven", "7"', (7,)),
        ('""', ()),
        ('"' + "9" * 30 + '"', ()),
    ],
)
def test_entity_tags(text, versions):
    assert expected_versions(request(text)) == versions


@pytest.mark.parametrize(
    "text", ["7", '"7', '"7" "8"', "", "*, *", '"7", *', 'w/"7"', '"a b"', ", ".join(['"1"'] * 101)]
)
def test_what_is_no_list_of_tags_is_400(text):
    with pytest.raises(Problem, match="The header If-Match"):
        expected_versions(request(text))


def request(if_match):
    return Request("POST", "/", [(b"if-match", if_match.encode())])
