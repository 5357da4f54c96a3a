"""Pairs of elements in requests: the source and the target of mappings, and of the moves of a batch."""

from __future__ import annotations

from collections.abc import Sequence

from vivero.api.http.decoding import Body, Violations

MAX_ID = 1000


class ElementPair(Body, frozen=True):
    source_element_id: str | None = None
    target_element_id: str | None = None


def pairs_of(given: Sequence[ElementPair], name: str, found: Violations) -> tuple[tuple[str, str], ...]:
    """The (source, target) ids of the pairs in the property `name`. Adds to `found` the violations of ids."""
    if not all(one.source_element_id and one.target_element_id for one in given):
        found.add(f"[sourceElementId, targetElementId] are required in {name}")
    for one in given:
        found.longest("sourceElementId", one.source_element_id, MAX_ID)
        found.longest("targetElementId", one.target_element_id, MAX_ID)
    return tuple((one.source_element_id or "", one.target_element_id or "") for one in given)
