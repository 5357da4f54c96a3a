"""Messages to processes of the same tenant: `io.camunda:sendMessage:1`. Without HTTP: the node appends the command."""

from __future__ import annotations

from vivero.engine.connectors.contract import Contract, Input, Kind

PUBLISH, CORRELATE = "publish", "correlate"

SEND_MESSAGE = Contract(
    name="Send message",
    types=("io.camunda:sendMessage:1",),
    inputs=(
        Input("messageName", required=True),
        Input("correlationKey"),
        Input("variables", Kind.CONTEXT),
        Input("correlationType.type", default=PUBLISH, choices=(PUBLISH, CORRELATE)),
        Input("correlationType.timeToLive", Kind.DURATION, "PT1H"),
        Input("correlationType.messageId"),
        Input("tenantId"),
        Input("requestTimeout", Kind.DURATION),
    ),
    result="messageKey, tenantId, processInstanceKey",
    handler="vivero.engine.connectors.outbound.send_message:SendMessage",
    errors=("NOT_FOUND", "ALREADY_EXISTS", "FORBIDDEN_TENANT"),
)
