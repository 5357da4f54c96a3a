"""HTTP calls of jobs by the connector `io.camunda:http-json:1`, without a node."""

from types import SimpleNamespace

from vivero.engine.connectors.contracts.http_json import HTTP_JSON
from vivero.engine.connectors.outbound.http_json import HttpJson
from vivero.engine.connectors.work.calls import outcome

HTTP_TYPE = HTTP_JSON.types[0]


class HttpCalls:
    """Works jobs with a client."""

    def __init__(self, client, documents=None) -> None:
        self._connector = HttpJson(SimpleNamespace(client=client, documents=documents))
        self._limit_s = client.max_call_s

    async def work(self, job, used):
        """The outcome of a job."""
        return await outcome(HTTP_JSON, self._connector, job, used, self._limit_s)
