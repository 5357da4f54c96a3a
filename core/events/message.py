"""Message event. BPMN 2.0.2 §10.5.5: elements wait for it by name and correlation key; the start event of a process
waits by name alone.

The throwing element completes after the message has been delivered to all current receivers (`commands/throw.py`). So
an element that ends because the thrower completes still gets the message, and one that begins because of it does not.
§10.5.1: a trigger is for the elements that wait at that time.
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from vivero.core.bpmn.model import MessageEvent
from vivero.core.events.behaviour import Wait
from vivero.core.events.start_subscriptions import open_start as open_start
from vivero.core.events.start_subscriptions import static_name
from vivero.core.expressions.results import column_text, type_name
from vivero.core.feel import Expression, to_json
from vivero.core.feel.temporal.calendar import TemporalError
from vivero.core.feel.temporal.timers import parse_interval
from vivero.core.records.catalogue import StartMetadata
from vivero.core.records.effects import Effects, Fail, IncidentType, Send
from vivero.core.records.messages import OpenSubscription, PublishMessage, SubscriptionOpened
from vivero.core.shared.variables import locals_of
from vivero.core.state.instance_tree import Element
from vivero.core.view import View

KIND = "MESSAGE"
LONGEST_MS = int(timedelta(days=36_500).total_seconds() * 1000)


def subscribe(wait: Wait, event: MessageEvent, view: View) -> Effects:
    """Open the element's subscription and tell the message channel of the correlation key.

    All expressions of a boundary event see the variables of its host. Until Camunda 8.9 the key did not: its local
    variables were those around the host. Behind a parallel event-based gateway the key is that of the message that has
    started the instance.
    """
    element, target = wait.element, wait.target.id
    name = view.expressions.text(event.name, element)
    instance = element.instance
    if event.correlation_key is not None:
        correlation_key = key_of(event.correlation_key, element, view)
    else:
        assert instance.start_lock is not None, "a message with a key has started the instance"
        correlation_key = instance.start_lock
    key = view.key()
    yield SubscriptionOpened(key, element.key, target, wait.type, KIND, name, correlation_key, wait.interrupting)
    place = key, instance.tenant, name, correlation_key
    yield Send(OpenSubscription(*place, instance.process_id, wait.interrupting, instance.business_id))


def key_of(expression: Expression, element: Element, view: View, what: str = "correlation key") -> str:
    """The correlation key as text. A number and its text are the same key."""
    value = view.expressions.evaluate(expression, element)
    if isinstance(value, str):
        return column_text(expression, value)
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return to_json(value)
    raise Fail(
        IncidentType.EXTRACT_VALUE_ERROR,
        f"Failed to extract the {what} for '{expression.text.removeprefix('=').strip()}': "
        f"The value must be either a string or a number, but was '{type_name(type(value))}'.",
    )


def throw(element: Element, message: MessageEvent, view: View) -> Effects:
    """Publish the message in the engine. If a stored message has the same id, nothing more happens."""
    name = view.expressions.text(message.name, element)
    key = "" if message.correlation_key is None else key_of(message.correlation_key, element, view)
    id_ = None if message.message_id is None else key_of(message.message_id, element, view, "message id")
    ttl = 0 if message.time_to_live is None else _milliseconds(message.time_to_live, element, view)
    yield Send(PublishMessage(name, key, ttl, id_, locals_of(element), element.key))


START_KINDS = (KIND,)


def start(element: str, event: MessageEvent) -> StartMetadata:
    return StartMetadata(element, KIND, static_name(event.name, element))


def _milliseconds(expression: Expression, element: Element, view: View) -> int:
    """A duration that is not negative, from ISO 8601 text or a FEEL value."""
    value = view.expressions.evaluate(expression, element)
    text = value if isinstance(value, str) else view.expressions.json_of(value).strip('"')
    try:
        milliseconds = parse_interval(text).added_to(view.now) - view.now
    except (TemporalError, OverflowError, ValueError) as error:
        raise _invalid(expression, str(error)) from error
    if not 0 <= milliseconds <= LONGEST_MS:
        raise _invalid(expression, f"'{text}' is negative, or longer than a century")
    return milliseconds


def _invalid(expression: Expression, why: str) -> Fail:
    text = expression.text.removeprefix("=").strip()
    return Fail(IncidentType.EXTRACT_VALUE_ERROR, f"Invalid time to live expression '{text}': {why}")
