"""The base class of all rows of the state."""

from __future__ import annotations

from typing import Any

import msgspec


class Row(msgspec.Struct, eq=False):
    """A row of a table. `key` is unique over all tables of a partition.

    Rows compare by identity (`eq=False`), which keeps sets of rows fast.
    """

    key: int

    def place(self) -> Any:
        """The live element that the row is or belongs to; None for a row outside of all trees."""
        return None
