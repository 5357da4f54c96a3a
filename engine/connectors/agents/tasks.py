"""Works the jobs of agents that are tasks, and of tasks that only read the tools of an ad-hoc sub-process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from vivero.core.agents.errors import INVALID_INPUT, AgentError
from vivero.core.agents.gateways import table
from vivero.core.agents.inputs import get, read_inputs, text
from vivero.core.agents.loop import WaitForResults, begin
from vivero.core.agents.memory.context import built
from vivero.core.agents.responses import task_response
from vivero.core.agents.tools import tools_of
from vivero.core.bpmn.elements.ad_hoc import ELEMENTS_VARIABLE
from vivero.core.bpmn.model import Process
from vivero.engine.connectors.agents.memories import closed, opened
from vivero.engine.connectors.agents.worker import (
    Models,
    ModelUser,
    ask_until_done,
    of_job,
    raising_connector_errors,
)
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.outbound.surroundings import Surroundings
from vivero.engine.connectors.work.calls import Call
from vivero.engine.connectors.work.jobs import ConnectorJob

CONTEXT = "data.context"
NOT_FOUND = "AD_HOC_SUB_PROCESS_NOT_FOUND"


FindElements = Callable[[ConnectorJob, str], Awaitable[Any]]
"""Finds the tools of an ad-hoc sub-process in the definition of a job. Raises AgentError, ConnectorError."""


async def answer_task(call: Call, models: Models, find: FindElements) -> dict[str, Any]:
    """The response of an agent that is a task. Raises AgentError, ConnectorError."""
    data = call.inputs.get("data")
    container = text(data, "tools.containerElementId").strip()
    elements = await find(call.job, container) if container else []
    inputs = read_inputs(elements, get(data, "context"), get(data, "tools.toolCallResults"), data)
    step = begin(inputs, of_job(call.job), waits=False)
    if isinstance(step, WaitForResults):
        raise AgentError(INVALID_INPUT, "data.tools.toolCallResults has not the results of all calls")
    return task_response(await ask_until_done(step, call, models), inputs)


class AgentTask(ModelUser):
    """Works the jobs of agents whose process makes the calls of tools itself, and then comes back."""

    def __init__(self, around: Surroundings) -> None:
        super().__init__(around)
        self._around = around

    async def answer(self, call: Call) -> dict[str, Any]:
        """The response, with the context and the calls to make. Raises ConnectorError."""
        with raising_connector_errors():
            find = partial(_elements, self._around)
            made = await answer_task(await opened(call, CONTEXT, self._documents), self, find)
            return dict(await closed(made, call, CONTEXT, self._documents))


class ToolsSchema:
    """Works the jobs that read tools."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around

    async def answer(self, call: Call) -> dict[str, Any]:
        """The definitions of the tools. Raises ConnectorError."""
        with raising_connector_errors():
            container = text(call.inputs.get("data"), "containerElementId").strip()
            elements = await _elements(self._around, call.job, container)
            gateways = table.described(elements)
            more = {"gatewayToolDefinitions": gateways} if gateways else {}
            return {"toolDefinitions": built(tools_of(elements)), **more}


async def _elements(around: Surroundings, job: ConnectorJob, container: str) -> Any:
    """The elements of an ad-hoc sub-process in the definition of the job. Raises AgentError, ConnectorError."""
    find = around.parts.definition
    process = None if find is None else await find(job.tenant_id, int(job.process_definition_key))
    if process is None:
        raise ConnectorError("DEFINITION_UNAVAILABLE", "the process definition of the job cannot be read now")
    return tools_in(process, container)


def tools_in(process: Process, container: str) -> Any:
    """The tools of an ad-hoc sub-process. Raises AgentError if the process has none of this id."""
    node = process.nodes.get(container)
    if node is None or node.ad_hoc is None:
        raise AgentError(NOT_FOUND, f"the process has no ad-hoc sub-process '{container}'")
    return node.presets[ELEMENTS_VARIABLE]
