"""The recent deaths of a data root's postmaster, in a file, so that a new supervisor continues to count them."""

import json
import time
from collections.abc import Callable
from pathlib import Path

from vivero.embedded.errors import GivenUp

MAX_DEATHS = 5
WITHIN_S = 60.0


class Deaths:
    """The recent deaths, by the machine's monotonic clock. Five within a minute are tolerated, a sixth is not."""

    __slots__ = ("_clock", "_file", "_times")

    def __init__(self, file: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._file, self._clock = file, clock
        self._times = _read(file)

    def record(self) -> None:
        """Record a death. Raises GivenUp for one death too many, OSError if the file cannot be written."""
        self._times = [*self._recent(), self._clock()]
        unfinished = self._file.with_suffix(".new")
        unfinished.write_text(json.dumps(self._times))
        unfinished.replace(self._file)
        self.check()

    def check(self) -> None:
        """Raise GivenUp while there are too many recent deaths."""
        recent = self._recent()
        if len(recent) > MAX_DEATHS:
            wait_s = recent[-MAX_DEATHS - 1] + WITHIN_S - self._clock()
            raise GivenUp(
                f"PostgreSQL died {len(recent)} times in {WITHIN_S:.0f} s and is not restarted for {wait_s:.0f} s: "
                f"see {self._file.with_name('server.log')}"
            )

    def _recent(self) -> list[float]:
        """The deaths of the last minute. A time ahead of the clock dates from before the machine's start."""
        now = self._clock()
        return [moment for moment in self._times if now - WITHIN_S < moment <= now]


def _read(file: Path) -> list[float]:
    """The times that an earlier supervisor recorded; empty without a file, and if the file is damaged."""
    try:
        times = json.loads(file.read_text())
    except (FileNotFoundError, ValueError):
        return []
    return [float(moment) for moment in times] if isinstance(times, list) else []
