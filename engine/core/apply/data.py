"""Variables."""

from __future__ import annotations

from engine.core import records
from engine.core.state import MISSING, VARIABLE_WEIGHT, State, Variable


def variable_set(state: State, event: records.VariableSet) -> Variable:
    scope = state.elements[event.scope]
    variable = scope.variables.get(event.name)
    if variable is None:
        variable = Variable(event.key, scope, event.name, event.value)
        state.link(scope.variables, event.name, variable)
        state.add(variable)
        grown = VARIABLE_WEIGHT + len(event.value)
    else:
        grown = len(event.value) - len(variable.value)
        state.edit(variable)
        variable.value = event.value
        variable.decoded = MISSING
    scope.root.weight += grown
    state.weight += grown
    return variable
