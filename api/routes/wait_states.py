"""Wait states: what element instances wait for."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec

from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response
from vivero.api.search.search_requests import answer
from vivero.api.services import DefinitionStore, Services
from vivero.core.bpmn.model import ConditionalEvent, Process, parts_of
from vivero.core.shared.catchers import event_node
from vivero.engine.definitions.cache import UnreadableResource
from vivero.storage.search.wait_states import WAIT_STATES

_CONDITION = b'"CONDITION"'
_decode = msgspec.json.Decoder().decode


async def search(request: Request, services: Services) -> Response:
    """POST /v2/element-instances/wait-states/search: one for each job, user task, timer and subscription."""
    found = await answer(request, services, WAIT_STATES)
    if _CONDITION not in found.body:
        return found
    document = _decode(found.body)
    for item in document["items"]:
        if item["details"]["waitStateType"] == "CONDITION":
            item["details"] = await _condition(services.files.definitions, item)
    return json_response(document)


async def _condition(definitions: DefinitionStore, item: dict[str, Any]) -> dict[str, Any]:
    """The condition, which is in the model. It is empty if this version cannot read the model any more."""
    details, event = item["details"], None
    with suppress(UnreadableResource):  # the instance waits all the same
        process = await definitions.process(item["tenantId"], int(details["processDefinitionKey"]))
        event = None if process is None else _event(process, details["elementId"])
    return {
        "waitStateType": "CONDITION",
        "expression": "" if event is None else f"={event.condition.text.removeprefix('=')}",
        "events": [] if event is None else sorted(event.changes),
    }


def _event(process: Process, element: str) -> ConditionalEvent | None:
    """The conditional event of a node, or of the start event of an event sub-process."""
    node = process.nodes.get(element)
    events = () if node is None else parts_of(event_node(node, process).event)
    return next((event for event in events if isinstance(event, ConditionalEvent)), None)
