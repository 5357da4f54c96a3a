"""How deferred work shares the engine with commands: when it has its turn, and how much of it is done at once.

A command that comes while a slice is computed or committed waits for that. So slices are cut to a length in time, by
what the last ones took: short while others have commands, long while nobody has. Commands come first; but where they
never end, slices get a part of the time. Nothing here reads a clock: the consumer says how long things took.
"""

from __future__ import annotations

SHARED_S = 0.001
"""While others have commands, a slice is computed in about so much time of the processor; PostgreSQL needs as much."""
ALONE_S = 0.03
PART_OF_COMMIT = 0.25
"""And in no less than this part of what a commit of commands takes: where those take long whatever is in them, because
the machine is busy, shorter slices would be done much later and let others wait hardly less. Commits of slices do not
count: they take longer because those are, which would make them longer."""
COMPANY_S = 1.0
"""Others have commands, if they had one so long ago."""
SHARE = 0.5
"""Where commands never end, deferred work has this much time for each second that they take."""
MOST_CREDIT_S = 0.02
"""So much of it is kept at most: it is as long as commands wait for slices that follow each other."""
PAID_BEFORE_S = 0.01
"""So much of what a slice will take must have been gained before; the rest is owed."""
LEAST_ITEMS = 5
FIRST_ITEMS = 25
FASTER, SLOWER = 1.25, 0.5
"""By how much a slice may be larger or smaller than the one before."""


NEWER = 0.1
"""How much the latest commit counts."""


class Slices:
    """The lengths of slices, and whose turn it is. Times are in seconds."""

    def __init__(self, most: int) -> None:
        """`most`: items that a command may do."""
        self._most = most
        self._items = float(min(most, FIRST_ITEMS))
        self._credit_s = self._took_s = self._commit_s = 0.0
        self._others_at = float("-inf")

    @property
    def items(self) -> int:
        """How large the next slice may be."""
        return int(self._items)

    @property
    def due(self) -> bool:
        """Whether a slice has its turn before commands that wait. One that takes longer than the most credit, because
        a single item does, has it all the same, and pays afterwards."""
        return self._credit_s > min(self._took_s, PAID_BEFORE_S)

    def note_commands(self, began: float, now: float, deferred: bool) -> None:
        """A batch with others' commands had its turn; `deferred`: there is work that waits."""
        self._others_at = now
        self._credit_s = min(self._credit_s + SHARE * (now - began), MOST_CREDIT_S) if deferred else 0.0

    def note_slice(self, took_s: float, waited: bool) -> None:
        """A slice had its turn; `waited`: commands may have waited for it."""
        self._took_s = took_s
        self._credit_s = self._credit_s - took_s if waited else 0.0

    def fit(self, now: float, worked_s: float, full: bool) -> None:
        """Computing a slice has used the processor for so long; the next one is cut accordingly.

        `full`: it was as large as it may be.
        """
        shared_s = min(max(SHARED_S, PART_OF_COMMIT * self._commit_s), ALONE_S)
        aim_s = shared_s if now - self._others_at < COMPANY_S else ALONE_S
        change = min(max(aim_s / max(worked_s, 1e-6), SLOWER), FASTER if full else 1.0)
        self._items = min(max(self._items * change, min(LEAST_ITEMS, self._most)), self._most)

    def note_commit(self, took_s: float) -> None:
        """Commands were committed."""
        self._commit_s += (took_s - self._commit_s) * NEWER
