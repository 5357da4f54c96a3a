"""Process. BPMN 2.0.2 §13.5.1: started at its none start event; it completes when all its tokens have ended.

Not here: message, timer and signal start events; several start events.
"""

from __future__ import annotations

from engine.core.elements import sub_process
from engine.core.records import Effects, ElementCompleted
from engine.core.state import Element
from engine.core.view import View

activate = sub_process.activate


def leave(process: Element, at: View) -> Effects:
    yield ElementCompleted(process.key)
