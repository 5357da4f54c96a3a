"""Situation 32: agents that run again from their context make the same requests, and come to the same end."""

import pytest

from tests.core.agents.agent_words import JOB, asks, calls, inputs, result, said, take
from vivero.core.agents.loop import Activate, AgentJob, Ask, Respond, WaitForResults, begin
from vivero.core.agents.memory.context import AssistantMessage, written
from vivero.core.agents.reruns.turns import (
    MissingResult,
    RecordedResults,
    again,
    answer_of,
    difference,
    instructed,
    turns_of,
)

BONN, ROME = ("a", "Weather", {"city": "Bonn"}), ("b", "Weather", {"city": "Rome"})
EVENT = {"id": None, "content": "stop that"}
NO_CITY = ("x", "Weather", {})
PLANS = {
    "1: one tool": ([calls(BONN), said()], [[result("a", {"sun": True})]]),
    "2, 3: two tools": ([calls(BONN, ROME), said()], [[result("b", 2)], [result("b", 2), result("a", None)]]),
    "4: the same tool twice": (
        [calls(BONN, ("b", *BONN[1:])), said()],
        [[result("a", "1"), result("b", "x" * 70_000)]],
    ),
    "6: refused calls": ([calls(NO_CITY), calls(BONN, NO_CITY), said()], [[result("a", 1)]]),
    "11: events": ([calls(BONN), calls(ROME), said()], [[result("a", 1), EVENT], [result("b", False), EVENT, EVENT]]),
}


def played(answers, results, context=None, job=JOB, **data):
    """The requests of a run in their order, and its end."""
    requests, step = [], begin(inputs(context, None, **data), job)
    left, given = list(answers), list(results)
    while not isinstance(step, Respond):
        if isinstance(step, Ask):
            requests.append(step.request)
            step = take(step, left.pop(0))
        else:
            context = written(step.context) if isinstance(step, Activate) else context
            refused = step.refused if isinstance(step, Activate) else []
            step = begin(inputs(context, [*refused, *given.pop(0)], **data), job)
            if isinstance(step, WaitForResults):
                continue
    return requests, step


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("size", [20, 2])
def test_the_same_requests_and_the_same_end(plan, size):
    data = {"memory__contextWindowSize": size}
    requests, end = played(*PLANS[plan], **data)
    turns = turns_of(inputs(written(end.context), **data))
    assert [turn.number for turn in turns] == list(range(1, len(requests) + 1))
    assert [turn.ask.request for turn in turns] == requests
    last = take(turns[-1].ask, answer_of(turns[-1].answer))
    assert (last.message, last.context.conversation) == (end.message, end.context.conversation)


def test_a_conversation_that_went_on():
    """Situation 14: the turns of both runs."""
    first, one = played([calls(BONN), said("Yes.")], [[result("a", 1)]])
    second, end = played([said("No.")], [], written(one.context), AgentJob("8", "1", "2", "9"), prompt="And now?")
    turns = turns_of(inputs(written(end.context), prompt="And now?"))
    assert [turn.ask.request for turn in turns] == first + second
    assert [turn.number for turn in turns] == [1, 2, 3]


def test_another_prompt_differs_in_its_lines_alone():
    _, end = played(*PLANS["1: one tool"])
    turn = turns_of(inputs(written(end.context)))[1]
    now = instructed(turn, "Be kind.")
    changed = [line.strip() for line in difference(turn.ask.request, now.ask.request) if line[:2] in ("- ", "+ ")]
    assert [line[0] for line in changed] == ["-", "+"]
    assert "Be brief." in changed[0]
    assert "Be kind." in changed[1]
    assert difference(turn.ask.request, turn.ask.request) == []


def run(turn, results, *answers):
    """The requests after a turn, with these answers, and the message at the end."""
    going, left, requests = again(turn, results, 16), list(answers), []
    step = next(going)
    while True:
        requests.append(step)
        try:
            step = going.send(left.pop(0))
        except StopIteration as done:
            return requests, done.value


def test_another_model_gets_the_recorded_results_of_equal_calls():
    _, end = played([calls(BONN, ROME), said()], [[result("a", 1), result("b", 2)]])
    messages = end.context.conversation.messages
    turn = turns_of(inputs(written(end.context)))[0]
    rome_first = calls(("p", *ROME[1:]), NO_CITY, ("q", *BONN[1:]), ("r", *ROME[1:]))
    requests, done = run(turn, RecordedResults(messages), rome_first, said("Both."))
    (results,) = [one for one in requests[1].request.messages if hasattr(one, "results")]
    values = [getattr(each.content[0], "content", None) for each in results.results]
    assert values == [2, None, 1, 2], "the call without a city was refused"
    assert [each.id for each in results.results] == ["p", "x", "q", "r"]
    assert isinstance(done.message, AssistantMessage)
    with pytest.raises(MissingResult, match=r'Weather\({"city":"Oslo"}\)'):
        run(turn, RecordedResults(messages), calls(("o", "Weather", {"city": "Oslo"})))


def test_an_agent_that_has_not_been_answered_has_no_turns():
    assert turns_of(inputs()) == []
    assert turns_of(inputs(written(asks().context))) == []
