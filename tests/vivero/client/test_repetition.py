"""Requests that fail are sent again, or not: as a plan, and as requests with one key."""

import math

import httpx
import pytest
import trio

from vivero.client import (
    ApiError,
    AsyncViveroClient,
    Conflict,
    NotDecided,
    NotFound,
    OutcomeUnknown,
    Overloaded,
    StillRunning,
    Unavailable,
    Unreachable,
)
from vivero.client.typed.repetition import Polling, Repetition

BUSY = Overloaded(503, "UNAVAILABLE", "", None, {})
LATER = Overloaded(503, "UNAVAILABLE", "", None, {}, retry_after_s=7.0)
LOST, AWAY = Unreachable("lost", in_doubt=True), Unreachable("away")
UNKNOWN = OutcomeUnknown(504, "DEADLINE_EXCEEDED", "", None, {})


@pytest.mark.parametrize(
    ("error", "repeatable", "not_repeatable"),
    [
        (BUSY, True, False),
        (LOST, True, False),
        (AWAY, True, True),
        (UNKNOWN, True, False),
        (ApiError(500, "INTERNAL", "", None, {}), False, False),
        (Conflict(409, "INVALID_STATE", "", None, {}), False, False),
    ],
)
def test_what_may_be_sent_again(error, repeatable, not_repeatable):
    for is_repeatable, expected in ((True, repeatable), (False, not_repeatable)):
        assert (Repetition(is_repeatable, 100.0).pause_after(error, 0.0) is not None) is expected


def test_pauses_grow_as_the_server_asks_up_to_the_end():
    repetition = Repetition(True, 100.0)
    assert [repetition.pause_after(BUSY, 0.0) for _ in range(7)] == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0]
    assert repetition.pause_after(LATER, 0.0) == 7.0
    assert repetition.pause_after(LATER, 93.1) is None
    assert Repetition(True, 0.0).pause_after(LATER, 0.0) is None


def test_polling_ends_at_its_time():
    polling, now, looks = Polling(2.0), 0.0, 0
    while (pause_s := polling.pause_after(now)) is not None:
        now += pause_s
        looks += 1
    assert now == pytest.approx(2.0)
    assert looks < 12
    assert Polling(None, pause_s=5.0).pause_after(math.inf) == 5.0


@pytest.fixture
def client_of():
    """A client whose server answers with these responses or exceptions, one after the other; and what it got."""

    def make(*answers, **options):
        got, left = [], list(answers)

        def handle(request):
            got.append(request)
            answer = left.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return AsyncViveroClient("http://server", transport=httpx.MockTransport(handle), **options), got

    return make


def created():
    return httpx.Response(
        200,
        json={
            "processInstanceKey": "7",
            "processDefinitionId": "order",
            "processDefinitionVersion": 1,
            "processDefinitionKey": "6",
            "tenantId": "<default>",
            "variables": {"a": 1},
        },
    )


def problem(status, headers=None, **members):
    return httpx.Response(status, json={"title": "T", "status": status, "detail": "D", **members}, headers=headers)


async def test_all_tries_of_a_command_have_one_key(client_of, autojump_clock):
    answers = (problem(503, {"retry-after": "9"}), httpx.ReadError("cut"), httpx.ConnectError("away"), problem(504))
    client, got = client_of(*answers, created(), created())
    started = trio.current_time()
    async with client:
        assert (await client.start("order", x=1)).key == "7"
        assert trio.current_time() - started >= 9
        await client.start("order", x=1)
    *tries, other = [request.headers["idempotency-key"] for request in got]
    assert len(tries) == 5
    assert len(set(tries)) == 1
    assert other not in tries
    assert {request.content for request in got[:5]} == {got[0].content}
    assert all(request.headers["prefer"] == "wait=30" for request in got)


async def test_an_unknown_path_is_not_repeated_after_a_lost_answer(client_of, autojump_clock):
    client, got = client_of(httpx.ReadError("cut"), httpx.ReadError("cut"), httpx.Response(204))
    async with client:
        with pytest.raises(Unreachable, match="did not answer") as lost:
            await client.request("POST", "/v2/clock/reset")
        assert lost.value.in_doubt
        assert len(got) == 1
        assert await client.request("GET", "/v2/status") is None
    assert "idempotency-key" not in got[0].headers


async def test_a_comment_is_not_repeated_after_a_lost_answer(client_of):
    """The server knows no keys of comments: there would be two."""
    client, got = client_of(httpx.ReadError("cut"), httpx.Response(201, json={}))
    async with client:
        with pytest.raises(Unreachable) as lost:
            await client.comment("4", "paid?")
    assert (lost.value.in_doubt, len(got)) == (True, 1)


async def test_it_gives_up_after_its_time(client_of, autojump_clock):
    client, got = client_of(*(problem(503) for _ in range(50)), retry_s=3)
    started = trio.current_time()
    async with client:
        with pytest.raises(Overloaded):
            await client.start("order")
    assert trio.current_time() - started <= 3
    assert len(got) > 3


@pytest.mark.parametrize(
    ("first", "later", "in_doubt"),
    [
        (httpx.ReadError("cut"), httpx.ConnectError("away"), True),
        (problem(504), httpx.ConnectError("away"), True),
        (httpx.ReadError("cut"), problem(503), True),
        (problem(502), problem(503), True),
        (problem(503), httpx.ConnectError("away"), False),
        (httpx.ConnectError("away"), problem(429), False),
    ],
)
async def test_a_try_that_may_have_arrived_leaves_the_request_in_doubt(
    client_of, autojump_clock, first, later, in_doubt
):
    client, _ = client_of(first, *[later] * 50, retry_s=3)
    async with client:
        with pytest.raises(Unavailable) as error:
            await client.start("order")
    assert error.value.in_doubt is in_doubt


async def test_an_awaited_end_is_asked_for_again_with_the_time_that_is_left(client_of, autojump_clock):
    """A server that stops answers such a request early, and names the instance."""
    client, got = client_of(problem(504, processInstanceKey="7"), created())
    async with client:
        assert await client.run("order", timeout_s=60) == {"a": 1}
    assert len({request.headers["idempotency-key"] for request in got}) == 1
    assert b'"awaitCompletion":true' in got[1].content
    assert got[0].content != got[1].content  # less time is left


async def test_a_server_has_time_to_name_the_instance(client_of, autojump_clock):
    """Its first answer came before the outcome of the creation: the caller must learn the key."""
    client, got = client_of(problem(504), problem(504, processInstanceKey="7"))
    async with client:
        with pytest.raises(StillRunning, match="process instance 7"):
            await client.run("order", timeout_s=0.05)
    waits = [httpx.Response(200, content=request.content).json()["requestTimeout"] for request in got]
    assert waits == [50, 1000]


async def test_an_instance_that_does_not_end_in_time(client_of, autojump_clock):
    client, _ = client_of(*(problem(504, processInstanceKey="7") for _ in range(60)))
    async with client:
        with pytest.raises(StillRunning, match="process instance 7 has not ended within 20 s") as late:
            await client.run("order", timeout_s=20)
    assert late.value.key == "7"
    assert isinstance(late.value, TimeoutError)


async def test_no_request_is_repeated_for_longer_than_its_key_lives(client_of):
    client, got = client_of()
    async with client:
        with pytest.raises(ValueError, match="timeout_s must be from 0 to 43200 seconds, not 86400"):
            await client.run("order", timeout_s=86400)
    with pytest.raises(ValueError, match="retry_s must be from 0 to 43200 seconds, not inf"):
        client_of(retry_s=math.inf)
    assert got == []


async def test_a_problem_has_all_its_members(client_of):
    client, _ = client_of(problem(404, instance="/v2/user-tasks/9"))
    async with client:
        with pytest.raises(NotFound, match=r"D \(404 T\)") as found:
            await client.complete(9)
    assert (found.value.status, found.value.detail) == (404, "D")
    assert found.value.members["instance"] == "/v2/user-tasks/9"


async def test_a_decision_that_failed(client_of):
    failed = {"decisionDefinitionId": "price", "failedDecisionDefinitionId": "discount", "failureMessage": "too deep"}
    answer = {"decisionDefinitionId": "price", "output": '{"net": 1.5}'}
    client, _ = client_of(httpx.Response(200, json=failed), httpx.Response(200, json=answer))
    async with client:
        with pytest.raises(NotDecided, match="decision discount: too deep") as error:
            await client.decide("price")
        assert error.value.decision_id == "discount"
        assert await client.decide("price") == {"net": 1.5}
