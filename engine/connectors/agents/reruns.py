"""Recorded agents, which run again in a sandbox: their requests are compared with the record, or sent to a model.

The ledger is not used: no answer is kept, no call is recorded and no budget is reserved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import trio

from vivero.core.agents.errors import UNSUPPORTED, AgentError
from vivero.core.agents.inputs import AgentInputs, get, read_inputs
from vivero.core.agents.memory.context import DOCUMENT_STORE
from vivero.core.agents.model import ModelAnswer, ModelRequest
from vivero.core.agents.reruns.turns import Turn, turns_of
from vivero.core.agents.wires.providers import Provider, read_provider
from vivero.core.feel import from_json
from vivero.engine.connectors.agent_settings import AgentSettings
from vivero.engine.connectors.agents.files import has_documents
from vivero.engine.connectors.agents.model_calls import check_allowed, prepared, ready, respond
from vivero.engine.connectors.agents.worker import CONTEXT, read_answer
from vivero.engine.connectors.contracts.agents import AGENT
from vivero.engine.connectors.http.http_client import HttpClient
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.connectors.work.jobs import ConnectorJob
from vivero.engine.connectors.work.secrets import UnknownSecret, UsedSecrets
from vivero.storage.reads.agent_calls import AgentRecord

NAMES = ("adHocSubProcessElements", CONTEXT, "toolCallResults", "data")


@dataclass(frozen=True, slots=True)
class RecordedAgent:
    """An agent as its variables show it. `has_secrets`: the connection has all that its model names."""

    inputs: AgentInputs
    provider: Provider
    response: Any
    """The variable `agent`; None: it has not ended."""
    tenant: str
    used: UsedSecrets
    has_secrets: bool

    @property
    def turns(self) -> list[Turn]:
        return turns_of(self.inputs)

    def digest(self, request: ModelRequest) -> str | None:
        """The digest of a request, as calls are recorded with. None: files in it would have to be read."""
        return None if has_documents(request) else prepared(self.provider, request, self.used).digest


def recorded(
    record: AgentRecord, settings: AgentSettings, secrets: Mapping[str, str], model: str | None = None
) -> RecordedAgent:
    """The agent of a record, perhaps with another model. Raises AgentError: it cannot run again here."""
    if record.type not in AGENT.types:
        raise AgentError(UNSUPPORTED, f"the agent '{record.element}' is a task, whose process makes the calls itself")
    texts: dict[str, str] = msgspec.json.decode(record.variables)
    job = ConnectorJob(
        job_key=str(record.job),
        type=record.type,
        element_id=record.element,
        process_definition_key=str(record.definition),
        tenant_id=record.tenant,
        retries=0,
        custom_headers=msgspec.json.decode(record.headers),
        variables=msgspec.Raw(msgspec.json.encode({name: msgspec.Raw(text.encode()) for name, text in texts.items()})),
        job_lease_token="",
    )
    used, has_secrets = UsedSecrets(secrets), True
    try:
        values = used.inputs(job, AGENT.secrets)
    except UnknownSecret:
        has_secrets, values = False, {name: from_json(text) for name, text in texts.items()}
    if (get(values, f"{CONTEXT}.conversation.type") or "") == DOCUMENT_STORE:
        raise AgentError(
            UNSUPPORTED, f"the conversation of '{record.element}' is in documents, which are not read here"
        )
    inputs = read_inputs(*(values.get(name) for name in NAMES))
    given = values.get("provider")
    provider = read_provider(given if model is None else with_model(given, model), settings.openai_base_url)
    return RecordedAgent(inputs, provider, values.get("agent"), record.tenant, used, has_secrets)


def with_model(given: Any, model: str) -> Any:
    """The input `provider` with another model, or another deployment of Azure."""
    type = str(get(given, "type")).strip()
    name = next((name for name in given if name.lower() == type.lower()), type)
    own, field = get(given, name) or {}, "deploymentName" if type.lower() == "azureopenai" else "model"
    return {**given, name: {**own, "model": {**(own.get("model") or {}), field: model}}}


async def ask(
    agent: RecordedAgent, request: ModelRequest, connectors: ConnectorSettings, settings: AgentSettings
) -> ModelAnswer:
    """The answer of the model of an agent. Raises AgentError, ConnectorError."""
    check_allowed(agent.provider, settings, agent.tenant)
    if has_documents(request):
        raise AgentError(UNSUPPORTED, "the request has documents, which are not read here")
    call = prepared(agent.provider, request, agent.used)
    client = HttpClient(replace(connectors, max_call=settings.max_call))
    try:
        return read_answer(await respond(ready(call, settings), client, agent.used), call)
    finally:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + 1):
            await client.aclose()
