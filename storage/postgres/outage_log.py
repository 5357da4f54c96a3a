"""Log messages about an outage: once when it begins, once a minute while it lasts, and once when it ends.

Every task meets an outage at each of its attempts to connect. Without this the log would fill with the same line.
"""

import re

import structlog
import trio

log = structlog.get_logger(__name__)

REMIND_S = 60.0
KINDS = 20
"""The number of different errors that are told in one outage."""

_VARYING = re.compile(r"\d+")


class OutageLog:
    """The messages of one task about one outage after the other. After a minute without a failure an outage is over."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._last = self._remind_at = 0.0
        self._count = 0
        self._logged: set[str] = set()

    @property
    def lasts(self) -> bool:
        """Whether an outage was reported that has not ended."""
        return self._since is not None

    def failed(self, event: str, error: str, **details: object) -> None:
        """Report a failure. An error that differs only in its numbers from an earlier one is told again in a minute."""
        now = trio.current_time()
        if self._since is None or now - self._last > REMIND_S:
            self._begin(now)
        self._count, self._last = self._count + 1, now
        kind = _VARYING.sub("#", error)
        if now >= self._remind_at:
            self._remind_at = now + REMIND_S
            log.warning(event, error=error, **details, failures=self._count)
        elif kind not in self._logged and len(self._logged) < KINDS:
            log.warning(event, error=error, **details)
        self._logged.add(kind)

    def works(self, event: str, **details: object) -> None:
        """Report that the task works again. Tells it if there was more than one failure."""
        if self._since is not None and self._count > 1:
            log.info(event, **details, failures=self._count, after_s=round(trio.current_time() - self._since, 1))
        self._since = None

    def _begin(self, now: float) -> None:
        self._since, self._remind_at, self._count = now, now + REMIND_S, 0
        self._logged.clear()
