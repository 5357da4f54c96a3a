"""Event definitions at the top of a file, which events share. BPMN 2.0.2 §10.5.1: a reference to one means the same as
a definition in the event itself. Therefore each reference is replaced by a copy of what it names.
"""

from __future__ import annotations

from copy import deepcopy

from lxml import etree

from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.bpmn.reading.xml import BPMN, Element, bpmn_children, split, text_of

REFERENCE = "eventDefinitionRef"


def copy_shared_definitions(root: Element, report: Report) -> None:
    """Replace the references of all processes. One to something else stays, and is reported.

    The copies together may have as many bytes as a file.
    """
    shared = {child.get("id"): child for child in root if split(child)[1].endswith("EventDefinition")}
    left = report.limits.bytes
    sizes: dict[str, int] = {}
    for process in bpmn_children(root, "process"):
        for reference in list(process.iter(f"{{{BPMN}}}{REFERENCE}")):
            key = text_of(reference).rpartition(":")[2]
            definition, event = shared.get(key), reference.getparent()
            if event is None or definition is None:
                _report_unknown(reference, event, report)
                continue
            left -= sizes.setdefault(key, len(etree.tostring(definition)))
            if left < 0:
                text = f"the event definitions that events refer to would have more than {report.limits.bytes} bytes"
                report.add_file_problem(text)
                return
            event.replace(reference, deepcopy(definition))


def _report_unknown(reference: Element, event: Element | None, report: Report) -> None:
    text = f"{REFERENCE} {quote(text_of(reference))} is not an event definition of this file"
    report.add_problem(reference if event is None else event, text, at=reference)
