"""Decisions in deployments and deletions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vivero.core.needs import Need, NeedKind, Needs
from vivero.core.records.base import Event
from vivero.core.records.catalogue import ResourceReference
from vivero.core.records.decisions import (
    DecisionAdded,
    DecisionDeleted,
    DeployedDecision,
    DeployedRequirements,
    RequirementsAdded,
    RequirementsDeleted,
    RequirementsMetadata,
)
from vivero.core.records.effects import Effects
from vivero.core.shared.bindings import bound
from vivero.core.state.catalogue import DecisionVersion, RequirementsVersion
from vivero.core.view import View


class DeployedFile(NamedTuple):
    """The part of an answer that is about a file of decisions."""

    requirements: DeployedRequirements
    decisions: tuple[DeployedDecision, ...]


def needs(requirements: RequirementsMetadata, tenant: str) -> Needs:
    yield Need(NeedKind.REQUIREMENTS, (tenant, requirements.id))
    for decision in requirements.decisions:
        yield Need(NeedKind.DECISIONS, (tenant, decision.id))


def unchanged(
    resource: ResourceReference, requirements: RequirementsMetadata, view: View
) -> RequirementsVersion | None:
    """The latest version if it has the same name and content, and each of its decisions is the latest one of its id."""
    active = [one for one in view.requirements_versions(requirements.id).values() if one.state == "ACTIVE"]
    newest = max(active, key=lambda one: one.version, default=None)
    if newest is None or (newest.sha256, newest.resource) != (resource.sha256, resource.name):
        return None
    latest = [_latest(decision.id, view) for decision in requirements.decisions]
    return newest if all(one is not None and one.requirements == newest.key for one in latest) else None


def deployed(
    resource: ResourceReference,
    requirements: RequirementsMetadata,
    present: RequirementsVersion | None,
    deployment: int,
    view: View,
) -> tuple[list[Event], DeployedFile]:
    """The events of new versions, and the answer. There are none if the latest version is `present`."""
    if present is not None:
        latest = [_latest(decision.id, view) for decision in requirements.decisions]
        return [], _answer(present, [one for one in latest if one is not None])
    number = max(view.requirements_versions(requirements.id), default=0) + 1
    version = RequirementsAdded(
        view.key(), deployment, view.tenant, requirements.id, number, requirements.name, resource.name, resource.sha256
    )
    decisions = [
        DecisionAdded(
            view.key(),
            deployment,
            view.tenant,
            decision.id,
            max(view.decision_versions(decision.id), default=0) + 1,
            decision.name,
            decision.version_tag,
            version.key,
            resource.sha256,
            requirements.imports,
        )
        for decision in requirements.decisions
    ]
    return [version, *decisions], _answer(version, decisions)


def _answer(
    version: RequirementsVersion | RequirementsAdded, decisions: Sequence[DecisionVersion | DecisionAdded]
) -> DeployedFile:
    id, tenant = version.requirements_id, version.tenant
    return DeployedFile(
        DeployedRequirements(id, version.name, version.version, version.resource, tenant, version.key),
        tuple(
            DeployedDecision(one.decision_id, one.version, one.name, tenant, id, one.key, version.key)
            for one in decisions
        ),
    )


def deleted(requirements: RequirementsVersion, view: View) -> Effects:
    """Delete a version of decision requirements with its decisions."""
    for decision in view.decisions_in(requirements.key):
        yield DecisionDeleted(decision.key)
    yield RequirementsDeleted(requirements.key)


def _latest(decision_id: str, view: View) -> DecisionVersion | None:
    return bound(view.decision_versions(decision_id).values(), "latest")
