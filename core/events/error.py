"""Error event. BPMN 2.0.2 §10.5.5: an end event or a worker throws it. The nearest catcher of its code interrupts its
scope or host. An uncaught error is an incident."""

from __future__ import annotations

from vivero.core.bpmn.model import ErrorEvent
from vivero.core.events.codes import caught_codes, find_catcher
from vivero.core.records.effects import Effects, Fail, IncidentType
from vivero.core.shared.occurrences import catch
from vivero.core.state.instance_tree import Element
from vivero.core.view import View

HAS_LOCAL_VARIABLES = True


def throw(event: Element, error: ErrorEvent, view: View) -> Effects:
    """The throwing event never completes."""
    assert error.code is not None, f"the parser rejects error end events without a code: {event.element}"
    code = view.expressions.text(error.code, event)
    caught = caught_error(event, code, {}, view, from_itself=False)
    if caught is None:
        raise Fail(*unhandled_error(event, code, None, view, from_itself=False))
    yield from caught


def caught_error(
    thrower: Element, code: str, variables: dict[str, str], view: View, *, from_itself: bool
) -> Effects | None:
    """The effects of catching the error; None if it is uncaught."""
    catcher = find_catcher(ErrorEvent, code, thrower, view, from_itself=from_itself)
    return None if catcher is None else catch(catcher, variables, view)


def unhandled_error(
    thrower: Element, code: str, message: str | None, view: View, *, from_itself: bool
) -> tuple[IncidentType, str]:
    """Type and message of the incident of an uncaught error. The message lists the codes that are caught there."""
    said = f" with message '{message}'" if message else ""
    text = f"Expected to throw an error event with the code '{code}'{said}, but it was not caught."
    caught = ", ".join(dict.fromkeys(caught_codes(ErrorEvent, thrower, view, from_itself=from_itself)))
    there = f"Available error events are [{caught}]" if caught else "No error events are available in the scope."
    return IncidentType.UNHANDLED_ERROR_EVENT, f"{text} {there}"
