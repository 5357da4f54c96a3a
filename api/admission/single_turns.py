"""One request of a kind at a time for each client, so that one who repeats it does not keep others waiting."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from vivero.api.callers.caller import ANYBODY
from vivero.api.http.problems import Problem
from vivero.api.http.request import Request

RETRY_AFTER = (b"retry-after", b"1")


class SingleTurns:
    """The clients that have a request of the kind on its way. There are no more of them than connections."""

    def __init__(self, what: str) -> None:
        """`what`: the requests, for the text of a refusal."""
        self._what = what
        self._busy = set[object]()

    @contextmanager
    def turn(self, request: Request) -> Iterator[None]:
        """The block is the work of a request. Raises Problem 429 while another one of its client goes."""
        client = _client(request)
        if client in self._busy:
            detail = f"This client has another {self._what} on its way: wait for its answer"
            raise Problem(429, "Too Many Requests", detail, RETRY_AFTER)
        self._busy.add(client)
        try:
            yield
        finally:
            self._busy.remove(client)


def _client(request: Request) -> object:
    """The sender of a request: the caller, or the address while there is no authentication."""
    caller = request.caller
    return request.owner if caller is ANYBODY else (caller.kind, caller.id, caller.provider)
