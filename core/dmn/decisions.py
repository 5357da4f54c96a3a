"""Files of decisions, read, linked and compiled as a whole, or all of their problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from vivero.core.bpmn.model import Problem
from vivero.core.bpmn.reading.report import Report
from vivero.core.bpmn.reading.xml import XmlLimits
from vivero.core.dmn.compiling.effort import MOST_STEPS, Effort
from vivero.core.dmn.compiling.graph import compile_graph
from vivero.core.dmn.compiling.linking import Key, Linked, link
from vivero.core.dmn.compiling.parts import Graph
from vivero.core.dmn.model import Decision, Definitions, Service
from vivero.core.dmn.reading.document import LIMITS, read_definitions
from vivero.core.dmn.reading.xml_names import normal_name
from vivero.core.feel.values import FeelLimits

STEPS = 1_000_000
"""The steps of one evaluation, of all decisions and texts together: about a tenth of a second."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """The decisions of a deployment, compiled. The first file is the main one."""

    graph: Graph
    limits: FeelLimits

    @property
    def files(self) -> tuple[Definitions, ...]:
        return tuple(self.graph.linked.files.values())

    def find(self, name: str) -> Key | None:
        """The decision with this id or, if there is none, this name. The files are searched in their order."""
        return self._find(name, Decision)

    def find_service(self, name: str) -> Key | None:
        """The decision service with this id or name."""
        return self._find(name, Service)

    def _find(self, name: str, kind: type) -> Key | None:
        words = normal_name(name)
        for file in self.files:
            for names in ("id", "name"):
                for element in file.elements.values():
                    if isinstance(element, kind) and getattr(element, names) in (name, words):
                        return Key(file.resource, element.id)
        return None

    def names(self) -> Iterator[str]:
        """The names of all decisions, for messages."""
        return (decision.name or decision.id for file in self.files for decision in file.decisions)


@dataclass(frozen=True, slots=True)
class ReadDecisions:
    """The result of reading files.

    `usable` are the decisions even if there are problems, as long as all files and references could be read. What has a
    problem fails when it is evaluated. A deployment takes `decisions`, which is None if there are problems.
    """

    usable: Decisions | None
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]

    @property
    def decisions(self) -> Decisions | None:
        return None if self.problems else self.usable


@dataclass(frozen=True, slots=True)
class CheckedDecisions:
    """The result of checking files. `linked` is None if a file or a reference could not be read."""

    linked: Linked | None
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def read_decisions(
    files: Mapping[str, bytes],
    mode: str | None = None,
    limits: XmlLimits = LIMITS,
    steps: int = STEPS,
    effort: int = MOST_STEPS,
) -> ReadDecisions:
    """Read files that belong together: what one imports is among the others. Never raises, whatever the bytes are.

    `mode`, one of `core.dmn.model.MODES`, overrides what the origin of each file suggests. `steps` is the budget of one
    evaluation, and `effort` that of the compilation, as of `core.dmn.compiling.effort`.
    """
    linked, reports = _linked(files, mode, limits)
    feel = replace(limits.feel, steps=steps)
    graph = None if linked is None else compile_graph(linked, reports, feel, Effort(effort))
    return ReadDecisions(None if graph is None else Decisions(graph, feel), *_found(reports))


def check_decisions(
    files: Mapping[str, bytes], mode: str | None = None, limits: XmlLimits = LIMITS, effort: int = MOST_STEPS
) -> CheckedDecisions:
    """Read files like `read_decisions` for their problems alone. It keeps no compiled text, and takes less memory."""
    linked, reports = _linked(files, mode, limits)
    if linked is not None:
        compile_graph(linked, reports, limits.feel, Effort(effort), keeps=False)
    return CheckedDecisions(linked, *_found(reports))


def _linked(
    files: Mapping[str, bytes], mode: str | None, limits: XmlLimits
) -> tuple[Linked | None, Mapping[str, Report]]:
    read = {name: read_definitions(content, name, limits) for name, content in files.items()}
    found = {name: each.definitions for name, each in read.items() if each.definitions is not None}
    definitions = {name: each if mode is None else replace(each, mode=mode) for name, each in found.items()}
    reports = {name: each.report for name, each in read.items()}
    return (link(definitions, reports) if len(definitions) == len(files) else None), reports


def _found(reports: Mapping[str, Report]) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """The problems and the warnings of all files."""
    problems = tuple(problem for report in reports.values() for problem in report.problems())
    return problems, tuple(warning for report in reports.values() for warning in report.warnings())
