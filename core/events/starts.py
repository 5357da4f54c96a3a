"""Metadata of a process for the catalogue: its start events that wait for an event, and its start form."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from vivero.core.bpmn.model import Node, Process, parts_of
from vivero.core.events.behaviour import InvalidStart as InvalidStart
from vivero.core.events.table import EVENT_BEHAVIOURS
from vivero.core.records.catalogue import ProcessMetadata, StartFormMetadata, StartMetadata


def metadata_of(process: Process) -> ProcessMetadata:
    """The metadata of a process.

    Raises:
        InvalidStart: a start event cannot be evaluated.
    """
    starts = tuple(starts_of(process))
    return ProcessMetadata(
        process.id,
        process.name,
        process.version_tag,
        starts,
        _start_form(process),
        process.retention_ms,
        process.binds_by_deployment,
    )


def _start_form(process: Process) -> StartFormMetadata | None:
    form = None if process.root.start is None else process.nodes[process.root.start].start_form
    if form is None:
        return None
    return StartFormMetadata(str(form.form_id.static_value), form.binding, form.version_tag)


TOOL = "io.camunda.tool:"
"""The prefix of the properties that describe a start event as a tool of agents."""
TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}", re.ASCII)
"""The names of tools, which clients of the Model Context Protocol understand."""
_TOLD = (TOOL, "inbound.type")
"""The beginnings of the names of properties that the catalogue shows."""


def _told(node: Node) -> dict[str, str] | None:
    return {name: text for name, text in node.properties.items() if name.startswith(_TOLD)} or None


def starts_of(process: Process) -> Iterator[StartMetadata]:
    """Evaluate the names of start events without variables, as there is no instance yet. Raises like `metadata_of`."""
    for node in process.nodes.values():
        if node.starts_process or (node.type == "START_EVENT" and node.scope == process.id):
            for event in parts_of(node.event):
                start = EVENT_BEHAVIOURS[type(event)].start
                if start is not None:
                    found = start(node.id, event)
                    together, properties = node.awaits_all or bool(node.awaited_beside), _told(node)
                    usual = not together and properties is None
                    yield found if usual else replace(found, together=together, properties=properties)
