"""Service task. BPMN 2.0.2 §13.3.3: upon activation the service is invoked, upon its completion the task completes.

Here the service is a job for a worker; the job's completion completes the task (`commands/job.py`).
"""

from __future__ import annotations

from vivero.engine.core.records.effects import Effects
from vivero.engine.core.shared.jobs import create_job
from vivero.engine.core.state.instance_tree import Element
from vivero.engine.core.view import View


def activate(task: Element, at: View) -> Effects:
    job = task.node.job
    assert job is not None, f"the parser lets no service task without a task definition through: {task.element}"
    return create_job(task, job, at)
