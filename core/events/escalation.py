"""Escalation event. BPMN 2.0.2 §10.5.5: the nearest catcher of its code catches it. The throwing event completes,
unless the catcher is interrupting. An uncaught escalation has no effect."""

from __future__ import annotations

from vivero.core.bpmn.model import EscalationEvent
from vivero.core.events.codes import find_catcher
from vivero.core.records.effects import Effects
from vivero.core.records.instances import ElementCompleting
from vivero.core.shared.occurrences import catch, is_interrupting
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def throw(event: Element, escalation: EscalationEvent, view: View) -> Effects:
    assert escalation.code is not None, f"the parser rejects thrown escalations without a code: {event.element}"
    code = view.expressions.text(escalation.code, event)
    catcher = find_catcher(EscalationEvent, code, event, view, from_itself=False)
    if catcher is not None:
        yield from catch(catcher, {}, view)
    if catcher is None or not is_interrupting(catcher, view):
        yield ElementCompleting(event.key)
