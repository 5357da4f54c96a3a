"""Set variables by request."""

from __future__ import annotations

from vivero.core.needs import Need, NeedKind, Needs
from vivero.core.records.effects import Effects, Reject, RejectionCode
from vivero.core.records.instances import SetVariables
from vivero.core.shared.variables import merge_upwards, set_locally
from vivero.core.view import View


def needs(command: SetVariables, tenant: str) -> Needs:
    yield Need(NeedKind.ELEMENT, command.key)


def set_variables(command: SetVariables, view: View) -> Effects:
    element = view.element(command.key)
    if element is None or not view.enter(element.instance.tenant):
        raise Reject(
            RejectionCode.NOT_FOUND,
            f"Expected to update variables for element with key '{command.key}', but no such element was found",
        )
    setter = set_locally if command.local else merge_upwards
    yield from setter(element, command.variables, view)
