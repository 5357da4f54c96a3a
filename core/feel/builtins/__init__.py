"""The built-in functions of FEEL: DMN 1.5, chapter 10.3.4, and Camunda's additions. `FUNCTIONS` lists them all.

Entry: `FUNCTIONS`.
Imports: grammar, temporal.
"""

from collections.abc import Mapping
from types import MappingProxyType

from vivero.core.feel.builtins import (
    aggregates,
    boolean,
    contexts,
    conversion,
    json_text,
    lists,
    numeric,
    ranges,
    strings,
    temporals,
    zeebe,
)
from vivero.core.feel.values import Overload

__all__ = ["FUNCTIONS"]

_MODULES = (
    conversion,
    json_text,
    boolean,
    strings,
    lists,
    aggregates,
    numeric,
    contexts,
    temporals,
    ranges,
    zeebe,
)

FUNCTIONS: Mapping[str, tuple[Overload, ...]] = MappingProxyType(
    {name: overloads for module in _MODULES for name, overloads in module.FUNCTIONS.items()}
)
