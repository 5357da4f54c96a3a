"""The reasons for which children end, and which of them count as failures."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import trio

from vivero.engine.supervision.settings import SupervisionSettings
from vivero.storage.postgres.errors import Outage, Retry, SteppedDown, describe


class Escalated(Exception):
    """Too many failures: the program cannot help itself, and exits with an error."""


class ChaosError(Exception):
    """Raised in a child on request, to test its recovery."""


class Silent(Exception):
    """A child gave no beat for too long."""


class Returned(Exception):
    """A child returned, which it never should."""


class FailureWindow:
    """The failures of all children within the last seconds."""

    def __init__(self, settings: SupervisionSettings) -> None:
        self._settings = settings
        self._failed_at: deque[float] = deque()

    def add(self, child: str, error: str) -> None:
        """Count a failure.

        Raises:
            Escalated: more than `max_failures` within `window_s`.
        """
        now = trio.current_time()
        self._failed_at.append(now)
        while self._failed_at[0] < now - self._settings.window_s:
            self._failed_at.popleft()
        count, window_s = len(self._failed_at), self._settings.window_s
        if count > self._settings.max_failures:
            raise Escalated(f"{count} failures within {window_s:g} s, the last one in {child}: {error}")


def restart_delay_s(attempts: int, settings: SupervisionSettings) -> float:
    """The wait before a child is restarted after so many restarts in a row."""
    if attempts == 0:
        return 0.0
    return min(settings.max_delay_s, settings.first_delay_s * 2.0 ** min(attempts - 1, 30))


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The exceptions in a group, however deeply nested; for any other exception, itself."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error


def excused(error: BaseException) -> bool:
    """Whether only an outage of PostgreSQL or another owner ended the child."""
    return all(isinstance(leaf, Outage | Retry | SteppedDown) for leaf in leaves(error))


REASONS = ("failed", "hung", "returned", "chaos", "outage")
"""All that `kind` gives."""


def kind(error: BaseException) -> str:
    """The reason for the end of a child as one of few words, for metrics."""
    if excused(error):
        return "outage"
    kinds: dict[type[BaseException], str] = {Silent: "hung", Returned: "returned", ChaosError: "chaos"}
    return next((kinds[type(leaf)] for leaf in leaves(error) if type(leaf) in kinds), "failed")


def describe_failure(error: BaseException | None) -> str:
    """One line for logs and the status resource."""
    if error is None:
        return ""
    return describe(error)
