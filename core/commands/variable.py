"""Set variables by request."""

from __future__ import annotations

from vivero.core.commands.suspension import refusal
from vivero.core.needs import Need, NeedKind, Needs
from vivero.core.records.effects import Effects, Reject, RejectionCode
from vivero.core.records.instances import SetVariables
from vivero.core.records.user_tasks import UPDATING, Transition
from vivero.core.shared.suspended_work import is_stopped
from vivero.core.shared.task_transitions import ask_listeners, task_of, with_listeners
from vivero.core.shared.variables import merge_upwards, set_locally, texts_of
from vivero.core.state.instance_tree import ACTIVATED, Element, UserTask
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
    if element.waits.user_tasks and element.state is ACTIVATED:
        if is_stopped(element):
            raise refusal(command.intent, command.key, element)
        return _set_of_task(command, task_of(element), view)
    return _set(command, element, view)


def _set(command: SetVariables, element: Element, view: View) -> Effects:
    setter = set_locally if command.local else merge_upwards
    return setter(element, command.variables, view)


def _set_of_task(command: SetVariables, task: UserTask, view: View) -> Effects:
    """Variables of a user task: its listeners decide on them like on other updates."""
    if task.transition is not None:
        raise Reject(
            RejectionCode.INVALID_STATE,
            f"Expected to update variables of user task with key '{task.key}', but it is in state '{task.status}'",
        )
    target = "local" if command.local else "merged"
    updating = Transition(UPDATING, "update", variables=texts_of(command.variables), target=target)
    awaited = with_listeners(task.element, updating, view)
    return _set(command, task.element, view) if awaited is None else ask_listeners(task, awaited, view)
