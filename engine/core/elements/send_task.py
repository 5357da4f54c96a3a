"""Send task. BPMN 2.0.2 §10.3.3: it sends a message, and completes when the message is sent: published by the engine
(`zeebe:publishMessage`), or by a worker with a job.
"""

from __future__ import annotations

from vivero.engine.bpmn.model import MessageEvent
from vivero.engine.core.elements import service_task
from vivero.engine.core.records.effects import Effects
from vivero.engine.core.shared.throwing import publish
from vivero.engine.core.state.tree import Element
from vivero.engine.core.view import View


def activate(task: Element, at: View) -> Effects:
    message = at.node(task).event
    if isinstance(message, MessageEvent):
        yield from publish(task, message, at)
    else:
        yield from service_task.activate(task, at)
