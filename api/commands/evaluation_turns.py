"""The turns of expensive evaluations of decisions: few are in the log at a time, so that other commands do not wait.

An evaluation cannot be cut. What the next one of a decision will cost is guessed from those before it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import trio
from cachetools import LRUCache

from vivero.api.commands.resting_budget import RestingBudget, Watch, unwatched
from vivero.api.http.problems import Problem
from vivero.core.rules import STAGE_STEPS

MOST_STEPS = STAGE_STEPS // 2
"""Steps of an evaluation at most, which is what evaluations on their way may take together."""
CHEAP_STEPS = 2_000
"""Steps of an evaluation that needs no turn: a fifth of a millisecond."""
REST = 5.0
"""The rest after an evaluation, in its durations: it blocks the loop of the node, and a request takes several turns of
the loop."""
MOST_REST_S = 2.0
"""The rest at most. An evaluation may have waited for something else."""
STEP_S = 0.4e-6
"""The time of a step, for an evaluation whose end nobody waits for."""
DECISIONS = 10_000
"""Decisions whose cost is remembered."""
_FORGETS = 0.9
"""The part of the known cost that remains after an evaluation that costs less."""

Decision = tuple[str, str | int]
"""The tenant, and the id or the key that a request names."""


class EvaluationTurns:
    """Steps of evaluations that are on their way through the log, up to `MOST_STEPS`."""

    def __init__(self) -> None:
        self.budget = RestingBudget(MOST_STEPS)
        self._known: LRUCache[Decision, int] = LRUCache(DECISIONS)

    @asynccontextmanager
    async def turn(self, decision: Decision, deadline: float, unless_left: Watch = unwatched) -> AsyncGenerator[None]:
        """The block is the way of an evaluation, with `note` in it. An unknown decision may cost as much as any.

        Raises:
            Problem: 503 if other evaluations go until the deadline.
            ClientLeft: by `unless_left`, during the wait.
        """
        steps = self._known.get(decision, MOST_STEPS)
        with self.budget.share() as share:
            if steps > CHEAP_STEPS:
                busy = "other expensive decisions are being evaluated"
                await self.budget.wait_for(share, steps, deadline, busy, unless_left)
            began = trio.current_time()
            try:
                yield
            except Problem as problem:
                if problem.status < 500:  # the command was rejected, and nothing was evaluated
                    steps = 0
                raise
            finally:
                steps = min(steps, self._known.get(decision, steps))  # an unknown one is known now
                if steps > CHEAP_STEPS:
                    self._rest(steps, trio.current_time() - began)

    def _rest(self, steps: int, took_s: float) -> None:
        """Let the next expensive evaluation wait until this one has ended, and for the rest after it."""
        likely_s = steps * STEP_S
        rest_s = min(REST * max(took_s * steps / MOST_STEPS, likely_s), MOST_REST_S)
        self.budget.rest(max(likely_s - took_s, 0) + rest_s)

    def note(self, decision: Decision, steps: int) -> None:
        """Remember the cost of an evaluation."""
        known = self._known.get(decision, 0)
        self._known[decision] = min(max(steps, int(known * _FORGETS)), MOST_STEPS)
