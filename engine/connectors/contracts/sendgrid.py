"""E-mail by SendGrid's API: `io.camunda:sendgrid:1`."""

from __future__ import annotations

from vivero.engine.connectors.contract import Contract, Input, Kind

SENDGRID = Contract(
    name="SendGrid",
    types=("io.camunda:sendgrid:1",),
    inputs=(
        Input("apiKey", required=True),
        Input("from.name"),
        Input("from.email", required=True),
        Input("to.name"),
        Input("to.email", required=True),
        Input("content.subject"),
        Input("content.type", default="text/plain"),
        Input("content.value"),
        Input("template.id"),
        Input("template.data", Kind.CONTEXT),
        Input("attachments", Kind.LIST),
    ),
    result="status, headers",
    handler="vivero.engine.connectors.outbound.sendgrid:SendGrid",
    secrets=("apiKey",),
)
