"""Rights during a long answer: since it began, the caller may have lost them, or its session may have ended."""

from __future__ import annotations

from copy import copy

from vivero.api.access.needs import Need, authorise
from vivero.api.access.tenants import usable_by
from vivero.api.http.request import Request
from vivero.api.services import Services


async def renewed(request: Request, services: Services, need: Need) -> Request:
    """The request of a search with the rights and the tenants that its caller has now.

    Verified credentials are remembered for some seconds, unless rights change. Therefore this costs little, and a
    token that expires is noticed as late as with a new request.

    Raises Problem: 401, 403, 503; and StorageError.
    """
    authenticator = services.access.authenticator
    if authenticator is None:
        return request
    again = copy(request)
    again.caller = await authenticator.authenticate(request.headers, request.owner)
    again.allowed = authorise(again.caller, need)
    again.tenants = usable_by(again.caller, services)
    return again
