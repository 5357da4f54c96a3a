"""What all rows of the state have in common."""

from __future__ import annotations

import msgspec


class Row(msgspec.Struct):
    """A row of a table. `key` is unique over all tables of a partition."""

    key: int
