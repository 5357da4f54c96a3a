"""Deployments, process definitions, forms and generic resources: commands and events. `decisions` has the others."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from vivero.core.partitions import homes
from vivero.core.records.base import Command, Event, Sender
from vivero.core.records.decisions import DeployedDecision, DeployedRequirements, RequirementsMetadata


class StartMetadata(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A start event of a process. For MESSAGE and SIGNAL (`kind`), `name` is the name of the message or signal.

    For TIMER_DATE, TIMER_CYCLE and CONDITION, `name` is the text of the expression. `together`: all messages of the
    start event start one instance together, or the instance awaits others of the same correlation key. `properties` are
    those that agents and connectors read; None for nothing.
    """

    element: str
    kind: str
    name: str
    together: bool = False
    properties: dict[str, str] | None = None


class StartFormMetadata(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The form that clients show before they start a process. `binding` as in `bpmn.model.CalledElement`."""

    form_id: str
    binding: str = "latest"
    version_tag: str | None = None


class ProcessMetadata(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """An executable process of a resource, for the catalogue."""

    id: str
    name: str | None = None
    version_tag: str | None = None
    starts: tuple[StartMetadata, ...] = ()
    start_form: StartFormMetadata | None = None
    retention_ms: int | None = None
    binds_by_deployment: bool = False
    """Whether an element of it means a version of the same deployment."""


class FormMetadata(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The form of a resource, for the catalogue."""

    id: str
    version_tag: str | None = None


class GenericResourceMetadata(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A resource of any other kind, for the catalogue."""

    id: str
    version_tag: str | None = None


class ResourceReference(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A resource. Its bytes are stored under their SHA-256 (hex) before the command is appended."""

    name: str
    sha256: str
    processes: tuple[ProcessMetadata, ...] = ()
    form: FormMetadata | None = None
    requirements: RequirementsMetadata | None = None
    generic: GenericResourceMetadata | None = None


class Deploy(Command, frozen=True):
    intent: ClassVar[str] = "DEPLOYMENT:CREATE"
    home = homes.in_catalogue
    sent_by = Sender.CLIENT
    creates_work = True

    resources: tuple[ResourceReference, ...]


class DeleteResource(Command, frozen=True):
    intent: ClassVar[str] = "RESOURCE_DELETION:DELETE"
    home = homes.in_catalogue
    sent_by = Sender.CLIENT

    key: int


class RetireDefinition(Command, frozen=True):
    """Internal: in one partition, no instance of a draining definition runs any more.

    `partition`: the partition that is asked to report this; 0: the report, to the catalogue.
    """

    intent: ClassVar[str] = "PROCESS_DEFINITION:RETIRE"
    home = homes.named_or_catalogue
    sent_by = Sender.TREE

    key: int
    partition: int = 0


class DeploymentCreated(Event, frozen=True):
    key: int
    tenant: str


class DefinitionAdded(Event, frozen=True):
    key: int
    deployment: int
    tenant: str
    process_id: str
    version: int
    name: str | None
    version_tag: str | None
    resource: str
    sha256: str


class StartFormSet(Event, frozen=True):
    """A new definition has a start form."""

    key: int
    form_id: str
    binding: str
    version_tag: str | None


class RetentionSet(Event, frozen=True):
    """The model of a new definition says how long ended instances stay, in ms; 0: for ever."""

    key: int
    retention_ms: int


class DefinitionDraining(Event, frozen=True):
    """The definition starts no new instances by id, latest version or key. Its running instances continue."""

    key: int


class DefinitionDeleted(Event, frozen=True):
    key: int


class FormAdded(Event, frozen=True):
    key: int
    deployment: int
    tenant: str
    form_id: str
    version: int
    version_tag: str | None
    resource: str
    sha256: str


class FormDeleted(Event, frozen=True):
    """New tasks do not get this version. Tasks that have it keep it."""

    key: int


class GenericResourceAdded(Event, frozen=True):
    key: int
    deployment: int
    tenant: str
    resource_id: str
    version: int
    version_tag: str | None
    resource: str
    sha256: str


class GenericResourceDeleted(Event, frozen=True):
    """New jobs do not get this version. Jobs that have its key keep it."""

    key: int


class DeployedProcess(msgspec.Struct, frozen=True, rename="camel", gc=False):
    process_definition_id: str
    process_definition_version: int
    resource_name: str
    tenant_id: str
    process_definition_key: int


class DeployedForm(msgspec.Struct, frozen=True, rename="camel", gc=False):
    form_id: str
    version: int
    resource_name: str
    tenant_id: str
    form_key: int


class DeployedGenericResource(msgspec.Struct, frozen=True, rename="camel", gc=False):
    resource_id: str
    version: int
    resource_name: str
    tenant_id: str
    resource_key: int


class DeploymentReply(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """The answer of a deployment: all that the resources contain, in their order, including what is unchanged."""

    deployment_key: int
    tenant_id: str
    processes: tuple[DeployedProcess, ...]
    forms: tuple[DeployedForm, ...] = ()
    decisions: tuple[DeployedDecision, ...] = ()
    requirements: tuple[DeployedRequirements, ...] = ()
    resources: tuple[DeployedGenericResource, ...] = ()
