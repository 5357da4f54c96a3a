"""Decisions of DMN files: functions from variables to a result, without a server (docs/decisions.md)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from vivero.core.dmn import DecisionEvaluation, evaluate, read_decisions
from vivero.core.dmn.compiling.linking import Key
from vivero.library.models import InvalidModel
from vivero.library.times import to_ms


class DecisionFailed(Exception):
    """A decision, or one that it requires, could not be evaluated. The text names it and says why."""


class DecisionModels:
    """DMN files, read once. The others are those that the first one imports."""

    def __init__(self, files: Mapping[str, bytes], mode: str | None = None) -> None:
        """`files`: name → content. `mode`, `dmn` or `camunda`, overrides the property and the origin of a file.

        Raises:
            InvalidModel: a file has problems.
        """
        read = read_decisions(files, mode)
        if read.decisions is None:
            raise InvalidModel(read.problems)
        self._decisions = read.decisions

    @classmethod
    def read(cls, *paths: str | Path, mode: str | None = None) -> DecisionModels:
        """The decisions of files. Raises InvalidModel, and OSError if a file cannot be read."""
        return cls({str(path): Path(path).read_bytes() for path in paths}, mode)

    def names(self) -> list[str]:
        """The names of all decisions, in the order of the files."""
        return list(self._decisions.names())

    def evaluate(self, decision: str, variables: Mapping[str, Any], *, now: datetime | None = None) -> Any:
        """The result of a decision, by its id or name. `now` is the time of `now()` and `today()`.

        Values are those of FEEL in Python: numbers are `int` and `Decimal`, and dates are of `core.feel.temporal`.

        Raises:
            KeyError: there is no such decision.
            DecisionFailed: the evaluation failed.
        """
        found = self.explain(decision, variables, now=now)
        if found.failure is not None:
            raise DecisionFailed(found.failure.text)
        return found.value

    def explain(
        self, decision: str, variables: Mapping[str, Any], *, now: datetime | None = None, is_json: bool = False
    ) -> DecisionEvaluation:
        """The evaluation with all decisions that it took, the inputs of tables and the rules that matched.

        `is_json`: the variables were JSON, so that their texts may be dates, times and durations.
        """
        now_ms = None if now is None else to_ms(now)
        return evaluate(self._decisions, self._key(decision), variables, now_ms, is_json=is_json)

    def _key(self, decision: str) -> Key:
        key = self._decisions.find(decision)
        if key is None:
            raise KeyError(f"There is no decision '{decision}'; there are {', '.join(self.names())}")
        return key
