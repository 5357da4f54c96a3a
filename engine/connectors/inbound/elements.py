"""Elements of models at which events of other systems come in, and the properties that all inbound connectors share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from vivero.core.bpmn.model import MessageEvent, Node
from vivero.core.feel import FeelError, LimitExceeded
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.work.results import FULL, Effort, TooMuchEffort, compiled
from vivero.engine.jobs.durations import seconds

INBOUND_TYPE = "inbound.type"
EVENT_EXPRESSIONS = ("activationCondition", "correlationKeyExpression", "messageIdExpression", "resultExpression")
"""The expressions that see an event."""
DEFAULT_TTL_S = 3600.0


@dataclass(frozen=True, slots=True)
class InboundElement:
    """An element with an inbound connector."""

    code: ClassVar[str] = "INBOUND"
    """The code of its errors."""

    element_id: str
    message: str | None
    """The name of the message that an event publishes. None: an event starts the process."""
    properties: Mapping[str, str]

    @property
    def ttl_ms(self) -> int:
        """The life of its messages. Raises ValueError."""
        text = self.get("messageTtl")
        return round((seconds(text) if text else DEFAULT_TTL_S) * 1000)

    def get(self, name: str) -> str:
        """A property; empty if there is none."""
        return self.properties.get(name, "").strip()

    def evaluate(self, name: str, variables: Mapping[str, Any], effort: Effort = FULL) -> Any:
        """The value of a property that is an expression; null if there is none.

        Raises ConnectorError; with an effort, TooMuchEffort.
        """
        text = self.get(name)
        try:
            return compiled(text).evaluate_within(variables, None, effort.steps)[0].value if text else None
        except FeelError as error:
            if effort is not FULL and isinstance(error, LimitExceeded):
                raise TooMuchEffort from error
            raise ConnectorError(self.code, f"the property {name} fails: {error}") from error


def message_of(node: Node) -> str | None:
    """The name of the message of an element; None if it has none."""
    return str(node.event.name.static_value) if isinstance(node.event, MessageEvent) else None


def problems_of_place(node: Node, connector: str, properties: Mapping[str, str]) -> Iterator[str]:
    """The reasons why this element cannot have `connector`, named with its article."""
    if isinstance(node.event, MessageEvent):
        if not node.event.name.is_static:
            yield f"the name of the message of {connector} must not be an expression"
        if node.event.correlation_key is not None and not properties.get("correlationKeyExpression"):
            yield f"{connector} that continues instances needs correlationKeyExpression"
    elif node.type != "START_EVENT" or node.event is not None:
        yield f"only none start events and events with a message can have {connector}"


def problems_of_values(element: InboundElement, expressions: Iterable[str]) -> Iterator[str]:
    """Expressions that cannot be read, and a life of messages that is not a duration."""
    for name in expressions:
        try:
            compiled(element.get(name) or "=null")
        except FeelError as error:
            yield f"the property {name} is not a valid expression: {error}"
    try:
        _ = element.ttl_ms
    except ValueError as error:
        yield f"messageTtl: {error}"
