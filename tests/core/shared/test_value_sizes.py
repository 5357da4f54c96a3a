"""Values that are too large to be kept are incidents where they arise, and no fault of the engine."""

import pytest

from tests.core.event_models import call, loop, mapped, model, run, script
from tests.core.models import start, task

HUGE = "=for i in 1..50 return text"
GROUPS = mapped(f"<zeebe:assignmentDefinition candidateGroups='{HUGE}'/>")
USER = f'<userTask id="x">{GROUPS}</userTask>'
ACTIVITIES = {
    "script": (script("x", HUGE, "r"), "EXTRACT_VALUE_ERROR"),
    "input": (task("x", inputs=[(HUGE, "r")]), "IO_MAPPING_ERROR"),
    "output": (script("x", "=1", "r", outputs=[(HUGE, "big")]), "IO_MAPPING_ERROR"),
    "item": (loop(task("x"), collection=f"=[{HUGE[1:]}]"), "EXTRACT_VALUE_ERROR"),
    "result": (loop(script("x", "=1", "r"), collection="=[1]", output=HUGE, into="all"), "EXTRACT_VALUE_ERROR"),
    "header": (USER, "EXTRACT_VALUE_ERROR"),
    "input of a call": (call("x", "c", inputs=[(HUGE, "r")]), "IO_MAPPING_ERROR"),
}


@pytest.mark.parametrize(("activity", "type_"), ACTIVITIES.values(), ids=ACTIVITIES)
def test_a_value_that_is_too_large_is_an_incident_of_its_element(engine, activity, type_):
    key = run(engine, model(start(), activity, "start > x"), text="y" * 100_000)
    ((element, found, message),) = engine.incidents
    assert (element, found) == ("x", type_)
    assert ("100000 characters together" if activity is USER else "4000000 characters") in message
    assert engine.memory.processor.notices.poisoned == []
    engine.set(key, text="y")
    engine.resolve()
    assert type_ not in [found for _, found, _ in engine.incidents]
