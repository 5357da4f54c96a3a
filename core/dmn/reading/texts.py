"""FEEL texts in a file: which language they are in, and where they stand."""

from __future__ import annotations

from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.bpmn.reading.xml import Element, line_of
from vivero.core.dmn.model import Text
from vivero.core.dmn.reading.xml_names import FEEL, child, content_of


class DecisionReport(Report):
    """The problems of a file of decisions. Many of its elements have no id: the one around them is named."""

    def id_of(self, element: Element) -> str | None:
        at: Element | None = element
        while at is not None and not at.get("id"):
            at = at.getparent()
        return None if at is None or at.getparent() is None else at.get("id")


def check_language(element: Element, report: Report) -> None:
    """Add a problem if the element names another expression language than FEEL."""
    language = element.get("expressionLanguage")
    if language and not FEEL.fullmatch(language.strip()):
        report.add_problem(element, f"Expression language {quote(language)} is not supported")


def text_in(element: Element | None, report: Report) -> Text | None:
    """The FEEL text of an element; None if the element or its text is missing."""
    if element is None:
        return None
    check_language(element, report)
    if child(element, "importedValues") is not None:
        report.add_problem(element, "imported values (importedValues) are not supported")
        return Text("null", report.id_of(element), line_of(element))
    where = child(element, "text")
    if where is None:
        return None
    text = content_of(where)
    if not text or not report.takes_expression(len(text)):
        return None
    return Text(text, report.id_of(element), line_of(where))


def required_text(element: Element, report: Report) -> Text:
    """The FEEL text of an element that must have one. An empty one is a problem."""
    found = text_in(element, report)
    if found is None:
        report.add_problem(element, f"The expression {quote(element.get('id') or 'null')} must not be empty.")
    return found or Text("null", report.id_of(element), line_of(element))
