"""Homes: the partition that handles each command. A table of contents beside that of the handlers (`dispatch`).

`HOMES[type(command)](command, tenant, routes)` gives the partition. None: the command is handled where it is, and a new
one may begin in any partition of its tenant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vivero.core.partitions.routes import CATALOGUE, Routes
from vivero.core.records.base import Command, partition_of
from vivero.core.records.catalogue import DeleteResource, Deploy, RetireDefinition
from vivero.core.records.conditional_changes import ChangeIfMatch
from vivero.core.records.conditionals import EvaluateConditionals
from vivero.core.records.instances import (
    CancelInstance,
    ContinueWork,
    CreateInstance,
    ResolveIncident,
    SetVariables,
)
from vivero.core.records.jobs import CompleteJob, FailJob, ThrowJobError, UpdateJob, WithholdJob
from vivero.core.records.messages import (
    AcknowledgeCorrelation,
    CloseSubscription,
    CompleteThrow,
    ConfirmStart,
    CorrelateMessage,
    DeliverEvent,
    ExpireMessage,
    OpenSubscription,
    PublishMessage,
    RejectCorrelation,
    ReleaseStart,
    StartInstance,
    TriggerSubscription,
)
from vivero.core.records.signals import BroadcastSignal, DeliverSignal
from vivero.core.records.slots import MoveSlots, ProbeSlots, ReleaseSlots, SwitchSlots
from vivero.core.records.timers import FireTimer, MoveTimer, TriggerTimer
from vivero.core.records.user_tasks import AssignUserTask, ClaimUserTask, CompleteUserTask, UpdateUserTask

Home = Callable[[Any, str, Routes], int | None]


def _anywhere(_command: Command, _tenant: str, _routes: Routes) -> int | None:
    return None


def _of_key(command: CancelInstance | StartInstance, _tenant: str, routes: Routes) -> int | None:
    """The partition that assigned the key. A key of no partition is rejected where it is."""
    partition = partition_of(command.key)
    return partition if partition in routes.all else None


def _of_start(command: StartInstance, tenant: str, routes: Routes) -> int | None:
    return command.partition or _of_key(command, tenant, routes)


def _of_published(command: PublishMessage | CorrelateMessage, tenant: str, routes: Routes) -> int | None:
    return routes.of_channel(tenant, command.correlation_key)


def _of_channel(
    command: OpenSubscription | CloseSubscription | ConfirmStart | ReleaseStart | ExpireMessage,
    _tenant: str,
    routes: Routes,
) -> int:
    return routes.of_channel(command.tenant, command.correlation_key)


def _of_offer(command: AcknowledgeCorrelation | RejectCorrelation, _tenant: str, routes: Routes) -> int:
    return routes.of_channel(command.tenant, command.offer.correlation_key)


def _of_catalogue(_command: Command, _tenant: str, _routes: Routes) -> int:
    return CATALOGUE


def _named_or_catalogue(command: RetireDefinition, _tenant: str, _routes: Routes) -> int:
    return command.partition or CATALOGUE


def _of_slots(command: MoveSlots, _tenant: str, routes: Routes) -> int | None:
    """The owner of the first slot. It rejects the command if it does not own all."""
    return routes.owner_of(command.slots[0]) if command.slots else None


def _named(
    command: DeliverSignal | SwitchSlots | ProbeSlots | ReleaseSlots, _tenant: str, _routes: Routes
) -> int | None:
    return command.partition or None


FROM_CLIENTS: dict[type[Command], Home] = {
    CreateInstance: _anywhere,
    CancelInstance: _of_key,
    SetVariables: _of_key,
    ChangeIfMatch: _of_key,
    ResolveIncident: _of_key,
    CompleteJob: _of_key,
    FailJob: _of_key,
    ThrowJobError: _of_key,
    UpdateJob: _of_key,
    WithholdJob: _of_key,
    FireTimer: _of_key,
    MoveTimer: _of_key,
    AssignUserTask: _of_key,
    ClaimUserTask: _of_key,
    UpdateUserTask: _of_key,
    CompleteUserTask: _of_key,
    PublishMessage: _of_published,
    CorrelateMessage: _of_published,
    ExpireMessage: _of_channel,
    BroadcastSignal: _anywhere,
    EvaluateConditionals: _anywhere,
    Deploy: _of_catalogue,
    DeleteResource: _of_catalogue,
    MoveSlots: _of_slots,
}
"""Commands that a client sends. An element may send those that have a `thrower`, too."""

HOMES: dict[type[Command], Home] = FROM_CLIENTS | {
    ContinueWork: _of_key,
    TriggerTimer: _of_key,
    TriggerSubscription: _of_key,
    StartInstance: _of_start,
    CompleteThrow: _of_key,
    OpenSubscription: _of_channel,
    CloseSubscription: _of_channel,
    ConfirmStart: _of_channel,
    ReleaseStart: _of_channel,
    AcknowledgeCorrelation: _of_offer,
    RejectCorrelation: _of_offer,
    DeliverEvent: _anywhere,
    DeliverSignal: _named,
    SwitchSlots: _named,
    ProbeSlots: _named,
    ReleaseSlots: _named,
    RetireDefinition: _named_or_catalogue,
}


def home_of(command: Command, tenant: str, routes: Routes, here: int) -> int:
    """The partition that handles the command; `here` for one that is handled where it is."""
    return HOMES[type(command)](command, tenant, routes) or here


def answers_its_request(command: Command) -> bool:
    """Whether the command is a client's. If it was forwarded, its outcome answers the request that it names."""
    return type(command) in FROM_CLIENTS and getattr(command, "thrower", None) is None
