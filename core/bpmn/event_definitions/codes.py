"""The codes of errors and escalations: static where they are caught, static or FEEL where they are thrown."""

from __future__ import annotations

from vivero.core.bpmn.event_definitions.kind import THROWN
from vivero.core.bpmn.reading.references import EventReading, article
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.values import is_expression, text_or_expression
from vivero.core.feel import Expression


def read_code(reading: EventReading, tag: str, attribute: str) -> tuple[bool, Expression | None]:
    """Whether the code is known, and the code; None catches all codes."""
    throws = reading.place in THROWN
    reference = f"{tag}Ref"
    referred = reading.referred(reference, tag, required=throws)
    if referred is None:
        return not throws and not reading.definition.get(reference, "").strip(), None
    text = referred.get(attribute, "")
    if throws:
        code = reading.named(referred, attribute, f"{quote(reading.owner.get('id', ''))} throws it")
        return code is not None, code
    if not text.strip():
        return True, None
    if is_expression(text):
        reading.add_problem(f"the {attribute} of {article(tag)} that is caught cannot be an expression")
        return False, None
    code = text_or_expression(text, attribute, referred, reading.report, at=referred)
    return code is not None, code
