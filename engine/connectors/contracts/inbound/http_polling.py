"""HTTP polling: `io.camunda:http-polling:1`. While an element instance waits, its request is made again and again."""

from __future__ import annotations

from vivero.engine.connectors.contract import InboundContract, Input, Kind
from vivero.engine.connectors.contracts.http_json import HTTP_JSON

OF_CALLS = tuple(each for each in HTTP_JSON.inputs if each.name != "storeResponse")

HTTP_POLLING = InboundContract(
    name="HTTP polling",
    types=("io.camunda:http-polling:1",),
    inputs=(
        *OF_CALLS,
        Input("httpRequestInterval", Kind.DURATION, "PT50S"),
        Input("processPollingInterval", Kind.DURATION, "PT5S"),
    ),
    result="status, headers, body",
    handler="vivero.engine.connectors.receivers.polls:HttpPolls",
    secrets=None,
    starts=False,
    per_wait=True,
    ttl_s=0.0,
)
