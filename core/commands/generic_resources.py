"""Generic resources in deployments and deletions."""

from __future__ import annotations

from vivero.core.records.catalogue import (
    DeployedGenericResource,
    GenericResourceAdded,
    GenericResourceMetadata,
    ResourceReference,
)
from vivero.core.shared.bindings import bound
from vivero.core.state.catalogue import GenericResourceVersion
from vivero.core.view import View


def unchanged(
    resource: ResourceReference, generic: GenericResourceMetadata, view: View
) -> GenericResourceVersion | None:
    """The latest version of the resource if it has the same name and content."""
    newest = bound(view.generic_resource_versions(generic.id).values(), "latest")
    same = newest is not None and (newest.sha256, newest.resource) == (resource.sha256, resource.name)
    return newest if same else None


def deployed(
    resource: ResourceReference,
    generic: GenericResourceMetadata,
    known: GenericResourceVersion | None,
    deployment: int,
    view: View,
) -> tuple[tuple[GenericResourceAdded, ...], DeployedGenericResource]:
    """The events of a new version, and the answer; without events if a `known` version stays."""
    if known is not None:
        return (), _answer(known, resource, view)
    version = max(view.generic_resource_versions(generic.id), default=0) + 1
    id, tag = generic.id, generic.version_tag
    added = GenericResourceAdded(view.key(), deployment, view.tenant, id, version, tag, resource.name, resource.sha256)
    return (added,), _answer(added, resource, view)


def _answer(
    version: GenericResourceVersion | GenericResourceAdded, resource: ResourceReference, view: View
) -> DeployedGenericResource:
    return DeployedGenericResource(version.resource_id, version.version, resource.name, view.tenant, version.key)
