"""RabbitMQ: messages that a service task publishes, `io.camunda:connector-rabbitmq:1`, and those of a queue."""

from __future__ import annotations

from vivero.engine.connectors.contract import Contract, InboundContract, Input, Kind

URI, CREDENTIALS = "uri", "credentials"
PORT, TLS_PORT = 5672, 5671
EXTRA, MODULES = "rabbitmq", ("pika",)
LOGIN_REFUSED, BROKER_REFUSED, NO_ROUTE, NOT_TAKEN = "LOGIN_REFUSED", "BROKER_REFUSED", "NO_ROUTE", "NOT_TAKEN"
CONNECTION = (
    Input("authentication.authType", default=URI, choices=(URI, CREDENTIALS)),
    Input("authentication.uri"),
    Input("authentication.userName"),
    Input("authentication.password"),
    Input("routing.hostName"),
    Input("routing.port", Kind.NUMBER, PORT),
    Input("routing.virtualHost", default="/"),
)
SECRETS = ("authentication", "routing.hostName", "routing.virtualHost")

RABBITMQ = Contract(
    name="RabbitMQ publisher",
    types=("io.camunda:connector-rabbitmq:1",),
    inputs=(
        *CONNECTION,
        Input("routing.exchange"),
        Input("routing.routingKey"),
        Input("message.properties", Kind.CONTEXT),
        Input("message.body", Kind.ANY),
    ),
    result="statusResult, messageId",
    handler="vivero.engine.connectors.rabbitmq.publisher:RabbitPublisher",
    secrets=SECRETS,
    errors=(LOGIN_REFUSED, BROKER_REFUSED, NO_ROUTE, NOT_TAKEN, "PLAIN_LOGIN"),
    at_once=8,
    extra=EXTRA,
    modules=MODULES,
)

RABBITMQ_INBOUND = InboundContract(
    name="RabbitMQ consumer",
    types=("io.camunda:connector-rabbitmq-inbound:1",),
    inputs=(
        *CONNECTION,
        Input("queueName", required=True),
        Input("consumerTag"),
        Input("arguments", Kind.CONTEXT),
        Input("exclusive", Kind.FLAG),
    ),
    result="message",
    handler="vivero.engine.connectors.rabbitmq.consumer:RabbitConsumer",
    secrets=SECRETS,
    errors=(LOGIN_REFUSED, BROKER_REFUSED, "BAD_RECORD", "PLAIN_LOGIN"),
    extra=EXTRA,
    modules=MODULES,
)
