"""The property `vivero.retention` of a process: how long its ended instances stay."""

import pytest

from tests.core.models import end, process, start
from vivero.core.bpmn.parser import parse

DAY_MS = 24 * 3_600_000


def with_property(value, name="vivero.retention"):
    extensions = (
        '<extensionElements xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"><zeebe:properties>'
        f'<zeebe:property name="{name}" value="{value}"/></zeebe:properties></extensionElements>'
    )
    return process(extensions, start(), end(), "start > end")


@pytest.mark.parametrize(
    ("value", "stays_ms"),
    [
        ("P30D", 30 * DAY_MS),
        (" PT1M ", 60_000),
        ("P1DT2H", 26 * 3_600_000),
        ("never", 0),
        ("P9999999D", 365_000 * DAY_MS),
    ],
)
def test_the_property_is_a_duration_or_never(value, stays_ms):
    found = parse(with_property(value), "p.bpmn")
    assert (found.problems, found.processes[0].retention_ms) == ((), stays_ms)


@pytest.mark.parametrize("value", ["", "soon", "P1M", "P1Y", "PT59S", "-P1D", "=duration", "P30D P1D"])
def test_a_wrong_value_is_a_problem_of_the_process(value):
    (problem,) = parse(with_property(value), "p.bpmn").problems
    assert "the property vivero.retention is" in str(problem)


def test_without_the_property_the_settings_count():
    found = parse(with_property("P30D", "another"), "p.bpmn")
    assert (found.problems, found.processes[0].retention_ms) == ((), None)
