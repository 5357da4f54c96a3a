"""Due times of models: of process instances when they start, of user tasks when they are activated."""

import pytest

from tests.core.event_models import run
from tests.core.models import end, process, start, task

MS_2030 = 1_893_456_000_000
HOUR_MS = 3_600_000


def with_due(value):
    return (
        "<extensionElements><zeebe:properties>"
        f'<zeebe:property name="vivero.due" value="{value}"/></zeebe:properties></extensionElements>'
    )


def user_task_with(value):
    inside = with_due(value).replace("<zeebe:properties>", "<zeebe:userTask/><zeebe:properties>")
    return f'<userTask id="t">{inside}</userTask>'


@pytest.mark.parametrize(
    ("value", "variables", "due_at"),
    [
        ("PT4H", {}, 4 * HOUR_MS),
        ("= if urgent then duration(&quot;PT1H&quot;) else duration(&quot;P1D&quot;)", {"urgent": True}, HOUR_MS),
        ("= promised", {"promised": "PT2H"}, 2 * HOUR_MS),
        ("= promised", {"promised": "2030-01-01T00:00:00Z"}, MS_2030),
        ("= date and time(promised)", {"promised": "2030-01-01T00:00:00Z"}, MS_2030),
        ("= promised", {"promised": None}, None),
        ("= promised", {"promised": ""}, None),
    ],
)
def test_an_instance_and_a_task_are_due_by_their_model(engine, value, variables, due_at):
    content = (with_due(value), start(), task("a"), user_task_with(value), end(), "start > a > t > end")
    key = run(engine, process(*content), **variables)
    expected = due_at if due_at in (None, MS_2030) else engine.memory.now + due_at
    assert engine.state.elements[key].due_at == expected
    engine.memory.now += HOUR_MS
    engine.complete("a")
    (open_task,) = engine.state.user_tasks.values()
    later = expected if due_at in (None, MS_2030) else expected + HOUR_MS
    assert (open_task.due_at, engine.state.elements[key].due_at) == (later, expected)


@pytest.mark.parametrize("value", ["= 7", "= &quot;soon&quot;", "= promised"])
def test_a_wrong_due_time_is_an_incident_that_can_be_resolved(engine, value):
    key = run(engine, process(with_due(value), start(), task("a"), "start > a"), promised="P1")
    (incident,) = engine.state.elements[key].waits.incidents.values()
    assert "gives neither a duration nor a date and time" in incident.message
    assert engine.jobs == []
