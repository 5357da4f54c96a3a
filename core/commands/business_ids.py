"""Business ids: assign one to a running process instance, by a command of its own or with the completion of a job.

The assignment is for good, unless an undo takes it back. A business id belongs to a root; a called instance gets its
own when it begins.
"""

from __future__ import annotations

from vivero.core.needs import Need, NeedKind, Needs
from vivero.core.records.business_ids import AssignBusinessId, BusinessIdAssigned
from vivero.core.records.effects import Effects, Reject, RejectionCode
from vivero.core.state.instance_tree import Instance
from vivero.core.view import View


def needs(command: AssignBusinessId, _tenant: str) -> Needs:
    yield Need(NeedKind.INSTANCE, command.key)


def assign(command: AssignBusinessId, view: View) -> Effects:
    instance = view.instance(command.key)
    if instance is None or not view.enter(instance.tenant):
        text = f"{_begin(command.key)}, but no such process instance was found"
        raise Reject(RejectionCode.NOT_FOUND, text)
    return _unassigned(instance) if command.business_id is None else assign_to(instance, command.business_id)


def assign_to(instance: Instance, business_id: str) -> Effects:
    """Assign the business id. Nothing happens if the instance has it already.

    Raises Reject for a called instance, and for one with another business id.
    """
    if instance.parent_instance is not None:
        raise _refused(
            instance,
            f"it is created by a parent process instance with key '{instance.parent_instance}': only root process "
            "instances can be assigned one",
        )
    if instance.business_id == business_id:
        return
    if instance.business_id is not None:
        raise _refused(instance, "it has another business id already")
    yield BusinessIdAssigned(instance.key, business_id)


def _unassigned(instance: Instance) -> Effects:
    if instance.business_id:
        yield BusinessIdAssigned(instance.key, None)


def _begin(key: int) -> str:
    return f"Expected to assign a business id to process instance with key '{key}'"


def _refused(instance: Instance, but: str) -> Reject:
    return Reject(RejectionCode.INVALID_STATE, f"{_begin(instance.key)}, but {but}")
