"""Undoing a command whose changes are kept in different ways: as images of rows, and as former values of fields."""

import pytest

from tests.core.engine import Engine
from tests.core.models import end, process, start, task
from vivero.core.state.undo import undo


@pytest.mark.parametrize(
    "changes", [("edit", "rename"), ("rename", "edit"), ("rename", "rename"), ("rename", "edit", "rename")]
)
def test_a_field_that_is_changed_in_both_ways_is_as_before(changes):
    engine = Engine()
    engine.deploy(process(start(), task("a"), end(), "start > a > end"))
    engine.start()
    state = engine.state
    (element,) = (one for one in state.elements.values() if one.element == "a")
    before = element.label
    for number, change in enumerate(changes):
        if change == "rename":
            state.rename(element, "label", f"renamed {number}")
        else:
            state.edit(element)
            element.label = f"edited {number}"
    undo(state)
    assert element.label == before
    assert element not in state.dirty
