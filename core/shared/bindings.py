"""The version that a reference by id means: of a called process, a form, a called decision, and a linked
resource."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from vivero.core.state.catalogue import DecisionVersion, Definition, FormVersion, GenericResourceVersion

V = TypeVar("V", Definition, FormVersion, GenericResourceVersion, DecisionVersion)


def bound(
    versions: Iterable[V], binding: str, version_tag: str | None = None, caller: Definition | None = None
) -> V | None:
    """The highest active version that fits the binding; None if there is none.

    `latest` fits every version, `deployment` those of the deployment of the process that refers to them (`caller`),
    `versionTag` those with the tag.
    """
    candidates = [version for version in versions if version.state == "ACTIVE"]
    if binding == "deployment":
        candidates = [one for one in candidates if caller is not None and one.deployment == caller.deployment]
    elif binding == "versionTag":
        candidates = [one for one in candidates if one.version_tag == version_tag]
    return max(candidates, key=lambda one: one.version, default=None)


def not_bound(verb: str, what: str, id: str, binding: str, version_tag: str | None) -> str:
    """The message of an incident: `verb` is what was to be done with the deployed `what`, and no version fits."""
    expected = f"Expected to {verb} a {what} with id '{id}'"
    if binding == "deployment":
        return f"{expected} in the deployment of the process, but it has none. Deploy the process with the {what}."
    if binding == "versionTag":
        expected += f" and version tag '{version_tag}'"
    return f"{expected}, but none is found. Deploy it, and resolve the incident."
