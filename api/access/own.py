"""Sessions and API tokens of the calling user."""

from __future__ import annotations

from vivero.api.http.problems import Problem
from vivero.api.http.request import Request
from vivero.storage.access.identities import Owner


def owner(request: Request) -> Owner:
    """The user of a request. Raises Problem 403 for clients, tokens and callers without a name."""
    caller = request.caller
    if caller.kind != "USER" or caller.provider is None:
        raise Problem(403, "FORBIDDEN", "Only users have sessions and tokens of their own")
    return Owner(caller.id, caller.provider)
