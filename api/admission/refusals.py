"""Refusals of new commands while the engine has too much to do: cheap for the server, and slow for the client.

A client that retries at once would take the time that the engine needs. Such a request is therefore refused before its
body is read, with an answer that is prepared, and only after a pause.
"""

from __future__ import annotations

from functools import lru_cache

import trio

from vivero.api.http.problems import not_appended
from vivero.api.http.response import Response
from vivero.engine.outcomes.admission import Overloaded

PAUSE_S = 1.0
MAX_PAUSING = 1_000
"""Further refusals are answered at once."""


class NotAdmitted:
    """The refused requests that wait for their answer."""

    def __init__(self) -> None:
        self._pausing = 0

    async def answer(self, path: str) -> Response:
        """The refusal of a request for `path`."""
        if self._pausing < MAX_PAUSING:
            self._pausing += 1
            try:
                await trio.sleep(PAUSE_S)
            finally:
                self._pausing -= 1
        return _refusal(path)


@lru_cache(maxsize=64)
def _refusal(path: str) -> Response:
    return not_appended(Overloaded("the engine has more to do than it finishes in time")).response(path)
