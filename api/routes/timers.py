"""Timers: read, search, fire now, move. Ours: no other engine lets people see and move what will happen when."""

from __future__ import annotations

from datetime import UTC, datetime

from vivero.api import commands
from vivero.api.decoding import Body, decode, decode_optional, decoder
from vivero.api.problems import invalid_argument, unparsable
from vivero.api.request import Request
from vivero.api.response import Response
from vivero.api.search import getting, searching
from vivero.api.services import Services
from vivero.engine.core.records.timers import FireTimer, MoveTimer
from vivero.storage.search.resources import TIMERS

get = getting(TIMERS, "timerKey")
search = searching(TIMERS)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class TriggerBody(Body, frozen=True):
    """It has no properties."""


class MoveBody(Body, frozen=True):
    due_date: str | None = None


_trigger_decoder = decoder(TriggerBody)
_move_decoder = decoder(MoveBody)


async def trigger(request: Request, services: Services) -> Response:
    """POST /v2/timers/{key}/trigger: it fires now, whatever its due date; a cycle goes on with its next one."""
    key = request.key("timerKey")
    decode_optional(request, _trigger_decoder, services.settings)
    return await commands.command(request, services, FireTimer(key), key)


async def move(request: Request, services: Services) -> Response:
    """PATCH /v2/timers/{key} {dueDate}: it fires then. One that is past fires at once."""
    key = request.key("timerKey")
    body = decode(request, _move_decoder, services.settings)
    if body.due_date is None:
        raise invalid_argument("No dueDate provided")
    return await commands.command(request, services, MoveTimer(key, _epoch_ms(body.due_date)), key)


def _epoch_ms(text: str) -> int:
    """A date and time with an offset. Raises Problem 400."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise unparsable("dueDate") from error
    if moment.tzinfo is None:
        raise unparsable("dueDate")
    return (moment - _EPOCH) // (_EPOCH.resolution * 1000)
