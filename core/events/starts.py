"""Metadata of a process for the catalogue: its start events that wait for an event, and its start form."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from vivero.core.bpmn.model import Process, parts_of
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


def starts_of(process: Process) -> Iterator[StartMetadata]:
    """Evaluate the names of start events without variables, as there is no instance yet. Raises like `metadata_of`."""
    for node in process.nodes.values():
        if node.starts_process or (node.type == "START_EVENT" and node.scope == process.id):
            for event in parts_of(node.event):
                start = EVENT_BEHAVIOURS[type(event)].start
                if start is not None:
                    found = start(node.id, event)
                    together = node.awaits_all or bool(node.awaited_beside)
                    yield msgspec.structs.replace(found, together=True) if together else found
