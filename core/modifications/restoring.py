"""Restore elements that a modification has terminated: the undo of it (docs/undo.md).

They get new keys, as their former rows have ended for all readers. Due dates, variables and incidents are as before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from vivero.core.records.effects import Effect, Reject, RejectionCode, Send
from vivero.core.records.instances import IncidentRaised
from vivero.core.records.jobs import JobErrorThrown, JobFailed
from vivero.core.records.messages import OpenSubscription, SubscriptionOpened
from vivero.core.records.modifications import ElementRestored, Restoring
from vivero.core.records.timers import TimerFailed
from vivero.core.shared import task_transitions
from vivero.core.shared.ending import Ending
from vivero.core.state.instance_tree import ACTIVATED, Element, Instance
from vivero.core.state.subtrees import descendants
from vivero.core.undos.inverse import HAS_LISTENERS, REFUSED
from vivero.core.view import View

LATER = (JobFailed, JobErrorThrown, TimerFailed)
"""Events about a job or a timer that another one creates."""


def outermost(events: Iterable[Restoring]) -> list[ElementRestored]:
    """The elements that are restored in live scopes."""
    elements = [event for event in events if isinstance(event, ElementRestored)]
    keys = {element.key for element in elements}
    return [element for element in elements if element.scope not in keys]


def check_scopes(events: Iterable[Restoring], instance: Instance, view: View) -> None:
    """Raises Reject if a scope in which an element is restored has ended."""
    for one in outermost(events):
        scope = view.element(one.scope)
        if scope is None or scope.instance is not instance or scope.state is not ACTIVATED or Ending().covers(scope):
            text = f"Expected to restore element instance with key '{one.former}', but its scope has ended"
            raise Reject(RejectionCode.INVALID_STATE, text)


def check_listeners(ending: Iterable[Element], instance: Instance, view: View) -> None:
    """Raises Reject if a user task in these elements would end only after the listeners of its cancellation."""
    for one in (below for element in ending for below in descendants(element)):
        for task in one.waits.user_tasks.values():
            if task_transitions.cancellation(task, view) is not None:
                text = REFUSED.format(instance.key, HAS_LISTENERS.format(one.element))
                raise Reject(RejectionCode.INVALID_STATE, text)


def effects_of(events: Sequence[Restoring], instance: Instance, view: View) -> Iterator[Effect]:
    """The events with new keys, and the subscriptions of message channels."""
    keys: dict[int, int] = {}
    for event in events:
        if not isinstance(event, LATER):
            keys[event.key] = view.key()
        yield _with_keys(event, keys, view)
        if isinstance(event, SubscriptionOpened) and event.correlation_key is not None:
            place = keys[event.key], instance.tenant, event.name, event.correlation_key
            yield Send(OpenSubscription(*place, instance.process_id, event.interrupting, instance.business_id))


def _with_keys(event: Restoring, keys: dict[int, int], view: View) -> Restoring:
    change = msgspec.structs.replace
    if isinstance(event, ElementRestored):
        variables = tuple((view.key(), name, value) for _, name, value in event.variables)
        return change(event, key=keys[event.key], scope=keys.get(event.scope, event.scope), variables=variables)
    if isinstance(event, LATER):
        return change(event, key=keys[event.key])
    if isinstance(event, IncidentRaised):
        return change(
            event,
            key=keys[event.key],
            element=keys[event.element],
            job=None if event.job is None else keys[event.job],
            argument=keys.get(event.argument, event.argument) if event.stage == "check" else event.argument,
        )
    assert event.element is not None, "it is about an element that is restored"
    return change(event, key=keys[event.key], element=keys[event.element])
