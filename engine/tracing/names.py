"""The names of spans and attributes: semantic conventions of OpenTelemetry, and our own, which begin with `vivero.`."""

from __future__ import annotations

from vivero.engine.tracing.tracer import Value

SYSTEM = "vivero"

DESTINATION = "messaging.destination.name"
REJECTION = "vivero.command.rejection"
INSTANCE = "vivero.process_instance.key"
JOB_KEY = "vivero.job.key"
JOB_TYPE = "vivero.job.type"
ELEMENT_ID = "vivero.element.id"
ERROR_TYPE = "error.type"


def of_log(operation: str, type: str, intent: str, partition: int) -> dict[str, Value]:
    """The attributes of a span that writes a command to the log, or reads it. Its name ends with the intent."""
    return {
        "messaging.system": SYSTEM,
        DESTINATION: intent,
        "messaging.destination.partition.id": str(partition),
        "messaging.operation.name": operation,
        "messaging.operation.type": type,
    }


def position(attributes: dict[str, Value], value: int) -> None:
    """Add the position of the command, which is its id in the log."""
    attributes["messaging.message.id"] = str(value)
