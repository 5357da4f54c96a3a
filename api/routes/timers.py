"""Timers: read, search, fire now, move. Camunda's API has no such resource."""

from __future__ import annotations

from vivero.api.commands import submission
from vivero.api.http.decoding import Body, as_epoch_ms, decode, decode_optional, decoder
from vivero.api.http.problems import invalid_argument
from vivero.api.http.request import Request
from vivero.api.http.response import Response
from vivero.api.search.search_requests import getting, searching
from vivero.api.services import Services
from vivero.core.records.timers import FireTimer, MoveTimer
from vivero.storage.search.timers import TIMERS

get = getting(TIMERS, "timerKey")
search = searching(TIMERS)


class TriggerBody(Body, frozen=True):
    """The body, which has no properties."""


class MoveBody(Body, frozen=True):
    due_date: str | None = None


_trigger_decoder = decoder(TriggerBody)
_move_decoder = decoder(MoveBody)


async def trigger(request: Request, services: Services) -> Response:
    """POST /v2/timers/{key}/trigger: fire now, whatever the due date. A cycle continues with its next occurrence."""
    key = request.key("timerKey")
    decode_optional(request, _trigger_decoder, services.settings)
    return await submission.command(request, services, FireTimer(key), key)


async def move(request: Request, services: Services) -> Response:
    """PATCH /v2/timers/{key} {dueDate}: change the due date. With a date in the past, the timer fires at once."""
    key = request.key("timerKey")
    body = decode(request, _move_decoder, services.settings)
    if body.due_date is None:
        raise invalid_argument("No dueDate provided")
    return await submission.command(request, services, MoveTimer(key, as_epoch_ms(body.due_date, "dueDate")), key)
