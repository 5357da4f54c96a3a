"""The record of a call of a model: what was asked, why, and what came of it, without texts."""

from __future__ import annotations

import hashlib
from uuid import uuid4

from vivero.core.agents.loop import Ask
from vivero.core.agents.memory.context import AssistantMessage, ToolCallResultMessage, UserMessage
from vivero.core.agents.model import ModelAnswer
from vivero.engine.connectors.agents.model_calls import PreparedCall
from vivero.storage.background.agents import CallRecord

ANSWERED, CANCELLED = "ANSWERED", "CANCELLED"
PROMPT, TOOL_RESULTS, PAUSE = "PROMPT", "TOOL_RESULTS", "PAUSE"
"""Causes of a call: a message of the user or an event, results of tools, or a model that goes on by itself."""
UNKNOWN_TOOL = "(unknown)"
MOST_NAMES, NAME_CHARACTERS = 100, 256


def record_of(call: PreparedCall, step: Ask) -> CallRecord:
    """The record of a call that begins."""
    last = step.request.messages[-1] if step.request.messages else None
    is_paused = isinstance(last, AssistantMessage)
    is_of_tools = isinstance(last, ToolCallResultMessage) or (
        isinstance(last, UserMessage) and last.has_documents_of_tools
    )
    cause = TOOL_RESULTS if is_of_tools else PAUSE if is_paused else PROMPT
    return CallRecord(
        call=uuid4().hex,
        turn=step.context.metrics.model_calls + 1,
        cause=cause,
        duration_ms=0,
        provider=call.provider.type,
        model=call.provider.model[:NAME_CHARACTERS],
        outcome=ANSWERED,
        request_digest=call.digest,
        answer_digest=None,
        input=None,
        output=None,
        cached=None,
        cost=None,
        currency="",
        offered=[tool.name[:NAME_CHARACTERS] for tool in step.request.tools[:MOST_NAMES]],
        called=(),
    )


def answered(record: CallRecord, call: PreparedCall, content: bytes, answer: ModelAnswer) -> CallRecord:
    """The record with an answer. Names of tools that a model invents are not kept."""
    known, asked = {tool.name for tool in call.request.tools}, [each.name for each in answer.calls[:MOST_NAMES]]
    called = [name[:NAME_CHARACTERS] if name in known else UNKNOWN_TOOL for name in asked]
    return record._replace(answer_digest=hashlib.sha256(content).hexdigest(), called=called)
