"""Messages and signals that elements throw. They carry the element's local variables: those of its input mappings.

The element stays until who waits now has been told (`commands/throw.py`): what it ends by going on has heard it before,
and what begins to wait by its going on does not hear it. BPMN 2.0.2 §10.5.1: a trigger is for what waits at that time.
"""

from __future__ import annotations

from datetime import timedelta

import msgspec

from vivero.engine.bpmn.model import MessageEvent, SignalEvent
from vivero.engine.core.records.base import Variables
from vivero.engine.core.records.effects import Effects, Fail, IncidentType, Send
from vivero.engine.core.records.messages import PublishMessage
from vivero.engine.core.records.signals import BroadcastSignal
from vivero.engine.core.shared.waits import key_of
from vivero.engine.core.state.tree import Element
from vivero.engine.core.view import View
from vivero.engine.feel import Expression
from vivero.engine.feel.temporal.calendar import TemporalError
from vivero.engine.feel.temporal.timers import parse_interval

LONGEST_MS = int(timedelta(days=36_500).total_seconds() * 1000)


def publish(element: Element, message: MessageEvent, at: View) -> Effects:
    """Publish natively. An id that a kept message has already means: published before, and nothing more happens."""
    name = at.text(message.name, element)
    key = "" if message.correlation_key is None else key_of(message.correlation_key, element, at)
    id_ = None if message.message_id is None else key_of(message.message_id, element, at, "message id")
    ttl = 0 if message.time_to_live is None else _milliseconds(message.time_to_live, element, at)
    yield Send(PublishMessage(name, key, ttl, id_, _local(element), element.key))


def broadcast(element: Element, signal: SignalEvent, at: View) -> Effects:
    yield Send(BroadcastSignal(at.text(signal.name, element), _local(element), element.key))


def _local(element: Element) -> Variables:
    return {name: msgspec.Raw(variable.value.encode()) for name, variable in element.variables.items()}


def _milliseconds(expression: Expression, element: Element, at: View) -> int:
    """A duration: ISO 8601 text, or a FEEL value; not negative."""
    value = at.evaluate(expression, element)
    text = value if isinstance(value, str) else at.json_of(value).strip('"')
    try:
        milliseconds = parse_interval(text).added_to(at.now) - at.now
    except (TemporalError, OverflowError, ValueError) as error:
        raise _invalid(expression, str(error)) from error
    if not 0 <= milliseconds <= LONGEST_MS:
        raise _invalid(expression, f"'{text}' is negative, or longer than a century")
    return milliseconds


def _invalid(expression: Expression, why: str) -> Fail:
    text = expression.text.removeprefix("=").strip()
    return Fail(IncidentType.EXTRACT_VALUE_ERROR, f"Invalid time to live expression '{text}': {why}")
