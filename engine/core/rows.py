"""What all rows of the state have in common."""

from __future__ import annotations

import msgspec


class Row(msgspec.Struct, eq=False):
    """A row of a table. `key` is unique over all tables of a partition.

    A row in memory is itself and nothing else (`eq=False`): so sets of rows cost no more than sets of addresses.
    """

    key: int
