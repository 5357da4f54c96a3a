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
