"""The messages, signals, errors and escalations at the top of a file, which events refer to by id.

BPMN 2.0.2 §8.4: all processes of the file share them. Those without a reference mean nothing and are not checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vivero.core.bpmn.model import NodeId
from vivero.core.bpmn.reading.draft import Draft, Place
from vivero.core.bpmn.reading.extensions import Extensions
from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.bpmn.reading.values import text_or_expression
from vivero.core.bpmn.reading.xml import Element, bpmn_children, line_of, split
from vivero.core.feel import Expression

ROOTS = ("message", "signal", "error", "escalation")
SHARED_DEFINITIONS = tuple(
    f"{name}EventDefinition"
    for name in (
        *("message", "signal", "error", "escalation", "timer", "conditional"),
        *("terminate", "link", "compensate", "cancel"),
    )
)
"""Event definitions at the top of a file that multi-instance activities name."""

Roots = Mapping[tuple[str, str], Element]


def read_roots(definitions: Element, report: Report) -> Roots:
    """The targets of references, by tag and id."""
    roots: dict[tuple[str, str], Element] = {}
    for element in bpmn_children(definitions, *ROOTS, *SHARED_DEFINITIONS):
        tag, key = split(element)[1], element.get("id", "")
        before = roots.setdefault((tag, key), element)
        if before is not element and key:
            report.add_problem(element, f"the id {quote(key)} is already taken in line {line_of(before)}")
    return roots


def find_root(tag: str, reference: str, roots: Roots) -> Element | None:
    """Look up an id. A prefix names the file itself (the type is `xsd:QName`)."""
    return roots.get((tag, reference), roots.get((tag, reference.rpartition(":")[2])))


@dataclass(frozen=True, slots=True)
class EventReading:
    """An event definition while it is read; for a receive or send task, the task itself."""

    owner: Element
    """The event or task. Problems are reported under its id."""
    definition: Element
    place: Place
    interrupting: bool
    extensions: Extensions
    """The extension elements of the event and of its definition."""
    scope: NodeId
    draft: Draft

    @property
    def report(self) -> Report:
        return self.draft.report

    def add_problem(self, message: str, *, at: Element | None = None) -> None:
        self.report.add_problem(self.owner, message, at=self.definition if at is None else at)

    def referred(self, attribute: str, tag: str, *, required: bool = True) -> Element | None:
        """The target of the definition's reference. None if there is none or an unknown one (reported)."""
        reference = self.definition.get(attribute, "").strip()
        if not reference:
            if required:
                self.add_problem(f"needs {article(attribute)}: the {tag} that is meant")
            return None
        found = find_root(tag, reference, self.draft.roots)
        if found is None:
            self.add_problem(f"{attribute} {quote(reference)} is not {article(tag)} of this file")
        return found

    def object_to_unknown(self, attribute: str, tag: str) -> None:
        """Object to a reference to nothing. For references that execution does not need."""
        reference = self.definition.get(attribute, "").strip()
        if reference and find_root(tag, reference, self.draft.roots) is None:
            text = f"{attribute} {quote(reference)} is not {article(tag)} of this file"
            self.report.object_to(self.owner, text, at=self.definition)

    def named(self, element: Element, attribute: str, why: str) -> Expression | None:
        """A name or code of a target, static or FEEL. `why` tells in the problem why it is needed."""
        text = element.get(attribute, "")
        tag = split(element)[1]
        if not text.strip():
            self.report.add_problem(element, f"the {tag} needs {article(attribute)}: {why}")
            return None
        name = text_or_expression(text, f"{attribute} of the {tag}", element, self.report, at=element)
        if name is not None and self.place is Place.PROCESS_START:
            self._warn_of_variables(name, f"the {attribute} of the {tag}", element)
        return name

    def _warn_of_variables(self, name: Expression, what: str, element: Element) -> None:
        """Warn of a name that reads variables: as in Camunda 8, they are null at the deployment, `camunda`, too."""
        if name.variables:
            null = ", ".join(map(quote, sorted(name.variables)[:5]))
            text = (
                f"{what} is evaluated at the deployment, without variables and without 'camunda': {null} is null there"
            )
            self.report.warn(self.owner, text, at=element)


def article(tag: str) -> str:
    return f"{'an' if tag[0] in 'aeiou' else 'a'} {tag}"
