"""Where models use connectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vivero.engine.bpmn.model import Process
from vivero.engine.connectors.http_json import HTTP_JSON
from vivero.engine.feel import Expression

WEBHOOK = "io.camunda:webhook:1"
INBOUND_TYPE = "inbound.type"
TYPES = (HTTP_JSON, WEBHOOK)


def warnings(resource: str, processes: Iterable[Process]) -> Iterator[str]:
    """A warning for each element with a connector, for a program in which connectors are disabled."""
    for process in processes:
        for element, type in uses(process):
            yield (
                f"'{resource}' element '{element}': it uses the connector {type}, but connectors are disabled: set "
                "connectors.enabled, or run a worker for its jobs"
            )


def uses(process: Process) -> Iterator[tuple[str, str]]:
    """The elements of a process that use connectors of this program, with the types of these."""
    for node in process.nodes.values():
        type = node.properties.get(INBOUND_TYPE) if node.job is None else _static(node.job.type)
        if type in TYPES:
            yield node.id, type


def _static(expression: Expression) -> str:
    return str(expression.static_value) if expression.is_static else ""
