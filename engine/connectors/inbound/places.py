"""Elements of models with inbound connectors that receivers work, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vivero.core.bpmn.model import Node, Process
from vivero.core.bpmn.reading.secret_references import named_in
from vivero.core.feel import FeelError
from vivero.engine.connectors.contents import INBOUND_BY_TYPE
from vivero.engine.connectors.contract import InboundContract
from vivero.engine.connectors.inbound.elements import (
    EVENT_EXPRESSIONS,
    INBOUND_TYPE,
    InboundElement,
    message_of,
    problems_of_place,
    problems_of_values,
)
from vivero.engine.connectors.work.results import compiled


def elements_of(process: Process) -> Iterator[tuple[InboundContract, InboundElement]]:
    """The elements of a process that receivers work. Those with problems are left out."""
    for node, contract in _nodes(process):
        if not any(_problems(node, contract)):
            yield contract, InboundElement(node.id, message_of(node), node.properties)


def problems(resource: str, processes: Iterable[Process]) -> Iterator[str]:
    """The problems of such elements."""
    for process in processes:
        for node, contract in _nodes(process):
            for problem in _problems(node, contract):
                yield f"'{resource}' element '{node.id}': {problem}"


def _nodes(process: Process) -> Iterator[tuple[Node, InboundContract]]:
    for node in process.nodes.values():
        contract = INBOUND_BY_TYPE.get(node.properties.get(INBOUND_TYPE, "").strip())
        if contract is not None:
            yield node, contract


def _problems(node: Node, contract: InboundContract) -> Iterator[str]:
    named = f"the inbound connector {contract.name}"
    if not contract.starts and node.type == "START_EVENT":
        yield f"{named} needs an event that waits, or a receive task"
    elif not contract.per_wait:
        yield from problems_of_place(node, named, node.properties)
    elif message_of(node) is None:
        yield f"{named} needs an event with a message, or a receive task"
    element = InboundElement(node.id, None, node.properties)
    yield from problems_of_values(element, EVENT_EXPRESSIONS)
    for name in EVENT_EXPRESSIONS:
        if named_in([element.get(name)]):
            yield f"the property {name} names a secret, but only inputs get secrets: it would see the reference"
    for each in contract.inputs:
        text = element.get(each.name)
        if each.required and not text:
            yield f"the property {each.name} is missing"
        if text and each.choices and not text.startswith("=") and text.lower() not in map(str.lower, each.choices):
            yield f"the property {each.name} must be one of {', '.join(each.choices)}"
    for name, text in element.properties.items():
        try:
            compiled(text if text.strip().startswith("=") else "=null")
        except FeelError as error:
            if name not in EVENT_EXPRESSIONS:
                yield f"the property {name} is not a valid expression: {error}"
