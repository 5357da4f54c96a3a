"""Wrong input: every body, on every operation, is a 4xx problem, and nothing reaches log or database."""

import gzip
import json
import re

import pytest

from vivero.api.routes import ROUTES

KEY = 2251799813685249


def with_value(value):
    return b'{"variables":{"x":' + value + b"}}"


NUMBERS = [
    b"NaN",
    b"Infinity",
    b"-Infinity",
    b"1e400",
    b"-1e400",
    b"1e99999999999999999999",
    b"01",
    b"+1",
    b".5",
    b"1.",
]
NUMBERS += [
    b"0x10",
    b"1" * 400,
    b"-" + b"1" * 400,
    b"1" * 140_000,
    b"1." + b"1" * 140_000,
    b"1e309",
    b"1E+0400",
    b"1e-5000",
]
TEXTS = [rb'"\ud800"', rb'"\udc00"', rb'"\ud800\ud800"', rb'"\u0000"', rb'"a\u0000b"', b'"\xff"', b'"\xed\xa0\x80"']
TEXTS += [b'"\x00"', b'"\n"', b'"', b'"\\x"', b'"\\u12"', b"'x'", b'"\xc3']
NESTED = [b"[" * 64 + b"]" * 64, b"[" * 1000 + b"]" * 1000, b"[" * 100_000 + b"]" * 100_000, b"[" * 100_000]
NESTED += [b'{"a":' * 64 + b"1" + b"}" * 64, b'{"a":[' * 5000 + b"]}" * 5000, b'[{"a":' * 50_000, b"[}" * 100, b"{]"]
BODIES = [with_value(value) for value in (*NUMBERS, *TEXTS, *NESTED)] + [
    b"{",
    b"}",
    b"[",
    b"[]",
    b"null",
    b"1",
    b'"x"',
    b"tru",
    b"true",
    b"{'a':1}",
    b'{"variables":{},}',
    b'{"variables" {}}',
    b"{} {}",
    b"{}x",
    b"{a:1}",
    b"//x\n{}",
    b"\xef\xbb\xbf\xef\xbb\xbf{}",
    b"{}\xef\xbb\xbf",
    '{"variables":{}}'.encode("utf-16"),
    b"\x00",
    b"\xff" * 10,
    b'{"unknown":1}',
    b'{"__proto__":{}}',
    b'{"":1}',
    b'{"\\u0000":1}',
    b'{"variables":[]}',
    b'{"variables":"x"}',
    b'{"variables":1}',
    b'{"variables":true}',
    b'{"variables":{"\\u0000":1}}',
    b'{"variables":{"x":{"y":["\\u0000"]}}}',
    b'{"Variables":{}}',
    b'{"operationReference":"x"}',
    b'{"operationReference":1.5}',
    b'{"operationReference":99999999999999999999}',
    b'{"variables":{"' + b"n" * 5000 + b'":1}}',
    b'{"' + b"u" * 100_000 + b'":1}',
]

OPERATIONS = [
    ("POST", "/v2/process-instances"),
    ("POST", f"/v2/process-instances/{KEY}/cancellation"),
    ("POST", f"/v2/process-instances/{KEY}/incidents/search"),
    ("POST", f"/v2/element-instances/{KEY}/incidents/search"),
    ("POST", f"/v2/resources/{KEY}/deletion"),
    ("POST", "/v2/jobs/activation"),
    ("POST", f"/v2/jobs/{KEY}/completion"),
    ("POST", f"/v2/jobs/{KEY}/failure"),
    ("POST", f"/v2/jobs/{KEY}/error"),
    ("PATCH", f"/v2/jobs/{KEY}"),
    ("PUT", f"/v2/element-instances/{KEY}/variables"),
    ("POST", f"/v2/incidents/{KEY}/resolution"),
    ("POST", "/v2/expression/evaluation"),
    ("POST", "/v2/process-definitions/search"),
    ("POST", "/v2/process-instances/search"),
    ("POST", "/v2/jobs/search"),
    ("POST", "/v2/variables/search"),
    ("POST", "/v2/element-instances/search"),
    ("POST", "/v2/incidents/search"),
]


async def test_a_byte_order_mark_before_a_body_is_skipped(client, engine):
    """As in Camunda's server (RFC 8259, section 8.1). Encoders of .NET write it."""
    for body, status in ((b"\xef\xbb\xbf{}", 204), (b"\xef\xbb\xbf", 204), (b'\xef\xbb\xbf{"no": 1}', 400)):
        answer = await client("POST", f"/v2/jobs/{KEY}/completion", body, [(b"content-type", b"application/json")])
        assert answer.status == status


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
async def test_bad_bodies(client, engine, method, path):
    assert len(BODIES) >= 60
    for body in BODIES:
        answer = await client(method, path, body, [(b"content-type", b"application/json")])
        assert answer.status == 400, (body[:100], answer.status)
        assert answer.problem["title"] in ("Bad Request", "INVALID_ARGUMENT")
        assert answer.problem["instance"] == path
        assert len(answer.body) < 2000
    assert engine.appended == []


CREATE = {"processDefinitionId": "order"}
ACTIVATE = {"type": "t", "timeout": 1, "maxJobsToActivate": 1}
ACTIVATION = f"/v2/element-instances/ad-hoc-activities/{KEY}/activation"
SEMANTIC = [
    ("POST", "/v2/process-instances", {}, "At least one of [processDefinitionId, processDefinitionKey] is required."),
    ("POST", "/v2/process-instances", {"processDefinitionId": ""}, "At least one of"),
    (
        "POST",
        "/v2/process-instances",
        {"processDefinitionId": "a", "processDefinitionKey": "1"},
        "Only one of [processDefinitionId, processDefinitionKey] is allowed.",
    ),
    (
        "POST",
        "/v2/process-instances",
        {"processDefinitionKey": KEY},
        "Request property [processDefinitionKey] cannot be parsed",
    ),
    ("POST", "/v2/process-instances", {"processDefinitionKey": "x"}, "[processDefinitionKey]"),
    ("POST", "/v2/process-instances", {"processDefinitionKey": "9" * 20}, "[processDefinitionKey]"),
    ("POST", "/v2/process-instances", {"processDefinitionKey": "1.5"}, "[processDefinitionKey]"),
    ("POST", "/v2/process-instances", {"processDefinitionKey": "٣"}, "[processDefinitionKey]"),
    ("POST", "/v2/process-instances", CREATE | {"processDefinitionVersion": "1"}, "[processDefinitionVersion]"),
    ("POST", "/v2/process-instances", CREATE | {"processDefinitionVersion": 2**31}, "[processDefinitionVersion]"),
    ("POST", "/v2/process-instances", CREATE | {"processDefinitionVersion": 1.5}, "[processDefinitionVersion]"),
    ("POST", "/v2/process-instances", CREATE | {"tags": ["1"]}, "The tag '1' is not allowed"),
    ("POST", "/v2/process-instances", CREATE | {"tags": [""]}, "The tag '' is not allowed"),
    ("POST", "/v2/process-instances", CREATE | {"tags": ["a" * 101]}, "is not allowed"),
    ("POST", "/v2/process-instances", CREATE | {"tags": ["a\n"]}, "is not allowed"),
    ("POST", "/v2/process-instances", CREATE | {"tags": ["a", "a"]}, "must be unique"),
    ("POST", "/v2/process-instances", CREATE | {"tags": [f"a{i}" for i in range(11)]}, "must not be more than 10"),
    ("POST", "/v2/process-instances", CREATE | {"tags": "a"}, "[tags]"),
    ("POST", "/v2/process-instances", CREATE | {"tags": [1]}, "[tags[0]]"),
    ("POST", "/v2/process-instances", CREATE | {"businessId": ""}, "No businessId provided."),
    ("POST", "/v2/process-instances", CREATE | {"businessId": "b" * 257}, "must not be longer than 256"),
    ("POST", "/v2/process-instances", CREATE | {"businessId": 5}, "[businessId]"),
    (
        "POST",
        "/v2/process-instances",
        CREATE | {"runtimeInstructions": [{"afterElementId": "a", "type": "SUSPEND"}]},
        "Use any of",
    ),
    ("POST", "/v2/process-instances", CREATE | {"operationReference": 0}, "operationReference is '0'"),
    ("POST", "/v2/process-instances", CREATE | {"awaitCompletion": "yes"}, "[awaitCompletion]"),
    ("POST", "/v2/process-instances", CREATE | {"fetchVariables": "x"}, "[fetchVariables]"),
    ("POST", "/v2/process-instances", CREATE | {"requestTimeout": "1s"}, "[requestTimeout]"),
    (
        "POST",
        "/v2/process-instances",
        CREATE | {"tenantId": "other"},
        "Expected to handle request Create Process Instance with tenant identifier 'other',"
        " but multi-tenancy is disabled.",
    ),
    ("POST", "/v2/process-instances", {"processDefinitionId": "p" * 1001}, "must not be longer than 1000"),
    ("POST", "/v2/process-instances?wait=maybe", CREATE, "Failed to convert 'wait' with value: 'maybe'"),
    ("POST", "/v2/process-instances?wait=true&timeout=soon", CREATE, "Failed to convert 'timeout'"),
    ("POST", "/v2/process-instances?wait=true&timeout=-1s", CREATE, "Failed to convert 'timeout'"),
    ("POST", "/v2/process-instances?wait=true&timeout=30", CREATE, "Expected a number with a unit: 30s, 500ms or 2m"),
    ("POST", "/v2/process-instances?timeout=30", CREATE, "Expected a number with a unit: 30s, 500ms or 2m"),
    ("POST", "/v2/process-instances?wait=%00", CREATE, "NUL"),
    ("POST", "/v2/process-instances?wait=%ff", CREATE, "cannot be parsed"),
    ("POST", "/v2/process-instances?" + "a=1&" * 200, CREATE, "cannot be parsed"),
    ("POST", "/v2/jobs/activation", {}, "No type provided. No timeout provided. No maxJobsToActivate provided."),
    (
        "POST",
        "/v2/jobs/activation",
        ACTIVATE | {"timeout": 0},
        "The value for timeout is '0' but must be greater than 0.",
    ),
    ("POST", "/v2/jobs/activation", ACTIVATE | {"timeout": -5}, "The value for timeout is '-5'"),
    ("POST", "/v2/jobs/activation", ACTIVATE | {"timeout": 2**63}, "[timeout]"),
    ("POST", "/v2/jobs/activation", ACTIVATE | {"timeout": True}, "[timeout]"),
    ("POST", "/v2/jobs/activation", ACTIVATE | {"maxJobsToActivate": 0}, "The value for maxJobsToActivate is '0'"),
    ("POST", "/v2/jobs/activation", ACTIVATE | {"maxJobsToActivate": "x"}, "[maxJobsToActivate]"),
    ("POST", "/v2/jobs/activation", ACTIVATE | {"type": ""}, "No type provided."),
    ("POST", "/v2/jobs/activation", ACTIVATE | {"type": None}, "No type provided."),
    ("POST", "/v2/jobs/activation", ACTIVATE | {"type": "t" * 1025}, "must not be longer than 1024 bytes"),
    ("POST", "/v2/jobs/activation", ACTIVATE | {"worker": "w" * 1001}, "must not be longer than 1000"),
    ("POST", "/v2/jobs/activation", ACTIVATE | {"worker": 1}, "[worker]"),
    ("POST", "/v2/jobs/activation", ACTIVATE | {"fetchVariable": "x"}, "[fetchVariable]"),
    ("POST", "/v2/jobs/activation", ACTIVATE | {"fetchVariable": ["x"] * 1001}, "more than 1000"),
    ("POST", "/v2/jobs/activation", ACTIVATE | {"tenantIds": ["<default>", "x"]}, "multi-tenancy is disabled"),
    (
        "POST",
        "/v2/jobs/activation",
        ACTIVATE | {"tenantFilter": "ALL"},
        "Unexpected value 'ALL' for enum field 'tenantFilter'. Use any of the following values: [PROVIDED, ASSIGNED]",
    ),
    ("POST", f"/v2/jobs/{KEY}/completion", {"result": {"type": "other"}}, "[result.type]"),
    ("POST", f"/v2/jobs/{KEY}/completion", {"jobLeaseToken": "x" * 101}, "must not be longer than 100"),
    ("POST", f"/v2/jobs/{KEY}/failure", {"retries": "1"}, "[retries]"),
    ("POST", f"/v2/jobs/{KEY}/failure", {"retries": 2**31}, "[retries]"),
    ("POST", f"/v2/jobs/{KEY}/failure", {"retryBackOff": -1}, "The value for retryBackOff is '-1'"),
    ("POST", f"/v2/jobs/{KEY}/failure", {"retryBackOff": 2**63}, "[retryBackOff]"),
    ("POST", f"/v2/jobs/{KEY}/failure", {"errorMessage": 1}, "[errorMessage]"),
    ("POST", f"/v2/jobs/{KEY}/error", {}, "No errorCode provided."),
    ("POST", f"/v2/jobs/{KEY}/error", {"errorCode": ""}, "No errorCode provided."),
    ("POST", f"/v2/jobs/{KEY}/error", {"errorCode": 404}, "[errorCode]"),
    ("PATCH", f"/v2/jobs/{KEY}", {}, "At least one of [retries, timeout, priority] is required."),
    ("PATCH", f"/v2/jobs/{KEY}", {"changeset": {}}, "At least one of [retries, timeout, priority] is required."),
    ("PATCH", f"/v2/jobs/{KEY}", {"changeset": {"retries": 0}}, "The value for retries is '0'"),
    ("PATCH", f"/v2/jobs/{KEY}", {"changeset": {"timeout": 0}}, "The value for timeout is '0'"),
    ("PATCH", f"/v2/jobs/{KEY}", {"changeset": {"x": 0}}, "[changeset.x]"),
    ("PATCH", f"/v2/jobs/{KEY}", {"changeset": 1}, "[changeset]"),
    ("PATCH", f"/v2/jobs/{KEY}", {"retries": 1}, "[retries]"),
    ("POST", ACTIVATION, {}, "No elements provided."),
    ("POST", ACTIVATION, {"elements": []}, "No elements provided."),
    ("POST", ACTIVATION, {"elements": [{}]}, "No elements[0].elementId provided."),
    ("POST", ACTIVATION, {"elements": [{"elementId": "a", "x": 1}]}, "[elements[0].x]"),
    ("POST", ACTIVATION, {"elements": [{"elementId": "a", "variables": []}]}, "[elements[0].variables]"),
    (
        "POST",
        ACTIVATION,
        {"elements": [{"elementId": "a"}], "cancelRemainingInstances": 1},
        "[cancelRemainingInstances]",
    ),
    ("POST", f"/v2/jobs/{KEY}/completion", {"result": {"type": "adHocSubProcess", "x": 1}}, "[result.x]"),
    (
        "POST",
        f"/v2/jobs/{KEY}/completion",
        {"result": {"type": "adHocSubProcess", "activateElements": [{}]}},
        "No result.activateElements[0].elementId provided.",
    ),
    ("POST", f"/v2/jobs/{KEY}/completion", {"result": {"type": "agent"}}, "[result.type]"),
    ("POST", f"/v2/jobs/{KEY}/completion", {"result": {"activateElements": []}}, "No result.type provided."),
    (
        "POST",
        f"/v2/jobs/{KEY}/completion",
        {"result": {"isCancelRemainingInstances": True}},
        "No result.type provided.",
    ),
    ("POST", f"/v2/jobs/{KEY}/completion", {"result": {"type": "adHocSubProcess", "denied": True}}, "[result.denied]"),
    (
        "POST",
        f"/v2/jobs/{KEY}/completion",
        {"result": {"type": "userTask", "activateElements": []}},
        "[result.activateElements]",
    ),
    ("POST", f"/v2/jobs/{KEY}/completion", {"result": {"denied": 1}}, "[result.denied]"),
    ("POST", f"/v2/jobs/{KEY}/completion", {"result": {"x": 1}}, "[result.x]"),
    ("PUT", f"/v2/element-instances/{KEY}/variables", {}, "No variables provided."),
    ("PUT", f"/v2/element-instances/{KEY}/variables", {"variables": {}, "local": "no"}, "[local]"),
    ("POST", "/v2/expression/evaluation", {}, "No expression provided."),
    ("POST", "/v2/expression/evaluation", {"expression": 1}, "[expression]"),
    ("POST", "/v2/expression/evaluation", {"expression": "=1", "scopeKey": 1}, "[scopeKey]"),
    ("POST", "/v2/expression/evaluation", {"expression": "=1", "tenantId": "t"}, "multi-tenancy is disabled"),
    ("POST", "/v2/expression/evaluation", {"expression": "x" * 100_001}, "must not be longer than 20000"),
    ("POST", "/v2/jobs/search", {"filter": []}, "[filter]"),
    ("POST", "/v2/jobs/search", {"filter": {"nonsense": 1}}, "[filter.nonsense]"),
    ("POST", "/v2/jobs/search", {"filter": {"jobKey": 1}}, "[filter.jobKey]"),
    ("POST", "/v2/jobs/search", {"filter": {"jobKey": {"$gt": "1"}}}, "[filter.jobKey.$gt]"),
    ("POST", "/v2/jobs/search", {"filter": {"retries": 1.5}}, "[filter.retries]"),
    (
        "POST",
        "/v2/incidents/search",
        {"filter": {"state": "OPEN"}},
        "Unexpected value 'OPEN' for enum field 'state'."
        " Use any of the following values: [ACTIVE, MIGRATED, PENDING, RESOLVED, UNKNOWN]",
    ),
    ("POST", "/v2/jobs/search", {"sort": {}}, "[sort]"),
    ("POST", "/v2/jobs/search", {"sort": [{}]}, "[sort[0].field]"),
    ("POST", "/v2/jobs/search", {"sort": [{"field": "x"}]}, "Unexpected value 'x' for enum field 'field'."),
    ("POST", "/v2/jobs/search", {"sort": [{"field": "jobKey; DROP TABLE jobs"}]}, "Unexpected value"),
    (
        "POST",
        "/v2/jobs/search",
        {"sort": [{"field": "jobKey", "order": "up"}]},
        "Unexpected value 'up' for enum field 'order'. Use any of the following values: [ASC, DESC]",
    ),
    ("POST", "/v2/jobs/search", {"sort": [{"field": "jobKey"}] * 21}, "must not have more than 20"),
    ("POST", "/v2/jobs/search", {"page": {"limit": 0}}, "The value for page.limit is '0'"),
    ("POST", "/v2/jobs/search", {"page": {"limit": 10_001}}, "between 1 and 10000"),
    ("POST", "/v2/jobs/search", {"page": {"limit": "x"}}, "[page.limit]"),
    ("POST", "/v2/jobs/search", {"page": {"from": -1}}, "The value for page.from is '-1'"),
    ("POST", "/v2/jobs/search", {"page": {"from": 10**9}}, "The value for page.from"),
    (
        "POST",
        "/v2/process-instances",
        {"processDefinitionKey": "1", "processDefinitionVersionTag": ""},
        "No processDefinitionVersionTag provided. Only one of [processDefinitionKey, processDefinitionVersionTag] is",
    ),
    (
        "POST",
        "/v2/process-instances",
        {"processDefinitionId": "p", "processDefinitionVersion": 2, "processDefinitionVersionTag": "x"},
        "Only one of [processDefinitionVersion, processDefinitionVersionTag] is allowed.",
    ),
    (
        "POST",
        "/v2/process-instances",
        {"processDefinitionVersionTag": "x"},
        "At least one of [processDefinitionId, processDefinitionKey] is required.",
    ),
    (
        "POST",
        "/v2/jobs/search",
        {"page": {"after": "WzFd", "before": "WzFd"}},
        "Both after and before cannot be set at the same time.",
    ),
    (
        "POST",
        "/v2/jobs/search",
        {"page": {"after": "WzFd", "from": 1}},
        "Both after/before and from cannot be set at the same time.",
    ),
    (
        "POST",
        "/v2/jobs/search",
        {"page": {"after": "tampered"}},
        "The cursor 'tampered' cannot be used: it is not a cursor;",
    ),
    ("POST", "/v2/jobs/search", {"page": {"size": 5}}, "[page.size]"),
    ("POST", "/v2/variables/search?truncateValues=perhaps", {}, "Failed to convert 'truncateValues'"),
]


@pytest.mark.parametrize(("method", "target", "body", "detail"), SEMANTIC)
async def test_requests_that_mean_nothing(client, engine, method, target, body, detail):
    answer = await client(method, target, body)
    assert answer.status == 400
    assert detail in answer.problem["detail"]
    expected = "INVALID_ARGUMENT" if answer.problem["detail"].endswith(".") else "Bad Request"
    assert answer.problem["title"] == expected
    assert engine.appended == []


KEYS = [
    "meow",
    "1.5",
    "0x1",
    "9" * 19,
    "-" + "9" * 19,
    "9" * 26,
    "-",
    "+1",
    "1e3",
    "\0",
    "٣",
    " 1",
    "1 ",
    "null",
    "'",
    "1;",
    "{}",
]


PLACES = [
    (route.method, route.path.replace(f"{{{name}}}", "{}").replace("{username}", "ann"), name)
    for route in ROUTES
    for name in re.findall(r"\{(\w+)\}", route.path)
    if (name.endswith("Key") and name != "batchOperationKey") or name == "position"
    if not route.path.startswith("/v2/authentication/me/")
]
"""Every key in a path. Camunda's clients send any text as the key of a batch operation, which is then not found. Only
users have sessions of their own."""


@pytest.mark.parametrize(("method", "path", "name"), PLACES)
async def test_path_parameters_that_are_no_keys(client, engine, method, path, name):
    for key in KEYS:
        answer = await client(method, path.format(key))
        assert (answer.status, answer.problem["title"]) == (400, "Bad Request"), key
        assert f"'{name}' with value: '{key}'" in answer.problem["detail"]
    assert engine.appended == []


@pytest.mark.parametrize(
    "content_type", [b"text/plain", b"application/x-www-form-urlencoded", b"", b"json", b"application/jsonp"]
)
async def test_other_media_types_are_refused(client, content_type):
    body = json.dumps(CREATE).encode()
    answer = await client("POST", "/v2/process-instances", body, [(b"content-type", content_type)])
    assert (answer.status, answer.problem["title"]) == (415, "Unsupported Media Type")


async def test_content_that_is_packed_is_refused(client, engine):
    body, headers = gzip.compress(json.dumps(CREATE).encode()), [(b"content-encoding", b"gzip")]
    answer = await client("POST", "/v2/process-instances", body, headers)
    assert (answer.status, answer.headers[b"accept-encoding"]) == (415, b"identity")
    assert answer.problem["detail"] == "Content-Encoding 'gzip' is not supported; send the content without an encoding"
    assert engine.appended == []


@pytest.mark.parametrize(
    "content_type",
    [b"application/json", b"application/json; charset=utf-8", b"Application/JSON", b"application/vnd.x+json"],
)
async def test_json_is_known_by_several_names(client, engine, content_type):
    answer = await client("POST", f"/v2/jobs/{KEY}/completion", b"{}", [(b"content-type", content_type)])
    assert answer.status == 204


@pytest.mark.parametrize(
    "path", [f"/v2/jobs/{KEY}/completion", f"/v2/incidents/{KEY}/resolution", "/v2/signals/broadcast"]
)
async def test_a_body_without_a_type_is_refused(client, engine, path):
    answer = await client("POST", path, b"{}", typed=False)
    assert (answer.status, answer.problem["title"]) == (415, "Unsupported Media Type")
    assert answer.problem["detail"] == "A body without Content-Type is not supported; use application/json"
    assert engine.appended == []


async def test_no_body_needs_no_type(client, engine):
    assert (await client("POST", f"/v2/jobs/{KEY}/completion", typed=False)).status == 204


async def test_an_empty_body_is_no_json_where_one_is_needed(client):
    answer = await client("POST", "/v2/process-instances", b"", [(b"content-type", b"application/json")])
    assert (answer.status, answer.problem["title"]) == (400, "Bad Request")
    assert answer.problem["detail"] == "Request body is missing"


async def test_bodies_have_a_limit(client, settings):
    body = json.dumps({"variables": {"x": "y" * settings.max_body_bytes}}).encode()
    whole = await client("POST", f"/v2/jobs/{KEY}/completion", body)
    pieces = await client("POST", f"/v2/jobs/{KEY}/completion", chunks=[body[: len(body) // 2], body[len(body) // 2 :]])
    assert [whole.status, pieces.status] == [413, 413]
    assert whole.problem["title"] == "Content Too Large"


async def test_what_only_looks_bad_is_accepted(client, engine):
    values = {
        "escaped": '\\u0000 and "\\ud800"',
        "brackets": '[[[{{{"\\"]' * 100,
        "digits": "1" * 1000,
        "exponent": "1e400",
        "small": 1e-300,
        "large": 1.7e308,
        "long": 10**300,
        "wide": [[], {}] * 500,
        "deep": [[[[[[[[[[1]]]]]]]]]],
        "pair": "\U0001f600",
        "": 1,
        "n" * 1024: None,
        "é" * 512: True,
    }
    answer = await client("POST", f"/v2/jobs/{KEY}/completion", {"variables": values})
    assert answer.status == 204, answer.body
    kept = {name: json.loads(bytes(value)) for name, value in engine.command.variables.items()}
    assert kept == values
