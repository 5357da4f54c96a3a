"""The limit of variables applies to every request that has any, and the refusal says it."""

import json
from dataclasses import replace

import pytest

from vivero.api.settings import MAX_VARIABLES, ApiSettings

KEY = 2251799813685249
REQUESTS = {
    "create": ("POST", "/v2/process-instances", {"processDefinitionId": "p"}),
    "complete a job": ("POST", f"/v2/jobs/{KEY}/completion", {}),
    "fail a job": ("POST", f"/v2/jobs/{KEY}/failure", {}),
    "throw an error": ("POST", f"/v2/jobs/{KEY}/error", {"errorCode": "A"}),
    "publish": ("POST", "/v2/messages/publication", {"name": "m", "correlationKey": "k"}),
    "correlate": ("POST", "/v2/messages/correlation", {"name": "m", "correlationKey": "k"}),
    "broadcast": ("POST", "/v2/signals/broadcast", {"signalName": "s"}),
    "set variables": ("PUT", f"/v2/element-instances/{KEY}/variables", {}),
    "complete a user task": ("POST", f"/v2/user-tasks/{KEY}/completion", {}),
    "evaluate": ("POST", "/v2/expression/evaluation", {"expression": "=1"}),
}


@pytest.fixture
def settings():
    return ApiSettings(response_timeout_s=0.05, max_variables=3)


@pytest.mark.parametrize("name", REQUESTS)
async def test_too_many_variables_are_refused(client, engine, name):
    method, target, body = REQUESTS[name]
    answer = await client(method, target, json.dumps(body | {"variables": dict.fromkeys("abcd", 1)}).encode())
    assert answer.status == 400
    assert answer.problem["title"] == "INVALID_ARGUMENT"
    assert answer.problem["detail"] == "The request has 4 variables but must not have more than 3."
    assert not engine.appended


async def test_as_many_as_there_may_be(client, engine):
    body = {"processDefinitionId": "p", "variables": {name: {"inner": [1] * 100} for name in "abc"}}
    await client("POST", "/v2/process-instances", json.dumps(body).encode())
    assert len(engine.command.variables) == 3


@pytest.mark.parametrize("number", [0, MAX_VARIABLES + 1])
def test_the_limit_has_limits(number):
    with pytest.raises(ValueError, match=f"between 1 and {MAX_VARIABLES}"):
        ApiSettings(max_variables=number)


@pytest.mark.parametrize("name", REQUESTS)
async def test_too_many_bytes_of_variables_are_refused(make_client, settings, engine, name):
    method, target, body = REQUESTS[name]
    client = make_client(settings=replace(settings, max_variables_bytes=10))
    answer = await client(method, target, json.dumps(body | {"variables": {"a": "x" * 4, "b": "123"}}).encode())
    assert answer.status == 400
    assert answer.problem["detail"] == "The variables of the request have 11 bytes but must not have more than 10."
    assert not engine.appended


async def test_as_many_bytes_as_there_may_be(make_client, settings, engine):
    client = make_client(settings=replace(settings, max_variables_bytes=10))
    variables = b'{"a" : [1,   2, 3] ,  "b":123}'
    await client("POST", "/v2/signals/broadcast", b'{"signalName":"s","variables":' + variables + b"}")
    assert len(engine.appended) == 1, "white space does not count"
