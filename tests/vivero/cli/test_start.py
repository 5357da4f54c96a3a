"""`vivero start --await`: what it takes for the end of a process instance."""

import httpx

from vivero.cli.processes.start import result_of
from vivero.client.rest import Client

VARIABLES = [{"name": "total", "value": "1E+400"}, {"name": "ü", "value": "0.12345678901234567890"}]
"""No double is equal to one of them."""


class Server:
    """Answers with the states of a process instance, one after the other."""

    def __init__(self, *states) -> None:
        self.states = list(states)

    def __call__(self, request) -> httpx.Response:
        if request.url.path.endswith("/search"):
            return httpx.Response(200, json={"items": VARIABLES, "page": {"totalItems": 2, "endCursor": None}})
        return httpx.Response(200, json={"state": self.states.pop(0)})


async def test_a_suspended_instance_has_not_ended(autojump_clock):
    server = Server("ACTIVE", "SUSPENDED", "ACTIVE", "COMPLETED")
    async with Client("http://localhost", transport=httpx.MockTransport(server)) as client:
        assert await result_of(client, "9", 60) == '{"total": 1E+400, "ü": 0.12345678901234567890}'
    assert server.states == []
