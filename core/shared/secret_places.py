"""The places of secrets in the inputs of a connector's job, as its model's author wrote them.

Data that is joined to a reference, or replaces it, may look like one. Only the places that the marked sources of the
mappings give (`core.bpmn.reading.secret_references`) are replaced by secrets, and only as long as the
variable is unchanged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace

import msgspec

from vivero.core.bpmn.model import Mapping
from vivero.core.bpmn.reading.secret_references import unmarked
from vivero.core.feel import EvaluationError, to_json
from vivero.core.records.effects import Fail, IncidentType
from vivero.core.shared.mappings import input_values
from vivero.core.state.instance_tree import Element
from vivero.core.view import View

FAMILY = ("io.camunda:", "io.camunda.agenticai:")
"""The beginnings of the job types whose inputs may get secrets: those of connectors."""
HEADER = "vivero:secretPlaces"
"""The custom header of a job with the places. No data reaches the headers of these jobs."""


class Places(msgspec.Struct, frozen=True, array_like=True):
    """The places in one variable: where references begin and end in its JSON text, which has this SHA-256."""

    sha256: str
    places: list[tuple[int, int]]


NOWHERE = Places("", [])
Header = dict[str, Places | None]
"""Places by variable. None: its value is not the one that its mapping gives, so that nothing is replaced in it."""


def headers(element: Element, type: str, view: View) -> dict[str, str]:
    """The header for a job of this type."""
    if not type.startswith(FAMILY):
        return {}
    roots = {mapping.root for mapping in view.node(element).inputs if mapping.marked is not None}
    if not roots:
        return {}
    return {HEADER: msgspec.json.encode(dict(_places(element, roots, view))).decode()}


def _places(element: Element, roots: set[str], view: View) -> Iterator[tuple[str, Places | None]]:
    """The mappings are evaluated once more, from what their sources saw. A listener may have changed that since.

    A mapping without a reference may read the target of one that has one, so it may have places, too. If it has none,
    its variable is data, which may have changed."""
    try:
        values = input_values(map(_marked, view.node(element).inputs), element, element.seen_next(), view)
    except Fail:
        values = {}
    for root in sorted(roots | values.keys()):
        places = _places_in(element, root, values[root], root in roots, view) if root in values else None
        if places is not NOWHERE:
            yield root, places


def _marked(mapping: Mapping) -> Mapping:
    return mapping if mapping.marked is None else replace(mapping, source=mapping.marked)


def _places_in(element: Element, root: str, value: object, is_written: bool, view: View) -> Places | None:
    """The places in a variable. `is_written`: a mapping into it has a reference."""
    variable = element.variables.get(root)
    try:
        text, places = unmarked(view.expressions.json_of(value, IncidentType.IO_MAPPING_ERROR), to_json)
    except (Fail, EvaluationError):
        return None
    if not (places or is_written):
        return NOWHERE
    if variable is None or variable.value != text:
        return None
    return Places(digest(text), places)


def digest(text: str) -> str:
    """The SHA-256 of a variable's JSON text."""
    return hashlib.sha256(text.encode()).hexdigest()
