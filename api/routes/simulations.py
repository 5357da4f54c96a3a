"""Simulations: models run with test data, without an instance. Camunda's API has no such route."""

from __future__ import annotations

from vivero.api.computing.simulation import simulated
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response
from vivero.api.services import Services


async def simulate(request: Request, services: Services) -> Response:
    """POST /v2/simulations: run files with test data to their end; every step, variables, and what was not reached.

    429 while another simulation of the client goes on.
    """
    return json_response(await simulated(services, request, request.body))
