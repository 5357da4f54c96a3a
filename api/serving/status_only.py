"""The service of a node without the role `api`: probes, metrics, and injected faults if the program allows them."""

from __future__ import annotations

from vivero.api import app
from vivero.api.app import App, Scope
from vivero.api.http import request_ids
from vivero.api.http.problems import Problem
from vivero.api.http.request import Receive, Send
from vivero.api.http.request_ids import RequestIds
from vivero.api.services import Services

SERVED = ("/v2/status", "/live", "/startup", "/ready", "/metrics", "/chaos/")
"""Beginnings of paths."""


def build(services: Services, roles: str) -> App:
    """The application of a node with these roles.

    Everything else gets 503. With 404, a worker would take its job for deleted.
    """
    whole, ids = app.build(services), RequestIds()
    detail = f"This node does not serve the REST API, because its roles are {roles}; ask a node with the role api"

    async def status_only(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path.startswith(SERVED):
            await whole(scope, receive, send)
        else:
            id = ids.begin(scope["headers"])
            try:
                await app.send_response(Problem(503, "UNAVAILABLE", detail).response(path), send, (id,))
            finally:
                request_ids.end()

    return status_only
