"""The questions of schedulers and monitoring to a node: probes in the manner of Kubernetes, and metrics.

The probes answer with JSON that says why. `/live` asks whether to restart the process: it restarts its own tasks, and
ends itself when that does not help, so an answer is enough. `/ready` asks whether to send clients here.
"""

from __future__ import annotations

from collections.abc import Sequence

from vivero.api.http.problems import Problem
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response
from vivero.api.services import Services
from vivero.engine.supervision.children import ChildHealth, ChildState


async def live(_request: Request, services: Services) -> Response:
    """GET /live: 200 while the process serves requests at all."""
    return json_response({"status": "UP", "nodeId": services.observing.node})


async def startup(_request: Request, services: Services) -> Response:
    """GET /startup: 200 once every task of the program has begun to work, otherwise 503."""
    return _answer(services, [one for one in services.observing.status.health() if one.state is ChildState.STARTING])


async def ready(_request: Request, services: Services) -> Response:
    """GET /ready: 200 while every task of the program makes progress, otherwise 503."""
    return _answer(services, [one for one in services.observing.status.health() if not one.healthy])


def _answer(services: Services, failing: Sequence[ChildHealth]) -> Response:
    reasons = [{"task": one.name, "state": one.state, "error": one.last_error} for one in failing]
    document = {"status": "DOWN" if reasons else "UP", "nodeId": services.observing.node, "reasons": reasons}
    return json_response(document, status=503 if reasons else 200)


async def metrics(_request: Request, services: Services) -> Response:
    """GET /metrics: the metrics of this node, in the text format of Prometheus."""
    if services.observing.metrics is None:
        raise Problem(404, "Not Found", "This node shows no metrics here (metrics.enabled, metrics.port)")
    shown = await services.observing.metrics()
    return Response(200, shown.text, ((b"content-type", shown.content_type.encode()),))
