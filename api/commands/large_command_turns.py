"""The turns of commands with large bodies: few are in the log at a time, and the log rests between them.

A command of 4 MB takes 0.1 s and more through the log, and every command behind it waits as long. With a rest after it,
other commands find the log free about half of the time, however many clients send large bodies.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import trio

from vivero.api.commands.resting_budget import RestingBudget, Watch, unwatched

LARGE_COMMANDS_BYTES = 4 * 1024 * 1024
"""Bytes of the large bodies whose commands are in the log without an outcome. One larger body goes alone."""
MOST_REST_S = 0.5
"""The rest at most. A command may have waited for something else."""


class LargeCommandTurns:
    """Bytes of large bodies whose commands are on their way through the log, up to `LARGE_COMMANDS_BYTES`."""

    def __init__(self) -> None:
        self.budget = RestingBudget(LARGE_COMMANDS_BYTES)

    @asynccontextmanager
    async def turn(self, size: int, deadline: float, unless_left: Watch = unwatched) -> AsyncGenerator[None]:
        """The block is the way of a command whose body has `size` bytes.

        Raises:
            Problem: 503 if other large commands go until the deadline.
            ClientLeft: by `unless_left`, during the wait.
        """
        size = min(size, self.budget.limit)
        with self.budget.share() as share:
            await self.budget.wait_for(share, size, deadline, "other large requests are being processed", unless_left)
            began = trio.current_time()
            try:
                yield
            finally:
                self._rest(size, trio.current_time() - began)

    def _rest(self, size: int, took_s: float) -> None:
        """Let the next large command wait for as long as this one took, in proportion to its share of the budget."""
        self.budget.rest(min(took_s * size / self.budget.limit, MOST_REST_S))
