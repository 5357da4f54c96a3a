"""Complex gateways: the events of their two phases."""

from __future__ import annotations

from vivero.core.records.base import Event


class ComplexGatewayStarted(Event, frozen=True):
    """The activation condition of the gateway `target` in `scope` was true. It waits for reset.

    `flows`: the incoming flows from which it consumed a token.
    """

    scope: int
    target: str
    flows: tuple[str, ...]


class ComplexGatewayReset(Event, frozen=True):
    """No more tokens can come to the gateway `target` in `scope`. It consumed one token of each of `consumed`."""

    scope: int
    target: str
    consumed: tuple[str, ...] = ()
