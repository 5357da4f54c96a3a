"""Link event. BPMN 2.0.2 §10.5.5: the token continues at the link catch event of the same name in the same scope, which
completes at once."""

from __future__ import annotations

from vivero.core.bpmn.model import LinkEvent
from vivero.core.records.effects import Effects
from vivero.core.shared.flows import enter
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def follow(event: Element, link: LinkEvent, view: View) -> Effects:
    assert link.target is not None, f"the parser rejects links without a target: {event.element}"
    assert event.scope is not None, "an event has a scope"
    return enter(view.model(event.instance.definition_key).nodes[link.target], event.scope, view)
