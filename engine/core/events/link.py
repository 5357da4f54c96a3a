"""Link event. BPMN 2.0.2 §10.5.5: the token continues at the link catch event of the same name in the same scope, which
completes at once."""

from __future__ import annotations

from vivero.engine.bpmn.model import LinkEvent
from vivero.engine.core.records.effects import Effects
from vivero.engine.core.shared.flows import enter
from vivero.engine.core.state.instance_tree import Element
from vivero.engine.core.view import View


def follow(event: Element, link: LinkEvent, view: View) -> Effects:
    assert link.target is not None, f"the parser rejects links without a target: {event.element}"
    assert event.scope is not None, "an event has a scope"
    return enter(view.model(event.instance.definition_key).nodes[link.target], event.scope, view)
