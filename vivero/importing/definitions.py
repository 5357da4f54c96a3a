"""The definitions of an import: their models, and the definitions here that have the same model.

All versions of a process come along in their order, so that the latest one stays the latest. Nothing is deployed if
that would make an earlier version the latest one, or start instances by a timer.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import trio

from vivero.client.rest import Client, Document, path_part
from vivero.core.bpmn.model import CalledDecision, CalledElement, FormReference, Process, TimerEvent, parts_of
from vivero.core.bpmn.parser import parse
from vivero.importing.calls import count, found, patiently

MAX_MODELS = 50
"""Models in memory."""
MAX_VERSIONS = 1000


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition of the source. `here`: the key of the one here with the same model, if it is there."""

    process: Process | None
    here: str | None = None
    reason: str | None = None
    """The reason why its instances stay."""


class Definitions:
    """The definitions that instances need, found once for each process. `deploys`: deploy what is not here."""

    def __init__(self, source: Client, target: Client, *, deploys: bool) -> None:
        self._source, self._target, self._deploys = source, target, deploys
        self._one_at_a_time = trio.Lock()
        self._models: OrderedDict[str, tuple[Process | None, str | None]] = OrderedDict()
        self._here: dict[tuple[str, str], tuple[dict[str, str], str | None]] = {}
        """(tenant, process id) → (key in the source → key here, reason why the others cannot come)."""

    async def of(self, instance: Document) -> Definition:
        """The definition of an instance. Raises ClientError."""
        async with self._one_at_a_time:  # others wait for what one of them deploys
            return await self._of(instance)

    async def _of(self, instance: Document) -> Definition:
        key = instance["processDefinitionKey"]
        process, problem = await self._model(instance)
        if process is None:
            return Definition(None, None, problem)
        place = instance["tenantId"], instance["processDefinitionId"]
        if place not in self._here:
            self._here[place] = await self._match(*place)
        known, reason = self._here[place]
        if key in known:
            return Definition(process, known[key])
        return Definition(process, None, reason)

    async def _model(self, instance: Document) -> tuple[Process | None, str | None]:
        key = instance["processDefinitionKey"]
        if key not in self._models:
            self._models[key] = _read(await _xml(self._source, key), instance["processDefinitionId"])
            while len(self._models) > MAX_MODELS:
                self._models.popitem(last=False)
        self._models.move_to_end(key)
        return self._models[key]

    async def _match(self, tenant: str, process_id: str) -> tuple[dict[str, str], str | None]:
        there = await _versions(self._source, tenant, process_id)
        here = await _versions(self._target, tenant, process_id)
        models = {key: await _digest(self._source, key) for key in (one["processDefinitionKey"] for one in there)}
        known: dict[str, str] = {}
        for key in (one["processDefinitionKey"] for one in here):
            digest = await _digest(self._target, key)
            known |= {other: key for other, model in models.items() if model == digest}
        missing = [one for one in there if one["processDefinitionKey"] not in known]
        reason = await self._why_not(there, here, missing) if missing else None
        if reason is None and self._deploys:
            for one in missing:
                known[one["processDefinitionKey"]] = await self._deploy(one)
        return known, reason

    async def _why_not(
        self, there: Sequence[Document], here: Sequence[Document], missing: Sequence[Document]
    ) -> str | None:
        """The reason why the missing versions cannot be deployed behind those that are here."""
        id, before = missing[0]["processDefinitionId"], len(there) - len(missing)
        if len(there) >= MAX_VERSIONS:
            return f"'{id}' has {MAX_VERSIONS:,} versions or more: deploy those that matter"
        if list(there[before:]) != list(missing) or len(here) > before:
            versions = ", ".join(str(one["version"]) for one in missing)
            return f"other versions of '{id}' are here, but not {versions}: deploy them in the order that you want"
        for one in missing:
            process, problem = _read(await _xml(self._source, one["processDefinitionKey"]), id)
            problem = problem if process is None else await self._unfit(process, one["tenantId"])
            if problem is not None:
                return problem
        return None

    async def _unfit(self, process: Process, tenant: str) -> str | None:
        """The reason why a model is not deployed: what it starts by itself, or what it needs."""
        starts = [node for node in process.nodes.values() if node.type == "START_EVENT" and node.scope == process.id]
        if any(isinstance(part, TimerEvent) for node in starts for part in parts_of(node.event)):
            return f"a timer starts '{process.id}', there and here: deploy it when nothing starts there any more"
        if process.binds_by_deployment:
            return f"'{process.id}' binds to files of its deployment: deploy them together"
        for resource, field, id in sorted(_needs(process)):
            if not await count(self._target, resource, {field: id, "tenantId": tenant}):
                return f"'{process.id}' needs {field} '{id}', which is not here: deploy it first"
        return None

    async def _deploy(self, definition: Document) -> str:
        model = await _xml(self._source, definition["processDefinitionKey"])
        name = definition.get("resourceName") or f"{definition['processDefinitionId']}.bpmn"
        data = {} if definition["tenantId"] == "<default>" else {"tenantId": definition["tenantId"]}
        parts = [("resources", (name, model.encode(), "application/octet-stream"))]
        answer = await patiently(lambda: self._target.request("POST", "/v2/deployments", files=parts, data=data))
        for one in answer.document["deployments"]:
            made = one.get("processDefinition")
            if made is not None and made["processDefinitionId"] == definition["processDefinitionId"]:
                key: str = made["processDefinitionKey"]
                return key
        raise AssertionError("a deployment answers with the process that it has")


def _needs(process: Process) -> set[tuple[str, str, str]]:
    """The references of a model by constant ids: the search, its field, and the id."""
    named = set()
    for one in (reference for node in process.nodes.values() for reference in node.references):
        if isinstance(one, CalledElement):
            named.add(("process-definitions", "processDefinitionId", one.process_id))
        elif isinstance(one, CalledDecision):
            named.add(("decision-definitions", "decisionDefinitionId", one.decision_id))
        elif isinstance(one, FormReference):
            named.add(("forms", "formId", one.form_id))
    ids = {(resource, field, str(id.static_value)) for resource, field, id in named if id.is_static}
    return {one for one in ids if one[2] != process.id}


def _read(xml: str, process_id: str) -> tuple[Process | None, str | None]:
    parsed = parse(xml.encode(), f"{process_id}.bpmn")
    if parsed.deployment_problems:
        return None, f"its model cannot be deployed here: {parsed.deployment_problems[0]}"
    process = next((one for one in parsed.processes if one.id == process_id), None)
    return process, None if process is not None else f"its model has no process '{process_id}'"


async def _xml(client: Client, key: str) -> str:
    return await patiently(lambda: client.text(f"/v2/process-definitions/{path_part(key)}/xml"))


async def _digest(client: Client, key: str) -> bytes:
    return sha256((await _xml(client, key)).encode()).digest()


async def _versions(client: Client, tenant: str, process_id: str) -> list[Document]:
    """The versions of a process, the earliest first."""
    filter = {"processDefinitionId": process_id, "tenantId": tenant}
    return (await found(client, "process-definitions", filter, MAX_VERSIONS, sort="version"))[0]
