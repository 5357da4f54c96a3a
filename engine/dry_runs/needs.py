"""The needs of a dry run beside the instance tree: rows of the catalogue, and files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vivero.core.dispatch import COMMANDS
from vivero.core.needs import Need, NeedKind
from vivero.core.records.base import Command

ATTEMPTS = 20
"""Copies for one dry run. Each level of called processes takes one more."""
TOO_DEEP = f"it needs more than {ATTEMPTS} parts of the catalogue, one after the other"
OF_CATALOGUE = frozenset(
    (
        *(NeedKind.DEFINITION, NeedKind.FAMILY, NeedKind.FORMS, NeedKind.FORM, NeedKind.REQUIREMENTS),
        *(NeedKind.GENERIC_RESOURCES, NeedKind.GENERIC_RESOURCE),
        *(NeedKind.DECISIONS, NeedKind.DECISION, NeedKind.TASK_LISTENERS, NeedKind.CLUSTER_VARIABLES),
    )
)
"""Needs of these kinds are rows of the catalogue."""
OF_FILES = frozenset((NeedKind.MODEL, NeedKind.DECISION_MODEL))
_LISTENERS = Need(NeedKind.TASK_LISTENERS, None)


def declared(command: Command, tenant: str) -> Iterator[Need]:
    """The needs outside of the tree that are known before."""
    yield _LISTENERS
    yield from (need for need in COMMANDS[type(command)].needs(command, tenant) if need.kind in OF_CATALOGUE)


def leased(command: Command, tenant: str) -> str | None:
    """The reason why nobody knows what the command does, if it depends on a lease; None: it does not."""
    for need in COMMANDS[type(command)].needs(command, tenant):
        if need.kind is NeedKind.LEASE:
            return f"it depends on whether a worker has job '{need.key}', which a dry run does not see"
    return None


def missing(need: Need, known: Iterable[Need]) -> str | None:
    """The reason why another copy would lack this, too; None: it may have it. `known`: what the copy was to have."""
    if need not in known and need.kind in OF_CATALOGUE | OF_FILES:
        return None
    return f"it needs what is not there: {need.kind.name} {need.key}"
