"""Signal event. BPMN 2.0.2 §10.5.5: all elements that wait for its name get it. It is not stored. The throwing element
completes after all current receivers have got it, as with a message."""

from __future__ import annotations

from vivero.core.bpmn.model import SignalEvent
from vivero.core.events.behaviour import Wait
from vivero.core.events.start_subscriptions import open_start as open_start
from vivero.core.events.start_subscriptions import static_name
from vivero.core.records.catalogue import StartMetadata
from vivero.core.records.effects import Effects, Send
from vivero.core.records.messages import SubscriptionOpened
from vivero.core.records.signals import BroadcastSignal
from vivero.core.shared.variables import locals_of
from vivero.core.state.instance_tree import Element
from vivero.core.view import View

KIND = "SIGNAL"


def subscribe(wait: Wait, event: SignalEvent, view: View) -> Effects:
    name = view.expressions.text(event.name, wait.element)
    yield SubscriptionOpened(
        view.key(), wait.element.key, wait.target.id, wait.type, KIND, name, interrupting=wait.interrupting
    )


def throw(element: Element, signal: SignalEvent, view: View) -> Effects:
    yield Send(BroadcastSignal(view.expressions.text(signal.name, element), locals_of(element), element.key))


START_KINDS = (KIND,)


def start(element: str, event: SignalEvent) -> StartMetadata:
    return StartMetadata(element, KIND, static_name(event.name, element))
