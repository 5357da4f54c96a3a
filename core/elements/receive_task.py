"""Receive task. BPMN 2.0.2 §10.3.3: it waits for a message and completes when the message arrives.

Behind an event-based gateway the gateway waits, and the engine enters the task after the message has arrived; likewise
a receive task whose message starts the process.
"""

from __future__ import annotations

from collections.abc import Iterator

from vivero.core.bpmn.model import Node, Process
from vivero.core.elements import boundary_event
from vivero.core.records.effects import Effects
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def awaits(node: Node, model: Process) -> Iterator[Node]:
    yield node


def activate(task: Element, view: View) -> Effects:
    return iter(()) if task.occurred is None else boundary_event.activate(task, view)
