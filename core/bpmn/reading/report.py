"""The problems of a file. A modeler wants all of them at once, each with its element and line."""

from __future__ import annotations

from collections.abc import Iterable

from vivero.core.bpmn.model import Node, Problem
from vivero.core.bpmn.reading.xml import LIMITS, Element, XmlLimits, line_of

_QUOTED = 60


def quote(text: str) -> str:
    """A text in quotes for messages, shortened, because ids and expressions can be megabytes long."""
    return f"'{text if len(text) <= _QUOTED else text[:_QUOTED] + '…'}'"


_LEAST_EXPRESSION = 16


class Report:
    """Collects the problems of one resource, and counts what is limited."""

    def __init__(self, resource: str, limits: XmlLimits = LIMITS) -> None:
        self.resource = resource
        self.limits = limits
        self._problems: list[Problem] = []
        self._objections: list[Problem] = []
        self._warnings: list[Problem] = []
        self._nodes = 0
        self._join_places = 0
        self._expressions = 0

    def add_problem(self, element: Element, message: str, *, at: Element | None = None) -> None:
        """Add a problem. `element` is one that a modeler knows by id; `at` is its faulty child."""
        self._problems.append(self._problem(element, message, at))

    def add_node_problem(self, node: Node, message: str) -> None:
        """Like `add_problem`, for what has been read."""
        self.add_problem_at(node.id, node.line, message)

    def add_problem_at(self, element_id: str | None, line: int | None, message: str) -> None:
        """Like `add_problem`, for what has been read."""
        self._problems.append(Problem(self.resource, element_id, line, message))

    def object_to(self, element: Element, message: str, *, at: Element | None = None) -> None:
        """Add an objection: a problem of a new deployment. A file that is deployed already stays readable."""
        self._objections.append(self._problem(element, message, at))

    def warn(self, element: Element, message: str, *, at: Element | None = None) -> None:
        """Add a warning: something odd that does not prevent the deployment."""
        self._warnings.append(self._problem(element, message, at))

    def warn_of_file(self, message: str) -> None:
        """Add a warning about the whole file."""
        self._warnings.append(Problem(self.resource, None, None, message))

    def _problem(self, element: Element, message: str, at: Element | None) -> Problem:
        element_id = self.id_of(element)
        if element_id is not None:
            element_id = element_id[: self.limits.id_length]
        return Problem(self.resource, element_id, line_of(element if at is None else at), message)

    def id_of(self, element: Element) -> str | None:
        """The id by which a problem names an element; None: its line alone says where it is."""
        return element.get("id")

    def add_file_problem(self, message: str, line: int | None = None) -> None:
        self._problems.append(Problem(self.resource, None, line, message))

    def takes_node(self) -> bool:
        """Count one more process, flow node or sequence flow. False if it is one too many (reported once)."""
        self._nodes += 1
        if self._nodes == self.limits.nodes + 1:
            self.add_file_problem(f"the file has more than {self.limits.nodes} flow nodes and sequence flows")
        return self._nodes <= self.limits.nodes

    def takes_expression(self, length: int) -> bool:
        """Count one more expression. False if the file has too many characters of them (reported once)."""
        before, limit = self._expressions, self.limits.expressions
        self._expressions += max(length, _LEAST_EXPRESSION)
        if before <= limit < self._expressions:
            self.add_file_problem(f"the file has more than {limit} characters of expressions")
        return self._expressions <= limit

    def takes_join_places(self, number: int) -> bool:
        """Count places that inclusive joins examine. False if the file has too many of them (reported once)."""
        before, limit = self._join_places, self.limits.join_places
        self._join_places += number
        if before <= limit < self._join_places:
            text = "the inclusive gateways that join are too many for the size of their scopes"
            self.add_file_problem(f"{text}: incoming flows times flow nodes and flows is more than {limit}")
        return self._join_places <= limit

    def problems(self) -> tuple[Problem, ...]:
        """The problems by line, each once, limited by `XmlLimits.problems`. The last one counts the rest.

        Of one line, what is wrong with the whole file comes first: it is the cause of the others.
        """
        return self._shown(self._problems, "problems")

    def objections(self) -> tuple[Problem, ...]:
        """The objections, ordered and limited in the same way."""
        return self._shown(self._objections, "problems")

    def warnings(self) -> tuple[Problem, ...]:
        """The warnings, ordered and limited in the same way."""
        return self._shown(self._warnings, "warnings")

    def _shown(self, found: Iterable[Problem], what: str) -> tuple[Problem, ...]:
        ordered = sorted(dict.fromkeys(found), key=lambda problem: (problem.line or 0, problem.element_id is not None))
        shown = ordered[: self.limits.problems]
        if len(ordered) > len(shown):
            shown.append(Problem(self.resource, None, None, f"and {len(ordered) - len(shown)} more {what}"))
        return tuple(shown)
