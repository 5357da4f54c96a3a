"""Execution listeners: each is a job at the START or END of an element. The element waits until the job is completed;
then the next listener follows, in the order of the file.

In a loop the inner instances have these listeners, and the body those of BEFORE_ALL. A process has those of CANCEL.
`task_transitions` has the listeners of user tasks.
"""

from __future__ import annotations

from vivero.core.records.base import Variables
from vivero.core.records.effects import Effects
from vivero.core.shared.jobs import EXECUTION_LISTENER, create_job
from vivero.core.shared.variables import merge_upwards, output_scope, set_locally
from vivero.core.state.instance_tree import Element, Job
from vivero.core.view import View

START, END, BEFORE_ALL, CANCEL = "START", "END", "BEFORE_ALL", "CANCEL"


def create_listener_job(element: Element, event: str, index: int, view: View) -> Effects:
    """Create the job of the listener at `index`; nothing after the last one."""
    listeners = view.node(element).listeners[event]
    if index < len(listeners):
        yield from create_job(element, listeners[index], view, {}, EXECUTION_LISTENER, event, index)


def merge_result(job: Job, variables: Variables, view: View) -> Effects:
    """Set the listener's variables in the element, at END in the scope that gets its output mappings."""
    if job.listener_event != END:
        return set_locally(job.element, variables, view)
    return merge_upwards(output_scope(job.element), variables, view)
