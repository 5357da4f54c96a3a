"""The statement that reads the variables of scopes, found by process instance and scope."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from vivero.core.state.instance_tree import Element
from vivero.storage.postgres.driver import Call
from vivero.storage.postgres.sql_files import load

VARIABLES = load(Path(__file__).with_name("load.sql"))["variables"]
"""Its rows are (key, scope, name, value)."""

Places = Mapping[int, int]
"""Keys of scopes, each with the key of its process instance."""


def places_of(scopes: Iterable[Element]) -> Places:
    """The places of loaded scopes."""
    return {scope.key: scope.instance.key for scope in scopes}


def variables_of(places: Places) -> Call:
    """The statement for these scopes."""
    return VARIABLES, parameters_of(places)


def parameters_of(places: Places) -> tuple[list[int], list[int]]:
    """The process instances and the scopes, as the parameters of a statement."""
    return list(places.values()), list(places)
