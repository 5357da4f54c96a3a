"""Variables that an evaluation is given. Those of a process are decoded at their first use only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class GivenVariables(dict[str, Any]):
    """A dictionary that looks for names in the given variables when it has none itself."""

    __slots__ = ("_given",)

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given

    def __missing__(self, name: str) -> Any:
        self[name] = value = self._given[name]
        return value

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self._given

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default

    def copy(self) -> GivenVariables:
        other = GivenVariables(self._given)
        other.update(self)
        return other


def copied(variables: Mapping[str, Any]) -> dict[str, Any]:
    """A copy to which a place adds its own variables. It decodes nothing."""
    return variables.copy() if isinstance(variables, dict) else GivenVariables(variables)
