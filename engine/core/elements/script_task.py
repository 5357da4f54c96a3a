"""Script task. BPMN 2.0.2 §10.3.3: the engine runs the script, and the task completes. Here the script is a FEEL
expression (`zeebe:script`), whose value becomes a variable; or, with a task definition, a job for a worker.
"""

from __future__ import annotations

from vivero.engine.core.elements import service_task
from vivero.engine.core.records.effects import Effects
from vivero.engine.core.records.instances import ElementCompleting
from vivero.engine.core.shared.variables import merge_texts, set_texts
from vivero.engine.core.state.instance_tree import Element
from vivero.engine.core.view import View


def activate(task: Element, at: View) -> Effects:
    script = at.node(task).script
    if script is None:
        yield from service_task.activate(task, at)
        return
    result = {script.result: at.json_of(at.evaluate(script.expression, task))}
    yield from (set_texts if at.node(task).outputs else merge_texts)(task, result, at)
    yield ElementCompleting(task.key)
