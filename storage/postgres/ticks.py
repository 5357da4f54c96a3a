"""Moments at which idle tasks look around, the same for all.

Each turn of the event loop costs more than what an idle task does in it. Tasks that wake at the same moments share the
turns.
"""

from math import floor, inf

import trio

TICK_S = 0.25
"""The distance of shared moments: that of the usual beats of idle tasks."""
SHORTEST_S = 0.5


def next_tick(every_s: float) -> float:
    """The next multiple of `every_s` seconds on Trio's clock: at most so far away, and later than now."""
    now = trio.current_time()
    tick = (floor(now / every_s) + 1) * every_s
    return tick if tick > now else now + every_s  # rounded down to now


def tick_in(seconds: float) -> float:
    """The shared moment nearest to `seconds` from now, on Trio's clock. Waits shorter than `SHORTEST_S` are exact."""
    at = trio.current_time() + seconds
    return floor(at / TICK_S + 0.5) * TICK_S if SHORTEST_S <= seconds < inf else at
