"""Simulations: a model runs with test data in a compute process, by the function that the program provides."""

from __future__ import annotations

from vivero.api.computing.turns import computed
from vivero.api.http.decoding import check_nesting
from vivero.api.http.problems import Problem, invalid_argument
from vivero.api.http.request import Request
from vivero.api.services import Services
from vivero.engine.compute.turns import WorkKind


async def simulated(services: Services, request: Request, document: bytes) -> bytes:
    """The report of the simulation that a JSON document describes, as JSON, for the client of a request.

     Raises Problem: 400 with what is wrong, or for one that takes too much; 429 while another one of the client
    goes on; 501 if this server does not simulate; 503 if no compute process can do it now.
    """
    simulate = services.files.simulate
    if simulate is None:
        raise Problem(501, "NOT_IMPLEMENTED", "This server does not simulate")
    check_nesting(document, services.settings.max_nesting)
    with services.files.simulating.turn(request):
        report, problem = await computed(services, WorkKind.SIMULATIONS, simulate, document)
    if problem is not None:
        raise invalid_argument(problem)
    return report
