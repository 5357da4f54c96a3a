"""GET /v2/process-instances/{key}/agent-calls: calls of models in their order, page by page, and sums by element."""

import pytest

from tests.api.rows import KEY

PATH = f"/v2/process-instances/{KEY}/agent-calls"
TOKENS = {"input_tokens": 10, "output_tokens": 5, "cached_tokens": 1}


@pytest.fixture
def calls(rows):
    rows.instance(KEY)
    for number in range(5):
        done = number != 3
        rows.put(
            "agent_calls",
            job_key=KEY + 1,
            call_id=f"c{4 - number}",
            process_instance_key=KEY,
            element_instance_key=KEY + 2,
            process_id="p",
            element_id="agent" if number else "classify",
            tenant_id="<default>",
            ended_at=f"2026-01-01T00:00:0{number}Z",
            turn=number + 1,
            cause="PROMPT",
            duration_ms=1500,
            provider="openai",
            model="m",
            outcome="ANSWERED" if done else "FAILED_MODEL_CALL",
            request_digest="q",
            answer_digest="a",
            cost=1_500_000 if done else None,
            currency="EUR",
            tools_offered=["Load"],
            tools_called=["Load"],
            **TOKENS if done else {},
        )


async def read(reader, path=PATH):
    answer = await reader("GET", path)
    assert answer.status == 200, answer.json
    return answer.json


async def test_calls_come_in_their_order_and_pages_lead_through_all_of_them(calls, reader):
    page = await read(reader, f"{PATH}?limit=2")
    assert page["items"][0] == {
        "agentCallId": "c4",
        "jobKey": str(KEY + 1),
        "elementId": "classify",
        "elementInstanceKey": str(KEY + 2),
        "endDate": "2026-01-01T00:00:00.000Z",
        "turn": 1,
        "cause": "PROMPT",
        "durationMs": 1500,
        "provider": "openai",
        "model": "m",
        "outcome": "ANSWERED",
        "requestDigest": "q",
        "answerDigest": "a",
        "inputTokens": 10,
        "outputTokens": 5,
        "cachedTokens": 1,
        "cost": 1.5,
        "currency": "EUR",
        "toolsOffered": ["Load"],
        "toolsCalled": ["Load"],
    }
    second = await read(reader, f"{PATH}?limit=2&after={page['next']}")
    third = await read(reader, f"{PATH}?limit=2&after={second['next']}")
    assert [[one["turn"] for one in each["items"]] for each in (page, second, third)] == [[1, 2], [3, 4], [5]]
    assert (second["items"][1]["cost"], third["next"]) == (None, None)


async def test_elements_have_their_sums(calls, reader):
    tokens = {"inputTokens": 30, "outputTokens": 15, "cachedTokens": 3}
    found = (await read(reader))["elements"]
    assert found[0] == {"elementId": "agent", "calls": 4, "failed": 1, **tokens, "cost": 4.5, "currency": "EUR"}
    assert (found[1]["elementId"], found[1]["calls"], found[1]["cost"]) == ("classify", 1, 1.5)


async def test_an_unknown_instance_and_a_bad_limit_are_refused(rows, reader):
    assert (await reader("GET", PATH)).status == 404
    assert (await reader("GET", f"{PATH}?limit=0")).status == 400
