"""Needs: the rows that must be loaded before a command can be decided (docs/design/execution.md §6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum, auto
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from vivero.core.partitions.tenants import EVERY_TENANT


class NeedKind(Enum):
    __hash__ = object.__hash__  # by identity: an Enum hashes the name, in Python

    INSTANCE = auto()
    """The tree of a process instance; key: its key."""
    ELEMENT = auto()
    """The tree of an element or process instance; key: its key."""
    JOB = auto()
    """The tree that a job belongs to; key: the job's key."""
    INCIDENT = auto()
    """The tree that an incident belongs to; key: the incident's key."""
    TIMER = auto()
    """The tree that a timer belongs to, or the timer itself when it starts a process; key: the timer's key."""
    USER_TASK = auto()
    """The tree that a user task belongs to; key: the user task's key."""
    SUBSCRIPTION = auto()
    """The tree that a subscription belongs to; key: the subscription's key."""
    SIGNAL = auto()
    """The trees of the next page of a signal's subscriptions; key: (tenant, name, the key before the page)."""
    CHANNEL = auto()
    """A message channel, with its messages if they are few; key: (tenant, correlation key)."""
    MESSAGES = auto()
    """Messages of a name that a process has not had; key: (tenant, correlation key, name, process id, last known key,
    any business id, business id)."""
    MESSAGE = auto()
    """A message that an instance has had; key: (tenant, correlation key, the message's key)."""
    BODY = auto()
    """The variables of a large message; key: (tenant, correlation key, the message's key)."""
    MESSAGE_ID = auto()
    """Messages of a channel that have an id; key: (tenant, correlation key, name, id)."""
    STARTS = auto()
    """All start events that wait for messages or signals; key: None."""
    LEASE = auto()
    """The current lease of a job, which is never cached; key: the job's key."""
    USAGE = auto()
    """The number of instances of a definition that run in other partitions, never cached; key: the definition's."""
    HELD = auto()
    """The number of commands that this partition holds while slots move, never cached; key: None."""
    TASK_LISTENERS = auto()
    """The task listeners of the whole cluster; key: None."""
    CLUSTER_VARIABLES = auto()
    """The cluster variables that a tenant sees; key: the tenant."""
    FAMILY = auto()
    """All versions of a process; key: (tenant, process id)."""
    WORK = auto()
    """The rows for the deferred work of a tree, and the next page of its paged loops; key: the root's."""
    LOOP_ITEM = auto()
    """An item of a paged loop that is in memory; key: (body, index)."""
    RESULTS = auto()
    """All results of a paged loop that is in memory; key: the body's."""
    SUSPENDED = auto()
    """The next page of suspended waits of a process instance with paged loops; key: (instance, the key before it)."""
    WHOLE = auto()
    """The inner instances of all paged loops below an instance, without their variables; key: the instance's."""
    VARIABLES = auto()
    """The lazy variables of a part; key: the part's."""
    REGISTRATION = auto()
    """A completed activity that is being compensated, with the latest ones inside; key: the registration's."""
    REGISTRATIONS = auto()
    """The next page of completed activities of a scope, the latest first; key: (process instance, scope, their ids with
    the numbers that are not in memory)."""
    ALL_REGISTRATIONS = auto()
    """The completed activities of a process instance, at most so many; key: (process instance, their maximum)."""
    VALUE = auto()
    """The decoded value of a very large variable; key: its JSON text."""
    DEFINITION = auto()
    """The family of one definition; key: its key."""
    FORMS = auto()
    """All versions of a form; key: (tenant, form id)."""
    DEPLOYMENT = auto()
    """All versions of what the files of a deployment define; key: its key."""
    FORM = auto()
    """All versions of the form of which one has this key; key: its key."""
    GENERIC_RESOURCES = auto()
    """All versions of a generic resource; key: (tenant, resource id)."""
    GENERIC_RESOURCE = auto()
    """All versions of the generic resource of which one has this key; key: its key."""
    REQUIREMENTS = auto()
    """All versions of decision requirements; key: (tenant, requirements id)."""
    REQUIREMENTS_KEY = auto()
    """All versions of the decision requirements of which one has this key, and its decisions; key: its key."""
    DECISIONS = auto()
    """All versions of a decision; key: (tenant, decision id)."""
    DECISION = auto()
    """All versions of the decision of which one has this key; key: its key."""
    DECISION_MODEL = auto()
    """The compiled decisions of the file of a decision; key: the decision's key."""
    MODEL = auto()
    """The executable model of a definition; key: its key."""


class Need(msgspec.Struct, frozen=True, gc=False):
    kind: NeedKind
    key: Any
    tenants: str = EVERY_TENANT
    """The tenants that the sender of the command may use (`core.partitions.tenants`). A row of another tenant is
    looked up and not loaded, so that its key costs what an unknown one does."""
    to_end: bool = False
    """The command only ends the row: what is loaded for it comes with lazy variables (`state.lazy_variables`)."""


Needs = Iterator[Need]


class Lease(NamedTuple):
    """The last lease of a job: its token, and its end (epoch ms)."""

    token: str
    until: int


Leases = Mapping[int, Lease | None]
"""Job → its lease; None: it has none."""
NO_LEASES: Leases = MappingProxyType({})


class NotLoaded(Exception):
    """A command met a row that no need declared. It is undone, and runs again with the row (execution.md §6)."""

    def __init__(self, need: Need) -> None:
        super().__init__(f"{need.kind.name} {need.key} is not loaded")
        self.need = need
