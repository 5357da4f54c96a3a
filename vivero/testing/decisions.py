"""The decisions of a test: DMN files, and files of cases that they must decide."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from vivero.core.feel import FeelError, compile_expression
from vivero.core.feel.semantics import display, equal
from vivero.core.feel.values import Run
from vivero.library.decisions import DecisionFailed, DecisionModels
from vivero.testing.files import find_file

EXPECTED = "="
"""The first character of a column of expected results. The rest is the decision's id or name."""
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_CONSTANTS = {"": None, "null": None, "true": True, "false": False}
_FEEL = ('"', "[", "{", "@")
_SHOWN = 200


class DecisionCase(NamedTuple):
    """A line of a file of cases, with its number in the file."""

    line: int
    variables: Mapping[str, Any]
    expected: Mapping[str, Any]
    """Decision → its result."""


class DecisionTests:
    """The fixture `decisions`."""

    def __init__(self, folders: Iterable[Path]) -> None:
        """`folders`: where relative paths are looked for."""
        self._folders = tuple(folders)
        self._models: DecisionModels | None = None

    def use(self, *paths: str | Path, mode: str | None = None) -> DecisionTests:
        """Use DMN files: one, and those that it imports. Raises InvalidModel if they have problems."""
        files = {str(path): find_file(self._folders, path).read_bytes() for path in paths}
        self._models = DecisionModels(files, mode)
        return self

    @property
    def models(self) -> DecisionModels:
        if self._models is None:
            raise LookupError("There are no decisions: call `use` with a DMN file first")
        return self._models

    def evaluate(self, decision: str, /, **variables: Any) -> Any:
        """The result of a decision. Raises KeyError and DecisionFailed, as `DecisionModels.evaluate` does."""
        return self.models.evaluate(decision, variables)

    def check(self, path: str | Path) -> None:
        """Evaluate each line of a CSV file (docs/decisions.md). Raises AssertionError with all differences."""
        cases = list(read_cases(find_file(self._folders, path)))
        assert cases, f"{path} has no cases"
        differences = [text for case in cases for text in self._differences(case)]
        assert not differences, f"{len(differences)} results differ in {path}:\n" + "\n".join(differences)

    def _differences(self, case: DecisionCase) -> Iterator[str]:
        for decision, expected in case.expected.items():
            try:
                found = self.models.evaluate(decision, case.variables)
            except DecisionFailed as failure:
                yield f"line {case.line}: {failure}"
                continue
            if equal(Run({}), found, expected) is not True:
                yield f"line {case.line}: {decision} is {_shown(found)} instead of {_shown(expected)}"


def _shown(value: Any) -> str:
    return display(value, _SHOWN)


def read_cases(path: Path) -> Iterator[DecisionCase]:
    """The cases of a CSV file. Raises ValueError if none has an expected result, or if a cell is faulty FEEL."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        names = [name.strip() for name in reader.fieldnames or ()]
        if not any(name.startswith(EXPECTED) for name in names):
            raise ValueError(f"{path} has no column of expected results, such as '=Discount'")
        reader.fieldnames = names
        for row in reader:
            if None in row or None in row.values():
                raise ValueError(f"{path}, line {reader.line_num}: the line has not as many cells as the header")
            cells = {name: _value(path, reader.line_num, text.strip()) for name, text in row.items()}
            variables = {name: value for name, value in cells.items() if not name.startswith(EXPECTED)}
            expected = {name[1:].strip(): value for name, value in cells.items() if name.startswith(EXPECTED)}
            yield DecisionCase(reader.line_num, variables, expected)


def _value(path: Path, line: int, text: str) -> Any:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _NUMBER.fullmatch(text):
        return Decimal(text) if "." in text else int(text)
    if not text.startswith(_FEEL):
        return text
    try:
        return compile_expression(text).evaluate().value
    except FeelError as error:
        raise ValueError(f"{path}, line {line}: {error}") from error
