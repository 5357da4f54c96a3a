"""Deployments, process definitions, forms, generic resources and decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from vivero.core.records.catalogue import (
    DefinitionAdded,
    DefinitionDeleted,
    DefinitionDraining,
    DeploymentCreated,
    FormAdded,
    FormDeleted,
    GenericResourceAdded,
    GenericResourceDeleted,
    RetentionSet,
    StartFormSet,
)
from vivero.core.records.decisions import DecisionAdded, DecisionDeleted, RequirementsAdded, RequirementsDeleted
from vivero.core.state.catalogue import (
    DecisionVersion,
    Definition,
    Deployment,
    FormVersion,
    GenericResourceVersion,
    RequirementsVersion,
)
from vivero.core.state.state import State

Version = TypeVar("Version", Definition, FormVersion, GenericResourceVersion, RequirementsVersion, DecisionVersion)
"""A version of something deployed."""


def deployment_created(state: State, event: DeploymentCreated) -> Deployment:
    deployment = Deployment(event.key, event.tenant, state.now)
    state.add(deployment)
    state.link(state.catalogue.deployments, event.key, None)
    return deployment


def definition_added(state: State, event: DefinitionAdded) -> Definition:
    definition = Definition(
        event.key,
        event.deployment,
        event.tenant,
        event.process_id,
        event.version,
        event.name,
        event.version_tag,
        event.resource,
        event.sha256,
        "ACTIVE",
        state.now,
    )
    return _add(state, state.catalogue.families, state.catalogue.definitions, event.process_id, definition)


def start_form_set(state: State, event: StartFormSet) -> Definition:
    definition = state.catalogue.definitions[event.key]
    state.edit(definition)
    definition.start_form_id, definition.start_form_binding = event.form_id, event.binding
    definition.start_form_version_tag = event.version_tag
    return definition


def retention_set(state: State, event: RetentionSet) -> Definition:
    definition = state.catalogue.definitions[event.key]
    state.edit(definition)
    definition.retention_ms = event.retention_ms
    return definition


def definition_draining(state: State, event: DefinitionDraining) -> Definition:
    return _move(state, state.catalogue.definitions, event.key, "DRAINING")


def definition_deleted(state: State, event: DefinitionDeleted) -> Definition:
    return _move(state, state.catalogue.definitions, event.key, "DELETED")


def form_added(state: State, event: FormAdded) -> FormVersion:
    form = FormVersion(
        event.key,
        event.deployment,
        event.tenant,
        event.form_id,
        event.version,
        event.version_tag,
        event.resource,
        event.sha256,
        "ACTIVE",
        state.now,
    )
    return _add(state, state.catalogue.form_versions, state.catalogue.forms, event.form_id, form)


def form_deleted(state: State, event: FormDeleted) -> FormVersion:
    return _move(state, state.catalogue.forms, event.key, "DELETED")


def generic_resource_added(state: State, event: GenericResourceAdded) -> GenericResourceVersion:
    resource = GenericResourceVersion(
        event.key,
        event.deployment,
        event.tenant,
        event.resource_id,
        event.version,
        event.version_tag,
        event.resource,
        event.sha256,
        "ACTIVE",
        state.now,
    )
    catalogue = state.catalogue
    by_id, by_key = catalogue.generic_resource_versions, catalogue.generic_resources
    return _add(state, by_id, by_key, event.resource_id, resource)


def generic_resource_deleted(state: State, event: GenericResourceDeleted) -> GenericResourceVersion:
    return _move(state, state.catalogue.generic_resources, event.key, "DELETED")


def requirements_added(state: State, event: RequirementsAdded) -> RequirementsVersion:
    requirements = RequirementsVersion(
        event.key,
        event.deployment,
        event.tenant,
        event.requirements_id,
        event.version,
        event.name,
        event.resource,
        event.sha256,
        "ACTIVE",
        state.now,
    )
    catalogue = state.catalogue
    return _add(state, catalogue.requirements_versions, catalogue.requirements, event.requirements_id, requirements)


def decision_added(state: State, event: DecisionAdded) -> DecisionVersion:
    decision = DecisionVersion(
        event.key,
        event.deployment,
        event.tenant,
        event.decision_id,
        event.version,
        event.name,
        event.version_tag,
        event.requirements,
        event.sha256,
        event.imports,
        "ACTIVE",
        state.now,
    )
    return _add(state, state.catalogue.decision_versions, state.catalogue.decisions, event.decision_id, decision)


def requirements_deleted(state: State, event: RequirementsDeleted) -> RequirementsVersion:
    return _move(state, state.catalogue.requirements, event.key, "DELETED")


def decision_deleted(state: State, event: DecisionDeleted) -> DecisionVersion:
    return _move(state, state.catalogue.decisions, event.key, "DELETED")


def _add(
    state: State,
    versions: dict[tuple[str, str], dict[int, Version]],
    by_key: dict[int, Version],
    id: str,
    added: Version,
) -> Version:
    name = added.tenant, id
    if name not in versions:
        state.link(versions, name, {})
    state.link(versions[name], added.version, added)
    state.link(by_key, added.key, added)
    state.add(added)
    return added


def _move(state: State, by_key: Mapping[int, Version], key: int, to: str) -> Version:
    version = by_key[key]
    state.edit(version)
    version.state = to
    return version
