"""When the postmaster of a data root died lately. A file keeps the times, so that a new supervisor goes on counting."""

import json
import time
from collections.abc import Callable
from pathlib import Path

from vivero.embedded.errors import GivenUp

MOST = 5
WITHIN_S = 60.0


class Deaths:
    """The last deaths, by the machine's monotonic clock. The sixth within a minute is one too many."""

    __slots__ = ("_clock", "_file", "_times")

    def __init__(self, file: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._file, self._clock = file, clock
        self._times = _read(file)

    def note(self) -> None:
        """The postmaster has died. Raises GivenUp when that was one death too many, OSError when it cannot be kept."""
        self._times = [*self._recent(), self._clock()]
        unfinished = self._file.with_suffix(".new")
        unfinished.write_text(json.dumps(self._times))
        unfinished.replace(self._file)
        self.check()

    def check(self) -> None:
        """Raises GivenUp while there are too many."""
        recent = self._recent()
        if len(recent) > MOST:
            wait_s = recent[-MOST - 1] + WITHIN_S - self._clock()
            raise GivenUp(
                f"PostgreSQL died {len(recent)} times in {WITHIN_S:.0f} s and is not started again for {wait_s:.0f} s; "
                f"{self._file.with_name('server.log')} says why it died"
            )

    def _recent(self) -> list[float]:
        """Those of the last minute. A time ahead of the clock is of before the machine was started."""
        now = self._clock()
        return [moment for moment in self._times if now - WITHIN_S < moment <= now]


def _read(file: Path) -> list[float]:
    """What a supervisor before us noted; nothing if there was none, or the file was damaged."""
    try:
        times = json.loads(file.read_text())
    except (FileNotFoundError, ValueError):
        return []
    return [float(moment) for moment in times] if isinstance(times, list) else []
