"""Suspension and resumption over HTTP: the commands that bodies become, and where the reason is shown."""

import json

import pytest

from tests.api.conftest import KEY, NOW
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
