"""Activate elements of an ad-hoc sub-process by request."""

from __future__ import annotations

from vivero.core.needs import Need, NeedKind, Needs
from vivero.core.records.ad_hoc import ActivateAdHocElements
from vivero.core.records.effects import Effects, Reject, RejectionCode
from vivero.core.shared.ad_hoc_activations import activate_given, check_is_active, doing, progress_of, settings_of
from vivero.core.view import View


def needs(command: ActivateAdHocElements, tenant: str) -> Needs:
    yield Need(NeedKind.ELEMENT, command.key)


def activate_elements(command: ActivateAdHocElements, view: View) -> Effects:
    """With `cancel_remaining`, everything in the ad-hoc sub-process ends first. An open job stays as it is."""
    scope = view.element(command.key)
    if scope is None or not view.enter(scope.instance.tenant):
        raise Reject(
            RejectionCode.NOT_FOUND,
            "Expected to activate activities for ad-hoc sub-process but no ad-hoc sub-process instance found with key "
            f"'{command.key}'.",
        )
    if scope.type != "AD_HOC_SUB_PROCESS":
        text = f"The element instance with key '{command.key}' is not an ad-hoc sub-process."
        raise Reject(RejectionCode.INVALID_ARGUMENT, text)
    check_is_active(scope, f"{doing(scope)} it is not active.")
    busy = scope.live or progress_of(scope).pending
    if busy and not command.cancel_remaining and settings_of(scope, view).sequential:
        text = f"{doing(scope)} it is sequential, and an activity is active."
        raise Reject(RejectionCode.INVALID_STATE, text)
    yield from activate_given(scope, command.elements, command.cancel_remaining, view)
