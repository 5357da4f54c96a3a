"""HTTP calls: `io.camunda:http-json:1`."""

from __future__ import annotations

from vivero.engine.connectors.contract import Contract, Input, Kind

AUTHENTICATION = Input("authentication", Kind.CONTEXT)
TIMEOUTS = (
    Input("connectionTimeoutInSeconds", Kind.NUMBER, 20),
    Input("readTimeoutInSeconds", Kind.NUMBER, 20),
    Input("writeTimeoutInSeconds", Kind.NUMBER, 20),
)

HTTP_JSON = Contract(
    name="HTTP call",
    types=("io.camunda:http-json:1",),
    inputs=(
        Input("method", default="GET", choices=("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")),
        Input("url", required=True),
        Input("headers", Kind.CONTEXT),
        Input("queryParameters", Kind.CONTEXT),
        Input("body", Kind.ANY),
        AUTHENTICATION,
        *TIMEOUTS,
        Input("followRedirects", Kind.FLAG, True),
        Input("ignoreNullValues", Kind.FLAG, False),
        Input("skipEncoding", Kind.FLAG),
        Input("storeResponse", Kind.FLAG, False),
    ),
    result="status, headers, body, document",
    handler="vivero.engine.connectors.outbound.http_json:HttpJson",
    secrets=None,
)
