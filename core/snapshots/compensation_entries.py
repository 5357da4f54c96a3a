"""Compensation in snapshots: completed activities, and handlers that are on their way."""

from __future__ import annotations

from vivero.core.snapshots import format as entries
from vivero.core.snapshots.codec import InvalidSnapshot
from vivero.core.snapshots.format import Snapshot, Values, key_of, key_text, raw, text
from vivero.core.state.compensation import Compensation, PastScope, past_scopes
from vivero.core.state.instance_tree import Element, Instance, Variable
from vivero.core.state.registrations import Registration
from vivero.core.state.state import State


def place(element: Element, at: Compensation) -> entries.CompensationEntry:
    """The place of an element in a compensation."""
    return entries.CompensationEntry(
        key=str(at.key),
        scopes=tuple(map(str, at.scopes)),
        before=str(at.before),
        thrower=key_text(at.thrower),
        inside=tuple(map(str, at.inside)),
        only=at.only,
        seen=tuple(_past_scopes(element)),
    )


def _past_scopes(element: Element) -> list[entries.PastScopeEntry]:
    found, scope = [], element.past
    while isinstance(scope, PastScope):
        found.append(entries.PastScopeEntry(key=str(scope.key), variables=_values(scope.variables)))
        scope = scope.outer
    return found


def registration(row: Registration) -> entries.RegistrationEntry:
    return entries.RegistrationEntry(
        key=str(row.key),
        process_instance_key=str(row.instance.key),
        scope_key=str(row.scope),
        element_key=str(row.activity),
        element_id=row.element,
        is_scope=row.is_scope,
        handler=row.handler,
        registered=dict(sorted(row.registered.items())),
        running=row.running,
        variables=_values(row.variables),
    )


def _values(variables: dict[str, Variable]) -> Values:
    return {name: raw(variable.value) for name, variable in variables.items()}


def set_place(element: Element, entry: entries.CompensationEntry) -> None:
    """Let an element compensate what the entry says."""
    seen = [(int(scope.key), _variables(scope.variables, element.instance)) for scope in entry.seen]
    keys = tuple(key for key, _ in seen)
    element.compensation = Compensation(
        int(entry.key),
        key_of(entry.thrower),
        tuple(map(int, entry.scopes)),
        tuple(map(int, entry.inside)),
        int(entry.before),
        entry.only,
        keys,
    )
    element.past = past_scopes(seen, element.scope)
    element.path = (element.key, *keys, *element.path[1:])


def add_registrations(state: State, snapshot: Snapshot) -> None:
    """Add the completed activities of a snapshot."""
    for number, entry in enumerate(snapshot.compensations):
        instance = state.elements.get(int(entry.process_instance_key))
        if not isinstance(instance, Instance):
            what = f"no process instance has the key {entry.process_instance_key}"
            raise InvalidSnapshot(f"compensations[{number}].processInstanceKey: {what}")
        row = Registration(
            int(entry.key),
            instance,
            int(entry.scope_key),
            int(entry.element_key),
            entry.element_id,
            entry.is_scope,
            entry.handler,
            entry.registered,
            entry.running,
        )
        row.variables = _variables(entry.variables, instance)
        state.registrations.add_loaded(row)


def _variables(values: Values, instance: Instance) -> dict[str, Variable]:
    return {name: Variable(0, instance, name, text(value)) for name, value in values.items()}
