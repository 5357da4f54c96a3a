"""Finds connectors in models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vivero.core.bpmn.model import Node, Process
from vivero.core.bpmn.reading.report import quote
from vivero.core.feel import Expression
from vivero.core.shared.secret_places import FAMILY
from vivero.engine.connectors.agents.model_warnings import of_agent
from vivero.engine.connectors.contents import BY_TYPE, INBOUND_BY_TYPE
from vivero.engine.connectors.contract import Contract
from vivero.engine.connectors.inbound.elements import INBOUND_TYPE
from vivero.engine.connectors.inbound.webhooks import WEBHOOKS

INBOUND = "inbound."
"""The beginning of the properties of inbound connectors."""


def warnings(resource: str, processes: Iterable[Process], enabled: bool) -> Iterator[str]:
    """A warning for each element with a connector that this program does not run."""
    for process in processes:
        for element, type in uses(process):
            if not enabled:
                yield (
                    f"'{resource}' element '{element}': it uses the connector {type}, but connectors are disabled: set "
                    "connectors.enabled, or run a worker for its jobs"
                )
        for node in process.nodes.values():
            type = "" if node.job is None else _static(node.job.type)
            texts = [*((node, text) for text in _problems(node)), *of_agent(node, type, process)]
            for one, text in texts:
                yield f"'{resource}'{f' line {one.line}' if one.line else ''} element '{one.id}': {text}"


def _problems(node: Node) -> Iterator[str]:
    """The problems of an element that asks for a connector that Vivero does not have."""
    inbound = node.properties.get(INBOUND_TYPE, "").strip()
    served = INBOUND_BY_TYPE.get(inbound)
    if served is not None and not served.is_installed:
        yield (
            f"the inbound connector {quote(inbound)} needs packages that are not installed here: pip install"
            f" 'vivero[{served.extra}]'"
        )
    elif inbound and inbound not in WEBHOOKS and served is None:
        yield (
            f"Vivero has no inbound connector {quote(inbound)}, so nothing comes in here: let a program of your own"
            " start the process or publish the message"
        )
    elif not inbound and any(name.startswith(INBOUND) for name in node.properties):
        yield f"its properties {INBOUND}… have no effect without {INBOUND_TYPE}"
    type = "" if node.job is None else _static(node.job.type)
    contract = BY_TYPE.get(type)
    if contract is not None and not contract.is_installed:
        yield (
            f"the connector {quote(type)} needs packages that are not installed here: pip install"
            f" 'vivero[{contract.extra}]', or run a worker for its jobs"
        )
    elif contract is None and type.startswith(FAMILY):
        yield f"Vivero has no connector {quote(type)}: run a worker for its jobs"
    if contract is not None:
        yield from _wrong_choices(node, contract)


def _wrong_choices(node: Node, contract: Contract) -> Iterator[str]:
    """The inputs whose value in the model is none that the connector takes. Each job would fail."""
    for mapping in node.inputs:
        name = ".".join(mapping.target)
        choices = contract.by_name[name].choices if name in contract.by_name else ()
        value = str(_static(mapping.source)).strip()
        if choices and value and value.lower() not in map(str.lower, choices):
            yield f"the input {name} is {quote(value)}, and the connector takes only {', '.join(choices)}"


def uses(process: Process) -> Iterator[tuple[str, str]]:
    """The elements of a process that use connectors of this program, with the types of these."""
    for node in process.nodes.values():
        inbound = node.properties.get(INBOUND_TYPE, "")
        if inbound in WEBHOOKS or inbound in INBOUND_BY_TYPE:
            yield node.id, inbound
        if node.job is not None and (type := _static(node.job.type)) in BY_TYPE:
            yield node.id, type


def _static(expression: Expression) -> str:
    return str(expression.static_value) if expression.is_static and expression.static_value is not None else ""
