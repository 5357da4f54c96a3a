"""Prices of models: what a call costs, in millionths of the operator's currency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from fnmatch import fnmatchcase

from vivero.core.agents.memory.context import TokenUsage

MILLIONTHS = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a model, for a million tokens of each kind. `model`: a pattern with `*`."""

    model: str
    input: Decimal
    output: Decimal
    cache_read: Decimal
    cache_write: Decimal

    def cost(self, usage: TokenUsage) -> int:
        """Millionths of the currency, rounded up."""
        total = (
            self.input * usage.input
            + self.output * usage.output
            + self.cache_read * usage.cache_read_token_count
            + self.cache_write * usage.cache_creation_token_count
        )
        return int(total.to_integral_value(ROUND_CEILING))

    def at_most(self, input: int, output: int) -> int:
        """The cost if all input has the dearest price that input can have."""
        dearest = max(self.input, self.cache_read, self.cache_write)
        return int((dearest * input + self.output * output).to_integral_value(ROUND_CEILING))


@dataclass(frozen=True, slots=True)
class Prices:
    """The operator's prices. The first that fits a model holds."""

    currency: str = ""
    prices: Sequence[Price] = ()

    def of(self, model: str) -> Price | None:
        """The price of a model; None if it has none."""
        return next((price for price in self.prices if fnmatchcase(model, price.model)), None)
