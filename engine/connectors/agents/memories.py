"""The memory `camunda-document`: the conversation is a document, and the context has a reference to it.

Each turn writes a new document and leaves the one that the context named, so that a repeated job reads the old state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import trio

from vivero.core.agents.errors import INVALID_INPUT, UNSUPPORTED_DOCUMENT, AgentError
from vivero.core.agents.inputs import get, text
from vivero.core.agents.memory.context import DOCUMENT_STORE, IN_PROCESS
from vivero.core.feel import EvaluationError, from_json, to_json
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.outbound.documents import CallDocuments
from vivero.engine.connectors.work.calls import Call

MOST_BYTES = 4 * 1024 * 1024
MOST_PREVIOUS = 100
"""Earlier documents that a context names."""
JSON = "application/json"
PAUSES_S = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Pauses between attempts to store a conversation, within the time of its job."""


async def opened(call: Call, name: str, documents: CallDocuments | None) -> Call:
    """The call with the messages of the conversation in its context, at the path `name`.

    Raises AgentError, ConnectorError.
    """
    context = get(call.inputs, name)
    conversation = get(context, "conversation")
    if not isinstance(conversation, dict) or conversation.get("type") != DOCUMENT_STORE:
        return call
    reference = conversation.get("document")
    store = _known(documents)
    async with store.turn():
        content = (await store.file(reference, call.job.tenant_id, MOST_BYTES)).content
    try:
        document = from_json(content.decode())
        messages = document["messages"]
    except (EvaluationError, ArithmeticError, RecursionError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise AgentError(INVALID_INPUT, "the document of agentContext is no conversation of an agent") from error
    known = {"type": IN_PROCESS, "conversationId": conversation.get("conversationId"), "messages": messages}
    return replace(call, inputs=_with(call.inputs, name, {**context, "conversation": known}))


def _with(values: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    first, _, rest = path.partition(".")
    return {**values, first: _with(values[first], rest, value) if rest else value}


async def closed(
    variables: Mapping[str, Any], call: Call, name: str, documents: CallDocuments | None
) -> Mapping[str, Any]:
    """The variables of an answer with references instead of messages, if the inputs say so. `call`: before `opened`.

    Raises AgentError, ConnectorError.
    """
    if text(get(call.inputs, "data"), "memory.storage.type").strip().lower() != DOCUMENT_STORE:
        return variables
    contexts = [each for each in (variables.get("agentContext"), variables.get("context")) if each is not None]
    if not contexts:
        return variables
    conversation = contexts[0]["conversation"]
    content = to_json({"messages": conversation["messages"]}).encode()
    if len(content) > MOST_BYTES:
        raise AgentError(INVALID_INPUT, f"the conversation has more than {MOST_BYTES} bytes")
    reference = await _stored(_known(documents), call, content)
    before = get(get(call.inputs, name), "conversation") or {}
    previous = before.get("previousDocuments")
    earlier = [*(previous if isinstance(previous, list) else []), before.get("document")]
    pointer = {
        "type": DOCUMENT_STORE,
        "conversationId": conversation["conversationId"],
        "document": reference,
        "previousDocuments": [each for each in earlier if each is not None][-MOST_PREVIOUS:],
    }
    return _pointing(variables, pointer)


async def _stored(store: CallDocuments, call: Call, content: bytes) -> Mapping[str, Any]:
    """The reference to a new document. The answer in it is paid, so a store that is away is waited for.

    Raises ConnectorError, after the pauses if a repetition could help.
    """
    for pause_s in PAUSES_S:
        try:
            async with store.turn():
                return await store.store(call.job, JSON, content)
        except ConnectorError as error:
            if error.final:
                raise
        await trio.sleep(pause_s)
    async with store.turn():
        return await store.store(call.job, JSON, content)


def _pointing(variables: Mapping[str, Any], pointer: Mapping[str, Any]) -> dict[str, Any]:
    """The variables whose contexts have this conversation."""
    found = dict(variables)
    for name in ("agentContext", "context"):
        if name in found:
            found[name] = {**found[name], "conversation": pointer}
    response = found.get("agent")
    if isinstance(response, dict) and "context" in response:
        found["agent"] = _pointing(response, pointer)
    return found


def _known(documents: CallDocuments | None) -> CallDocuments:
    if documents is None:
        raise AgentError(UNSUPPORTED_DOCUMENT, "the memory camunda-document needs documents, which are not here")
    return documents
