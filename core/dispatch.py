"""The table of contents of behaviour: element type → behaviour, event definition → behaviour, command → handler.

A test proves that every element has a page in the docs, every command a handler and every event an applier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from types import ModuleType
from typing import Any

from vivero.core.bpmn.model import FlowId, Node, Process
from vivero.core.commands import (
    ad_hoc,
    business_ids,
    catalogue,
    conditional,
    conditional_change,
    decision_evaluation,
    incident,
    instance,
    job,
    message,
    migration,
    migration_hold,
    modification,
    signal,
    slots,
    subscription,
    suspension,
    throw,
    timer,
    variable,
)
from vivero.core.commands import user_task as user_task_commands
from vivero.core.commands.subjects import subject_of
from vivero.core.elements import (
    ad_hoc_sub_process,
    boundary_event,
    business_rule_task,
    call_activity,
    complex_gateway,
    defaults,
    end_event,
    event_based_gateway,
    event_sub_process,
    exclusive_gateway,
    inclusive_gateway,
    intermediate_catch_event,
    intermediate_throw_event,
    multi_instance,
    parallel_gateway,
    process,
    receive_task,
    script_task,
    send_task,
    service_task,
    start_event,
    sub_process,
    user_task,
)
from vivero.core.events.table import EVENT_BEHAVIOURS as EVENT_BEHAVIOURS
from vivero.core.needs import Needs
from vivero.core.records.ad_hoc import ActivateAdHocElements
from vivero.core.records.base import Command
from vivero.core.records.business_ids import AssignBusinessId
from vivero.core.records.catalogue import DeleteResource, Deploy, RetireDefinition
from vivero.core.records.conditional_changes import ChangeIfMatch
from vivero.core.records.conditionals import EvaluateConditionals
from vivero.core.records.decision_evaluations import EvaluateDecision
from vivero.core.records.effects import Effects, Rejection
from vivero.core.records.instances import (
    CancelInstance,
    ContinueWork,
    CreateInstance,
    EndHold,
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
from vivero.core.records.migrations import MigrateInstance, MoveSubscription
from vivero.core.records.modifications import ModifyInstance
from vivero.core.records.signals import BroadcastSignal, DeliverSignal
from vivero.core.records.slots import MoveSlots, ProbeSlots, ReleaseSlots, SwitchSlots
from vivero.core.records.suspensions import ResumeInstance, SuspendInstance
from vivero.core.records.timers import FireTimer, MoveTimer, TriggerTimer
from vivero.core.records.user_tasks import AssignUserTask, ClaimUserTask, CompleteUserTask, UpdateUserTask
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The functions of an element's module; `elements.defaults` has the ones that it lacks."""

    arrive: Callable[[Node, FlowId, Element, View], Effects]
    activate: Callable[[Element, View], Effects]
    begin: Callable[[Element, Sequence[str], View], Effects]
    collect: Callable[[Element, Element, View], Effects] | None
    proceed: Callable[[Element, Element, View], Effects] | None
    settle: Callable[[Element, View], Effects]
    awaits: Callable[[Node, Process], Iterator[Node]] | None
    trigger: Callable[[Element, Node, dict[str, str], View], Effects]
    leave: Callable[[Element, View], Effects]
    join: Callable[[Node, Element, View], Effects]


def behaviour(module: ModuleType) -> Behaviour:
    names = (field.name for field in fields(Behaviour))
    return Behaviour(*(getattr(module, name, getattr(defaults, name)) for name in names))


ELEMENTS: dict[str, Behaviour] = {
    "PROCESS": behaviour(process),
    "SUB_PROCESS": behaviour(sub_process),
    "TRANSACTION": behaviour(sub_process),
    "AD_HOC_SUB_PROCESS": behaviour(ad_hoc_sub_process),
    "AD_HOC_SUB_PROCESS_INNER_INSTANCE": behaviour(defaults),
    "EVENT_SUB_PROCESS": behaviour(event_sub_process),
    "CALL_ACTIVITY": behaviour(call_activity),
    "MULTI_INSTANCE_BODY": behaviour(multi_instance),
    "START_EVENT": behaviour(start_event),
    "END_EVENT": behaviour(end_event),
    "INTERMEDIATE_THROW_EVENT": behaviour(intermediate_throw_event),
    "INTERMEDIATE_CATCH_EVENT": behaviour(intermediate_catch_event),
    "BOUNDARY_EVENT": behaviour(boundary_event),
    "EVENT_BASED_GATEWAY": behaviour(event_based_gateway),
    "SERVICE_TASK": behaviour(service_task),
    "SEND_TASK": behaviour(send_task),
    "RECEIVE_TASK": behaviour(receive_task),
    "BUSINESS_RULE_TASK": behaviour(business_rule_task),
    "SCRIPT_TASK": behaviour(script_task),
    "USER_TASK": behaviour(user_task),
    "TASK": behaviour(defaults),
    "MANUAL_TASK": behaviour(defaults),
    "EXCLUSIVE_GATEWAY": behaviour(exclusive_gateway),
    "PARALLEL_GATEWAY": behaviour(parallel_gateway),
    "INCLUSIVE_GATEWAY": behaviour(inclusive_gateway),
    "COMPLEX_GATEWAY": behaviour(complex_gateway),
}


@dataclass(frozen=True, slots=True)
class Handler:
    """`needs(command, tenant)` gives the rows to load; `handle(command, view)` decides.

    The core calls `rejected(command, rejection, view)` instead when handling raises or the result cannot be saved, so
    that nobody waits for ever. It must not raise, and must not assume that rows are loaded.
    """

    needs: Callable[[Any, str], Needs]
    handle: Callable[[Any, View], Effects]
    rejected: Callable[[Any, Rejection, View], Effects] | None = None


COMMANDS: dict[type[Command], Handler] = {
    CreateInstance: Handler(instance.needs_create, instance.create),
    CancelInstance: Handler(instance.needs_cancel, instance.cancel),
    MigrateInstance: Handler(migration.needs, migration.migrate),
    ModifyInstance: Handler(modification.needs, modification.modify),
    SuspendInstance: Handler(suspension.needs, suspension.suspend),
    ResumeInstance: Handler(suspension.needs, suspension.resume),
    AssignBusinessId: Handler(business_ids.needs, business_ids.assign),
    ContinueWork: Handler(instance.needs_continue, instance.continue_work),
    EndHold: Handler(migration_hold.needs_end, migration_hold.end_hold),
    CompleteJob: Handler(job.needs, job.complete),
    FailJob: Handler(job.needs, job.fail),
    ThrowJobError: Handler(job.needs, job.throw_error),
    UpdateJob: Handler(job.needs_update, job.update),
    WithholdJob: Handler(job.needs_withhold, job.withhold),
    ResolveIncident: Handler(incident.needs, incident.resolve),
    TriggerTimer: Handler(timer.needs, timer.trigger),
    FireTimer: Handler(timer.needs, timer.fire),
    MoveTimer: Handler(timer.needs, timer.move),
    AssignUserTask: Handler(user_task_commands.needs, user_task_commands.assign),
    ClaimUserTask: Handler(user_task_commands.needs, user_task_commands.claim),
    UpdateUserTask: Handler(user_task_commands.needs, user_task_commands.update),
    CompleteUserTask: Handler(user_task_commands.needs, user_task_commands.complete),
    PublishMessage: Handler(message.needs_publish, message.publish, message.publish_rejected),
    CorrelateMessage: Handler(message.needs_publish, message.correlate),
    ExpireMessage: Handler(message.needs_channel, message.expire),
    OpenSubscription: Handler(message.needs_channel, message.open_subscription),
    CloseSubscription: Handler(message.needs_channel, message.close_subscription),
    MoveSubscription: Handler(migration.needs_channel, migration.move_subscription),
    AcknowledgeCorrelation: Handler(message.needs_channel, message.acknowledge),
    RejectCorrelation: Handler(message.needs_channel, message.reject, message.reject_rejected),
    ConfirmStart: Handler(message.needs_channel, message.confirm, message.confirm_rejected),
    ReleaseStart: Handler(message.needs_release, message.release, message.release_rejected),
    TriggerSubscription: Handler(subscription.needs, subscription.trigger, subscription.trigger_rejected),
    StartInstance: Handler(subscription.needs_start, subscription.start, subscription.start_rejected),
    BroadcastSignal: Handler(signal.needs_broadcast, signal.broadcast, signal.broadcast_rejected),
    EvaluateConditionals: Handler(conditional.needs, conditional.evaluate),
    EvaluateDecision: Handler(decision_evaluation.needs, decision_evaluation.evaluate_decision),
    DeliverEvent: Handler(subscription.needs_deliver, subscription.deliver, subscription.deliver_rejected),
    DeliverSignal: Handler(signal.needs_deliver, signal.deliver),
    CompleteThrow: Handler(throw.needs, throw.complete),
    SetVariables: Handler(variable.needs, variable.set_variables),
    ActivateAdHocElements: Handler(ad_hoc.needs, ad_hoc.activate_elements),
    Deploy: Handler(catalogue.needs_deploy, catalogue.deploy),
    DeleteResource: Handler(catalogue.needs_delete, catalogue.delete),
    RetireDefinition: Handler(catalogue.needs_retire, catalogue.retire),
    MoveSlots: Handler(slots.needs, slots.move),
    SwitchSlots: Handler(slots.needs, slots.switch),
    ProbeSlots: Handler(slots.needs, slots.probe),
    ReleaseSlots: Handler(slots.release_needs, slots.release),
}


def handle(command: Command, view: View) -> Effects:
    """The effects of a command. This is the one gate of the commands about suspended process instances, and about
    instance trees that a migration holds."""
    handler = COMMANDS[type(command)]
    if command.while_suspended is not None:
        subject = subject_of(command, handler.needs, view)
        if subject is not None:
            stopped = _pass_gates(command, *subject, view)
            if stopped is not None:
                return stopped
    return handler.handle(command, view)


def _pass_gates(command: Command, key: int, element: Element, view: View) -> Effects | None:
    """The effects of a command that has to wait; None: nothing is in its way."""
    if element.tree.work or view.holds.waiting or view.holds.returning:
        held = migration_hold.pass_hold(command, element, view)
        if held is not None:
            return held
    if element.instance.suspended_at is not None:
        return suspension.pass_gate(command, key, element, view)
    return None


COMMANDS[ChangeIfMatch] = Handler(
    partial(conditional_change.needs, COMMANDS), partial(conditional_change.change_if_match, COMMANDS, handle)
)
