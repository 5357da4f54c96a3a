"""Appliers: event → state. Only they change rows, and they know no element types.

`APPLY` is the table. An applier succeeds on every valid event and reads no model. It returns the row of the event,
because the state may not contain it any more afterwards.

Entry: `APPLY`.
Imports: partitions, records, state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vivero.core.apply import (
    ad_hoc,
    catalogue,
    compensations,
    complex_gateways,
    data,
    decisions,
    elements,
    incidents,
    jobs,
    message_channels,
    migrations,
    slots,
    subscriptions,
    suspensions,
    timers,
    user_tasks,
)
from vivero.core.records.ad_hoc import (
    AdHocActivationsAdded,
    AdHocActivationsTaken,
    AdHocFulfilled,
    AdHocOutputAdded,
    AdHocSecretsLocated,
    AdHocToolApproved,
)
from vivero.core.records.base import Event
from vivero.core.records.business_ids import BusinessIdAssigned
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
from vivero.core.records.compensations import (
    CompensationEnded,
    CompensationHandedOver,
    CompensationRegistered,
    CompensationStarted,
)
from vivero.core.records.complex_gateways import ComplexGatewayReset, ComplexGatewayStarted
from vivero.core.records.conditionals import ConditionalsEvaluated
from vivero.core.records.decision_evaluations import DecisionEvaluated
from vivero.core.records.decisions import DecisionAdded, DecisionDeleted, RequirementsAdded, RequirementsDeleted
from vivero.core.records.instances import (
    DueDateSet,
    ElementActivated,
    ElementActivating,
    ElementCompleted,
    ElementCompleting,
    ElementTerminated,
    ElementTerminating,
    EventDefinitionOccurred,
    EventTriggered,
    IncidentRaised,
    IncidentResolved,
    InstanceCreated,
    ItemCollected,
    LoopResultSet,
    LoopStarted,
    ScopeEmptied,
    ScopeInterrupted,
    ScopeResumed,
    VariableSet,
    WorkDeferred,
    WorkResumed,
)
from vivero.core.records.jobs import (
    JobCanceled,
    JobCompleted,
    JobCreated,
    JobDenied,
    JobErrorThrown,
    JobFailed,
    JobReleased,
    JobUpdated,
    JobWithheld,
)
from vivero.core.records.messages import (
    ChannelSubscribed,
    ChannelUnsubscribed,
    CorrelationAnswered,
    MessageCorrelated,
    MessageExpired,
    MessagePublished,
    MessageReceived,
    StartAwaited,
    StartClosed,
    StartCollected,
    StartDescribed,
    StartLocked,
    StartOpened,
    StartReleased,
    SubscriptionClosed,
    SubscriptionOpened,
    SubscriptionResumed,
    SubscriptionSuspended,
    SubscriptionTriggered,
)
from vivero.core.records.migrations import ChannelSubscriptionMoved, ElementsRenamed, InstanceMigrated
from vivero.core.records.modifications import ElementRestored, InstanceModified
from vivero.core.records.signals import SignalBroadcast
from vivero.core.records.slots import HeldCommandsSent, SlotsHeld, SlotsMoved, SlotsReleased
from vivero.core.records.suspensions import InstanceResumed, InstanceSuspended, WorkSuspended
from vivero.core.records.timers import (
    TimerCanceled,
    TimerFailed,
    TimerMoved,
    TimerScheduled,
    TimerSuspended,
    TimerTriggered,
)
from vivero.core.records.user_tasks import (
    UserTaskChanged,
    UserTaskChanging,
    UserTaskCorrected,
    UserTaskCreated,
    UserTaskDenied,
    UserTaskEnded,
)
from vivero.core.state.rows import Row
from vivero.core.state.state import State

APPLY: dict[type[Event], Callable[[State, Any], Row]] = {
    InstanceCreated: elements.instance_created,
    InstanceModified: elements.instance_modified,
    ElementRestored: elements.element_restored,
    BusinessIdAssigned: elements.business_id_assigned,
    DueDateSet: elements.due_date_set,
    ElementActivating: elements.element_activating,
    ElementActivated: elements.element_activated,
    ElementCompleting: elements.element_completing,
    ElementCompleted: elements.element_completed,
    ElementTerminating: elements.element_terminating,
    ElementTerminated: elements.element_terminated,
    ScopeInterrupted: elements.scope_interrupted,
    ScopeEmptied: elements.scope_emptied,
    ScopeResumed: elements.scope_resumed,
    InstanceMigrated: migrations.instance_migrated,
    ElementsRenamed: migrations.elements_renamed,
    EventTriggered: elements.event_triggered,
    EventDefinitionOccurred: elements.event_definition_occurred,
    TimerScheduled: timers.timer_scheduled,
    TimerTriggered: timers.timer_triggered,
    TimerCanceled: timers.timer_canceled,
    TimerMoved: timers.timer_moved,
    TimerFailed: timers.timer_failed,
    TimerSuspended: timers.timer_suspended,
    SubscriptionOpened: subscriptions.subscription_opened,
    SubscriptionTriggered: subscriptions.subscription_triggered,
    SubscriptionSuspended: subscriptions.subscription_suspended,
    SubscriptionResumed: subscriptions.subscription_resumed,
    SubscriptionClosed: subscriptions.subscription_closed,
    MessageReceived: subscriptions.message_received,
    MessagePublished: message_channels.message_published,
    MessageExpired: message_channels.message_expired,
    MessageCorrelated: message_channels.message_correlated,
    CorrelationAnswered: message_channels.correlation_answered,
    ChannelSubscribed: message_channels.channel_subscribed,
    ChannelUnsubscribed: message_channels.channel_unsubscribed,
    ChannelSubscriptionMoved: migrations.channel_subscription_moved,
    StartLocked: message_channels.start_locked,
    StartReleased: message_channels.start_released,
    StartAwaited: message_channels.start_awaited,
    StartCollected: message_channels.start_collected,
    StartDescribed: message_channels.start_described,
    StartOpened: message_channels.start_opened,
    StartClosed: message_channels.start_closed,
    SignalBroadcast: message_channels.signal_broadcast,
    ConditionalsEvaluated: message_channels.conditionals_evaluated,
    CompensationRegistered: compensations.registered,
    CompensationStarted: compensations.started,
    CompensationHandedOver: compensations.handed_over,
    CompensationEnded: compensations.ended,
    ComplexGatewayStarted: complex_gateways.started,
    ComplexGatewayReset: complex_gateways.reset,
    LoopStarted: data.loop_started,
    ItemCollected: data.item_collected,
    LoopResultSet: data.loop_result_set,
    AdHocActivationsAdded: ad_hoc.ad_hoc_activations_added,
    AdHocActivationsTaken: ad_hoc.ad_hoc_activations_taken,
    AdHocFulfilled: ad_hoc.ad_hoc_fulfilled,
    AdHocOutputAdded: ad_hoc.ad_hoc_output_added,
    AdHocSecretsLocated: ad_hoc.ad_hoc_secrets_located,
    AdHocToolApproved: ad_hoc.ad_hoc_tool_approved,
    WorkDeferred: elements.work_deferred,
    WorkResumed: elements.work_resumed,
    InstanceSuspended: suspensions.instance_suspended,
    InstanceResumed: suspensions.instance_resumed,
    WorkSuspended: suspensions.work_suspended,
    VariableSet: data.variable_set,
    JobCreated: jobs.job_created,
    JobCompleted: jobs.job_completed,
    JobDenied: jobs.job_denied,
    JobFailed: jobs.job_failed,
    JobErrorThrown: jobs.job_error_thrown,
    JobUpdated: jobs.job_updated,
    JobWithheld: jobs.job_withheld,
    JobReleased: jobs.job_released,
    JobCanceled: jobs.job_canceled,
    UserTaskCreated: user_tasks.user_task_created,
    UserTaskChanged: user_tasks.user_task_changed,
    UserTaskEnded: user_tasks.user_task_ended,
    UserTaskChanging: user_tasks.user_task_changing,
    UserTaskCorrected: user_tasks.user_task_corrected,
    UserTaskDenied: user_tasks.user_task_denied,
    IncidentRaised: incidents.incident_raised,
    IncidentResolved: incidents.incident_resolved,
    DeploymentCreated: catalogue.deployment_created,
    DefinitionAdded: catalogue.definition_added,
    DefinitionDraining: catalogue.definition_draining,
    DefinitionDeleted: catalogue.definition_deleted,
    StartFormSet: catalogue.start_form_set,
    RetentionSet: catalogue.retention_set,
    FormAdded: catalogue.form_added,
    FormDeleted: catalogue.form_deleted,
    GenericResourceAdded: catalogue.generic_resource_added,
    GenericResourceDeleted: catalogue.generic_resource_deleted,
    RequirementsAdded: catalogue.requirements_added,
    DecisionAdded: catalogue.decision_added,
    RequirementsDeleted: catalogue.requirements_deleted,
    DecisionDeleted: catalogue.decision_deleted,
    DecisionEvaluated: decisions.decision_evaluated,
    SlotsMoved: slots.slots_moved,
    SlotsHeld: slots.slots_held,
    HeldCommandsSent: slots.held_commands_sent,
    SlotsReleased: slots.slots_released,
}


def apply(state: State, event: Event) -> Row:
    """Apply one event to `state`."""
    return APPLY[type(event)](state, event)
