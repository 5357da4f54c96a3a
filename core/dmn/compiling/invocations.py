"""Invocations that name a function that does not exist. Camunda refuses their file (DMN 1.5 §7.3.6 gives null)."""

from __future__ import annotations

from collections.abc import Iterator, Set

from vivero.core.dmn.compiling.names import parts_of
from vivero.core.dmn.model import Context, FunctionDefinition, Invocation, Iteration, Logic, Text
from vivero.core.feel.builtins import FUNCTIONS
from vivero.core.feel.grammar.lexer import is_plain_name

Known = tuple[Set[str], ...]
"""The names that logic sees, by level: a set for all of them would be copied on each level."""


def unknown_functions(logic: Logic, known: Known) -> Iterator[Text]:
    """The plain names of functions that neither a requirement, nor the logic around, nor FEEL has."""
    if own := _own_names(logic):
        known = (*known, own)
    if isinstance(logic, Invocation) and isinstance(logic.function, Text):
        name = logic.function.text
        if is_plain_name(name) and name not in FUNCTIONS and not any(name in names for names in known):
            yield logic.function
    for part in parts_of(logic):
        yield from unknown_functions(part, known)


def _own_names(logic: Logic) -> set[str]:
    match logic:
        case Context():
            return {entry.variable.name for entry in logic.entries if entry.variable is not None}
        case FunctionDefinition():
            return {parameter.name for parameter in logic.parameters}
        case Iteration():
            return {logic.variable}
        case _:
            return set()
