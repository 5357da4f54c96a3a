"""The property `vivero.due` of a process and of a user task: a duration or an expression."""

import pytest

from tests.core.models import end, process, start
from vivero.core.bpmn.parser import parse

SCHEDULED = '<zeebe:taskSchedule dueDate="2030-01-01T00:00:00Z"/>'


def due(value):
    return f'<zeebe:properties><zeebe:property name="vivero.due" value="{value}"/></zeebe:properties>'


def element(tag, extensions):
    inside = f"<extensionElements>{extensions}</extensionElements>"
    return inside if tag == "process" else f'<{tag} id="t">{inside}</{tag}>'


def read(*extensions, tag="process"):
    content = element(tag, "".join(extensions))
    nodes = (content, start(), end(), "start > end") if tag == "process" else (start(), content, "start > t")
    return parse(process(*nodes), "p.bpmn")


@pytest.mark.parametrize("value", ["PT4H", " P2D ", "P1M", "P1W", "= promised", "=duration(hours)"])
def test_processes_and_user_tasks_have_a_due_time(value):
    of_process, of_task = read(due(value)), read("<zeebe:userTask/>", due(value), tag="userTask")
    assert (of_process.problems, of_task.problems) == ((), ())
    assert of_process.processes[0].due.text == value.strip().removeprefix("=")
    assert of_task.processes[0].nodes["t"].user_task.due.text == value.strip().removeprefix("=")


@pytest.mark.parametrize(
    "value", ["", "soon", "=", "PT0S", "-P1D", "P1", "2030-01-01T00:00:00Z", "P99999999999999999Y"]
)
@pytest.mark.parametrize("tag", ["process", "userTask"])
def test_a_wrong_due_time_is_a_problem_of_its_element(value, tag):
    (problem,) = read("<zeebe:userTask/>" if tag == "userTask" else "", due(value), tag=tag).problems
    assert f"the property vivero.due is '{value}', and not a duration above zero" in str(problem)
    assert problem.element_id == ("t" if tag == "userTask" else "p")


def test_a_wrong_expression_is_told_with_its_text():
    (problem,) = read(due("=1 +")).problems
    assert "the property vivero.due: '1 +' is not valid FEEL" in str(problem)


@pytest.mark.parametrize(
    ("extensions", "tag"),
    [("", "userTask"), ('<zeebe:taskDefinition type="x"/>', "serviceTask")],
    ids=["a user task that is a job", "a service task"],
)
def test_elements_without_a_due_date_cannot_have_one(extensions, tag):
    (problem,) = read(extensions, due("PT4H"), tag=tag).problems
    assert "the property vivero.due has no effect here" in str(problem)


def test_a_due_time_and_a_due_date_exclude_each_other():
    (problem,) = read("<zeebe:userTask/>", SCHEDULED, due("PT4H"), tag="userTask").problems
    assert "the dueDate of zeebe:taskSchedule exclude each other" in str(problem)
