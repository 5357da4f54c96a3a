"""Counts of the calls of models on this node, for metrics."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

MOST_MODELS = 100
OTHER = "other"


@dataclass(slots=True)
class AgentFigures:
    """Sums since the program started, by model. Models beyond 100 are counted together."""

    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By model and outcome."""
    tokens: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By model and kind: input, output, cached."""
    cost: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Millionths of the currency, by model and currency."""
    _models: set[str] = field(default_factory=set)

    def count(self, model: str, outcome: str, tokens: dict[str, int | None], cost: int | None, currency: str) -> None:
        """Count a call that has ended."""
        if model not in self._models:
            model = model if len(self._models) < MOST_MODELS else OTHER
            self._models.add(model)
        self.calls[model, outcome] += 1
        for kind, number in tokens.items():
            self.tokens[model, kind] += number or 0
        if cost is not None:
            self.cost[model, currency] += cost
