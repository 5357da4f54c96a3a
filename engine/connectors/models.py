"""Finds connectors in models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vivero.core.bpmn.model import Node, Process
from vivero.core.bpmn.reading.report import quote
from vivero.core.feel import Expression
from vivero.engine.connectors.jobs import HTTP_JSON

WEBHOOK = "io.camunda:webhook:1"
INBOUND_TYPE = "inbound.type"
INBOUND = "inbound."
"""The beginning of the properties of inbound connectors."""
TYPES = (HTTP_JSON, WEBHOOK)
FAMILY = "io.camunda:"
"""The beginnings of the types of Camunda's connectors."""


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
            if (text := _without_connector(node)) is not None:
                yield f"'{resource}'{f' line {node.line}' if node.line else ''} element '{node.id}': {text}"


def _without_connector(node: Node) -> str | None:
    """The problem of an element that asks for a connector that Vivero does not have."""
    inbound = node.properties.get(INBOUND_TYPE, "").strip()
    if inbound and inbound != WEBHOOK:
        return (
            f"Vivero has no inbound connector {quote(inbound)}, so nothing comes in here: let a program of your own"
            " start the process or publish the message"
        )
    if not inbound and any(name.startswith(INBOUND) for name in node.properties):
        return f"its properties {INBOUND}… have no effect without {INBOUND_TYPE}"
    type = "" if node.job is None else _static(node.job.type)
    if type.startswith(FAMILY) and type not in TYPES:
        return f"Vivero has no connector {quote(type)}: run a worker for its jobs"
    return None


def uses(process: Process) -> Iterator[tuple[str, str]]:
    """The elements of a process that use connectors of this program, with the types of these."""
    for node in process.nodes.values():
        type = node.properties.get(INBOUND_TYPE) if node.job is None else _static(node.job.type)
        if type in TYPES:
            yield node.id, type


def _static(expression: Expression) -> str:
    return str(expression.static_value) if expression.is_static else ""
