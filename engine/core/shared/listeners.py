"""Listeners: workers that are told what happens to an element, before it goes on. Each is a job, and the element rests
until that is done; then the next one has its turn, in the order of the file.

Those of a loop are its inner instances'. Execution listeners hear START and END; user-task listeners will be other
events, with stages and jobs of their own.
"""

from __future__ import annotations

from vivero.engine.core.records.base import Variables
from vivero.engine.core.records.effects import Effects
from vivero.engine.core.shared.jobs import EXECUTION_LISTENER, create_job
from vivero.engine.core.shared.variables import merge_upwards, outside, set_locally
from vivero.engine.core.state.instance_tree import Element, Job
from vivero.engine.core.view import View

START, END = "START", "END"


def tell(element: Element, event: str, index: int, view: View) -> Effects:
    """A job for the listener at `index`; nothing when all have been told."""
    listeners = view.node(element).listeners[event]
    if index < len(listeners):
        yield from create_job(element, listeners[index], view, {}, EXECUTION_LISTENER, event, index)


def take_in(job: Job, variables: Variables, view: View) -> Effects:
    """What a listener brings: at the start for the element alone; at the end it leaves like its output mappings."""
    if job.listener_event == START:
        return set_locally(job.element, variables, view)
    return merge_upwards(outside(job.element), variables, view)
