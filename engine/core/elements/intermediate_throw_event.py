"""Intermediate throw event. BPMN 2.0.2 §10.5.4: its token goes on when what it throws is thrown. None: at once.
Escalation: the nearest catcher hears it; only an interrupting one keeps the token from going on. Link: the token
goes on at the catching link event of the same name in this scope (§10.5.5). Message: published, or a job for a worker.
Signal: everybody who waits for it gets it. Both are given to who waits before the token goes on.

Not here: compensation throw events.
"""

from __future__ import annotations

from vivero.engine.bpmn.model import EscalationEvent, LinkEvent, MessageEvent, SignalEvent
from vivero.engine.core.records.effects import Effects
from vivero.engine.core.records.instances import ElementCompleted, ElementCompleting
from vivero.engine.core.shared import events, throwing
from vivero.engine.core.shared.flows import enter
from vivero.engine.core.shared.jobs import create_job
from vivero.engine.core.state.tree import Element
from vivero.engine.core.view import View


def activate(event: Element, at: View) -> Effects:
    node = at.node(event)
    if node.job is not None:
        yield from create_job(event, node.job, at)
    elif isinstance(node.event, EscalationEvent):
        yield from escalate(event, node.event, at)
    elif isinstance(node.event, MessageEvent):
        yield from throwing.publish(event, node.event, at)
    elif isinstance(node.event, SignalEvent):
        yield from throwing.broadcast(event, node.event, at)
    else:
        yield ElementCompleting(event.key)


def escalate(event: Element, escalation: EscalationEvent, at: View) -> Effects:
    """Tell the nearest catcher, if there is one; the event completes unless that interrupts it."""
    assert escalation.code is not None, f"the parser lets no escalation without a code be thrown: {event.element}"
    code = at.text(escalation.code, event)
    catcher = events.catcher_of(EscalationEvent, code, event, at, from_itself=False)
    if catcher is not None:
        yield from events.catch(catcher, {}, at)
    if catcher is None or not events.is_interrupting(catcher, at):
        yield ElementCompleting(event.key)


def leave(event: Element, at: View) -> Effects:
    node = at.node(event)
    yield ElementCompleted(event.key, node.outgoing)
    if isinstance(node.event, LinkEvent) and event.scope is not None:
        assert node.event.target is not None, f"the parser lets no link without a target through: {event.element}"
        yield from enter(at.model(event.instance.definition_key).nodes[node.event.target], event.scope, at)
