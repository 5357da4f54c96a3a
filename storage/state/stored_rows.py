"""The rows of the statements in `load.sql`, column by column. JSON columns are text; times are epoch ms."""

from __future__ import annotations

from typing import NamedTuple


class InstanceRow(NamedTuple):
    """A row of the statement `instances`."""

    key: int
    root_key: int
    parent_instance: int | None
    calling_element: int | None
    definition_key: int
    process_id: str
    version_number: int
    version_tag: str | None
    name: str | None
    tenant: str
    business_id: str | None
    tags: list[str]
    depth: int
    state: str
    tokens: str
    live: int
    then: str | None
    interrupted: bool
    request: int | None
    incidents: int
    started_at: int
    work: str | None
    revision: int
    created_position: int
    start: str | None
    start_lock: str | None
    terminate_after: list[str] | None
    in_parts: int
    trace: str | None


class ElementRow(NamedTuple):
    """A row of the statement `elements`."""

    key: int
    instance_key: int
    scope_key: int
    path: list[int]
    element_id: str
    type: str
    state: str
    loop_index: int
    tokens: str
    live: int
    then: str | None
    interrupted: bool
    occurred: str | None
    loop: str | None
    request: int | None
    incidents: int
    incident: int | None
    started_at: int
    label: str | None


class FamilyRow(NamedTuple):
    """A row of the statement `families`: a definition, and the number of its running instances in the partition."""

    key: int
    deployment_key: int
    tenant: str
    process_id: str
    version: int
    name: str | None
    version_tag: str | None
    resource_name: str
    sha256: str
    state: str
    deployed_at: int
    start_form_id: str | None
    start_form_binding: str | None
    start_form_version_tag: str | None
    retention_ms: int | None
    running: int | None
