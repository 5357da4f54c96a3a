"""Kafka: records that a service task produces, `io.camunda:connector-kafka:1`, and those that come in."""

from __future__ import annotations

from vivero.engine.connectors.contract import Contract, InboundContract, Input, Kind

NO_SCHEMA = "noSchema"
LATEST, EARLIEST, NONE = "latest", "earliest", "none"
EXTRA, MODULES = "kafka", ("confluent_kafka",)
CONNECTION = (
    Input("authentication.username"),
    Input("authentication.password"),
    Input("topic.bootstrapServers", Kind.TEXTS, required=True),
    Input("topic.topicName", required=True),
    Input("additionalProperties", Kind.CONTEXT),
    Input("schemaStrategy.type", default=NO_SCHEMA, choices=(NO_SCHEMA,)),
)

KAFKA = Contract(
    name="Kafka producer",
    types=("io.camunda:connector-kafka:1",),
    inputs=(
        *CONNECTION,
        Input("message.key", Kind.ANY),
        Input("message.value", Kind.ANY),
        Input("headers", Kind.CONTEXT),
    ),
    result="topic, timestamp, offset, partition",
    handler="vivero.engine.connectors.kafka.producer:KafkaProducer",
    secrets=("authentication", "topic.bootstrapServers"),
    errors=("FAIL",),
    at_once=8,
    extra=EXTRA,
    modules=MODULES,
)

KAFKA_INBOUND = InboundContract(
    name="Kafka consumer",
    types=("io.camunda:connector-kafka-inbound:1",),
    inputs=(
        *CONNECTION,
        Input("groupId"),
        Input("autoOffsetReset", default=LATEST, choices=(LATEST, EARLIEST, NONE)),
        Input("offsets", Kind.ANY),
    ),
    result="key, rawValue, value, headers",
    handler="vivero.engine.connectors.kafka.consumer:KafkaConsumer",
    secrets=("authentication", "topic.bootstrapServers"),
    extra=EXTRA,
    modules=MODULES,
)
