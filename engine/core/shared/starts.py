"""Start events of processes that wait for messages, signals and timers."""

from __future__ import annotations

from collections.abc import Iterator

from vivero.engine.bpmn.model import MessageEvent, Process, SignalEvent, TimerEvent
from vivero.engine.core.records.catalogue import ProcessMetadata, StartMetadata
from vivero.engine.core.shared import start_timers
from vivero.engine.core.shared.schedules import InvalidSchedule
from vivero.engine.core.view import MAX_TEXT
from vivero.engine.feel import EvaluationError, Expression


class InvalidStart(Exception):
    """What a start event waits for cannot be known without variables, or is invalid; the message says which and why."""


def metadata_of(process: Process) -> ProcessMetadata:
    """What the catalogue needs to know of a process.

    Raises:
        InvalidStart: see there.
    """
    return ProcessMetadata(process.id, process.name, process.version_tag, tuple(starts_of(process)))


def starts_of(process: Process) -> Iterator[StartMetadata]:
    """Names are evaluated now, without variables: there is no instance yet. Raises as `metadata_of` does."""
    for node in process.nodes.values():
        if node.type == "START_EVENT" and node.scope == process.id:
            if isinstance(node.event, MessageEvent):
                yield StartMetadata(node.id, "MESSAGE", _name(node.event.name, node.id))
            elif isinstance(node.event, SignalEvent):
                yield StartMetadata(node.id, "SIGNAL", _name(node.event.name, node.id))
            elif isinstance(node.event, TimerEvent):
                yield _timer(node.id, node.event)


def _timer(element: str, event: TimerEvent) -> StartMetadata:
    try:
        return start_timers.metadata(element, event)
    except InvalidSchedule as error:
        raise InvalidStart(f"element '{element}': {error}") from error


def _name(expression: Expression, element: str) -> str:
    try:
        value = expression.static_value if expression.is_static else expression.evaluate({}, now=0).value
    except EvaluationError as error:
        raise InvalidStart(f"element '{element}': the name cannot be evaluated: {error}") from error
    if not isinstance(value, str) or not value:
        raise InvalidStart(
            f"element '{element}': the name must be a text that is not empty; variables have no value here"
        )
    if "\0" in value or len(value) > MAX_TEXT:
        raise InvalidStart(
            f"element '{element}': the name must be a text without NUL characters, of at most {MAX_TEXT} characters"
        )
    return value
