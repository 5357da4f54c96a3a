"""Suspend and resume process instances, and the gate that the commands about a suspended one pass (docs/suspension.md).

A suspended instance keeps everything that it waits for. Commands of clients are rejected, those of the engine are
suspended, and the worklist keeps each item of its work. Terminating elements go on, or no cancellation would end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from vivero.core.needs import Need, NeedKind, Needs
from vivero.core.records.base import Command, WhileSuspended
from vivero.core.records.effects import Effects, Reject, RejectionCode, Send
from vivero.core.records.messages import RejectCorrelation, SubscriptionSuspended, TriggerSubscription
from vivero.core.records.suspensions import (
    RESUME_WAITS,
    InstanceResumed,
    InstanceSuspended,
    ResumeInstance,
    SuspendInstance,
    WorkSuspended,
)
from vivero.core.records.timers import TimerSuspended, TriggerTimer
from vivero.core.shared.deferred_work import ITEMS_RESUMED
from vivero.core.shared.suspended_work import is_stopped
from vivero.core.state.instance_tree import TERMINATING, Element, Instance
from vivero.core.state.subtrees import descendants
from vivero.core.view import NOTHING_RESUMES, View

# ---- the commands


def needs(command: SuspendInstance | ResumeInstance, _tenant: str) -> Needs:
    yield Need(NeedKind.INSTANCE, command.key)


def suspend(command: SuspendInstance, view: View) -> Effects:
    instance = _find(command, "suspend", view)
    if instance.suspended_at is not None:
        raise _refused(command, "suspend", "it is already suspended", moot=True)
    yield InstanceSuspended(instance.key, command.reason)
    for called in _called(command, instance, "suspend"):
        if called.suspended_at is None and called.state is not TERMINATING:
            yield InstanceSuspended(called.key, command.reason)


def resume(command: ResumeInstance, view: View) -> Effects:
    instance = _find(command, "resume", view)
    if instance.suspended_at is None:
        raise _refused(command, "resume", "it is not suspended", moot=True)
    yield InstanceResumed(instance.key, _resumed_now(instance))
    for called in _called(command, instance, "resume"):
        if called.suspended_at is not None:
            yield InstanceResumed(called.key, _resumed_now(called))


def _find(command: SuspendInstance | ResumeInstance, verb: str, view: View) -> Instance:
    instance = view.instance(command.key)
    if instance is None or not view.enter(instance.tenant):
        text = f"Expected to {verb} a process instance with key '{command.key}', but no such process was found"
        raise Reject(RejectionCode.NOT_FOUND, text)
    if instance.state is TERMINATING:
        cancelled = instance.tree.root.request is not None
        text = "a cancel request is already in progress" if cancelled else "it is already being terminated"
        raise _refused(command, verb, text)
    return instance


def _refused(command: SuspendInstance | ResumeInstance, verb: str, but: str, *, moot: bool = False) -> Reject:
    text = f"Expected to {verb} a process instance with key '{command.key}', but {but}"
    return Reject(RejectionCode.INVALID_STATE, text, moot=moot)


def _called(command: SuspendInstance | ResumeInstance, instance: Instance, verb: str) -> Iterator[Instance]:
    """The called instances below, if the command includes them.

    Raises Reject if a long loop is in the tree: its inner instances are not in memory together.
    """
    if not command.include_called:
        return
    if instance.tree.in_parts:
        text = "a loop in it is so long that its called process instances can only be handled one by one"
        raise _refused(command, verb, text)
    below = (one for one in descendants(instance) if isinstance(one, Instance) and one is not instance)
    only = frozenset(command.only)
    yield from (one for one in below if not only or one.key in only)


def _resumed_now(instance: Instance) -> tuple[tuple[int, str, Any], ...]:
    """The suspended items, if the command itself can run them: they are few, and all their elements are in memory."""
    now = len(instance.suspended_work) <= ITEMS_RESUMED and not instance.tree.in_parts
    return instance.suspended_work if now else ()


# ---- the gate


def pass_gate(command: Command, key: int, element: Element, view: View) -> Effects | None:
    """The effects of deferring a command about an element of a suspended process instance. None: its handler decides.

    `key`: what the command names. Raises Reject for a command that is refused meanwhile.
    """
    fate = command.while_suspended
    if fate is WhileSuspended.EXECUTE or not is_stopped(element) or not view.enter(element.instance.tenant):
        return None
    if fate is WhileSuspended.WAIT:
        return WAITING[type(command)](command, element, view)
    raise refusal(command.intent, key, element)


def refusal(intent: str, key: int, element: Element) -> Reject:
    """The rejection of a command about a part of a suspended process instance."""
    family, verb = intent.lower().replace("_", " ").split(":")
    what = _PHRASES.get(intent, f"{verb} {family}")
    text = f"Expected to {what} with key '{key}', but its process instance with key '{element.instance.key}' "
    return Reject(RejectionCode.INVALID_STATE, f"{text}is suspended: resume it first")


_PHRASES = {
    "JOB:THROW_ERROR": "throw an error for job",
    "PROCESS_INSTANCE_MODIFICATION:MODIFY": "modify process instance",
    "PROCESS_INSTANCE_BUSINESS_ID:ASSIGN": "assign a business id to process instance",
    "VARIABLE_DOCUMENT:UPDATE": "set variables in the scope",
}
"""Intent → what the command does, where its own words would not say it."""


def _suspend_timer(command: TriggerTimer, element: Element, view: View) -> Effects:
    """A timer that is due waits for the resumption, and its timer task forgets it."""
    timer = view.timer(command.key)
    if timer is not None and timer.state == "PENDING" and timer.due_at == command.due_at <= view.now:
        yield TimerSuspended(timer.key)
        yield from _resume_waits_later(element.instance, view)


def _suspend_message(command: TriggerSubscription, element: Element, view: View) -> Effects:
    """A message goes back to its channel, which closes the subscription. A signal is lost."""
    if command.offer.message is None:
        return
    yield Send(RejectCorrelation(command.key, view.tenant, command.offer))
    subscription = element.waits.subscriptions.get(command.key)
    if subscription is not None and not subscription.suspended:
        yield SubscriptionSuspended(command.key)
        yield from _resume_waits_later(element.instance, view)


def _resume_waits_later(instance: Instance, view: View) -> Effects:
    """One item stands for all suspended waits of the instance, however many they are."""
    view.resuming = NOTHING_RESUMES
    item = instance.key, RESUME_WAITS, 0
    if item not in instance.suspended_work:
        yield WorkSuspended(instance.key, (item,))


WAITING: dict[type[Command], Callable[[Any, Element, View], Effects]] = {
    TriggerTimer: _suspend_timer,
    TriggerSubscription: _suspend_message,
}
"""Command of the engine → the effects that make it wait for the resumption."""
