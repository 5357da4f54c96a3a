"""Decisions in deployments: what a deployment says of a `.dmn` file, events, and replies.

A file is one version of *decision requirements*: a graph of decisions that have versions of their own.
"""

from __future__ import annotations

import msgspec

from vivero.core.records.base import Event


class DecisionMetadata(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A decision of a resource, for the catalogue."""

    id: str
    name: str
    version_tag: str | None = None


class RequirementsMetadata(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The decision requirements of a resource, for the catalogue."""

    id: str
    name: str
    decisions: tuple[DecisionMetadata, ...] = ()
    imports: tuple[str, ...] = ()
    """The SHA-256 (hex) of the files of the deployment that it imports, directly or through others."""


class RequirementsAdded(Event, frozen=True):
    key: int
    deployment: int
    tenant: str
    requirements_id: str
    version: int
    name: str
    resource: str
    sha256: str


class DecisionAdded(Event, frozen=True):
    """A new version of a decision. `requirements` is the key of the version of the requirements that has it."""

    key: int
    deployment: int
    tenant: str
    decision_id: str
    version: int
    name: str
    version_tag: str | None
    requirements: int
    sha256: str
    imports: tuple[str, ...]


class RequirementsDeleted(Event, frozen=True):
    """Each decision of the version has an event of its own."""

    key: int


class DecisionDeleted(Event, frozen=True):
    """The version is evaluated no more. The one before it becomes the latest."""

    key: int


class DeployedDecision(msgspec.Struct, frozen=True, rename="camel", gc=False):
    decision_definition_id: str
    version: int
    name: str
    tenant_id: str
    decision_requirements_id: str
    decision_definition_key: int
    decision_requirements_key: int


class DeployedRequirements(msgspec.Struct, frozen=True, rename="camel", gc=False):
    decision_requirements_id: str
    decision_requirements_name: str
    version: int
    resource_name: str
    tenant_id: str
    decision_requirements_key: int
