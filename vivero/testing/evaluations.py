"""Evaluations of agents: cases with models or prompts, each a cell with its checks, and a table of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import TracebackType

import msgspec

from vivero.testing.agents import AgentRun

MOST_SHOWN = 40
"""Characters of a field in the table."""
TITLES = "checks", "turns", "tokens", "cost", "tools"


class CellResult(msgspec.Struct):
    """A row of the table. `cost`: by the given price; None without one."""

    labels: dict[str, str]
    turns: int = 0
    tokens: int = 0
    cost: float | None = None
    tools: list[str] = []
    checks: dict[str, bool] = {}

    @property
    def is_passed(self) -> bool:
        return all(self.checks.values())


class Cell:
    """One case with one model or prompt: a block in which its checks are made. They all count, also behind a failure.

    The end of the block raises AssertionError that names the checks that have failed.
    """

    def __init__(self, result: CellResult) -> None:
        self._result = result

    def check(self, name: str, holds: object) -> Cell:
        """Note whether something holds. A name that was used already must hold each time."""
        self._result.checks[name] = bool(holds) and self._result.checks.get(name, True)
        return self

    def __enter__(self) -> Cell:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        __tracebackhide__ = True
        if error is not None:
            self.check(str(kind and kind.__name__), False)
            return
        failed = [name for name, holds in self._result.checks.items() if not holds]
        if failed:
            raise AssertionError(f"{_shown(self._result)} has failed: {'; '.join(failed)}")


class AgentEvaluation:
    """The fixture `evaluation`. `results` are those of the whole session."""

    def __init__(self) -> None:
        self.results: list[CellResult] = []

    def cell(self, agent: AgentRun, *, price: tuple[float, float] | None = None, **labels: object) -> Cell:
        """A cell for the run of an agent, whose calls are counted now.

        `labels` tell the cells apart: `model="brief", case="order 17"`. `price`: of a million tokens of input and of
        output. Tokens are an estimate, as those of `expect_budget`.
        """
        used = [call.used for call in agent.calls]
        cost = None if price is None else sum(price[0] * one.input + price[1] * one.output for one in used) / 1_000_000
        result = CellResult(
            {name: str(value) for name, value in labels.items()},
            len(agent.calls),
            sum(call.tokens for call in agent.calls),
            cost,
            [tool.name for call in agent.calls for tool in call.called],
            {},
        )
        self.results.append(result)
        return Cell(result)

    def lines(self) -> Iterator[str]:
        """The table, in the order of the labels, and a sum for each value of the first label."""
        names = list(dict.fromkeys(name for one in self.results for name in one.labels))
        ordered = sorted(self.results, key=lambda one: [one.labels.get(name, "") for name in names])
        rows = [(*names, *TITLES), *(_row(one, names) for one in ordered)]
        widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
        for row in rows:
            yield "  ".join(field.ljust(width) for field, width in zip(row, widths, strict=True)).rstrip()
        if names:
            for value in dict.fromkeys(one.labels.get(names[0], "") for one in ordered):
                yield _sum(value, [one for one in ordered if one.labels.get(names[0], "") == value])


def _shown(result: CellResult) -> str:
    return ", ".join(f"{name} {value!r}" for name, value in result.labels.items()) or "the cell"


def _row(result: CellResult, names: Iterable[str]) -> tuple[str, ...]:
    labels = [" ".join(result.labels.get(name, "").split())[:MOST_SHOWN] for name in names]
    checks = f"{sum(result.checks.values())} of {len(result.checks)}"
    cost = "" if result.cost is None else f"{result.cost:.6f}"
    return (*labels, checks, str(result.turns), str(result.tokens), cost, ", ".join(result.tools)[:MOST_SHOWN])


def _sum(value: str, results: list[CellResult]) -> str:
    passed, turns = sum(one.is_passed for one in results), sum(one.turns for one in results)
    costs = [one.cost for one in results if one.cost is not None]
    cost = f", cost {sum(costs):.6f}" if costs else ""
    tokens = sum(one.tokens for one in results)
    return f"{value}: {passed} of {len(results)} cells pass, {turns} turns, {tokens} tokens{cost}"


def to_json(evaluation: AgentEvaluation) -> str:
    """The results as text, for another process."""
    return msgspec.json.encode(evaluation.results).decode()


def from_json(text: str) -> list[CellResult]:
    return msgspec.json.decode(text, type=list[CellResult])
