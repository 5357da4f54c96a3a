"""Deployments and process definitions."""

from __future__ import annotations

from vivero.engine.core.records.catalogue import (
    DefinitionAdded,
    DefinitionDeleted,
    DefinitionDraining,
    DeploymentCreated,
)
from vivero.engine.core.state.catalogue import Definition, Deployment
from vivero.engine.core.state.state import State


def deployment_created(state: State, event: DeploymentCreated) -> Deployment:
    deployment = Deployment(event.key, event.tenant, state.now)
    state.add(deployment)
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


def definition_draining(state: State, event: DefinitionDraining) -> Definition:
    return _move(state, event.key, "DRAINING")


def definition_deleted(state: State, event: DefinitionDeleted) -> Definition:
    return _move(state, event.key, "DELETED")


def _move(state: State, key: int, to: str) -> Definition:
    definition = state.catalogue.definitions[key]
    state.edit(definition)
    definition.state = to
    return definition
