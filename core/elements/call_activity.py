"""Call activity. BPMN 2.0.2 §10.3.6, §13.3.6: it starts another process inside this one, waits for its end, and takes
over its variables as configured. Errors, escalations and cancellation cross it (docs/design/execution.md §1).

The binding selects the version of the called process: the latest, the one from the caller's deployment, or the latest
with a version tag.
"""

from __future__ import annotations

from vivero.core.bpmn.model import CalledElement
from vivero.core.bpmn.reading.text_limits import BUSINESS_ID_CHARACTERS
from vivero.core.records.effects import Effects, Fail, IncidentType
from vivero.core.records.instances import InstanceCreated, VariableSet
from vivero.core.rules import MAX_STAGE_CHARACTERS
from vivero.core.shared import row_limits
from vivero.core.shared.bindings import bound
from vivero.core.shared.variables import merge_texts, set_texts, visible
from vivero.core.state.catalogue import Definition
from vivero.core.state.instance_tree import Element
from vivero.core.view import View

MAX_DEPTH = 1_000


def activate(call: Element, view: View) -> Effects:
    called = _called(call, view)
    process_id = view.expressions.text(called.process_id, call)
    if call.instance.depth >= MAX_DEPTH:
        raise Fail(
            IncidentType.CALLED_ELEMENT_ERROR,
            f"The call activity has reached the maximum depth of {MAX_DEPTH} processes that call each other.",
        )
    row_limits.check(call, view, IncidentType.CALLED_ELEMENT_ERROR, 1, 1)
    definition = _definition(call, called, process_id, view)
    if not view.model(definition.key).root.has_none_start:
        raise Fail(
            IncidentType.CALLED_ELEMENT_ERROR,
            f"Expected process with BPMN process id '{process_id}' to have a none start event, "
            "but there is no such event.",
        )
    key, business_id = view.key(), _business_id(call, called, view)
    yield InstanceCreated(
        key,
        definition.key,
        definition.process_id,
        definition.version,
        definition.version_tag,
        definition.name,
        call.instance.tenant,
        business_id,
        call.instance.tags,
        call.key,
    )
    local = {name: variable.value for name, variable in call.variables.items()}
    given = visible(call) if called.all_parent_variables else local
    if sum(map(len, given.values())) > MAX_STAGE_CHARACTERS:
        raise Fail(
            IncidentType.CALLED_ELEMENT_ERROR,
            f"The variables for the called process have more than {MAX_STAGE_CHARACTERS} characters of JSON together.",
        )
    for name, value in given.items():
        yield VariableSet(view.key(), key, name, value)


def collect(call: Element, child: Element, view: View) -> Effects:
    """The called process completes. The caller gets all its variables, or they stay in the call activity.

    There its output mappings, its end listeners and its loop see them."""
    variables = {name: variable.value for name, variable in child.variables.items()}
    stays = bool(view.node(call).outputs) or not _called(call, view).all_child_variables
    return (set_texts if stays else merge_texts)(call, variables, view)


def _called(call: Element, view: View) -> CalledElement:
    called = view.node(call).called
    assert called is not None, f"the parser rejects call activities without a called element: {call.element}"
    return called


def _business_id(call: Element, called: CalledElement, view: View) -> str | None:
    """The business id of the called instance. Raises Fail if an expression gives none that is possible."""
    if called.inherits_business_id:
        return call.instance.business_id
    if called.business_id is None:
        return None
    business_id = view.expressions.text(called.business_id, call)
    if not 0 < len(business_id) <= BUSINESS_ID_CHARACTERS:
        raise Fail(
            IncidentType.EXTRACT_VALUE_ERROR,
            f"Expected the business id of the called process to have 1 to {BUSINESS_ID_CHARACTERS} characters, but "
            f"'{called.business_id.text}' has {len(business_id)}.",
        )
    return business_id


def _definition(call: Element, called: CalledElement, process_id: str, view: View) -> Definition:
    versions = view.family(process_id, call.instance.tenant).values()
    caller = view.definition(call.instance.definition_key)
    definition = bound(versions, called.binding, called.version_tag, caller)
    if definition is None:
        description = f"process with BPMN process id '{process_id}'"
        if called.binding == "deployment":
            description += " in the deployment of the caller"
        elif called.binding == "versionTag":
            description += f" and version tag '{called.version_tag}'"
        raise Fail(IncidentType.CALLED_ELEMENT_ERROR, f"Expected {description} to be deployed, but not found.")
    return definition
