"""Messages that are caught and sent. BPMN 2.0.2 §10.5.5, §10.3.3 (send and receive tasks).

A catching element waits for a correlation key (`zeebe:subscription`), unless it starts a process. A throwing element
creates a job for a worker (`zeebe:taskDefinition`) or publishes the message itself (`zeebe:publishMessage`).
"""

from __future__ import annotations

from vivero.core.bpmn.event_definitions.kind import CAUGHT, THROWN, EventKind, Reference
from vivero.core.bpmn.model import MessageEvent
from vivero.core.bpmn.reading.draft import Place
from vivero.core.bpmn.reading.extensions import JOB, PUBLISH, read_extensions
from vivero.core.bpmn.reading.references import EventReading
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.values import expression, feel, is_expression, text_or_expression
from vivero.core.bpmn.reading.xml import Element
from vivero.core.feel import Expression
from vivero.core.feel.temporal.calendar import TemporalError
from vivero.core.feel.temporal.timers import parse_interval


def awaited(reading: EventReading) -> MessageEvent | None:
    """The message that an event or a receive task waits for. None if it is wrong (reported)."""
    message = reading.referred("messageRef", "message")
    if message is None:
        return None
    name = reading.named(message, "name", f"{quote(reading.owner.get('id', ''))} waits for it")
    if reading.place is Place.PROCESS_START:
        return None if name is None else MessageEvent(name)
    key = _correlation_key(message, reading)
    return None if name is None or key is None else MessageEvent(name, correlation_key=key)


def _correlation_key(message: Element, reading: EventReading) -> Expression | None:
    subscription = read_extensions(message, frozenset({"subscription"}), reading.report).get("subscription")
    if subscription is None:
        why = f"{quote(reading.owner.get('id', ''))} waits for it"
        reading.report.add_problem(message, f"the message needs a zeebe:subscription with a correlationKey: {why}")
        return None
    return feel(subscription.get("correlationKey", ""), "correlationKey", message, reading.report, at=subscription)


def thrown(reading: EventReading) -> MessageEvent | None:
    """The message that is sent. None if a job sends it, because the worker knows the message."""
    job, publish = reading.extensions.get("taskDefinition"), reading.extensions.get("publishMessage")
    if job is not None and publish is not None:
        reading.add_problem("zeebe:taskDefinition and zeebe:publishMessage: one of them is too much", at=publish)
    if publish is not None:
        return _published(publish, reading)
    reading.object_to_unknown("messageRef", "message")
    if job is None:
        reading.add_problem("needs a zeebe:taskDefinition with the type of a job, or a zeebe:publishMessage")
    return None


def _published(publish: Element, reading: EventReading) -> MessageEvent | None:
    message = reading.referred("messageRef", "message")
    if message is None:
        return None
    name = reading.named(message, "name", f"{quote(reading.owner.get('id', ''))} publishes it")
    key = publish.get("correlationKey", "")
    if not key.strip():
        reading.add_problem("zeebe:publishMessage needs a correlationKey", at=publish)
        return None
    correlation_key = text_or_expression(key, "correlationKey", reading.owner, reading.report, at=publish)
    if name is None or correlation_key is None:
        return None
    return MessageEvent(name, correlation_key, _message_id(publish, reading), _time_to_live(publish, reading))


def _message_id(publish: Element, reading: EventReading) -> Expression | None:
    text = publish.get("messageId", "")
    return text_or_expression(text, "messageId", reading.owner, reading.report, at=publish) if text else None


def _time_to_live(publish: Element, reading: EventReading) -> Expression | None:
    text = publish.get("timeToLive", "").strip()
    if not text:
        return None
    if not is_expression(text):
        try:
            parse_interval(text)
        except TemporalError:
            reading.add_problem(f"timeToLive: {quote(text)} is not a duration like PT15M", at=publish)
            return None
    return expression(text, "timeToLive", reading.owner, reading.report, at=publish)


def _read(reading: EventReading) -> MessageEvent | None:
    if reading.place in THROWN:
        return thrown(reading)
    return awaited(reading)


KIND = EventKind(
    "a message event",
    CAUGHT | THROWN,
    _read,
    frozenset({"operationRef"}),
    reference=Reference("message", "name"),
    behind_gateway=True,
    throwing_extensions=JOB | PUBLISH,
    throwing_definition_extensions=PUBLISH,
)
