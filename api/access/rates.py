"""Rate limits: how many requests a second a client may send to this node."""

from __future__ import annotations

import math

from vivero.api.access.buckets import Buckets
from vivero.api.problems import Problem


class Rates:
    """A bucket for each caller, or for each address without authentication."""

    def __init__(self, per_s: float, burst: int) -> None:
        self._buckets = Buckets(burst, per_s)

    def check(self, client: object) -> None:
        """Count a request. Raises Problem 429 with the time to wait."""
        wait_s = self._buckets.take(client)
        if wait_s:
            retry_after = (b"retry-after", b"%d" % math.ceil(wait_s))
            raise Problem(429, "Too Many Requests", "This client sends too many requests; try again later", retry_after)


def rates(per_s: float, burst: int) -> Rates | None:
    """The limits of these settings; None without a limit."""
    return Rates(per_s, burst) if per_s else None
