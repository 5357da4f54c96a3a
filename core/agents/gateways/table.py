"""All gateways of an agent: which elements they are, their tools, and the calls that go to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from vivero.core.agents.errors import UNSUPPORTED, AgentError
from vivero.core.agents.gateways import a2a, mcp
from vivero.core.agents.memory.context import ToolCall, ToolCallResult, ToolDefinition
from vivero.core.agents.results import GivenResult, result_of
from vivero.core.bpmn.elements.approvals import GATEWAY


@dataclass(frozen=True, slots=True)
class Gateways:
    """The ids of the elements, by kind."""

    mcp: Sequence[str] = ()
    a2a: Sequence[str] = ()

    def __bool__(self) -> bool:
        return bool(self.mcp or self.a2a)

    @property
    def ids(self) -> list[str]:
        return [*self.mcp, *self.a2a]

    @property
    def properties(self) -> dict[str, list[str]]:
        """The properties of a context that has the tools of these gateways."""
        found = {mcp.CLIENTS: list(self.mcp), a2a.CLIENTS: list(self.a2a)}
        return {name: ids for name, ids in found.items() if ids}

    def has_same(self, other: Gateways) -> bool:
        """Whether both have the same elements, in any order."""
        return (set(self.mcp), set(self.a2a)) == (set(other.mcp), set(other.a2a))


def gateways_in(properties: Mapping[str, Any]) -> Gateways:
    """The gateways whose tools a context with these properties has."""
    given = (properties.get(name) for name in (mcp.CLIENTS, a2a.CLIENTS))
    return Gateways(*([str(id) for id in ids] if isinstance(ids, list) else [] for ids in given))


def gateways_of(elements: Any) -> Gateways:
    """The gateways in a list of elements. Raises AgentError that names the element."""
    found: dict[str, list[str]] = {mcp.KIND: [], a2a.KIND: []}
    for element in elements if isinstance(elements, list) else ():
        kind = _kind(element)
        if kind is None:
            continue
        id = str(element.get("elementId"))
        if kind not in found:
            raise AgentError(UNSUPPORTED, f"the tool '{id}' is a gateway of type '{kind}', which is not supported")
        if kind == mcp.KIND and mcp.SEPARATOR in id:
            raise AgentError(mcp.INVALID, f"the id '{id}' of a gateway must not contain '{mcp.SEPARATOR}'")
        found[kind].append(id)
    return Gateways(found[mcp.KIND], found[a2a.KIND])


def _kind(element: Any) -> Any:
    return (element.get("properties") or {}).get(GATEWAY) if isinstance(element, dict) else None


def described(elements: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The gateways in a list of elements, as `gatewayToolDefinitions` has them. Raises AgentError."""
    ids = gateways_of(elements).ids
    return [
        {
            "type": _kind(element),
            "name": id,
            "description": element.get("documentation") or element.get("elementName") or id,
        }
        for element in elements
        if (id := str(element.get("elementId"))) in ids
    ]


def discovery_calls(gateways: Gateways) -> list[ToolCall]:
    """The calls that ask gateways for their tools."""
    return [*mcp.discovery_calls(gateways.mcp), *map(a2a.discovery_call, gateways.a2a)]


def is_discovery(result: GivenResult) -> bool:
    """Whether it is the result of a call that asked for tools."""
    return mcp.is_discovery(result) or a2a.is_discovery(result)


def discovered(gateways: Gateways, results: Sequence[GivenResult]) -> list[ToolDefinition] | None:
    """The tools of all gateways. None: results are missing. Raises AgentError that names the gateway."""
    given = {result.id: result.value for result in results}
    if any(call.id not in given for call in discovery_calls(gateways)):
        return None
    of_agents = [a2a.tool_of(id, given[a2a.discovery_call(id).id]) for id in gateways.a2a]
    return [*(mcp.discovered(gateways.mcp, results) or ()), *of_agents]


def gateway_of(name: str, gateways: Gateways) -> str | None:
    """The gateway whose tool a name means. None: it is no tool of a gateway."""
    found = mcp.route(name, gateways.mcp)
    return a2a.route(name, gateways.a2a) if found is None else found[0]


def routed(calls: Iterable[ToolCall], gateways: Gateways) -> list[ToolCall]:
    """The calls as their elements get them: that of a gateway has the request in its arguments."""
    return [_routed(call, gateways) for call in calls]


def _routed(call: ToolCall, gateways: Gateways) -> ToolCall:
    agent = a2a.route(call.name, gateways.a2a)
    return mcp.routed(call, gateways.mcp) if agent is None else a2a.routed(call, agent)


def read_result(call: ToolCall, given: GivenResult, gateways: Gateways, note: str) -> ToolCallResult:
    """The result of a call, whoever has the tool. `note`: what a model reads if there is none."""
    if (found := mcp.route(call.name, gateways.mcp)) is not None:
        return mcp.gateway_result(call, given, found[0], note)
    made = result_of(call, given)
    return msgspec.structs.replace(made, element_id=a2a.route(call.name, gateways.a2a) or made.element_id)
