"""Runs an agent again from its record: the requests and answers that its context shows, and results of its tools.

Nothing is called: a caller gives the answers, recorded ones or those of another model.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from difflib import unified_diff
from json import dumps

from msgspec.structs import replace

from vivero.core.agents.inputs import AgentInputs
from vivero.core.agents.loop import Activate, Ask, Respond, asked_with, take
from vivero.core.agents.memory.context import (
    AssistantMessage,
    Message,
    SystemMessage,
    TextContent,
    ToolCall,
    ToolCallResult,
    ToolCallResultMessage,
    built,
)
from vivero.core.agents.model import STOP, AskedCall, ModelAnswer, ModelRequest
from vivero.core.feel import to_json


@dataclass(frozen=True, slots=True)
class Turn:
    """One recorded call of a model: its number in the context, the request, and the answer."""

    number: int
    ask: Ask
    answer: AssistantMessage


class MissingResult(Exception):
    """The record has no result of a call."""

    def __init__(self, call: ToolCall) -> None:
        super().__init__(f"{call.name}({to_json(call.arguments)})")
        self.call = call


def turns_of(inputs: AgentInputs) -> list[Turn]:
    """The calls of the model in the context of an agent, also those of its earlier runs. Empty: it has none yet.

    The limit of calls does not hold here.
    """
    context = inputs.context
    if context is None:
        return []
    unlimited = replaced(inputs, max_calls=context.metrics.model_calls + 1)
    messages = [one for one in context.conversation.messages if not isinstance(one, SystemMessage)]
    places = [place for place, one in enumerate(messages) if isinstance(one, AssistantMessage)]
    first = max(context.metrics.model_calls - len(places), 0)
    turns = [_turn(unlimited, messages, place, first + number) for number, place in enumerate(places)]
    return [replaced(turn, ask=replaced(turn.ask, inputs=inputs)) for turn in turns]


def _turn(inputs: AgentInputs, messages: Sequence[Message], place: int, made: int) -> Turn:
    answer, context = messages[place], inputs.context
    assert context is not None, "it has the messages"
    assert isinstance(answer, AssistantMessage), "the caller has found it"
    metrics = replace(context.metrics, model_calls=made)
    return Turn(made + 1, asked_with(inputs, replace(context, metrics=metrics), messages[:place]), answer)


def answer_of(message: AssistantMessage) -> ModelAnswer:
    """A recorded answer as a model gives it. Its tokens are not recorded here."""
    calls = [AskedCall(one.id, one.name, one.arguments) for one in message.tool_calls or ()]
    reason = message.stop_reason or STOP
    return ModelAnswer(list(message.content or ()), calls, None, reason, message.model_id, message.message_id)


class RecordedResults:
    """The results of tools in a conversation, by name and arguments. The latest one of equal calls repeats."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._results: dict[tuple[str, str], list[ToolCallResult]] = {}
        calls: dict[str, ToolCall] = {}
        for message in messages:
            if isinstance(message, AssistantMessage):
                calls |= {call.id: call for call in message.tool_calls or ()}
            elif isinstance(message, ToolCallResultMessage):
                for result in message.results:
                    if result.id in calls:
                        self._results.setdefault(_kind(calls[result.id]), []).append(result)

    def take(self, call: ToolCall) -> ToolCallResult:
        """The result of the next call like this one. Raises MissingResult."""
        known = self._results.get(_kind(call))
        if not known:
            raise MissingResult(call)
        found = known.pop(0) if len(known) > 1 else known[0]
        return replace(found, id=call.id)


def _kind(call: ToolCall) -> tuple[str, str]:
    return call.name, to_json(dict(sorted(call.arguments.items())))


def again(turn: Turn, results: RecordedResults, most_calls: int) -> Generator[Ask, ModelAnswer, Respond]:
    """Go on from a turn with answers that are sent for each request. Raises AgentError, MissingResult."""
    step: Ask | Activate | Respond = turn.ask
    while not isinstance(step, Respond):
        if isinstance(step, Activate):
            messages = [*step.context.conversation.messages, ToolCallResultMessage(list(_results(step, results)))]
            step = asked_with(turn.ask.inputs, step.context, messages)
        else:
            step = take(step, (yield step), most_calls)
    return step


def _results(step: Activate, results: RecordedResults) -> Iterator[ToolCallResult]:
    refused = {each["id"]: each["content"] for each in step.refused}
    for call in step.message.tool_calls or ():
        why = refused.get(call.id)
        yield results.take(call) if why is None else ToolCallResult(call.id, call.name, [TextContent(why)])


def instructed(turn: Turn, prompt: str) -> Turn:
    """The turn with another system prompt. Raises AgentError, as a request does."""
    ask = turn.ask
    inputs = replaced(ask.inputs, system_prompt=prompt)
    return replaced(turn, ask=asked_with(inputs, ask.context, ask.context.conversation.messages))


def difference(recorded: ModelRequest, now: ModelRequest) -> list[str]:
    """The lines in which two requests differ, as a unified diff. Empty: they are equal."""
    return list(unified_diff(_lines(recorded), _lines(now), "recorded", "now", n=2, lineterm=""))


def _lines(request: ModelRequest) -> list[str]:
    document = {"messages": built(list(request.messages)), "tools": built(list(request.tools))}
    return dumps(document, indent=1, ensure_ascii=False, default=str).splitlines()
