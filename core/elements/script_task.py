"""Script task. BPMN 2.0.2 §10.3.3: the engine runs the script, and the task completes. The script is a FEEL expression
(`zeebe:script`), and its value becomes a variable. With a task definition the task creates a job for a worker instead.
"""

from __future__ import annotations

from vivero.core.elements import service_task
from vivero.core.records.effects import Effects
from vivero.core.records.instances import ElementCompleting
from vivero.core.shared.variables import merge_texts, set_texts
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def activate(task: Element, view: View) -> Effects:
    script = view.node(task).script
    if script is None:
        yield from service_task.activate(task, view)
        return
    result = {script.result: view.expressions.json_of(view.expressions.evaluate(script.expression, task))}
    yield from (set_texts if view.node(task).outputs else merge_texts)(task, result, view)
    yield ElementCompleting(task.key)
