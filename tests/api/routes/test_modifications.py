"""Modification of process instances over HTTP: the command that a body becomes, and bodies that are wrong."""

import msgspec
import pytest

from vivero.core.modifications.plan import MAX_CHANGES
from vivero.core.records.effects import Rejection, RejectionCode, Violation
from vivero.core.records.modifications import (
    ActivateInstruction,
    ModifyInstance,
    MoveInstruction,
    TerminateInstruction,
    VariableInstruction,
)

KEY = 2251799813685249
PATH = f"/v2/process-instances/{KEY}/modification"
SCOPES = {
    None: ("direct", None),
    "direct": ("direct", None),
    "inferred": ("inferred", None),
    "sourceParent": ("sourceParent", None),
}


async def test_the_instructions_become_the_command(client, engine):
    variables = [{"variables": {"x": [1]}, "scopeId": "s"}, {"variables": {"y": None}}]
    body = {
        "operationReference": 3,
        "activateInstructions": [
            {"elementId": "a", "variableInstructions": variables, "ancestorElementInstanceKey": "77"},
            {"elementId": "b", "ancestorElementInstanceKey": "-1"},
        ],
        "terminateInstructions": [{"elementId": "c"}, {"elementInstanceKey": "78"}],
    }
    assert (await client("POST", PATH, body)).status == 204
    given = VariableInstruction({"x": msgspec.Raw(b"[1]")}, "s"), VariableInstruction({"y": msgspec.Raw(b"null")})
    assert engine.command == ModifyInstance(
        KEY,
        (ActivateInstruction("a", given, 77), ActivateInstruction("b")),
        (TerminateInstruction(element_id="c"), TerminateInstruction(78)),
    )


@pytest.mark.parametrize("type_", SCOPES)
async def test_moves_become_the_command(client, engine, type_):
    scope = {} if type_ is None else {"ancestorScopeInstruction": {"ancestorScopeType": type_}}
    source = {"sourceType": "byId", "sourceElementId": "a"}
    body = {"moveInstructions": [{"sourceElementInstruction": source, "targetElementId": "b"} | scope]}
    assert (await client("POST", PATH, body)).status == 204
    assert engine.command == ModifyInstance(KEY, move=(MoveInstruction("b", "a", None, *SCOPES[type_]),))


async def test_a_move_by_key_below_an_ancestor(client, engine):
    source = {"sourceType": "byKey", "sourceElementInstanceKey": "78"}
    scope = {"ancestorScopeType": "direct", "ancestorElementInstanceKey": "77"}
    move = {"sourceElementInstruction": source, "targetElementId": "b", "ancestorScopeInstruction": scope}
    assert (await client("POST", PATH, {"moveInstructions": [move]})).status == 204
    assert engine.command == ModifyInstance(KEY, move=(MoveInstruction("b", None, 78, "direct", 77),))


SOURCE = {"sourceElementInstruction": {"sourceElementId": "a"}}
WRONG = [
    ({"activateInstructions": [{}]}, "No elementId provided"),
    ({"terminateInstructions": [{}]}, "At least one of [elementId, elementInstanceKey] is required"),
    (
        {"terminateInstructions": [{"elementId": "a", "elementInstanceKey": "1"}]},
        "Only one of [elementId, elementInstanceKey] is allowed",
    ),
    ({"moveInstructions": [{"targetElementId": "a"}]}, "No sourceElementInstruction provided"),
    ({"moveInstructions": [SOURCE]}, "No targetElementId provided"),
    (
        {"moveInstructions": [{"sourceElementInstruction": {}, "targetElementId": "a"}]},
        "At least one of [sourceElementId, sourceElementInstanceKey] is required",
    ),
    (
        {
            "moveInstructions": [
                SOURCE
                | {"targetElementId": "b"}
                | {
                    "ancestorScopeInstruction": {
                        "ancestorScopeType": "inferred",
                        "ancestorElementInstanceKey": "1",
                    }
                }
            ]
        },
        "An ancestorElementInstanceKey is not allowed with the type inferred",
    ),
    (
        {"activateInstructions": [{"elementId": "a"}] * (MAX_CHANGES + 1)},
        f"The provided activateInstructions are {MAX_CHANGES + 1} but must not be more than {MAX_CHANGES}",
    ),
    ({"operationReference": -1}, "The value for operationReference is '-1' but must be greater than 0"),
]


@pytest.mark.parametrize(("body", "detail"), WRONG, ids=[detail[:40] for _, detail in WRONG])
async def test_wrong_bodies(client, body, detail):
    problem = (await client("POST", PATH, body)).problem
    assert (problem["title"], problem["detail"]) == ("INVALID_ARGUMENT", detail + ".")


UNREADABLE = [
    ({"activateInstructions": "x"}, "activateInstructions"),
    ({"moveInstructions": [{"sourceElementInstruction": {"sourceType": "x"}}]}, "sourceType"),
    ({"terminateInstructions": [{"elementInstanceKey": "x"}]}, "elementInstanceKey"),
]


@pytest.mark.parametrize(("body", "place"), UNREADABLE)
async def test_bodies_that_cannot_be_read(client, body, place):
    problem = (await client("POST", PATH, body)).problem
    assert problem["status"] == 400
    assert place in problem["detail"]


async def test_all_reasons_of_a_refusal_are_in_the_answer(client, engine):
    found = (Violation("first", "a"), Violation("second"))
    engine.rejection = Rejection(RejectionCode.INVALID_ARGUMENT, "first", found)
    problem = (await client("POST", PATH, {})).problem
    assert problem["detail"] == "Command 'MODIFY' rejected with code 'INVALID_ARGUMENT': first"
    expected = [{"elementId": "a", "message": "first"}, {"elementId": None, "message": "second"}]
    assert problem["problems"] == expected
