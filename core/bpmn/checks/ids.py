"""Ids of a file. BPMN 2.0.2, schema Semantic.xsd: `id` is an `xsd:ID`, unique over all elements of the file.

Two flow nodes, sequence flows or executable processes of one id are a problem, and so are two messages, which their
readers report. Other elements have their id for people and drawings alone: a repeated one is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator

from vivero.core.bpmn.elements.contents import ELEMENTS, NOT_YET
from vivero.core.bpmn.reading.references import ROOTS, SHARED_DEFINITIONS
from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.bpmn.reading.xml import BPMN, Element, line_of, split

_BPMN = f"{{{BPMN}}}"
_PROCESS = frozenset({f"{_BPMN}process"})
_IN_PROCESSES = frozenset(f"{_BPMN}{tag}" for tag in (*ELEMENTS, *NOT_YET, "sequenceFlow"))
"""Elements of executable processes whose ids `outline.take_id` compares with each other."""
_AT_THE_TOP = frozenset(f"{_BPMN}{tag}" for tag in (*ROOTS, *SHARED_DEFINITIONS))
"""Elements whose ids `references.read_roots` compares with those of the same tag."""


def warn_of_repeated_ids(root: Element, report: Report) -> None:
    """Warn of each element of BPMN whose id an earlier one has. Diagrams do not count: they only draw."""
    first: dict[str, tuple[Element, str]] = {}
    for element, comparison in _elements(root):
        id = element.get("id", "").strip()
        if not id:
            continue
        before, compared = first.setdefault(id, (element, comparison))
        if before is not element and not (comparison and compared == comparison):
            text = f"the id {quote(id)} is already taken by the {split(before)[1]} in line {line_of(before)}"
            report.warn(element, text)


def _elements(root: Element) -> Iterator[tuple[Element, str]]:
    """The elements of BPMN, each with the comparison in which a repeated id is reported already; empty if in none.

    Elements of processes that are not executed are left out, because nothing in them is checked.
    """
    yield root, ""
    for child in root:
        if not str(child.tag).startswith(_BPMN):
            continue
        executable = child.tag in _PROCESS and child.get("isExecutable", "").strip() in ("true", "1")
        yield child, "nodes" if executable else str(child.tag) if child.tag in _AT_THE_TOP else ""
        if executable or child.tag not in _PROCESS:
            for element in child.iterdescendants(f"{_BPMN}*"):
                yield element, "nodes" if element.tag in _IN_PROCESSES else ""
