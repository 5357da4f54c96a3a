"""Event → state: the only code that changes rows (invariant 2). It knows no element type (invariant 3).

`APPLY` is the table. An applier is total on legal events, looks nothing up in a model, and returns the row that the
event is about, because that row may be out of the tables afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.core import records
from engine.core.apply import catalogue, channels, data, elements, incidents, jobs, subscriptions, timers, user_tasks
from engine.core.state import Row, State

APPLY: dict[type[records.Event], Callable[[State, Any], Row]] = {
    records.InstanceCreated: elements.instance_created,
    records.ElementActivating: elements.element_activating,
    records.ElementActivated: elements.element_activated,
    records.ElementCompleting: elements.element_completing,
    records.ElementCompleted: elements.element_completed,
    records.ElementTerminating: elements.element_terminating,
    records.ElementTerminated: elements.element_terminated,
    records.ScopeInterrupted: elements.scope_interrupted,
    records.ScopeEmptied: elements.scope_emptied,
    records.EventTriggered: elements.event_triggered,
    records.TimerScheduled: timers.timer_scheduled,
    records.TimerTriggered: timers.timer_triggered,
    records.TimerCanceled: timers.timer_canceled,
    records.TimerMoved: timers.timer_moved,
    records.TimerFailed: timers.timer_failed,
    records.SubscriptionOpened: subscriptions.subscription_opened,
    records.SubscriptionTriggered: subscriptions.subscription_triggered,
    records.SubscriptionClosed: subscriptions.subscription_closed,
    records.MessageReceived: subscriptions.message_received,
    records.MessagePublished: channels.message_published,
    records.MessageCorrelated: channels.message_correlated,
    records.CorrelationAnswered: channels.correlation_answered,
    records.ChannelSubscribed: channels.channel_subscribed,
    records.ChannelUnsubscribed: channels.channel_unsubscribed,
    records.StartLocked: channels.start_locked,
    records.StartReleased: channels.start_released,
    records.StartOpened: channels.start_opened,
    records.StartClosed: channels.start_closed,
    records.SignalBroadcast: channels.signal_broadcast,
    records.LoopStarted: data.loop_started,
    records.ItemCollected: data.item_collected,
    records.LoopResultSet: data.loop_result_set,
    records.WorkDeferred: elements.work_deferred,
    records.WorkResumed: elements.work_resumed,
    records.VariableSet: data.variable_set,
    records.JobCreated: jobs.job_created,
    records.JobCompleted: jobs.job_completed,
    records.JobFailed: jobs.job_failed,
    records.JobErrorThrown: jobs.job_error_thrown,
    records.JobUpdated: jobs.job_updated,
    records.JobReleased: jobs.job_released,
    records.JobCanceled: jobs.job_canceled,
    records.UserTaskCreated: user_tasks.user_task_created,
    records.UserTaskChanged: user_tasks.user_task_changed,
    records.UserTaskEnded: user_tasks.user_task_ended,
    records.IncidentRaised: incidents.incident_raised,
    records.IncidentResolved: incidents.incident_resolved,
    records.DeploymentCreated: catalogue.deployment_created,
    records.DefinitionAdded: catalogue.definition_added,
    records.DefinitionDraining: catalogue.definition_draining,
    records.DefinitionDeleted: catalogue.definition_deleted,
}


def apply(state: State, event: records.Event) -> Row:
    """Change `state` by one event."""
    return APPLY[type(event)](state, event)
