"""GraphQL over HTTP: `io.camunda:connector-graphql:1`."""

from __future__ import annotations

from vivero.engine.connectors.contract import Contract, Input, Kind
from vivero.engine.connectors.contracts.http_json import AUTHENTICATION

GRAPHQL = Contract(
    name="GraphQL",
    types=("io.camunda:connector-graphql:1",),
    inputs=(
        Input("graphql.method", default="post", choices=("get", "post")),
        Input("graphql.url", required=True),
        Input("graphql.headers", Kind.CONTEXT),
        Input("graphql.query", required=True),
        Input("graphql.variables", Kind.CONTEXT),
        Input("graphql.connectionTimeoutInSeconds", Kind.NUMBER, 20),
        AUTHENTICATION,
    ),
    result="status, headers, body",
    handler="vivero.engine.connectors.outbound.graphql:GraphQL",
    secrets=("authentication", "graphql.url", "graphql.headers"),
    errors=("GRAPHQL_ERROR",),
)
