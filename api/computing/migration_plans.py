"""Suggested mappings between two stored models. A compute process imports this module, and little else."""

from __future__ import annotations

from typing import NamedTuple

from vivero.core.bpmn.model import Process
from vivero.core.bpmn.parser import parse
from vivero.core.migration.suggestions import Suggestion, suggest

Source = tuple[str, bytes]
"""The id of a process, and the file that defines it."""


class Outlined(NamedTuple):
    """An element of the source, or a sequence flow into a join that needs a mapping; without a target, unmapped."""

    id: str
    name: str | None
    type: str
    target: str | None
    reason: str | None


def outline(source: Source, target: Source) -> list[Outlined] | None:
    """All elements of the source with their suggested targets; None if a model cannot be read any more."""
    one, other = _model(source), _model(target)
    if one is None or other is None:
        return None
    mappings, unmapped = suggest(one, other)
    found = {suggestion.source: suggestion for suggestion in mappings}
    nodes = [(id, node.name, node.type) for id, node in one.nodes.items() if id in found or id in unmapped]
    flows = [(id, None, "SEQUENCE_FLOW") for id in found if id in one.flows]
    return [Outlined(*row, *_mapped(found.get(row[0]))) for row in (*nodes, *flows)]


def _mapped(suggestion: Suggestion | None) -> tuple[str | None, str | None]:
    return (None, None) if suggestion is None else (suggestion.target, str(suggestion.reason))


def _model(source: Source) -> Process | None:
    id, content = source
    parsed = parse(content, id)
    return next((process for process in parsed.processes if process.id == id), None)
