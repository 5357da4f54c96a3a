"""The way of a command through the API: appended, awaited, answered; and what goes wrong on it."""

import json
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
import trio

from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.api.one_caller import OneCaller
from tests.eventually import eventually
from vivero.api import app
from vivero.api.callers.caller import Caller
from vivero.api.callers.permissions import ALL_RIGHTS
from vivero.api.commands import submission
from vivero.api.http.request import Request
from vivero.api.http.response import json_response, position_header
from vivero.core.records.effects import Rejection, RejectionCode, Violation
from vivero.core.records.instances import (
    CancelInstance,
    CreateInstance,
    InstanceReply,
    ResolveIncident,
    SetVariables,
)
from vivero.core.records.jobs import CompleteJob, FailJob, ThrowJobError, UpdateJob
from vivero.core.records.migrations import MigrateInstance
from vivero.engine.outcomes.admission import Draining, InDoubt, Lost, Overloaded, Unavailable, ValueRejected
from vivero.storage.log import command_log

KEY = 2251799813685249
INSTANCE = InstanceReply(KEY + 1, KEY, "order", 3, "<default>", ("a",), None)


class Lending:
    """A pool whose connections nobody uses."""

    @asynccontextmanager
    async def connection(self):
        yield None


def plain(command):
    return {name: getattr(command, name) for name in command.__struct_fields__}


async def test_an_instance_is_created_by_id(client, engine):
    engine.reply = INSTANCE
    answer = await client(
        "POST", "/v2/process-instances", {"processDefinitionId": "order", "variables": {"x": 1.10, "s": "é"}}
    )
    assert (answer.status, answer.headers[b"command-position"]) == (200, b"1")
    assert answer.json == {
        "processDefinitionId": "order",
        "processDefinitionVersion": 3,
        "tenantId": "<default>",
        "variables": {},
        "processDefinitionKey": str(KEY),
        "processInstanceKey": str(KEY + 1),
        "tags": ["a"],
        "businessId": None,
        "commandPosition": "1",
    }
    command = engine.command
    assert isinstance(command, CreateInstance)
    assert {name: bytes(raw) for name, raw in command.variables.items()} == {"x": b"1.1", "s": '"é"'.encode()}
    assert (command.process_id, command.version, command.definition_key) == ("order", -1, None)


async def test_an_instance_is_created_by_version_tag(client, engine):
    engine.reply = INSTANCE
    asked = {"processDefinitionId": "order", "processDefinitionVersionTag": "stable"}
    assert (await client("POST", "/v2/process-instances", asked)).status == 200
    command = engine.command
    assert (command.process_id, command.version, command.version_tag) == ("order", -1, "stable")


async def test_fractions_keep_their_digits_and_blanks_go(client, engine):
    engine.reply = INSTANCE
    body = b'{"processDefinitionKey":"5","variables":{"a":  1.100000000000000000000001 ,"b": [1,  2.50]}}'
    await client("POST", "/v2/process-instances", body)
    values = {name: bytes(raw) for name, raw in engine.command.variables.items()}
    assert values == {"a": b"1.100000000000000000000001", "b": b"[1,2.50]"}


@pytest.mark.parametrize(
    ("method", "path", "body", "command"),
    [
        ("POST", f"/v2/process-instances/{KEY}/cancellation", None, CancelInstance(KEY)),
        ("POST", f"/v2/process-instances/{KEY}/cancellation", {"operationReference": 4}, CancelInstance(KEY)),
        (
            "POST",
            f"/v2/process-instances/{KEY}/migration",
            {
                "targetProcessDefinitionKey": "7",
                "mappingInstructions": [{"sourceElementId": "a", "targetElementId": "b"}],
                "operationReference": 4,
            },
            MigrateInstance(KEY, 7, (("a", "b"),)),
        ),
        ("POST", f"/v2/jobs/{KEY}/completion", None, CompleteJob(KEY)),
        ("POST", f"/v2/jobs/{KEY}/completion", {"variables": None, "result": None}, CompleteJob(KEY)),
        ("POST", f"/v2/jobs/{KEY}/completion", {"jobLeaseToken": "t"}, CompleteJob(KEY, lease="t")),
        ("POST", f"/v2/jobs/{KEY}/failure", None, FailJob(KEY)),
        (
            "POST",
            f"/v2/jobs/{KEY}/failure",
            {"retries": 2, "retryBackOff": "500", "errorMessage": "no"},
            FailJob(KEY, 2, 500, "no"),
        ),
        ("POST", f"/v2/jobs/{KEY}/error", {"errorCode": "E", "errorMessage": "m"}, ThrowJobError(KEY, "E", "m")),
        ("PATCH", f"/v2/jobs/{KEY}", {"changeset": {"retries": 3, "priority": -1}}, UpdateJob(KEY, 3, -1)),
        ("POST", f"/v2/incidents/{KEY}/resolution", {}, ResolveIncident(KEY)),
        (
            "PUT",
            f"/v2/element-instances/{KEY}/variables",
            {"variables": {}, "local": True},
            SetVariables(KEY, {}, True),
        ),
    ],
)
async def test_commands_without_an_answer(client, engine, method, path, body, command):
    answer = await client(method, path, b"" if body is None else body)
    assert (answer.status, answer.body, answer.headers) == (204, b"", {b"command-position": b"1"})
    assert type(engine.command) is type(command)
    assert plain(engine.command) == plain(command)
    assert engine.appended[0].key == KEY


@pytest.mark.parametrize(
    ("code", "status", "title"),
    [
        (RejectionCode.NOT_FOUND, 404, "NOT_FOUND"),
        (RejectionCode.INVALID_STATE, 409, "INVALID_STATE"),
        (RejectionCode.ALREADY_EXISTS, 409, "ALREADY_EXISTS"),
        (RejectionCode.INVALID_ARGUMENT, 400, "INVALID_ARGUMENT"),
        (RejectionCode.PROCESSING_ERROR, 500, "INTERNAL"),
        (RejectionCode.RESOURCE_EXHAUSTED, 503, "RESOURCE_EXHAUSTED"),
    ],
)
async def test_a_rejection_is_a_problem(client, engine, code, status, title):
    engine.rejection = Rejection(code, f"Expected to complete job with key '{KEY}', but no such job was found")
    answer = await client("POST", f"/v2/jobs/{KEY}/completion")
    assert (answer.status, answer.headers[b"command-position"]) == (status, b"1")
    assert answer.headers.get(b"retry-after") == (b"1" if status == 503 else None)
    assert answer.problem == {
        "type": "about:blank",
        "title": title,
        "status": status,
        "detail": f"Command 'COMPLETE' rejected with code '{code}': Expected to complete job with key '{KEY}',"
        " but no such job was found",
        "instance": f"/v2/jobs/{KEY}/completion",
        "commandPosition": "1",
    }


async def test_a_rejection_may_have_several_reasons(client, engine):
    engine.rejection = Rejection(RejectionCode.INVALID_STATE, "one", (Violation("one", "a"), Violation("two")))
    body = {
        "targetProcessDefinitionKey": "7",
        "mappingInstructions": [{"sourceElementId": "a", "targetElementId": "b"}],
    }
    answer = await client("POST", f"/v2/process-instances/{KEY}/migration", body)
    assert answer.problem["detail"] == "Command 'MIGRATE' rejected with code 'INVALID_STATE': one"
    assert answer.problem["problems"] == [{"elementId": "a", "message": "one"}, {"elementId": None, "message": "two"}]


@pytest.mark.parametrize(
    ("error", "status", "title"),
    [
        (Overloaded("full"), 503, "RESOURCE_EXHAUSTED"),
        (Unavailable("away"), 503, "UNAVAILABLE"),
        (Draining("stopping"), 503, "UNAVAILABLE"),
        (Lost("a crash"), 503, "UNAVAILABLE"),
        (ValueRejected("no"), 400, "INVALID_ARGUMENT"),
        (InDoubt("?"), 504, "DEADLINE_EXCEEDED"),
    ],
)
async def test_a_command_that_was_not_taken(client, engine, error, status, title):
    engine.error = error
    answer = await client("POST", f"/v2/jobs/{KEY}/completion")
    assert (answer.status, answer.problem["title"]) == (status, title)
    assert answer.headers.get(b"retry-after") == (b"1" if status == 503 else None)


@pytest.mark.parametrize(("patience_s", "flush"), [(1.0, True), (15.0, False)])
async def test_a_command_whose_outcome_alone_is_told_needs_no_flush_of_its_own(
    make_client, settings, engine, patience_s, flush
):
    """Unless the answer may come, without the outcome, before PostgreSQL flushes by itself."""
    client = make_client(settings=replace(settings, response_timeout_s=patience_s))
    assert (await client("POST", f"/v2/jobs/{KEY}/completion")).status == 204
    assert engine.appended[0].flush is flush


async def test_what_a_crash_took_can_be_asked_for_again(client, engine):
    """It is certain that nothing came of it, so it is no 504."""
    engine.lost = True
    answer = await client("POST", f"/v2/jobs/{KEY}/completion")
    assert (answer.status, answer.problem["title"]) == (503, "UNAVAILABLE")


async def test_a_late_outcome_is_504_with_the_position(client, engine):
    engine.silent = True
    answer = await client("POST", f"/v2/jobs/{KEY}/completion")
    assert (answer.status, answer.problem["title"]) == (504, "DEADLINE_EXCEEDED")
    assert answer.headers[b"command-position"] == b"1"


@pytest.mark.parametrize(("append_s", "position"), [(1.0, b"1"), (14.0, None)])
async def test_a_position_is_not_told_before_it_is_flushed(
    make_client, settings, engine, autojump_clock, append_s, position
):
    """When the command was sent there was time enough; then the append took nearly all of it."""
    engine.append_s, engine.silent = append_s, True
    client = make_client(settings=replace(settings, response_timeout_s=15.0))
    answer = await client("POST", f"/v2/jobs/{KEY}/completion")
    assert not engine.appended[0].flush
    assert (answer.status, answer.problem["title"]) == (504, "DEADLINE_EXCEEDED")
    assert answer.headers.get(b"command-position") == position


@pytest.mark.parametrize(("headers", "position"), [([], None), ([(b"idempotency-key", b"k")], b"1")])
async def test_no_room_to_wait_is_504_with_the_position_if_it_is_flushed(
    make_client, settings, engine, monkeypatch, headers, position
):
    def full(_partition, _position, _send, _number=0, appended=None):
        raise Overloaded("too many are waiting")

    monkeypatch.setattr(engine, "register", full)
    client = make_client(settings=replace(settings, response_timeout_s=15.0))
    answer = await client("POST", f"/v2/jobs/{KEY}/completion", headers=headers)
    assert (answer.status, answer.problem["title"]) == (504, "DEADLINE_EXCEEDED")
    assert answer.headers.get(b"command-position") == position


@pytest.mark.parametrize(
    ("target", "headers"),
    [
        (f"/v2/jobs/{KEY}/completion", [(b"prefer", b"respond-async")]),
        (f"/v2/jobs/{KEY}/completion", [(b"prefer", b"handling=strict, Respond-Async; x=1")]),
        (f"/v2/jobs/{KEY}/completion?wait=false", []),
    ],
)
async def test_who_does_not_want_to_wait(make_client, settings, engine, target, headers):
    client = make_client(settings=replace(settings, response_timeout_s=15.0))
    engine.silent = True
    answer = await client("POST", target, headers=headers)
    assert (answer.status, answer.headers[b"command-position"]) == (202, b"1")
    assert engine.appended[0].flush
    assert answer.json == {"commandPosition": "1", "timestamp": "2026-11-18T11:06:40.123Z"}


async def test_an_idempotency_key_gives_the_same_answer_again(client, engine):
    engine.reply = INSTANCE
    key = (b"idempotency-key", b"k1")
    first = await client(
        "POST", "/v2/process-instances", b'{"processDefinitionId":"a","variables":{"x":1,"y":2}}', [key]
    )
    again = await client(
        "POST", "/v2/process-instances", b'{ "variables" : {"y": 2, "x": 1}, "processDefinitionId": "a"}', [key]
    )
    assert (again.status, again.body, again.headers) == (first.status, first.body, first.headers)
    assert len(engine.appended) == 1


@pytest.mark.parametrize(
    ("target", "body"),
    [
        ("/v2/process-instances", {"processDefinitionId": "b"}),
        ("/v2/process-instances?dryRun=false", {"processDefinitionId": "a"}),
        (f"/v2/process-instances/{KEY}/cancellation", {}),
    ],
)
async def test_an_idempotency_key_of_another_request_is_422(client, engine, target, body):
    engine.reply = INSTANCE
    key = (b"idempotency-key", b"k1")
    await client("POST", "/v2/process-instances", {"processDefinitionId": "a"}, [key])
    answer = await client("POST", target, body, [key])
    assert (answer.status, answer.problem["status"]) == (422, 422)
    assert len(engine.appended) == 1


@pytest.mark.parametrize(
    ("target", "more", "status"),
    [
        ("?wait=false", {}, 202),
        ("?wait=true&timeout=20ms", {}, 504),
        ("", {"awaitCompletion": True, "requestTimeout": 20, "fetchVariables": ["x"]}, 504),
        ("?%77ait=false&timeout=5s", {"awaitCompletion": False}, 202),
    ],
)
async def test_a_request_may_be_repeated_with_another_wait(client, engine, monkeypatch, target, more, status):
    """It is the same command, however the client waits for it."""

    async def running(*_):
        return None

    async def accepted(_services, appended):
        return json_response({}, position_header(appended.position), status=202)

    monkeypatch.setattr("vivero.api.routes.process_instances.read_of", running)
    monkeypatch.setattr("vivero.api.commands.submission.accepted", accepted)  # it reads the time from the log
    engine.reply = INSTANCE
    key = [(b"idempotency-key", b"k1")]
    body = {"processDefinitionId": "a", "variables": {"x": 1}}
    first = await client("POST", "/v2/process-instances", body, key)
    again = await client("POST", f"/v2/process-instances{target}", body | more, key)
    assert (first.status, again.status) == (200, status)
    assert first.headers[b"command-position"] == again.headers[b"command-position"] == b"1"
    assert len(engine.appended) == 1


async def test_an_idempotency_key_belongs_to_its_caller(services, engine):
    """The same key of another caller is another key, whatever the contents: nobody learns of it."""
    engine.reply = INSTANCE
    key = (b"idempotency-key", b"k1")
    callers = [("USER", "ann"), ("USER", "bob"), ("TOKEN", "ann"), ("CLIENT", "ann"), ("USER", "ann")]
    for kind, id in callers:
        client = Client(app.build(changed(services, access=OneCaller(Caller(kind, id, ALL_RIGHTS)))))
        answer = await client("POST", "/v2/process-instances", {"processDefinitionId": "a"}, [key])
        assert answer.status == 200
    assert len(engine.appended) == 4
    keys = [item.idempotency[0] for item in engine.appended]
    assert len(set(keys)) == 4
    assert all(each.endswith(" k1") for each in keys)


@pytest.mark.parametrize("body", [b"{", b'{"x":"\\ud800"}', b'{"x":"\xff"}', b"[" * 1000, b'{"unknown":1}'])
async def test_a_body_where_none_belongs_is_read_all_the_same(client, engine, body):
    answer = await client("POST", f"/v2/timers/{KEY}/trigger", body, [(b"idempotency-key", b"k1")])
    assert (answer.status, answer.problem["title"]) == (400, "Bad Request")
    assert engine.appended == []


async def test_what_comes_with_a_deletion_is_not_looked_at(client, engine):
    answer = await client("DELETE", f"/v2/user-tasks/{KEY}/assignee", b"{", [(b"idempotency-key", b"k1")])
    assert (answer.status, len(engine.appended)) == (204, 1)


@pytest.mark.parametrize("key", [b"", b"x" * 256, b"a b", "é".encode(), b"a\tb"])
async def test_an_idempotency_key_must_be_short_and_visible(client, key):
    answer = await client("POST", f"/v2/jobs/{KEY}/completion", headers=[(b"idempotency-key", key)])
    assert (answer.status, answer.problem["title"]) == (400, "Bad Request")


@pytest.mark.parametrize(
    ("code", "status"), [(RejectionCode.PROCESSING_ERROR, 500), (RejectionCode.RESOURCE_EXHAUSTED, 503)]
)
async def test_a_rejection_that_is_not_the_fault_of_the_client_is_not_replayed(client, engine, code, status):
    key = [(b"idempotency-key", b"k1")]
    engine.rejection = Rejection(code, "bug")
    assert (await client("POST", f"/v2/jobs/{KEY}/completion", headers=key)).status == status
    engine.rejection = None
    engine_register = engine.register
    failed = Rejection(code, "bug")

    def register(partition, position, *rest):
        engine.rejection = failed if position == 1 else None
        return engine_register(partition, position, *rest)

    engine.register = register
    for _ in range(2):
        answer = await client("POST", f"/v2/jobs/{KEY}/completion", headers=key)
        assert (answer.status, answer.headers[b"command-position"]) == (204, b"2")
    assert [item.idempotency[0] for item in engine.appended] == ["k1", "k1 1"]


async def test_a_key_finds_its_effect_however_often_it_was_refused(make_client, engine, monkeypatch):
    """Without a walk over all refusals. Beyond a thousand, the last one is the answer."""
    monkeypatch.setattr(submission, "MAX_REPETITIONS", 50)

    async def known_keys(_connection, _tenant, keys):
        return sum(key in engine.keys for key in keys)

    monkeypatch.setattr(command_log, "known_keys", known_keys)
    key, engine_register, room_at = [(b"idempotency-key", b"k1")], engine.register, 31

    def register(partition, position, *rest):
        full = position < room_at
        engine.rejection = Rejection(RejectionCode.RESOURCE_EXHAUSTED, "full") if full else None
        return engine_register(partition, position, *rest)

    engine.register = register
    client = make_client(pool=Lending())
    statuses, calls, begin_append = [], [], engine.begin_append

    def counted(*arguments):
        calls[-1] += 1
        return begin_append(*arguments)

    engine.begin_append = counted
    while 204 not in statuses:
        calls.append(0)
        statuses.append((await client("POST", f"/v2/jobs/{KEY}/completion", headers=key)).status)
    assert statuses == [503] * (room_at - 1) + [204]
    assert max(calls) <= submission.NAMED_BY_POSITION + 3
    assert len({item.idempotency[0] for item in engine.appended}) == len(engine.appended) == room_at
    again = await client("POST", f"/v2/jobs/{KEY}/completion", headers=key)
    assert (again.status, again.headers[b"command-position"], len(engine.appended)) == (204, b"31", room_at)
    room_at = 1_000
    other = [(b"idempotency-key", b"k2")]
    for _ in range(submission.MAX_REPETITIONS + 5):
        assert (await client("POST", f"/v2/jobs/{KEY}/completion", headers=other)).status == 503
    assert len(engine.appended) == 31 + submission.MAX_REPETITIONS + 1


async def test_the_body_may_come_in_pieces(client, engine):
    engine.reply = INSTANCE
    whole = json.dumps({"processDefinitionId": "a"}).encode()
    answer = await client("POST", "/v2/process-instances", chunks=[whole[:5], b"", whole[5:]])
    assert answer.status == 200


async def test_a_client_that_leaves_in_the_middle_of_its_body_is_not_answered(client, engine):
    client.gone.set()

    async def receive():
        messages.append(1)
        if len(messages) == 1:
            return {"type": "http.request", "body": b"{", "more_body": True}
        return {"type": "http.disconnect"}

    async def send(message):
        raise AssertionError(message)

    messages = []
    scope = {"type": "http", "method": "POST", "path": "/v2/process-instances", "query_string": b"", "headers": []}
    await client.app(scope, receive, send)
    assert not engine.appended


async def test_a_client_that_leaves_is_not_answered(client, engine, nursery, monkeypatch, services):
    monkeypatch.setattr("vivero.api.commands.submission.UNWATCHED_S", 0)
    client.app = app.build(changed(services, settings=replace(services.settings, response_timeout_s=3600)))
    engine.silent = True
    answers = []

    async def complete():
        answers.append(await client("POST", f"/v2/jobs/{KEY}/completion"))

    nursery.start_soon(complete)
    await trio.testing.wait_all_tasks_blocked(0.05)
    assert answers == []
    client.gone.set()
    await eventually(lambda: answers)
    assert answers == [None]
    assert len(engine.appended) == 1


@pytest.mark.parametrize("failing", [True, False])
async def test_what_is_waited_for_comes_through_as_it_is(failing):
    async def receive():
        await trio.sleep_forever()

    async def wait():
        if failing:
            raise Lost("a crash took it")
        return 7

    request = Request("GET", "/", [], receive=receive)
    if failing:
        with pytest.raises(Lost):
            await request.unless_left(wait)
    else:
        assert await request.unless_left(wait) == 7


async def test_a_body_is_let_go_and_the_server_told():
    sent = []

    async def send(message):
        sent.append(message)

    request = Request("POST", "/", [], b"x" * 100, send=send)
    await request.release_body()
    assert (request.body, sent) == (b"", [{"type": "http.request.release"}])
