"""What all rows of the state have in common."""

from __future__ import annotations

from typing import Any

import msgspec


class Row(msgspec.Struct, eq=False):
    """A row of a table. `key` is unique over all tables of a partition.

    A row in memory is itself and nothing else (`eq=False`): so sets of rows cost no more than sets of addresses.
    """

    key: int

    def place(self) -> Any:
        """The live element that the row is of, or that it is; None for a row that belongs to no tree."""
        return None
