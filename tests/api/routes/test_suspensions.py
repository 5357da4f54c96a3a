"""Suspension and resumption over HTTP: the commands that bodies become, and where the reason is shown."""

import json

import pytest

from tests.api.rows import KEY, NOW
from vivero.core.records.suspensions import ResumeInstance, SuspendInstance

SUSPENSION, RESUMPTION = (f"/v2/process-instances/{KEY}/{verb}" for verb in ("suspension", "resumption"))


@pytest.mark.parametrize("body", [b"", {}, {"operationReference": 3, "includeCalled": None, "reason": None}])
async def test_the_body_is_optional(client, engine, body):
    for path, command in ((SUSPENSION, SuspendInstance(KEY)), (RESUMPTION, ResumeInstance(KEY))):
        given = body and {name: value for name, value in body.items() if name != "reason" or path == SUSPENSION}
        assert (await client("POST", path, given)).status == 204
        assert engine.appended[-1].command == command


async def test_what_a_body_says_becomes_the_command(client, engine):
    assert (await client("POST", SUSPENSION, {"includeCalled": True, "reason": "a holiday"})).status == 204
    assert engine.appended[-1].command == SuspendInstance(KEY, True, "a holiday")
    assert (await client("POST", RESUMPTION, {"includeCalled": True})).status == 204
    assert engine.appended[-1].command == ResumeInstance(KEY, True)


@pytest.mark.parametrize(
    ("reason", "says"),
    [("", "No reason provided"), ("r" * 1001, "must not be longer than 1000."), (5, "[reason]")],
)
async def test_wrong_reasons(client, engine, reason, says):
    answer = await client("POST", SUSPENSION, {"reason": reason})
    assert answer.status == 400
    assert says in answer.problem["detail"]
    assert engine.appended == []


async def test_the_audit_log_tells_the_reason(client, engine):
    await client("POST", SUSPENSION, {"reason": "two\nlines"})
    assert json.loads(engine.appended[-1].audit)["description"] == f"POST {SUSPENSION}: two\ufffdlines"
    await client("POST", RESUMPTION)
    assert json.loads(engine.appended[-1].audit)["description"] == f"POST {RESUMPTION}"


async def test_a_suspended_instance_tells_the_reason(reader, rows):
    rows.instance(suspended_at=NOW, suspended_reason="a holiday")
    rows.instance(KEY + 1)
    shown = [(await reader("GET", f"/v2/process-instances/{key}")).json for key in (KEY, KEY + 1)]
    members = [(one["state"], one["suspendedDate"], one["suspensionReason"]) for one in shown]
    assert members == [("SUSPENDED", NOW, "a holiday"), ("ACTIVE", None, None)]


# ---- batches

OF_DEFINITION = f"/v2/process-definitions/{KEY}"


@pytest.mark.parametrize(
    ("path", "body", "type", "plan"),
    [
        (f"{OF_DEFINITION}/instance-suspension", {"reason": "a bug"}, "SUSPEND_PROCESS_INSTANCE", {"reason": "a bug"}),
        (f"{OF_DEFINITION}/instance-suspension", b"", "SUSPEND_PROCESS_INSTANCE", None),
        (f"{OF_DEFINITION}/instance-resumption", {"operationReference": 3}, "RESUME_PROCESS_INSTANCE", None),
        (
            *("/v2/process-instances/suspension", {"filter": {"processDefinitionKey": str(KEY)}, "reason": "a bug"}),
            *("SUSPEND_PROCESS_INSTANCE", {"reason": "a bug"}),
        ),
    ],
)
async def test_the_instances_of_a_definition_become_a_batch(reader, rows, path, body, type, plan):
    rows.definition()
    answer = await reader("POST", path, body)
    assert answer.json["batchOperationType"] == type
    stored = rows.execute("SELECT batch_operation_key::text, type, resource, filter, plan FROM batch_operations")
    expected = answer.json["batchOperationKey"], type, "process-instances", {"processDefinitionKey": str(KEY)}, plan
    assert stored.fetchall() == [expected]
    ((described,),) = rows.execute("SELECT description FROM audit_log").fetchall()
    assert described == f"POST {path}" + (": a bug" if plan else "")


@pytest.mark.parametrize("verb", ["instance-suspension", "instance-resumption"])
async def test_an_unknown_definition(reader, rows, verb):
    answer = await reader("POST", f"/v2/process-definitions/{KEY + 9}/{verb}")
    assert (answer.status, str(KEY + 9) in answer.problem["detail"]) == (404, True)
    assert rows.execute("SELECT count(*) FROM batch_operations").fetchone() == (0,)


@pytest.mark.parametrize("path", [f"{OF_DEFINITION}/instance-suspension", "/v2/process-instances/suspension"])
async def test_a_batch_has_a_short_reason_or_none(reader, rows, path):
    rows.definition()
    filter = {} if "definitions" in path else {"filter": {"state": "ACTIVE"}}
    for reason in ("", "r" * 1001, 5):
        assert (await reader("POST", path, filter | {"reason": reason})).status == 400
    assert rows.execute("SELECT count(*) FROM batch_operations").fetchone() == (0,)
