"""Deployments, process definitions, forms and decisions."""

from __future__ import annotations

from vivero.core.records.catalogue import (
    DefinitionAdded,
    DefinitionDeleted,
    DefinitionDraining,
    DeploymentCreated,
    FormAdded,
    FormDeleted,
    RetentionSet,
    StartFormSet,
)
from vivero.core.records.decisions import DecisionAdded, DecisionDeleted, RequirementsAdded, RequirementsDeleted
from vivero.core.state.catalogue import DecisionVersion, Definition, Deployment, FormVersion, RequirementsVersion
from vivero.core.state.state import State


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
    family_key = (event.tenant, event.process_id)
    if family_key not in state.catalogue.families:
        state.link(state.catalogue.families, family_key, {})
    state.link(state.catalogue.families[family_key], event.version, definition)
    state.link(state.catalogue.definitions, event.key, definition)
    state.add(definition)
    return definition


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
    return _move(state, event.key, "DRAINING")


def definition_deleted(state: State, event: DefinitionDeleted) -> Definition:
    return _move(state, event.key, "DELETED")


def _move(state: State, key: int, to: str) -> Definition:
    definition = state.catalogue.definitions[key]
    state.edit(definition)
    definition.state = to
    return definition


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
    versions_key = (event.tenant, event.form_id)
    if versions_key not in state.catalogue.form_versions:
        state.link(state.catalogue.form_versions, versions_key, {})
    state.link(state.catalogue.form_versions[versions_key], event.version, form)
    state.link(state.catalogue.forms, event.key, form)
    state.add(form)
    return form


def form_deleted(state: State, event: FormDeleted) -> FormVersion:
    form = state.catalogue.forms[event.key]
    state.edit(form)
    form.state = "DELETED"
    return form


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
    versions_key = (event.tenant, event.requirements_id)
    if versions_key not in catalogue.requirements_versions:
        state.link(catalogue.requirements_versions, versions_key, {})
    state.link(catalogue.requirements_versions[versions_key], event.version, requirements)
    state.link(catalogue.requirements, event.key, requirements)
    state.add(requirements)
    return requirements


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
    catalogue = state.catalogue
    versions_key = (event.tenant, event.decision_id)
    if versions_key not in catalogue.decision_versions:
        state.link(catalogue.decision_versions, versions_key, {})
    state.link(catalogue.decision_versions[versions_key], event.version, decision)
    state.link(catalogue.decisions, event.key, decision)
    state.add(decision)
    return decision


def requirements_deleted(state: State, event: RequirementsDeleted) -> RequirementsVersion:
    requirements = state.catalogue.requirements[event.key]
    state.edit(requirements)
    requirements.state = "DELETED"
    return requirements


def decision_deleted(state: State, event: DecisionDeleted) -> DecisionVersion:
    decision = state.catalogue.decisions[event.key]
    state.edit(decision)
    decision.state = "DELETED"
    return decision
