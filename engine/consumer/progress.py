"""The progress of a leadership term."""

from __future__ import annotations

from vivero.storage.postgres.given_time import given_time

STALLED_S = 2.0
"""In given time. A term that works and whose position has not moved for this long does not progress."""


class Progress:
    """Positions of the log that a term has reached, and whether it has anything to do."""

    def __init__(self, position: int) -> None:
        """`position` is the last one that earlier terms committed."""
        self.last = position
        """The last position of the batches that were handed over to be committed."""
        self.committed = position
        self.decoded = position
        self.between = False
        """Whether the latest work was a quantum of deferred work between commands."""
        self.idle = True
        self._moved_at = given_time()

    def begin(self) -> None:
        """There is something to do."""
        if self.idle:
            self.idle, self._moved_at = False, given_time()

    def commit(self, position: int) -> None:
        """The batch that ends at `position` is committed."""
        self.committed, self._moved_at = position, given_time()

    @property
    def moves(self) -> bool:
        """Whether the term is idle, or has committed something within the last seconds."""
        return self.idle or given_time() - self._moved_at < STALLED_S
