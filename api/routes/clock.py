"""The engine's clock, which clients may set with --control-clock, for tests of long processes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from vivero.api.access.audit import changing
from vivero.api.http.decoding import Body, Int64, as_int64, decode, decoder
from vivero.api.http.problems import Problem, invalid_argument
from vivero.api.http.request import Request
from vivero.api.http.response import Response, no_content
from vivero.api.services import Services
from vivero.core.events.schedules import LATEST_MS
from vivero.storage.cluster import clock
from vivero.storage.postgres.driver import Connection


class PinBody(Body, frozen=True):
    timestamp: Int64 | None = None


_pin_decoder = decoder(PinBody)


async def pin(request: Request, services: Services) -> Response:
    """PUT /v2/clock {timestamp}: stop the clock at this time (epoch milliseconds) until it is set again."""
    _check_allowed(services)
    timestamp = as_int64(decode(request, _pin_decoder, services.settings).timestamp, "timestamp")
    if timestamp is None:
        raise invalid_argument("No timestamp provided")
    if not 0 <= timestamp <= LATEST_MS:
        raise invalid_argument(f"The value for timestamp is '{timestamp}' but must be within the years 1970 to 9999")
    return await _set(request, services, lambda connection: clock.pin(connection, timestamp))


async def reset(request: Request, services: Services) -> Response:
    """POST /v2/clock/reset: let the clock follow the database's time."""
    _check_allowed(services)
    return await _set(request, services, clock.reset)


def _check_allowed(services: Services) -> None:
    if services.observing.clock_changed is None:
        raise Problem(403, "FORBIDDEN", "The clock can be set only if the program was started with --control-clock")


async def _set(request: Request, services: Services, change: Callable[[Connection], Awaitable[None]]) -> Response:
    async with changing(request, services) as connection:
        await change(connection)
    assert services.observing.clock_changed is not None, "checked before"
    services.observing.clock_changed()
    return no_content()
