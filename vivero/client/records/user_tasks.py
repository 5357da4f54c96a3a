"""Records and filters of `client.tasks`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    KeyFilter,
    KeyValue,
    NumberFilter,
    TextFilter,
    TimeFilter,
    VariablesFilter,
    Where,
)


class UserTaskRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/user-tasks/search."""

    name: str | None = None
    state: str
    assignee: str | None = None
    element_id: str
    candidate_groups: list[str]
    candidate_users: list[str]
    process_definition_id: str
    creation_date: datetime
    completion_date: datetime | None = None
    follow_up_date: datetime | None = None
    due_date: datetime | None = None
    tenant_id: str
    external_form_reference: str | None = None
    process_definition_version: int
    custom_headers: Any
    priority: int
    user_task_key: str
    element_instance_key: str
    process_name: str | None = None
    process_definition_key: str
    process_instance_key: str
    root_process_instance_key: str
    business_id: str | None = None
    form_key: str | None = None
    tags: list[str]


class UserTaskFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    name: TextFilter
    state: (
        Literal[
            "ASSIGNING", "CANCELED", "CANCELING", "COMPLETED", "COMPLETING", "CREATED", "CREATING", "FAILED", "UPDATING"
        ]
        | Sequence[str]
        | Where
    )
    assignee: TextFilter
    element_id: str
    process: TextFilter
    creation_date: TimeFilter
    completion_date: TimeFilter
    follow_up_date: TimeFilter
    due_date: TimeFilter
    tenant_id: TextFilter
    priority: NumberFilter
    user_task_key: KeyValue
    element_instance_key: KeyValue
    process_definition_key: KeyFilter
    process_instance_key: KeyFilter
    business_id: TextFilter
    candidate_group: TextFilter
    candidate_user: TextFilter
    process_instance_variables: VariablesFilter
    local_variables: VariablesFilter
    tags: Sequence[str]
    any_of: Sequence[UserTaskFilter]


UserTaskSort = Literal[
    "name", "creation_date", "completion_date", "follow_up_date", "due_date", "priority", "business_id"
]
