"""Models with task listeners, and what tests ask of a task that has some.

    tasks(engine, "creating a", "completing b 5")

starts a process with one user task `decide`. A listener is `EVENT TYPE [RETRIES]`.
"""

from xml.sax.saxutils import quoteattr

from tests.core.engine import raw
from tests.core.models import end, process, start
from vivero.core.records.jobs import CompleteJob, UserTaskResult


def user_task(id="decide", *listeners, assignee=None, outputs=(), execution=(), loop="", more=""):
    content = "<zeebe:userTask/>" + more
    if assignee is not None:
        content += f"<zeebe:assignmentDefinition assignee={quoteattr(assignee)}/>"
    content += "<zeebe:taskHeaders><zeebe:header key='k' value='v'/></zeebe:taskHeaders>"
    content += _holder("taskListener", listeners) + _holder("executionListener", execution)
    if outputs:
        items = "".join(f"<zeebe:output source={quoteattr(s)} target={quoteattr(t)}/>" for s, t in outputs)
        content += f"<zeebe:ioMapping>{items}</zeebe:ioMapping>"
    return f'<userTask id="{id}"><extensionElements>{content}</extensionElements>{loop}</userTask>'


def _holder(name, listeners):
    items = "".join(f"<zeebe:{name} {_attributes(one.split(' '))}/>" for one in listeners)
    return f"<zeebe:{name}s>{items}</zeebe:{name}s>" if items else ""


def _attributes(listener):
    return " ".join(f"{k}={quoteattr(v)}" for k, v in zip(("eventType", "type", "retries"), listener, strict=False))


def model(*listeners, **more):
    return process(start(), user_task("decide", *listeners, **more), end(), "start > decide > end")


def task_of(engine):
    """The only open user task."""
    (task,) = engine.state.user_tasks.values()
    return task


def open_listeners(engine):
    """The types of the open jobs of task listeners, the oldest first."""
    return [job.type for job in engine.state.jobs.values() if job.kind == "TASK_LISTENER"]


def agree(engine, type, **corrections):
    """Complete the job of a listener, perhaps with corrections."""
    return _complete(engine, type, UserTaskResult(corrections=corrections) if corrections else None)


def refuse(engine, type, reason=""):
    return _complete(engine, type, UserTaskResult(True, reason))


def _complete(engine, type, result, **variables):
    (key,) = (job.key for job in engine.state.jobs.values() if job.type == type)
    return engine.run(CompleteJob(key, raw(variables), None, result))


def answers(engine, position):
    """The answers to the command at a position: "done", or the reason of a rejection."""
    rows = [
        one
        for logged in engine.memory.log
        for one in logged.handled
        if one.answered and (logged.position if one.request is None else one.request) == position
    ]
    rejected = [
        one.rejection.reason
        for logged in engine.memory.log
        for one in logged.handled
        if one.rejection is not None and (logged.position if one.request is None else one.request) == position
    ]
    return rejected or ["done" for _ in rows]


def last_position(engine):
    return engine.memory.log[-1].position
