"""Requests can name everything that models and expressions can create, up to the same byte."""

import pytest

from tests.core.engine import Engine
from tests.core.event_models import run
from tests.core.models import process, start, task
from vivero.core.bpmn.parser import parse
from vivero.core.bpmn.reading.text_limits import JOB_TYPE_BYTES, NAME_BYTES, size

ACTIVATION = {"timeout": 1000, "maxJobsToActivate": 1, "requestTimeout": -1}
OF_JOB_TYPES = ("t" * JOB_TYPE_BYTES, "ü" * (JOB_TYPE_BYTES // 2), "€" * (JOB_TYPE_BYTES // 3) + "t")
OF_NAMES = ("t" * NAME_BYTES, "ü" * (NAME_BYTES // 2))


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize("type", OF_JOB_TYPES, ids=size)
@pytest.mark.harmless
async def test_a_job_type(rows, reader, type, more):
    type += "x" * more
    model = process(start(), task("work", type=type), "start > work")
    static, core_engine = parse(model, "m.bpmn"), Engine()
    run(core_engine, process(start(), task("work", type="=kind"), "start > work"), kind=type)
    answer = await reader("POST", "/v2/jobs/activation", ACTIVATION | {"type": type})
    created = [job.type for job in core_engine.state.jobs.values()]
    assert (bool(static.problems), created, answer.status) == ((False, [type], 200) if not more else (True, [], 400))


USER_TASK = (
    '<userTask id="t" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"><extensionElements><zeebe:userTask/>'
    '<zeebe:assignmentDefinition assignee="=name"/></extensionElements></userTask>'
)


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize("name", OF_NAMES, ids=size)
async def test_an_assignee(client, engine, name, more):
    name += "x" * more
    core_engine = Engine()
    run(core_engine, process(start(), USER_TASK, "start > t"), name=name)
    answer = await client("POST", "/v2/user-tasks/2251799813685250/assignment", {"assignee": name})
    created = [row.assignee for row in core_engine.state.user_tasks.values()]
    assert (created, answer.status == 400) == (([name], False) if not more else ([], True))
