"""What an element waits for, opened when it is activated and closed when it ends.

An element waits for its boundary events, for the start events of event sub-processes in it, and, where its behaviour
says so, for events of its own. Each wait hangs on the element's row and names its target node.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from engine.bpmn.model import Node, Process, TimerEvent
from engine.core.records import Effects, TimerCanceled, TimerScheduled
from engine.core.shared.catching import boundaries_of, event_node, event_sub_processes_of
from engine.core.shared.schedules import due_date
from engine.core.state import Element
from engine.core.view import View

Awaits = Callable[[Node, Process], Iterator[Node]] | None


def open_all(element: Element, awaits: Awaits, at: View) -> Effects:
    """Expressions of events are evaluated now; one that fails is an incident of this stage."""
    node = at.node(element)
    if node.boundaries:
        for boundary in boundaries_of(element, at):
            yield from _open(element, boundary, "BOUNDARY", at)
    if node.event_sub_processes:
        for sub_process in event_sub_processes_of(element, at):
            yield from _open(element, sub_process, "EVENT_SUB_PROCESS", at)
    if awaits is not None:
        for awaited in awaits(node, at.model(element.instance.definition_key)):
            yield from _open(element, awaited, "INTERMEDIATE", at)


def _open(element: Element, target: Node, type_: str, at: View) -> Effects:
    event = event_node(target, element, at).event
    if isinstance(event, TimerEvent):
        due = due_date(event, element, at)
        yield TimerScheduled(at.key(), element.key, target.id, type_, due.at, due.repetitions, due.cycle)


def close(element: Element, targets: Collection[str] | None = None) -> Effects:
    """Wait no longer: for anything, or for what these nodes wait for."""
    for timer in element.timers.values():
        if targets is None or timer.target in targets:
            yield TimerCanceled(timer.key)
