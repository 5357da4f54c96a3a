"""Watches GET /v2/status, as a load balancer would, but fifty times a second."""

import itertools
from bisect import bisect_left, bisect_right

import trio

from tests.process.http_client import Caller, Unanswered

EVERY_S = 0.02
PATIENCE_S = 5.0


class StatusWatch:
    """Every answer with its time; 0 stands for no answer."""

    def __init__(self, port) -> None:
        self._port = port
        self._seen = []
        self._news = trio.Event()

    async def run(self):
        """Look again and again, until cancelled."""
        async with Caller(self._port) as caller:
            while True:
                try:
                    status = (await caller.call("GET", "/v2/status", within_s=PATIENCE_S)).status
                except Unanswered:
                    status = 0
                self._seen.append((trio.current_time(), status))
                self._news.set()
                self._news = trio.Event()
                await trio.sleep(EVERY_S)

    async def next(self, status, within_s):
        """The time of the next such answer to a question that was asked from now on."""
        await self._news.wait()
        with trio.fail_after(within_s):
            while True:
                await self._news.wait()
                if self._seen[-1][1] == status:
                    return self._seen[-1][0]

    async def unhealthy(self, began, within_s):
        """The time of the first answer since `began` that was not 204, or of the first time without an answer."""
        with trio.fail_after(within_s):
            while True:
                for moment, status in self._seen:
                    if moment > began and status != 204:
                        return moment
                await self._news.wait()

    def unhealthy_since(self, began):
        """For how many seconds since then the answer was not 204."""
        total, before = 0.0, began
        for moment, status in self._seen:
            if moment <= began:
                continue
            if status != 204:
                total += moment - before
            before = moment
        return total

    def between(self, begin, end):
        """All answers of a time."""
        return [status for moment, status in self._seen if begin <= moment <= end]

    def longest_silence(self, times):
        """The longest time between two of `times` throughout which the answer was 204."""
        bad = [moment for moment, status in self._seen if status != 204]
        gaps = itertools.pairwise(sorted(times))
        return max((b - a for a, b in gaps if bisect_left(bad, a) == bisect_right(bad, b)), default=0.0)
