"""The routes of webhooks, as a part of the table of contents."""

from __future__ import annotations

from vivero.api.access import audited
from vivero.api.access.needs import PUBLIC, READ_SYSTEM
from vivero.api.routes import inbound
from vivero.api.routes.route import Route

METHODS = ("POST", "GET", "PUT", "DELETE")
PATH = "/inbound/{path}"


def _receives(method: str) -> Route:
    """The model of the webhook says who may call it."""
    return Route(method, PATH, inbound.receive, PUBLIC, takes_json=False, is_new=True, audited=audited.TELL_INSTANCES)


WEBHOOK_ROUTES = (Route("GET", "/webhooks", inbound.search, READ_SYSTEM), *map(_receives, METHODS))
