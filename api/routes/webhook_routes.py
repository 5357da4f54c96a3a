"""The routes of webhooks, in and out, as a part of the table of contents."""

from __future__ import annotations

from vivero.api.access.needs import PUBLIC, READ_SYSTEM, UPDATE_SYSTEM
from vivero.api.callers import audited
from vivero.api.routes import inbound_connectors, outbox, webhooks
from vivero.api.routes.route import Handler, Route, variables_limit

METHODS = ("POST", "GET", "PUT", "DELETE")
PATH = "/inbound/{path}"


def _receives(method: str) -> Route:
    """The model of the webhook says who may call it."""
    return Route(
        method,
        PATH,
        webhooks.receive,
        PUBLIC,
        variables_limit,
        takes_json=False,
        is_new=True,
        audited=audited.TELL_INSTANCES,
        owns_query=True,
    )


def _reads(method: str, path: str, handler: Handler) -> Route:
    """Webhooks and events may be of any tenant."""
    return Route(method, path, handler, READ_SYSTEM, of_no_tenant=True)


def _changes(method: str, path: str, handler: Handler) -> Route:
    return Route(method, path, handler, UPDATE_SYSTEM, audited=audited.SYSTEM, of_no_tenant=True)


WEBHOOK_ROUTES = (
    _reads("GET", "/webhooks", webhooks.search),
    _reads("GET", "/inbound-connectors", inbound_connectors.search),
    *map(_receives, METHODS),
    _reads("POST", "/outbox/search", outbox.search),
    _reads("GET", "/outbox/{eventId}", outbox.get),
    _changes("POST", "/outbox/{eventId}/retry", outbox.retry),
    _changes("DELETE", "/outbox/{eventId}", outbox.drop),
)
