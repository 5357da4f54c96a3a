"""Models of AI agents that answer by a script: the loop of the agent is that of a server, and nobody is called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import trio

from vivero import library
from vivero.core.agents.errors import FAILED_MODEL_CALL, AgentError
from vivero.core.agents.loop import Ask
from vivero.core.agents.memory.context import (
    AssistantMessage,
    Message,
    TextContent,
    TokenUsage,
    ToolCallResultMessage,
    built,
)
from vivero.core.agents.model import CHARACTERS_PER_TOKEN, STOP, TOOL_USE, AskedCall, ModelAnswer
from vivero.core.agents.results import text_of
from vivero.core.bpmn.model import Process
from vivero.core.feel import from_json, to_json
from vivero.core.records.ad_hoc import AdHocResult
from vivero.core.records.jobs import CompleteJob, FailJob, ThrowJobError
from vivero.core.snapshots.codec import decode
from vivero.core.snapshots.format import Snapshot
from vivero.engine.connectors.agent_settings import AgentSettings
from vivero.engine.connectors.agents.tasks import answer_task, tools_in
from vivero.engine.connectors.agents.worker import decide, raising_connector_errors
from vivero.engine.connectors.contents import BY_TYPE
from vivero.engine.connectors.contracts.agents import AGENT, AGENT_TASK
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.work.calls import Answer, Call, outcome
from vivero.engine.connectors.work.job_commands import JobCommand, job_command
from vivero.engine.connectors.work.jobs import ConnectorJob
from vivero.engine.connectors.work.secrets import UsedSecrets
from vivero.library import Models, Result
from vivero.library.calls import run
from vivero.testing.job_places import place_of
from vivero.testing.mocks import JobFailure, Send
from vivero.testing.scripts import ModelCall, Said, Script, Text, Tool
from vivero.worker.single_jobs import outside_of_loops

LIMIT_S = 60.0


class ScriptedModels:
    """The scripts of a test by the elements of agents, and the calls of each instance."""

    def __init__(self) -> None:
        self._scripts: dict[str, Script] = {}
        self._calls: dict[tuple[int, str], list[ModelCall]] = {}

    @property
    def elements(self) -> set[str]:
        """The elements that have a script."""
        return set(self._scripts)

    def use(self, element: str, script: Script) -> None:
        """Let the model of an element answer by this script."""
        self._scripts[element] = script

    def calls(self, instance: int, element: str) -> list[ModelCall]:
        """The calls of the models of an element, by the key of the root instance."""
        return self._calls.setdefault((instance, element), [])

    def work(self, job: library.Job, models: Models, snapshot: str) -> Result:
        """Work on the job of an agent. Gives the instance after it.

        Raises AssertionError if the script has no more answers, and Rejected as the functions of the library do.
        """
        __tracebackhide__ = True
        return run(models, snapshot, None, self._command(job, models, decode(snapshot)))

    def work_at(self, send: Send, job: library.Job, models: Models, snapshot: str) -> None:
        """Work on the job of an agent of a server, to which `send` takes the report."""
        __tracebackhide__ = True
        send(*_request(self._command(job, models, decode(snapshot))))

    def _command(self, job: library.Job, models: Models, snapshot: Snapshot) -> JobCommand:
        __tracebackhide__ = True
        contract = BY_TYPE.get(job.type)
        if contract not in (AGENT, AGENT_TASK):
            raise AssertionError(f"'{job.element}' is no agent: its job has the type '{job.type}'")
        worked = _connector_job(job, snapshot)
        calls = self.calls(int(snapshot.elements[0].key), job.element)
        agent = _ScriptedAgent(job, self._scripts[job.element], calls, _process_of(worked, models, snapshot))
        with_texts = replace(contract, secrets=())  # references to secrets stay what they are
        made = outside_of_loops(lambda: trio.run(outcome, with_texts, agent, worked, UsedSecrets({}), LIMIT_S))
        return msgspec.structs.replace(job_command(worked, made), lease=None)


@dataclass(frozen=True, slots=True)
class _ScriptedAgent:
    """Works one job of an agent as a server does. A script answers in place of the provider."""

    job: library.Job
    script: Script
    calls: list[ModelCall]
    process: Process | None

    @property
    def max_tool_calls(self) -> int:
        return AgentSettings().max_tool_calls

    async def answer(self, call: Call) -> Answer:
        """Raises ConnectorError."""
        with raising_connector_errors():
            if call.job.type in AGENT.types:
                return await decide(call, self)
            return await answer_task(call, self, self._elements)

    async def _elements(self, _job: ConnectorJob, container: str) -> Any:
        if self.process is None:
            raise ConnectorError("DEFINITION_UNAVAILABLE", "the files of the test do not have the process", final=True)
        return tools_in(self.process, container)

    async def ask(self, step: Ask, call: Call) -> ModelAnswer:
        """The next answer of the script. Raises AgentError, and AssertionError if there is none."""
        request = step.request
        asked = ModelCall(tuple(each.name for each in request.tools), request.messages, self.job.variables)
        self.calls.append(asked)
        try:
            said = self._said(asked)
        except JobFailure as failure:
            raise AgentError(FAILED_MODEL_CALL, failure.message, final=failure.retries == 0) from failure
        tools = () if isinstance(said, Text) else (said,) if isinstance(said, Tool) else tuple(said)
        asked.called, asked.said = tools, said.content if isinstance(said, Text) else None
        sent, answered = to_json([built(request.messages), built(request.tools)]), "".join(map(str, tools))
        usage = TokenUsage(_tokens(sent), _tokens(answered + (asked.said or "")))
        asked.used = usage
        content = [TextContent(asked.said)] if asked.said is not None else []
        calls = [AskedCall("", each.name, _values(each.arguments)) for each in tools]
        return ModelAnswer(list(content), calls, usage, TOOL_USE if calls else STOP, "scripted")

    def _said(self, asked: ModelCall) -> Said:
        if callable(self.script):
            return self.script(asked)
        if len(self.calls) > len(self.script):
            shown = "".join(f"\n  {line}" for line in map(_shown, asked.messages[-2:]))
            raise AssertionError(
                f"The script of '{self.job.element}' has {len(self.script)} answers, and the model is asked once more."
                f" The latest messages are{shown}"
            )
        said = self.script[len(self.calls) - 1]
        return said(asked) if callable(said) else said


def _shown(message: Message) -> str:
    if isinstance(message, ToolCallResultMessage):
        parts = [f"{one.name}: {' '.join(map(text_of, one.content))}" for one in message.results]
        return f"results of tools: {'; '.join(parts)}"
    calls = message.tool_calls or [] if isinstance(message, AssistantMessage) else []
    tools = [str(Tool(one.name, one.arguments)) for one in calls]
    return f"{message.__struct_config__.tag}: {' '.join([*map(text_of, message.content or ()), *tools])}"


def _tokens(content: str) -> int:
    return -(-len(content) // CHARACTERS_PER_TOKEN)


def _values(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as they come out of JSON."""
    values: dict[str, Any] = from_json(msgspec.json.encode(dict(arguments)).decode())
    return values


def _connector_job(job: library.Job, snapshot: Snapshot) -> ConnectorJob:
    """The job as a server gives it to its connectors, with all variables."""
    place = place_of(snapshot, job.key)
    assert place.process.process is not None, "the outermost scope is a process instance"
    return ConnectorJob(
        job_key=place.job.key,
        type=job.type,
        element_id=job.element,
        process_definition_key=place.process.process.definition_key,
        tenant_id=snapshot.tenant_id,
        retries=job.retries,
        custom_headers=dict(job.headers),
        variables=msgspec.Raw(msgspec.json.encode(place.seen)),
        job_lease_token="",
        process_definition_id=place.process.element_id,
        process_instance_key=place.process.key,
        element_instance_key=place.element.key,
        kind=job.kind,
    )


def _process_of(job: ConnectorJob, models: Models, snapshot: Snapshot) -> Process | None:
    digests = {entry.key: entry.sha256 for entry in snapshot.definitions}
    return models.resources.get(digests[job.process_definition_key], {}).get(job.process_definition_id or "")


def _request(command: JobCommand) -> tuple[str, str, dict[str, Any]]:
    """Method, path and body of a report over REST."""
    path, variables = f"/v2/jobs/{command.key}", dict(command.variables)
    if isinstance(command, ThrowJobError):
        body = {"errorCode": command.code, "errorMessage": command.message, "variables": variables}
        return "POST", f"{path}/error", body
    if isinstance(command, FailJob):
        failed = {"retries": command.retries, "errorMessage": command.message, "retryBackOff": command.backoff_ms}
        return "POST", f"{path}/failure", failed | {"variables": variables}
    return "POST", f"{path}/completion", {"variables": variables} | _decision(command)


def _decision(command: CompleteJob) -> dict[str, Any]:
    result = command.result
    if not isinstance(result, AdHocResult):
        return {}
    elements = [{"elementId": each.element_id, "variables": dict(each.variables)} for each in result.elements]
    done = {"isCompletionConditionFulfilled": result.fulfilled, "isCancelRemainingInstances": result.cancel_remaining}
    return {"result": {"type": "adHocSubProcess", "activateElements": elements} | done}
