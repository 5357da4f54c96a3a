"""The parameters of a statement."""

from __future__ import annotations

from typing import Any

from vivero.storage.search.problems import Invalid

MAX_LISTED = 10_000
"""Values in all lists of a search together."""


class Parameters:
    """The values of a statement's $1, $2, … They are never part of its text."""

    def __init__(self, limited: bool = False) -> None:
        """`limited`: the statement is for some tenants only, and row-level security holds it.

        Its indexes then answer only operators that PostgreSQL calls leakproof. Others need a condition beside them.
        """
        self.limited = limited
        self.values: list[Any] = []
        self._listed = 0

    def add(self, value: Any, cast: str) -> str:
        """Adds a value of PostgreSQL's type `cast`; returns its placeholder. Raises Invalid: too many values."""
        self.values.append(value)
        if type(value) is list:
            self._listed += len(value)
            if self._listed > MAX_LISTED:
                raise Invalid(f"The lists of the filter have more than {MAX_LISTED} values together")
        return f"${len(self.values)}::{cast}"
