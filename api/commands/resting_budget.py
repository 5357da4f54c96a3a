"""A budget for expensive commands that rests after each of them, so that other commands find the log free."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio

from vivero.api.http.problems import LATER, Problem
from vivero.api.http.shared_budget import Share, SharedBudget

Watch = Callable[[Callable[[], Awaitable[None]]], Awaitable[None]]
"""Waits, and raises ClientLeft as soon as the client disconnects: `Request.unless_left`."""


async def unwatched(wait: Callable[[], Awaitable[None]]) -> None:
    """Waits for a client that nobody watches."""
    await wait()


class RestingBudget(SharedBudget):
    """Commands on their way through the log together take up to the limit, and none begins during a rest."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self._rests_until = 0.0

    async def wait_for(
        self, share: Share, amount: int, deadline: float, busy: str, unless_left: Watch = unwatched
    ) -> None:
        """Wait for an amount of the budget and for the end of the rest.

        Raises:
            Problem: 503 at the deadline (Trio's clock). `busy` says what the others do.
            ClientLeft: by `unless_left`. The turn is that of the next command at once.
        """

        async def wait() -> None:
            await share.wait(amount)
            await trio.sleep_until(self._rests_until)

        with trio.move_on_at(deadline) as waiting:
            await unless_left(wait)
        if waiting.cancelled_caught:
            raise Problem(503, "RESOURCE_EXHAUSTED", f"Nothing was written: {busy}; try again later", LATER)

    def rest(self, seconds: float) -> None:
        """Let the next command wait for this time from now on, unless it waits for longer already."""
        self._rests_until = max(self._rests_until, trio.current_time() + seconds)
