"""A job of a snapshot with its element, its process, and the variables that it sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from vivero.core.snapshots.format import ElementEntry, JobEntry, Snapshot


@dataclass(frozen=True, slots=True)
class JobPlace:
    """`seen`: JSON texts, with all digits of their numbers."""

    job: JobEntry
    element: ElementEntry
    process: ElementEntry
    seen: Mapping[str, msgspec.Raw]


def place_of(snapshot: Snapshot, key: int) -> JobPlace:
    """The place of an open job."""
    elements = {entry.key: entry for entry in snapshot.elements}
    job = next(entry for entry in snapshot.jobs if entry.key == str(key))
    scopes = [elements[job.element_key]]
    while scopes[-1].process is None and scopes[-1].scope_key is not None:
        scopes.append(elements[scopes[-1].scope_key])
    places = [scope.key for scope in scopes]
    outer_first = sorted(
        (one for one in snapshot.variables if one.scope_key in places), key=lambda one: -places.index(one.scope_key)
    )
    seen = {one.name: msgspec.Raw(one.value) for one in outer_first}
    return JobPlace(job, scopes[0], scopes[-1], seen)
