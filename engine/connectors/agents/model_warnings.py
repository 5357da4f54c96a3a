"""Warnings about agents in models: tools that a model cannot use well, and secrets in prompts (docs/agents.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vivero.core.agents.tools import alias, is_gateway
from vivero.core.bpmn.elements.ad_hoc import AI_FUNCTION, ELEMENTS_VARIABLE
from vivero.core.bpmn.elements.approvals import TOOL_RESULT
from vivero.core.bpmn.model import Node, NodeId, Process
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.secret_references import REFERENCE
from vivero.engine.connectors.contracts.agents import AGENT, AGENT_TASK

PROMPTS = ("data.systemPrompt.", "data.userPrompt.")


def of_agent(node: Node, type: str, process: Process) -> Iterator[tuple[Node, str]]:
    """The warnings about an agent whose job has this type, with the element of each."""
    if type not in (*AGENT.types, *AGENT_TASK.types):
        return
    for mapping in node.inputs:
        name = ".".join(mapping.target)
        if name.startswith(PROMPTS) and REFERENCE.search(mapping.source.text):
            yield node, f"the input {name} refers to a secret, which stays text: a model never gets secrets"
    if node.ad_hoc is not None:
        for id, said in _described(node).items():
            yield from ((process.nodes[id], text) for text in _of_tool(process.nodes[id], said))
        for inner in _inside(node.id, process):
            if inner.id not in node.ad_hoc.activatable and _asks_model(inner):
                text = f"{AI_FUNCTION} declares a parameter in the first element of a tool only"
                yield inner, f"{text}: here the model is not asked"


def _described(node: Node) -> Mapping[NodeId, bool]:
    """The tools, and whether each has a documentation. Gateways describe their own tools."""
    tools = [one for one in node.presets[ELEMENTS_VARIABLE] if not is_gateway(one)]
    return {one["elementId"]: bool(one.get("documentation")) for one in tools}


def _of_tool(tool: Node, is_described: bool) -> Iterator[str]:
    if not is_described:
        yield "this tool has no documentation, by which a model knows when to use it"
    if alias(tool.id) != tool.id:
        text = "providers take letters, digits, '_' and '-', and at most 64 of them"
        yield f"the model sees this tool as {quote(alias(tool.id))}: {text}"
    script = tool.script
    writes = (
        script is None or script.result == TOOL_RESULT or any(mapping.root == TOOL_RESULT for mapping in tool.outputs)
    )
    if not writes and not tool.outgoing:
        yield f"this tool gives no result: nothing in it sets the variable {TOOL_RESULT}"


def _asks_model(node: Node) -> bool:
    return any(f"{AI_FUNCTION}(" in mapping.source.text for mapping in node.inputs)


def _inside(scope: NodeId, process: Process) -> Iterator[Node]:
    """All elements in a scope, at any depth."""
    for node in process.nodes.values():
        above = node.scope
        while above is not None and above != scope:
            above = process.nodes[above].scope
        if above == scope:
            yield node
