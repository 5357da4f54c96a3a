"""Business ids over HTTP: the assignment to a running instance, with a job or without, and bodies that are wrong."""

import pytest

from vivero.core.records.business_ids import AssignBusinessId
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.core.records.jobs import CompleteJob

KEY = 2251799813685249
ASSIGNMENT = f"/v2/process-instances/{KEY}/business-id-assignment"
COMPLETION = f"/v2/jobs/{KEY}/completion"
LONGEST = "é" * 256


@pytest.mark.parametrize("given", ["order-7", "0", LONGEST])
async def test_an_id_becomes_the_command(client, engine, given):
    assert (await client("POST", ASSIGNMENT, {"businessId": given})).status == 204
    assert (await client("POST", COMPLETION, {"businessId": given})).status == 204
    commands = [item.command for item in engine.appended]
    assert commands == [AssignBusinessId(KEY, given), CompleteJob(KEY, business_id=given)]


@pytest.mark.parametrize("path", [ASSIGNMENT, COMPLETION])
@pytest.mark.parametrize("given", ["", LONGEST + "x", 7, ["a"], {}])
async def test_a_wrong_id_is_refused(client, engine, path, given):
    answer = await client("POST", path, {"businessId": given})
    assert (answer.status, "businessId" in answer.problem["detail"]) == (400, True)
    assert engine.appended == []


@pytest.mark.parametrize("body", [{}, {"businessId": None}, b"", {"businessId": "a", "other": 1}])
async def test_an_assignment_needs_an_id_and_nothing_else(client, engine, body):
    assert (await client("POST", ASSIGNMENT, body)).status == 400
    assert engine.appended == []


async def test_a_job_needs_none(client, engine):
    assert (await client("POST", COMPLETION, {"businessId": None})).status == 204
    assert engine.command == CompleteJob(KEY)


async def test_a_refusal_names_the_command(client, engine):
    engine.rejection = Rejection(RejectionCode.INVALID_STATE, "Expected to assign a business id")
    answer = await client("POST", ASSIGNMENT, {"businessId": "a"})
    assert (answer.status, answer.problem["title"]) == (409, "INVALID_STATE")
    assert answer.problem["detail"].startswith("Command 'ASSIGN' rejected with code 'INVALID_STATE': Expected")
