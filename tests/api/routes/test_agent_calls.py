"""Calls of models of an instance, page by page, and the sums by element; those of a process by model, too."""

import pytest

from tests.api.rows import KEY

PATH = f"/v2/process-instances/{KEY}/agent-calls"
VERSIONS: tuple[dict[str, object], ...] = ({}, {"version": 2}, {"tenant_id": "other"})
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


async def test_one_element_has_its_calls(calls, reader):
    page = await read(reader, f"{PATH}?elementId=agent&limit=3")
    assert [one["turn"] for one in page["items"]] == [2, 3, 4]
    last = await read(reader, f"{PATH}?elementId=agent&limit=3&after={page['next']}")
    assert ([one["turn"] for one in last["items"]], len(last["elements"])) == ([5], 2)


async def test_a_process_has_its_sums_by_element_and_model(calls, rows, reader):
    """In the given time, of all versions, and neither of another process nor of another tenant."""
    for key, more in enumerate(VERSIONS):
        rows.definition(KEY + key, process_id="p", **more)
    path = f"/v2/process-definitions/{KEY + 1}/statistics/agent-calls?days=1&startTime="
    found = (await read(reader, f"{path}2025-12-31T00:00:04Z"))["items"]
    tokens = {"inputTokens": 20, "outputTokens": 10, "cachedTokens": 2}
    assert found[0] == {
        "elementId": "agent",
        "model": "m",
        "processInstances": 1,
        "calls": 3,
        "failed": 1,
        **tokens,
        "cost": 3,
        "currency": "EUR",
    }
    assert [(one["elementId"], one["calls"]) for one in found[1:]] == [("classify", 1)]
    assert await read(reader, f"{path}2026-01-02T00:00:00Z") == {"items": []}
    of_other = path.replace(str(KEY + 1), str(KEY + 2))
    assert await read(reader, f"{of_other}2026-01-01T00:00:00Z") == {"items": []}
    assert (await reader("GET", path.partition("?")[0])).status == 400


async def test_an_unknown_instance_and_a_bad_limit_are_refused(rows, reader):
    assert (await reader("GET", PATH)).status == 404
    assert (await reader("GET", f"{PATH}?limit=0")).status == 400
