"""GET /v2/commands/{position}: a command with what came of it; and expressions, the other odd resource."""

import json

import pytest

from vivero.core.records.catalogue import DefinitionAdded
from vivero.core.records.codec import encode_events
from vivero.core.records.conditional_changes import ChangeIfMatch
from vivero.core.records.instances import ElementActivating, IncidentRaised, VariableSet, WorkDeferred
from vivero.core.records.jobs import JobFailed

KEY = 2251799813685249
POSITION = 1 << 51 | 7
NOW = "2026-11-18T11:06:40.123Z"


@pytest.fixture
def append(rows):
    def append(position, payload="{}", **row):
        defaults = {
            "partition_id": 1,
            "position": position,
            "append_id": "0" * 32,
            "ord": 0,
            "at": NOW,
            "tenant_id": "<default>",
            "intent": "JOB:COMPLETE",
            "key": KEY,
            "payload": payload.encode(),
        }
        rows.put("command_log", **(defaults | row))

    return append


@pytest.fixture
def process(rows):
    def process(position, seq=0, events=(), **row):
        defaults = {
            "partition_id": 1,
            "position": position,
            "seq": seq,
            "events": encode_events(list(events)).decode(),
            "version": 1,
            "processed_at": "2026-11-18T11:06:41Z",
        }
        rows.put("event_log", **(defaults | row))

    return process


async def test_a_command_that_waits(append, reader):
    append(POSITION)
    assert (await reader("GET", f"/v2/commands/{POSITION}")).json == {
        "commandPosition": str(POSITION),
        "partitionId": 1,
        "intent": "JOB:COMPLETE",
        "change": None,
        "key": str(KEY),
        "tenantId": "<default>",
        "status": "PENDING",
        "appendedAt": NOW,
        "processedAt": None,
        "rejection": None,
        "response": None,
        "events": [],
    }


@pytest.mark.parametrize(
    ("payload", "change"), [('{"key":1,"change":"JOB:FAIL","payload":{}}', "JOB:FAIL"), ("", None)]
)
async def test_a_conditional_command_names_its_change(append, reader, payload, change):
    """Not after an erasure."""
    append(POSITION, payload, intent=ChangeIfMatch.intent)
    command = (await reader("GET", f"/v2/commands/{POSITION}")).json
    assert (command["intent"], command["change"]) == ("PROCESS_INSTANCE:CHANGE_IF_MATCH", change)


async def test_a_command_that_was_rejected(append, process, reader):
    append(POSITION, key=None)
    process(POSITION, rejection=json.dumps({"code": "NOT_FOUND", "reason": "no such job"}))
    command = (await reader("GET", f"/v2/commands/{POSITION}")).json
    assert (command["status"], command["processedAt"]) == ("REJECTED", "2026-11-18T11:06:41.000Z")
    assert (command["key"], command["rejection"]) == (None, {"code": "NOT_FOUND", "reason": "no such job"})


async def test_a_command_that_was_processed(append, process, reader):
    append(POSITION)
    process(
        POSITION,
        events=[
            ElementActivating(KEY + 2, KEY, "pay", "SERVICE_TASK", ("f1",)),
            VariableSet(KEY + 3, KEY, "x", '"2251799813685250"'),
            JobFailed(KEY + 4, 2, 1_795_000_000_123, "no"),
        ],
        response=json.dumps({"processInstanceKey": KEY, "version": 1}),
    )
    process(POSITION, seq=1, events=[WorkDeferred(KEY, ((KEY + 2, "leave", 0),))])
    command = (await reader("GET", f"/v2/commands/{POSITION}")).json
    assert (command["status"], command["response"]) == ("PROCESSED", {"processInstanceKey": str(KEY), "version": 1})
    first, second, third, fourth = command["events"]
    at = "2026-11-18T11:06:41.000Z"
    assert first.items() >= {"seq": 0, "type": "ElementActivating", "at": at, "subjectType": "SERVICE_TASK"}.items()
    assert first.items() >= {"key": str(KEY + 2), "scope": str(KEY), "element": "pay", "index": -1}.items()
    assert first["consumed"] == ["f1"]
    assert second == {
        "seq": 0,
        "type": "VariableSet",
        "at": at,
        "key": str(KEY + 3),
        "scope": str(KEY),
        "name": "x",
        "value": '"2251799813685250"',
    }
    assert (third["availableAt"], third["retries"]) == (NOW, 2)
    assert (fourth["seq"], fourth["root"], fourth["items"]) == (1, str(KEY), [[str(KEY + 2), "leave", 0]])


async def test_every_event_can_be_shown(append, process, reader):
    append(POSITION)
    process(
        POSITION,
        events=[
            DefinitionAdded(KEY, KEY, "<default>", "p", 1, None, None, "a.bpmn", "00"),
            IncidentRaised(KEY, KEY + 1, "activate", "UNKNOWN", "no", argument=[1, {"a": KEY}]),
        ],
    )
    events = (await reader("GET", f"/v2/commands/{POSITION}")).json["events"]
    assert events[0]["versionTag"] is None
    assert events[1]["argument"] == [1, {"a": str(KEY)}]


async def test_a_replay_that_does_not_wait_tells_the_first_time(append, reader, engine):
    append(1)
    headers = [(b"idempotency-key", b"k"), (b"prefer", b"respond-async")]
    first = await reader("POST", f"/v2/jobs/{KEY}/completion", headers=headers)
    again = await reader("POST", f"/v2/jobs/{KEY}/completion", headers=headers)
    assert (again.status, again.json) == (202, first.json) == (202, {"commandPosition": "1", "timestamp": NOW})


# ----------------------------------------------------------------------------------------------------- expressions


async def evaluate(reader, expression, **more):
    return await reader("POST", "/v2/expression/evaluation", {"expression": expression} | more)


async def test_an_expression_is_evaluated(rows, reader):
    answer = await evaluate(reader, "=a.b[1] + c", variables={"a": {"b": [1.5]}, "c": 2})
    assert answer.json == {
        "expression": "=a.b[1] + c",
        "result": 3.5,
        "warnings": [],
        "referencedSecrets": [],
    }
    assert (await evaluate(reader, "plain text")).json["result"] == "plain text"


async def test_problems_on_the_way_are_warnings(rows, reader):
    answer = (await evaluate(reader, "=missing + 1")).json
    assert answer["result"] is None
    assert "missing" in answer["warnings"][0]["message"]


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("=count(for i in 1..60000 return i)", 60_000),
        ('=string length(string join(for i in 1..999 return "0123456789", ""))', 9_990),
        ("=1" + "+1" * 9_000, 9_001),
    ],
)
@pytest.mark.harmless
async def test_an_expression_that_takes_long_is_evaluated_elsewhere(rows, reader, services, expression, result):
    assert (await evaluate(reader, expression)).json["result"] == result
    assert services.files.compute.stats.done == 1


async def test_large_variables_of_an_expression_are_decoded_elsewhere(rows, reader, services):
    assert (await evaluate(reader, "=count(a)", variables={"a": [1.5] * 6_000})).json["result"] == 6_000
    assert services.files.compute.stats.done == 1


@pytest.mark.parametrize("expression", ["=1 + 1", "=missing", "=1 +", "text", '=matches("aaa", "a+")'])
@pytest.mark.harmless
async def test_a_short_expression_needs_no_compute_process(rows, reader, services, expression):
    await evaluate(reader, expression)
    assert services.files.compute.stats.started == 0


async def test_an_expression_sees_a_scope(rows, reader):
    rows.instance()
    rows.element()
    rows.variable(name="x", value="1")
    rows.variable(KEY + 5, "x", "2", scope_key=KEY + 1)
    assert (await evaluate(reader, "=x", scopeKey=str(KEY))).json["result"] == 1
    assert (await evaluate(reader, "=x", scopeKey=str(KEY + 1))).json["result"] == 2
    assert (await evaluate(reader, "=x", scopeKey=str(KEY + 1), variables={"x": 3})).json["result"] == 3
    answer = await evaluate(reader, "=x", scopeKey="5")
    assert (answer.status, answer.problem["title"]) == (404, "NOT_FOUND")


async def test_an_expression_has_the_engines_time(rows, reader):
    rows.execute("UPDATE clock SET pinned_at = %s", [NOW])
    assert (await evaluate(reader, "=string(now())")).json["result"].startswith("2026-11-18T11:06:40.123")


@pytest.mark.parametrize(
    "expression",
    [
        "=1 +",
        "=",
        "=(",
        '="',
        "=" + "(" * 1000,
        "=for i in 1..100000 return for j in 1..100000 return 1",
        '=assert(1,2,"x")',
    ],
)
@pytest.mark.harmless
async def test_expressions_that_fail_are_400(rows, reader, expression):
    answer = await evaluate(reader, expression)
    if answer.status == 200:  # a lone = is a text; an assertion with wrong arguments is null and a warning
        assert answer.json["result"] in ("=", None)
    else:
        assert (answer.status, answer.problem["title"]) == (400, "INVALID_ARGUMENT")


@pytest.mark.long
async def test_very_many_events_are_put_together_elsewhere(append, process, reader, stored):
    append(POSITION)
    process(POSITION, events=[ElementActivating(KEY + n, KEY, "work", "TASK", ()) for n in range(1_000)])
    assert len((await reader("GET", f"/v2/commands/{POSITION}")).json["events"]) == 1_000
    assert stored.files.compute.stats.done == 1
