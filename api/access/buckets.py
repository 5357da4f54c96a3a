"""Token buckets by key: how often something may happen, for each client."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import trio


@dataclass(slots=True)
class _Level:
    level: float
    at: float


class Buckets:
    """A bucket for each key holds up to `burst` tokens and gets `per_s` a second. The oldest are forgotten first."""

    def __init__(self, burst: float, per_s: float, most: int = 10_000) -> None:
        self._burst = burst
        self._per_s = per_s
        self._most = most
        self._levels: OrderedDict[object, _Level] = OrderedDict()

    def take(self, key: object) -> float:
        """Take a token. Returns 0, or the seconds until there is one, which is then not taken."""
        level = self._level(key)
        if level < 1:
            return (1 - level) / self._per_s
        self._levels[key] = _Level(level - 1, trio.current_time())
        self._levels.move_to_end(key)
        if len(self._levels) > self._most:
            self._levels.popitem(last=False)
        return 0.0

    def give_back(self, key: object) -> None:
        """Give back a token that was not needed."""
        found = self._levels.get(key)
        if found is not None:
            found.level = min(self._burst, found.level + 1)

    def _level(self, key: object) -> float:
        found = self._levels.get(key)
        if found is None:
            return self._burst
        return min(self._burst, found.level + (trio.current_time() - found.at) * self._per_s)
