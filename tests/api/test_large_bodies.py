"""Large bodies and other heavy work of requests: compute processes do it, and others go on meanwhile."""

import json
import re
from decimal import Decimal

import pytest
import trio

from tests.api.changed_services import changed
from tests.api.conftest import Client
from vivero.api import app
from vivero.api.computing import split_bodies
from vivero.api.http.decoding import LARGE_BYTES, MAX_BYTES, MAX_VALUES
from vivero.api.settings import ApiSettings
from vivero.core.records.instances import InstanceReply
from vivero.engine.compute.problems import Busy, CannotWork, ProcessDied, TooCostly

KEY = 2251799813685249
LONG = "x" * LARGE_BYTES


@pytest.fixture
def settings(request):
    """A short wait, in which a compute process on a busy machine does not answer: some tests ask for a longer one."""
    return ApiSettings(response_timeout_s=getattr(request, "param", 0.05))


patient = pytest.mark.parametrize("settings", [60.0], indirect=True, ids=[""])


@pytest.fixture
def created(engine):
    engine.reply = InstanceReply(KEY + 1, KEY, "order", 3, "<default>", (), None)


async def create(client, variables, key=None):
    body = {"processDefinitionId": "order", "variables": variables}
    headers = [] if key is None else [(b"idempotency-key", key)]
    return await client("POST", "/v2/process-instances", body, headers)


@pytest.mark.usefixtures("created")
@pytest.mark.parametrize(("text", "elsewhere"), [("x", 0), (LONG, 1)])
@patient
async def test_large_bodies_are_decoded_elsewhere(client, engine, services, text, elsewhere):
    answer = await create(client, {"text": text, "fraction": 1.10, "list": [1, {"a": None}]})
    assert (answer.status, services.files.compute.stats.done) == (200, elsewhere)
    found = {name: bytes(value) for name, value in engine.command.variables.items()}
    assert found == {"text": json.dumps(text).encode(), "fraction": b"1.1", "list": b'[1,{"a":null}]'}
    assert engine.command.process_id == "order"


@pytest.mark.usefixtures("created")
@patient
async def test_what_is_wrong_in_a_large_body_is_said(client, engine, services):
    async def refused(body):
        answer = await client("POST", "/v2/process-instances", body)
        assert (answer.status, engine.appended) == (400, [])
        return answer.problem["detail"]

    assert "cannot be parsed" in await refused(b'{"variables": {"a": "' + LONG.encode())
    assert "[nothing] cannot be parsed" in await refused({"nothing": 1, "variables": {"a": LONG}})
    assert "[variables] cannot be parsed" in await refused({"variables": [LONG]})
    assert "NUL" in await refused({"variables": {"a": LONG + "\0"}})
    assert "nested deeper" in await refused(b'{"variables":{"a":' + b"[" * LARGE_BYTES + b"]" * LARGE_BYTES + b"}}")
    assert "must not have more than 10000" in await refused(
        {"variables": {f"{LONG[:20]}{i}": 1 for i in range(10_001)}}
    )
    assert services.files.compute.stats.done == 6


@pytest.mark.usefixtures("created")
@patient
async def test_idempotency_keys_of_large_bodies_are_those_of_small_ones(client, engine, services, monkeypatch):
    """Before, such a body was decoded and encoded in the event loop."""
    variables = {"b": LONG, "a": 1.50}
    assert (await create(client, variables, b"k")).status == 200
    assert services.files.compute.stats.done == 2
    for module in ("http.decoding", "computing.large_bodies"):
        monkeypatch.setattr(f"vivero.api.{module}.LARGE_BYTES", 10_000_000)
    assert (await create(client, variables, b"k")).status == 200
    assert (await create(client, variables | {"c": 1}, b"k")).status == 422
    assert (len(engine.appended), services.files.compute.stats.done) == (1, 2)


@pytest.mark.parametrize(
    "path", ["process-instances/search", "jobs/activation", "user-tasks/1/assignment", "process-instances/cancellation"]
)
async def test_bodies_without_variables_must_not_have_too_many_values(client, services, path):
    """The event loop decodes them: 4 MB of brackets took half a second."""
    answer = await client(
        "POST", f"/v2/{path}", b'{"filter":{"a":[' + b"[]," * MAX_VALUES + b"1" + b" " * LARGE_BYTES + b"]}}"
    )
    assert answer.status == 400
    assert f"more than {MAX_VALUES} values" in answer.problem["detail"]
    assert services.files.compute.stats.done == 0


async def test_bodies_without_variables_are_not_as_large_as_others(client):
    answer = await client("POST", "/v2/jobs/activation", {"type": "x" * MAX_BYTES})
    assert (answer.status, answer.problem["title"]) == (413, "Content Too Large")


async def test_long_texts_have_no_values(client):
    answer = await client("POST", "/v2/jobs/activation", {"type": "a,[{" * MAX_VALUES, "timeout": "never"})
    assert "more than" not in answer.problem["detail"]


class Refusing:
    """A pool that does nothing."""

    def __init__(self, error) -> None:
        self._error = error

    async def call(self, *_arguments, **_options):
        await trio.lowlevel.checkpoint()
        raise self._error


@pytest.mark.parametrize(
    ("error", "status", "title", "detail"),
    [
        (Busy("100 tasks wait for a compute process already"), 503, "RESOURCE_EXHAUSTED", "100 tasks wait"),
        (ProcessDied("a compute process ended with status -9"), 503, "UNAVAILABLE", "ended with status -9"),
        (CannotWork("no compute process can be started"), 503, "UNAVAILABLE", "can be started; try again later"),
        (TooCostly("more than 30 s of CPU time"), 400, "INVALID_ARGUMENT", "takes more than 30 s of CPU time"),
    ],
)
async def test_what_clients_are_told_when_it_is_not_done(services, engine, error, status, title, detail):
    client = Client(app.build(changed(services, compute=Refusing(error))))
    answer = await client("POST", "/v2/messages/publication", {"name": "m", "variables": {"a": LONG}})
    assert (answer.status, answer.problem["title"], engine.appended) == (status, title, [])
    assert detail in answer.problem["detail"]
    assert answer.headers.get(b"retry-after") == (b"1" if status == 503 else None)


async def test_small_work_needs_no_compute_process(services, engine):
    """It starts no process."""
    client = Client(app.build(changed(services, compute=Refusing(AssertionError()))))
    engine.reply = InstanceReply(KEY + 1, KEY, "order", 3, "<default>", (), None)
    assert (await create(client, {"a": "x" * 100_000}, key=b"k")).status == 200


@pytest.mark.usefixtures("created")
async def test_large_commands_take_turns_and_small_ones_do_not_wait(client, engine, services):
    budget = services.commands.large_commands.budget
    with budget.share() as other:
        await other.wait(budget.limit)
        refused = await create(client, {"a": LONG})
        assert (refused.status, refused.problem["title"]) == (503, "RESOURCE_EXHAUSTED")
        assert (refused.headers[b"retry-after"], engine.appended) == (b"1", [])
        assert (await create(client, {"a": "small"})).status == 200
    assert (await create(client, {"a": LONG})).status == 200
    assert budget.used == 0


SPELLINGS = [
    *("1.1", "1.10", "-0", "-0.0", "0.1", "1e3", "1E+3", "1.5e300", "1e-7", "123456789012345678901234567890", "1" * 25),
    *(
        "0.1234567890123456789",
        "100000000000000000000000.5",
        "9007199254740993",
        "9007199254740993.0",
        "0.30000000000000004",
    ),
    *(
        "1e400",
        "-1e400",
        "4.9e-324",
        "[1.1, 2]",
        '{"a":1.1,"a":2.2}',
        '"\\u00f6"',
        '"\\ud800"',
        "[1.1",
        "nul",
        "1.",
        ".5",
        "01.5",
    ),
]


@pytest.mark.parametrize("before", ["", "1.5," * 400])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_large_body_keeps_its_digits_whether_its_numbers_are_doubles_or_not(spelling, before, monkeypatch):
    """As decimals, which lose nothing, but for the time that they take."""
    body = f'{{"variables":{{"a":[{before}{spelling}]}},"b":1.25}}'.encode()
    as_doubles = decimals_of(split_bodies.split(body, ApiSettings()))
    monkeypatch.setattr(split_bodies, "_IS_SPELLED_OTHERWISE", re.compile(b""))
    assert as_doubles == decimals_of(split_bodies.split(body, ApiSettings()))


def decimals_of(split):
    """The parts with exact numbers, of which an exponent may be spelled in two ways."""
    variables = {name: json.loads(value, parse_float=Decimal) for name, value in (split.variables or {}).items()}
    return split.rest, variables, split.problem


def test_numbers_as_most_clients_send_them_are_not_decoded_as_decimals(monkeypatch):
    monkeypatch.setattr(split_bodies, "any_decoder", None)
    body = b'{"variables":{"a":[1.1,0.25,-3,123.456]},"processDefinitionId":"p"}'
    found = split_bodies.split(body, ApiSettings())
    assert found.variables == {"a": b"[1.1,0.25,-3,123.456]"}
    assert found.rest == b'{"variables":{},"processDefinitionId":"p"}'
