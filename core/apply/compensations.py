"""Compensation: completed activities that can be compensated, and handlers that do so."""

from __future__ import annotations

from vivero.core.records.compensations import (
    CompensationEnded,
    CompensationHandedOver,
    CompensationRegistered,
    CompensationStarted,
)
from vivero.core.state import registrations
from vivero.core.state.compensation import Compensation, past_scopes
from vivero.core.state.instance_tree import Element
from vivero.core.state.registrations import CLOSED, Registration
from vivero.core.state.state import State


def registered(state: State, event: CompensationRegistered) -> Registration:
    activity = state.elements[event.element]
    scope = activity.scope
    assert scope is not None, "an activity is in a scope"
    numbers = activity.registered
    row = Registration(
        event.key, activity.instance, scope.key, activity.key, activity.element, event.is_scope, event.handler, numbers
    )
    state.add(row)
    state.link(state.registrations.by_key, row.key, row)
    if event.is_scope:
        row.variables = activity.variables
        state.link(state.registrations.of_activity, row.activity, row)
    registrations.link(state, row)
    _count(state, scope, row.element, 1)
    state.edit(activity)
    activity.registered = {}
    return row


def started(state: State, event: CompensationStarted) -> Element:
    by_key, element = state.registrations.by_key, state.elements[event.element]
    row = by_key[event.key]
    around = [by_key[key] for key in reversed(event.inside)]
    seen = [row, *around] if row.is_scope else around
    keys = tuple(one.activity for one in seen)
    place = event.key, event.thrower, event.scopes, event.inside, event.before, event.only
    state.edit(element)
    element.compensation = Compensation(*place, keys)
    element.past = past_scopes([(one.activity, one.variables) for one in seen], element.scope)
    element.path = (element.key, *keys, *element.path[1:])
    if event.replaces:
        state.edit(row)
        row.running = True
        _take(state, row)
    elif row.registered:
        state.edit(row)
        row.handler = None
    else:
        _close(state, row)
    return element


def handed_over(state: State, event: CompensationHandedOver) -> Element:
    element, before = state.elements[event.key], state.elements[event.element]
    state.edit(element)
    element.compensation, element.past = before.compensation, before.past
    element.path = (element.key, *before.path[1:])
    return element


def ended(state: State, event: CompensationEnded) -> Registration:
    row = state.registrations.by_key[event.key]
    _close(state, row)
    return row


def _close(state: State, row: Registration) -> None:
    state.edit(row)
    row.state = CLOSED
    if not row.running:
        _take(state, row)


def _take(state: State, row: Registration) -> None:
    """Take the row out of its scope."""
    state.unlink(state.registrations.of_scope[row.scope][row.element], row.key)
    live = state.elements.get(row.scope)
    _count(state, state.registrations.of_activity[row.scope] if live is None else live, row.element, -1)


def _count(state: State, scope: Element | Registration, element: str, by: int) -> None:
    state.edit(scope)
    numbers = dict(scope.registered)
    numbers[element] = numbers.get(element, 0) + by
    scope.registered = {name: number for name, number in numbers.items() if number}
