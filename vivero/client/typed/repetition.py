"""The repetition of requests: what may be sent again after which failure, and when. Nothing happens twice.

503 says that nothing was done. After a lost answer a command may have happened; its `Idempotency-Key` makes the
server answer the second request with the outcome of the first.
"""

from __future__ import annotations

from dataclasses import dataclass

from vivero.client.answers import ApiError, ClientError, OutcomeUnknown, Overloaded, Unavailable, Unreachable

BAD_GATEWAY = 502
FIRST_PAUSE_S, LAST_PAUSE_S = 0.1, 5.0
MAX_REPEATED_S = 12 * 3600.0
"""The longest time between two tries of a request. A server keeps its key for 24 hours: later it would happen again."""


def check_time(name: str, time_s: float) -> float:
    """The time, for which a request may be repeated. Raises ValueError beyond what keys allow."""
    if not 0 <= time_s <= MAX_REPEATED_S:
        raise ValueError(f"{name} must be from 0 to {MAX_REPEATED_S:g} seconds, not {time_s!r}")
    return time_s


@dataclass(slots=True)
class Repetition:
    """The tries of one request. `until`: the time after which there are no more; the clock is the caller's."""

    is_repeatable: bool
    """Whether a request that has arrived may be sent again: it changes nothing, or has an Idempotency-Key."""
    until: float
    pause_s: float = FIRST_PAUSE_S
    in_doubt: bool = False
    """Whether a try may have arrived. Later tries that do not arrive leave it in doubt."""

    def pause_after(self, error: ClientError, now: float) -> float | None:
        """The seconds until the next try; None if there is none, and the failure is the caller's.

        The failure of a try is `in_doubt` if that of an earlier one was.
        """
        self._note_doubt(error)
        if not self._may_follow(error):
            return None
        asked_s = error.retry_after_s if isinstance(error, ApiError) else None
        pause_s = max(self.pause_s, asked_s or 0.0)
        self.pause_s = min(self.pause_s * 2, LAST_PAUSE_S)
        return pause_s if now + pause_s <= self.until else None

    def _note_doubt(self, error: ClientError) -> None:
        is_sent_on = isinstance(error, ApiError) and error.status == BAD_GATEWAY
        self.in_doubt = self.in_doubt or is_sent_on or isinstance(error, OutcomeUnknown)
        if isinstance(error, Unavailable):
            self.in_doubt = error.in_doubt = self.in_doubt or error.in_doubt

    def _may_follow(self, error: ClientError) -> bool:
        if isinstance(error, Unreachable):
            return self.is_repeatable or not error.in_doubt
        if isinstance(error, Overloaded):  # a proxy on the way may have sent it on before it answered 502 or 503
            return self.is_repeatable
        return isinstance(error, OutcomeUnknown) and self.is_repeatable


@dataclass(slots=True)
class Polling:
    """The pauses between two looks at something that ends by itself: short ones at first."""

    until: float | None
    """The time after which it gives up; None: never."""
    pause_s: float = 0.02

    def pause_after(self, now: float) -> float | None:
        """The seconds until the next look; None after the end."""
        if self.until is not None and now >= self.until:
            return None
        pause_s = self.pause_s
        self.pause_s = min(self.pause_s * 1.5, 1.0)
        return pause_s if self.until is None else min(pause_s, max(self.until - now, 0.0))
