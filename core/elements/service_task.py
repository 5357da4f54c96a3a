"""Service task. BPMN 2.0.2 §13.3.3: activation invokes the service, and completion of the service completes the task.

The service is a job for a worker, who may get the keys of linked resources. Completing the job completes the task
(`commands/job.py`).
"""

from __future__ import annotations

from vivero.core.records.effects import Effects
from vivero.core.shared import linked_resources
from vivero.core.shared.jobs import create_job
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def activate(task: Element, view: View) -> Effects:
    job = task.node.job
    assert job is not None, f"the parser rejects service tasks without a task definition: {task.element}"
    return create_job(task, job, view, linked_resources.headers(job.links, task, view))
