"""`vivero start --await`: what it takes for the end of a process instance."""

import httpx

from vivero.cli.processes.start import result_of
from vivero.client.rest import Client

VARIABLE = {"name": "total", "value": "30"}


class Server:
    """Answers with the states of a process instance, one after the other."""

    def __init__(self, *states) -> None:
        self.states = list(states)

    def __call__(self, request) -> httpx.Response:
        if request.url.path.endswith("/search"):
            return httpx.Response(200, json={"items": [VARIABLE], "page": {"totalItems": 1, "endCursor": None}})
        return httpx.Response(200, json={"state": self.states.pop(0)})


async def test_a_suspended_instance_has_not_ended(autojump_clock):
    server = Server("ACTIVE", "SUSPENDED", "ACTIVE", "COMPLETED")
    async with Client("http://localhost", transport=httpx.MockTransport(server)) as client:
        assert await result_of(client, "9", 60) == {"total": 30}
    assert server.states == []
