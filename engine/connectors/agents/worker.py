"""Works the jobs of agents that are ad-hoc sub-processes, and asks models for all kinds of agents."""

from __future__ import annotations

import random
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import structlog
import trio

from vivero.core.agents.errors import AgentError
from vivero.core.agents.inputs import read_inputs
from vivero.core.agents.loop import Activate, AgentJob, Ask, Respond, WaitForResults, begin, take, tool_call_variable
from vivero.core.agents.memory.context import AssistantMessage, TokenUsage, ToolCall, written
from vivero.core.agents.model import ModelAnswer, ModelRequest
from vivero.core.agents.responses import response_of
from vivero.core.agents.results import text_of
from vivero.core.agents.wires.providers import Provider, read_provider
from vivero.core.agents.wires.table import WIRES
from vivero.core.bpmn.elements.approvals import PROPERTY, REASON, TOOL_CALL, TOOL_RESULT
from vivero.core.feel import from_json
from vivero.core.records.ad_hoc import AdHocResult, ElementToActivate
from vivero.engine.connectors.agent_settings import AgentSettings
from vivero.engine.connectors.agents.call_records import CANCELLED, answered, record_of
from vivero.engine.connectors.agents.files import has_documents, with_files
from vivero.engine.connectors.agents.ledger import Ledger, Reservation, Stopped
from vivero.engine.connectors.agents.memories import closed, opened
from vivero.engine.connectors.agents.model_calls import (
    PreparedCall,
    check_allowed,
    prepared,
    ready,
    respond,
)
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.outbound.http_json import without_nul
from vivero.engine.connectors.outbound.surroundings import Surroundings
from vivero.engine.connectors.work.calls import Call
from vivero.engine.connectors.work.jobs import ConnectorJob
from vivero.engine.connectors.work.results import Completion, encoded
from vivero.storage.background.agents import CallRecord

log = structlog.get_logger(__name__)

JITTER = 0.1
"""Pauses that a provider asks for become longer by up to this part, so that agents do not all come back at once."""
KEEP_S, STOPPING_S = 10.0, 2.0
"""Time to store the end of a call, within the margin of a lease; and while the node stops, or the job is gone."""
INTERNAL_ERROR = "INTERNAL_ERROR"
WITH_FILES = 8
"""Calls of models with files that a node makes at once, so that it keeps few files in memory."""
CONTEXT = "agentContext"


class Models(Protocol):
    """Answers the requests of agents: providers do, and scripts of tests."""

    @property
    def max_tool_calls(self) -> int:
        """The tools that one answer may call."""

    async def ask(self, step: Ask, call: Call) -> ModelAnswer:
        """The answer to one request. Raises AgentError."""


async def ask_until_done(step: Ask | Activate | Respond, call: Call, models: Models) -> Activate | Respond:
    """The end of all calls of the model that one job needs. Raises AgentError."""
    while isinstance(step, Ask):
        step = take(step, await models.ask(step, call), models.max_tool_calls)
    return step


async def decide(call: Call, models: Models) -> Completion:
    """The decision about an ad-hoc sub-process. Raises AgentError."""
    given = call.inputs
    inputs = read_inputs(
        *(given.get(name) for name in ("adHocSubProcessElements", "agentContext", "toolCallResults", "data"))
    )
    step = begin(inputs, of_job(call.job))
    if isinstance(step, WaitForResults):
        return Completion({}, AdHocResult())
    end = await ask_until_done(step, call, models)
    context = written(end.context)
    if isinstance(end, Activate):
        elements = tuple(_element(each, end.message, inputs.elements) for each in end.calls)
        result = AdHocResult(elements, False, end.cancels)
        return Completion({"agentContext": context, "toolCallResults": end.refused}, result)
    response = response_of(end.message, end.context, inputs)
    return Completion({"agentContext": context, "agent": response}, AdHocResult((), True, end.cancels))


class ModelUser:
    """Calls the models of providers, within what the operator allows."""

    def __init__(self, around: Surroundings) -> None:
        settings, connections = around.parts.sections["agents"], around.parts.connections
        if not isinstance(settings, AgentSettings) or connections is None:
            raise ValueError("agents need their settings and connections to the database")
        self._client, self._settings, self._documents = around.client, settings, around.documents
        self._with_files = trio.CapacityLimiter(WITH_FILES)
        self._ledger = Ledger(connections, settings, around.parts.prices, around.parts.agent_figures)

    @property
    def max_tool_calls(self) -> int:
        return self._settings.max_tool_calls

    async def ask(self, step: Ask, call: Call) -> ModelAnswer:
        """The answer to one request. One that was paid before a crash is used again. Raises AgentError."""
        provider = read_provider(call.inputs.get("provider"), self._settings.openai_base_url)
        check_allowed(provider, self._settings, call.job.tenant_id)
        if not has_documents(step.request):
            return await self._answer(provider, step.request, step, call)
        async with self._with_files:
            request = await with_files(step.request, self._documents, call.job.tenant_id)
            return await self._answer(provider, request, step, call)

    async def _answer(self, provider: Provider, given: ModelRequest, step: Ask, call: Call) -> ModelAnswer:
        request = prepared(provider, given, call.used)
        content = await self._ledger.find(call.job, request)
        if content is not None:
            return read_answer(content, request)
        return await self._ledger.unless_stopped(call.job, provider.model, partial(self._pay, request, step, call))

    async def _pay(self, request: PreparedCall, step: Ask, call: Call) -> ModelAnswer:
        """The answer to a call, which is stored before anything else can go wrong. Its end is recorded."""
        asked = ready(request, self._settings)  # inputs that cannot be sent reserve nothing
        reserved = await self._ledger.reserve(call.job, request)
        began, record = trio.current_time(), record_of(request, step)
        settle = partial(self._settle, call.job, reserved, began)
        try:
            content = await respond(asked, self._client, call.used)
        except AgentError as error:
            await settle(TokenUsage(0, 0) if error.is_unbilled else None, record._replace(outcome=error.code))
            raise
        except trio.Cancelled:
            await settle(None, record._replace(outcome=CANCELLED))
            raise
        await _turn()
        try:
            answer = read_answer(content, request)
        except Exception as error:
            code = error.code if isinstance(error, AgentError) else INTERNAL_ERROR
            await settle(None, record._replace(outcome=code), content)
            raise
        await settle(answer.usage, answered(record, request, content, answer), content)
        return answer

    async def _settle(
        self,
        job: ConnectorJob,
        reserved: Reservation,
        began: float,
        usage: TokenUsage | None,
        record: CallRecord,
        answer: bytes | None = None,
    ) -> None:
        """Store the end of a call, also while the node stops, or the job is gone.

        Otherwise it is not recorded, and counts as its reservation.
        """
        now, is_cancelled = trio.current_time(), trio.current_effective_deadline() == float("-inf")
        timed = record._replace(duration_ms=round((now - began) * 1000))
        with trio.CancelScope(shield=True, deadline=now + (STOPPING_S if is_cancelled else KEEP_S)):
            await self._ledger.settle(job, reserved, usage, timed, answer)
            return
        log.warning("the end of a call of a model was not stored in time", job=job.job_key, outcome=record.outcome)


class Agent(ModelUser):
    """Works the jobs of ad-hoc sub-processes."""

    async def answer(self, call: Call) -> Completion:
        """The decision about an ad-hoc sub-process. Raises ConnectorError."""
        with raising_connector_errors():
            made = await decide(await opened(call, CONTEXT, self._documents), self)
            return replace(made, variables=await closed(made.variables, call, CONTEXT, self._documents))


async def _turn() -> None:
    """Let other work of the program go on. The paid answer is not lost if the job is gone."""
    with trio.CancelScope(shield=True):
        await trio.lowlevel.checkpoint()


def read_answer(content: bytes, call: PreparedCall) -> ModelAnswer:
    """The answer in the body of a response. Raises AgentError."""
    answer = WIRES[call.provider.wire].answer(from_json(content.decode()), call.request)
    calls = [
        replace(each, arguments=without_nul(each.arguments)) for each in answer.calls
    ]  # they may be JSON in a text
    return replace(answer, calls=calls)


def of_job(job: ConnectorJob) -> AgentJob:
    """The job, as the loop knows it."""
    return AgentJob(
        job.job_key, job.process_definition_key, job.process_instance_key or "", job.element_instance_key or ""
    )


def _element(call: ToolCall, message: AssistantMessage, elements: Any) -> ElementToActivate:
    """A tool to activate. The preset result keeps the tool's result inside of its own scope.

    A person who is to approve the call sees what the model has said about it.
    """
    variables: dict[str, Any] = {TOOL_CALL: tool_call_variable(call), TOOL_RESULT: ""}
    if any(each["elementId"] == call.name and PROPERTY in (each.get("properties") or {}) for each in elements):
        said = "\n".join(map(text_of, message.content or ()))
        variables[REASON] = said or None
    return ElementToActivate(call.name, encoded(variables))


@contextmanager
def raising_connector_errors() -> Generator[None]:
    """The block raises ConnectorError instead of AgentError."""
    try:
        yield
    except AgentError as error:
        raise _as_connector_error(error) from error


def _as_connector_error(error: AgentError) -> ConnectorError:
    if isinstance(error, Stopped):
        return ConnectorError(error.code, error.message, backoff_ms=error.pause_ms, keeps_retries=True)
    pause_s = error.retry_after_s
    backoff_ms = None if pause_s is None else round(pause_s * (1 + random.random() * JITTER) * 1000)
    return ConnectorError(error.code, error.message, error.variables, error.final, backoff_ms)
