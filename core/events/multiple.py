"""Several definitions of one event. BPMN 2.0.2 §10.5.5: an event that waits occurs when the first of them does. The
waits for the others end with it, or go on if it does not interrupt. A parallel one occurs when all of them have
(`shared/occurrences.py`). An event that throws throws them all, in document order, and then completes. If one of them
cannot be thrown, nothing is thrown.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from vivero.core.bpmn.model import EventDefinition, MultipleEvent, SingleEvent
from vivero.core.events.behaviour import EventBehaviour, Wait
from vivero.core.records.effects import Effect, Effects, Send
from vivero.core.records.instances import ElementCompleting
from vivero.core.records.messages import PublishMessage
from vivero.core.records.signals import BroadcastSignal
from vivero.core.state.instance_tree import Element
from vivero.core.view import View

Behaviours = Mapping[type[EventDefinition], EventBehaviour]


def behaviour_of(singles: Behaviours) -> EventBehaviour:
    """The behaviour of events with several definitions, given that of each definition."""

    def subscribe(wait: Wait, event: MultipleEvent, view: View) -> Effects:
        if event.parallel:
            wait = wait._replace(interrupting=True)  # each occurrence ends the wait for its definition
        for part in event.parts:
            single = singles[type(part)].subscribe
            assert single is not None, "the parser rejects parts that are not waited for"
            yield from single(wait, part, view)

    def throw(element: Element, event: MultipleEvent, view: View) -> Effects:
        *before, last = event.parts
        for part in before:
            effects = list(_thrown(element, part, singles, view))
            yield from (_continued(effect) for effect in effects if effect != ElementCompleting(element.key))
            if not any(_continues(effect, element) for effect in effects):
                return  # an escalation has interrupted the element
        yield from _thrown(element, last, singles, view)

    def follow(element: Element, event: MultipleEvent, view: View) -> Effects:
        for part in event.parts:
            single = singles[type(part)].follow
            if single is not None:
                yield from single(element, part, view)

    return EventBehaviour(subscribe, throw, follow)


def _thrown(element: Element, part: SingleEvent, singles: Behaviours, view: View) -> Effects:
    throw = singles[type(part)].throw
    return (ElementCompleting(element.key),) if throw is None else throw(element, part, view)


def _continued(effect: Effect) -> Effect:
    """The effect, after which the element throws something else instead of completing."""
    if isinstance(effect, Send) and isinstance(effect.command, PublishMessage | BroadcastSignal):
        return msgspec.structs.replace(effect, command=msgspec.structs.replace(effect.command, completes=False))
    return effect


def _continues(effect: Effect, element: Element) -> bool:
    """Whether the element would go on after this effect."""
    return effect == ElementCompleting(element.key) or isinstance(effect, Send)
