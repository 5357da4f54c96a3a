"""Deferred work shares the engine with commands: its turns, and the work of one turn.

A command that arrives while a quantum is computed or committed waits for its end. While others have commands, the size
of a quantum therefore follows from what they feel of it: the time that the last ones took by the clock, which is longer
than their CPU time on a busy machine. While nobody has commands, quanta are long. Commands come first, but deferred
work gets a part of the time even if they never end. Nothing here reads a clock: the consumer passes all times.
"""

from __future__ import annotations

SHARED_S = 0.01
"""Most CPU time of a quantum while others have commands. PostgreSQL needs about as much again."""
FELT_S = 0.02
"""Most time by the clock that such a quantum should take. A command waits for the rest of a quantum and for its commit,
and then for its own: most requests are answered within a few times this."""
LEAST_SHARED_S = 0.001
"""Least CPU time of a quantum, however long others feel it: a shorter one would save them hardly any waiting."""
ALONE_S = 0.03
"""CPU time of a quantum while nobody has commands."""
PART_OF_COMMIT = 0.25
"""Least CPU time of a quantum, as a part of the time that a commit of commands takes. On a busy machine commits take
long whatever they contain; shorter quanta would then end much later and save others hardly any waiting. Commits of
quanta do not count: larger quanta have longer commits, and would grow further. At most half of `SHARED_S`."""
COMPANY_S = 1.0
"""Others count as having commands for this long after their last one."""
SHARE = 1.0
"""Seconds of deferred work for each second that commands take, if those never end."""
MOST_CREDIT_S = 0.04
"""Limit of the credit, which is the longest that commands wait for a series of quanta."""
PAID_BEFORE_S = 0.01
"""The most credit that a quantum needs before it begins; the rest becomes debt."""
LEAST_ITEMS = 5
FIRST_ITEMS = 25
FASTER, SLOWER = 1.25, 0.5
"""Bounds of the ratio between the sizes of a quantum and the one before."""
NEWER = 0.1
"""Weight of the latest commit in the average."""


class Quanta:
    """The size of the next quantum, and whose turn it is. Times are in seconds."""

    def __init__(self, most: int) -> None:
        """`most`: the limit of work items per command."""
        self._most = most
        self._items = float(min(most, FIRST_ITEMS))
        self._credit_s = self._took_s = self._commit_s = 0.0
        self._others_at = float("-inf")

    @property
    def items(self) -> int:
        """The size of the next quantum in work items."""
        return int(self._items)

    @property
    def due(self) -> bool:
        """Whether a quantum comes before the waiting commands.

        A quantum whose single item takes longer than the credit limit gets its turn, too, and pays afterwards.
        """
        return self._credit_s > min(self._took_s, PAID_BEFORE_S)

    def note_commands(self, began: float, now: float, deferred: bool) -> None:
        """A batch of commands has run; `deferred` tells whether deferred work waits."""
        self._others_at = now
        self._credit_s = min(self._credit_s + SHARE * (now - began), MOST_CREDIT_S) if deferred else 0.0

    def note_quantum(self, took_s: float, waited: bool) -> None:
        """A quantum has run; `waited` tells whether commands may have waited for it."""
        self._took_s = took_s
        self._credit_s = self._credit_s - took_s if waited else 0.0

    def fit(self, now: float, worked_s: float, took_s: float, full: bool) -> None:
        """Set the size of the next quantum: the last one took `worked_s` of CPU time, and `took_s` by the clock.

        Neither contains what is read before. `full` tells that it did as many items as it was allowed to.
        """
        ratio = self._ratio(now - self._others_at < COMPANY_S, max(worked_s, 1e-6), max(took_s, 1e-6))
        self._items *= min(max(ratio, SLOWER), FASTER if full else 1.0)
        self._items = min(max(self._items, min(LEAST_ITEMS, self._most)), self._most)

    def _ratio(self, company: bool, worked_s: float, took_s: float) -> float:
        """The wanted size of the next quantum, as a multiple of the last one's."""
        if not company:
            return ALONE_S / worked_s
        least_s = min(max(LEAST_SHARED_S, PART_OF_COMMIT * self._commit_s), SHARED_S / 2)
        return min(max(FELT_S / took_s, least_s / worked_s), SHARED_S / worked_s)

    def note_commit(self, took_s: float) -> None:
        """A batch of commands has been committed."""
        self._commit_s += (took_s - self._commit_s) * NEWER
