"""Errors of connectors, as the error expression of a model sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class ConnectorError(Exception):
    """A call that failed. `code`: the HTTP status, or one of the codes in docs/connectors.md."""

    code: str
    message: str
    variables: Mapping[str, Any] = field(default_factory=dict)
    final: bool = False
    """A repetition fails, too: the model, its data or the settings must change first."""
    backoff_ms: int | None = None
    """The pause before the next attempt, as the other system demands it. None: that of the task header."""
    keeps_retries: bool = False
    """The operator has stopped such calls: the job waits, and neither loses a retry nor asks its error expression."""

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    def __reduce__(self) -> tuple[Any, ...]:
        """All fields: an exception by itself keeps its positional arguments only."""
        values = self.code, self.message, dict(self.variables), self.final, self.backoff_ms, self.keeps_retries
        return ConnectorError, values

    @property
    def document(self) -> dict[str, Any]:
        """The variable `error`."""
        return {"code": self.code, "message": self.message, "variables": dict(self.variables)}


def bad_input(message: str) -> ConnectorError:
    """The inputs of the element are wrong."""
    return ConnectorError("INVALID_INPUT", message, final=True)
