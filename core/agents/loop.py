"""The loop of an agent: what a job of an ad-hoc sub-process asks the model, and what follows from the answer.

`begin` reads a job: the model is to be asked, or results of tools are missing, so that nothing is to be done. `take`
reads an answer: tools are to be activated, the model is to be asked again, or the agent has ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from typing import Any

from msgspec.structs import replace

from vivero.core.agents.errors import (
    CHANGED_GATEWAYS,
    FILTERED,
    MAXIMUM_CALLS,
    MISSING_TOOLS,
    NO_USER_MESSAGE,
    RESULTS_WITHOUT_CONTEXT,
    AgentError,
)
from vivero.core.agents.gateways import table
from vivero.core.agents.gateways.table import Gateways, gateways_in, gateways_of
from vivero.core.agents.inputs import AgentInputs
from vivero.core.agents.memory.context import (
    ELEMENT_INSTANCE,
    IN_PROCESS,
    SCHEMA_VERSION,
    AgentContext,
    AgentMetadata,
    AgentMetrics,
    AgentState,
    AssistantMessage,
    Conversation,
    Message,
    SystemMessage,
    TextContent,
    TokenUsage,
    ToolCall,
    ToolCallResult,
    ToolCallResultMessage,
    UserMessage,
)
from vivero.core.agents.memory.window import window
from vivero.core.agents.model import CONTENT_FILTERED, PAUSE, AskedCall, ModelAnswer, ModelRequest
from vivero.core.agents.results import (
    NO_RESULT,
    GivenResult,
    cancelled,
    documents_message,
    event_message,
    read_results,
    written_result,
)
from vivero.core.agents.schemas import problems
from vivero.core.agents.tools import META, tools_of

REFUSED = "refusedToolCallResults"
"""The property with results of calls that a task did not give to its process."""


@dataclass(frozen=True, slots=True)
class AgentJob:
    """The job, as far as the context says it."""

    key: str
    process_definition_key: str
    process_instance_key: str
    element_instance_key: str


@dataclass(frozen=True, slots=True)
class Ask:
    """The model is to be asked. `cancels`: the tools that still run end before others begin."""

    inputs: AgentInputs
    context: AgentContext
    request: ModelRequest
    cancels: bool


@dataclass(frozen=True, slots=True)
class WaitForResults:
    """Results of tools are missing. Their ends bring the next job."""


@dataclass(frozen=True, slots=True)
class Activate:
    """These calls are to be made. `refused`: results of others, which cannot be made."""

    context: AgentContext
    calls: list[ToolCall]
    refused: list[dict[str, Any]]
    message: AssistantMessage
    cancels: bool


@dataclass(frozen=True, slots=True)
class Respond:
    """The agent has ended with this message."""

    context: AgentContext
    message: AssistantMessage
    cancels: bool


def begin(inputs: AgentInputs, job: AgentJob, *, waits: bool = True) -> Ask | Activate | WaitForResults:
    """The first step of a job. Raises AgentError.

    `waits`: results may be missing because their tools still run. Otherwise missing ones are those of calls that never
    end. Gateways are asked for their tools first.
    """
    context = _ready(inputs, job)
    if context.state is AgentState.TOOL_DISCOVERY:
        known = inputs.context
        if known is None or (waits and known.properties.get(ELEMENT_INSTANCE) != job.element_instance_key):
            return _discovery(inputs, context, job)
        found = table.discovered(gateways_in(context.properties), inputs.results)
        if found is None:
            return WaitForResults()
        context = replace(context, state=AgentState.READY, tool_definitions=[*context.tool_definitions, *found])
        inputs = replaced(inputs, results=[each for each in inputs.results if not table.is_discovery(each)])
    is_again = waits and context.properties.get(ELEMENT_INSTANCE) != job.element_instance_key
    added = _input(inputs, context, waits and not is_again, is_again)
    if added is None:
        return WaitForResults()
    messages, cancels = added
    kept = {name: value for name, value in context.properties.items() if name != REFUSED}
    context = replace(context, properties={**kept, ELEMENT_INSTANCE: job.element_instance_key})
    return _ask(inputs, _with(context, _instructed(context, inputs) + messages), cancels)


def _ready(inputs: AgentInputs, job: AgentJob) -> AgentContext:
    """The context of the job with the tools of its definition."""
    known, tools, gateways = inputs.context, tools_of(inputs.elements), gateways_of(inputs.elements)
    metadata = AgentMetadata(job.process_definition_key, job.process_instance_key)
    if known is None:
        if any(result.id is not None for result in inputs.results):
            raise AgentError(RESULTS_WITHOUT_CONTEXT, "toolCallResults has results, but there is no agentContext")
        conversation = Conversation(IN_PROCESS, job.key, [])
        state = AgentState.TOOL_DISCOVERY if gateways else AgentState.READY
        return AgentContext(
            SCHEMA_VERSION, state, metadata, AgentMetrics(), tools, conversation, dict(gateways.properties)
        )
    was = known.metadata.process_definition_key
    if not (had := gateways_in(known.properties)).has_same(gateways):
        text = f"the gateways of the agent were {', '.join(had.ids) or 'none'}"
        raise AgentError(CHANGED_GATEWAYS, f"{text}, and are now {', '.join(gateways.ids) or 'none'}")
    tools += [tool for tool in known.tool_definitions if table.gateway_of(tool.name, gateways)]
    names = {tool.name for tool in tools}
    missing = [tool.name for tool in known.tool_definitions if tool.name not in names]
    if missing and was is not None and str(was) != job.process_definition_key:
        text = f"the process definition has no longer the tools {', '.join(missing)}"
        raise AgentError(MISSING_TOOLS, f"{text}: migrate to one that has them, or begin without agentContext")
    metadata = replace(
        known.metadata,
        process_definition_key=job.process_definition_key,
        process_instance_key=job.process_instance_key,
    )
    state = known.state if gateways and known.state is AgentState.TOOL_DISCOVERY else AgentState.READY
    return replace(known, state=state, metadata=metadata, tool_definitions=tools)


def _discovery(inputs: AgentInputs, context: AgentContext, job: AgentJob) -> Activate:
    """The calls of all gateways. Events that have come already stay in the variable."""
    context = replace(context, properties={**context.properties, ELEMENT_INSTANCE: job.element_instance_key})
    events = [written_result(result) for result in inputs.results if result.id is None]
    return Activate(
        context, table.discovery_calls(gateways_in(context.properties)), events, AssistantMessage({}), False
    )


def _input(
    inputs: AgentInputs, context: AgentContext, waits: bool, is_again: bool
) -> tuple[list[Message], bool] | None:
    """The messages that come next, and whether tools are cancelled. None: results are missing.

    `is_again`: the context is that of another element instance, whose open calls have ended with it.
    """
    events = [result for result in inputs.results if result.id is None]
    calls = _open_calls(context.conversation.messages)
    if not calls:
        if inputs.prompt is None:
            raise AgentError(NO_USER_MESSAGE, "data.userPrompt.prompt is empty, so there is nothing to ask the model")
        return [inputs.prompt, *_events(events)], False
    results = [*read_results(context.properties.get(REFUSED)), *inputs.results]
    given = {result.id: result for result in results if result.id is not None}
    missing = [call for call in calls if call.id not in given]
    if missing and waits and not (inputs.interrupts and events):
        return None
    answered = [_result(call, given, gateways_in(context.properties)) for call in calls]
    documents = documents_message(given[call.id] for call in calls if call.id in given)
    more = [ToolCallResultMessage(answered), *filter(None, [documents]), *_events(events)]
    if is_again and inputs.prompt is not None:
        more.append(inputs.prompt)
    return more, bool(missing) and waits


def _events(events: Sequence[GivenResult]) -> list[Message]:
    """The messages of events, each with its documents."""
    found: list[Message] = []
    for event in events:
        documents = documents_message([event])
        found += [event_message(event), *([UserMessage(documents.content, {})] if documents else [])]
    return found


def _open_calls(messages: Sequence[Message]) -> list[ToolCall]:
    """The calls of the last message, whose results come next."""
    last = messages[-1] if messages else None
    return list(last.tool_calls or ()) if isinstance(last, AssistantMessage) else []


def _result(call: ToolCall, given: dict[str, GivenResult], gateways: Gateways) -> ToolCallResult:
    if (found := given.get(call.id)) is None:
        return cancelled(call, table.gateway_of(call.name, gateways) or call.name)
    return table.read_result(call, found, gateways, NO_RESULT)


def _instructed(context: AgentContext, inputs: AgentInputs) -> list[Message]:
    """The messages with the current system prompt before them."""
    rest: list[Message] = [one for one in context.conversation.messages if not isinstance(one, SystemMessage)]
    return [SystemMessage([TextContent(inputs.system_prompt)]), *rest] if inputs.system_prompt.strip() else rest


def _with(context: AgentContext, messages: list[Message]) -> AgentContext:
    return replace(context, conversation=replace(context.conversation, messages=messages))


def asked_with(inputs: AgentInputs, context: AgentContext, messages: Sequence[Message]) -> Ask:
    """The request that follows these messages of a conversation. Raises AgentError, as `begin` does."""
    context = _with(context, list(messages))
    return _ask(inputs, _with(context, _instructed(context, inputs)), False)


def _ask(inputs: AgentInputs, context: AgentContext, cancels: bool) -> Ask:
    """Raises AgentError if the model was asked as often as it may be."""
    if context.metrics.model_calls >= inputs.max_calls:
        text = f"the model was called {context.metrics.model_calls} times, and data.limits.maxModelCalls is"
        raise AgentError(MAXIMUM_CALLS, f"{text} {inputs.max_calls}")
    seen = window(context.conversation.messages, inputs.window)
    return Ask(inputs, context, ModelRequest(seen, context.tool_definitions, inputs.format), cancels)


# Answers --------------------------------------------------------------------------------------------------------------


def take(ask: Ask, answer: ModelAnswer, most_calls: int) -> Ask | Activate | Respond:
    """The step after an answer. Calls beyond `most_calls` get an error as their result. Raises AgentError."""
    if answer.stop_reason == CONTENT_FILTERED:
        raise AgentError(FILTERED, "the provider has filtered the answer of the model")
    number = ask.context.metrics.model_calls + 1
    calls = _with_ids(answer.calls, ask.context, number)
    message = AssistantMessage(
        {},
        answer.content or None,
        [ToolCall(call.id, call.name, dict(call.arguments or {})) for call in calls] or None,
        answer.model_id,
        answer.message_id,
        answer.stop_reason,
    )
    context = _with(ask.context, [*ask.context.conversation.messages, message])
    context = replace(context, metrics=_counted(context.metrics, answer.usage))
    if not calls:
        return (
            _ask(ask.inputs, context, ask.cancels)
            if answer.stop_reason == PAUSE
            else Respond(context, message, ask.cancels)
        )
    refused = {call.id: why for call, why in _refusals(calls, context, most_calls)}
    good = [call for call in message.tool_calls or () if call.id not in refused]
    if not good:
        results = [_refused(call, refused[call.id]) for call in message.tool_calls or ()]
        messages: list[Message] = [*context.conversation.messages, ToolCallResultMessage(results)]
        return _ask(ask.inputs, _with(context, messages), ask.cancels)
    metrics = replace(context.metrics, tool_calls=context.metrics.tool_calls + len(good))
    given = [{"id": call.id, "name": call.name, "content": refused[call.id]} for call in calls if call.id in refused]
    calls_of_elements = table.routed(good, gateways_in(context.properties))
    return Activate(replace(context, metrics=metrics), calls_of_elements, given, message, ask.cancels)


def _with_ids(calls: Sequence[AskedCall], context: AgentContext, number: int) -> list[AskedCall]:
    """The calls with an id each that no other call of the conversation has. Local servers repeat or omit ids."""
    used = {
        call.id
        for message in context.conversation.messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls or ()
    }
    named: list[AskedCall] = []
    for place, call in enumerate(calls):
        id = call.id if call.id and call.id not in used else f"call_{number}_{place + 1}"
        used.add(id)
        named.append(AskedCall(id, call.name, call.arguments))
    return named


def _counted(metrics: AgentMetrics, usage: TokenUsage | None) -> AgentMetrics:
    return replace(
        metrics,
        model_calls=metrics.model_calls + 1,
        token_usage=metrics.token_usage if usage is None else metrics.token_usage.plus(usage),
    )


def _refusals(calls: Sequence[AskedCall], context: AgentContext, most: int) -> list[tuple[AskedCall, str]]:
    """The calls that are not made, each with the text that the model gets as its result."""
    schemas = {tool.name: tool.input_schema for tool in context.tool_definitions}
    found = []
    for place, call in enumerate(calls):
        if call.name not in schemas:
            why = f"there is no tool '{call.name}'. The tools are: {', '.join(schemas) or 'none'}"
        elif call.arguments is None:
            why = "the arguments are not a JSON object"
        elif wrong := problems(call.arguments, schemas[call.name]):
            why = "; ".join(wrong)
        elif place >= most:
            why = f"at most {most} tools may be called at once"
        else:
            continue
        found.append((call, f"Error: the tool was not called: {why}."))
    return found


def _refused(call: ToolCall, why: str) -> ToolCallResult:
    return ToolCallResult(call.id, call.name, [TextContent(why)])


def tool_call_variable(call: ToolCall) -> dict[str, Any]:
    """The variable `toolCall` of an activated tool: the arguments, and beside them `_meta`."""
    return {**call.arguments, META: {"id": call.id, "name": call.name}}
