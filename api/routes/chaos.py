"""Fault injection for tests, with --chaos only: make a child of the supervision tree fail, to see it recover."""

from __future__ import annotations

from vivero.api.http.decoding import Body, decode_optional, decoder
from vivero.api.http.problems import Problem, unexpected_value
from vivero.api.http.request import Request
from vivero.api.http.response import Response, no_content
from vivero.api.services import Services

KINDS = ("raise", "cancel", "hang")


class ChaosBody(Body, frozen=True):
    kind: str = "raise"


_chaos_decoder = decoder(ChaosBody)


async def inject(request: Request, services: Services) -> Response:
    """POST /chaos/children/{name} {kind?: raise|cancel|hang}, or ?kind=. 409 if the child is not running."""
    if services.observing.chaos is None:
        raise Problem(404, "Not Found", "The program was started without --chaos")
    name = request.params["name"]
    kind = request.query.get("kind") or decode_optional(request, _chaos_decoder, services.settings).kind
    if kind not in KINDS:
        raise unexpected_value(kind, "kind", KINDS)
    try:
        running = services.observing.chaos(name, kind)
    except KeyError as error:
        raise Problem(404, "NOT_FOUND", f"There is no child '{name[:100]}'") from error
    if not running:
        raise Problem(409, "INVALID_STATE", f"The child '{name}' is not running")
    return no_content()
