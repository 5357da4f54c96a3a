"""Undoing a command whose changes are kept in different ways: as images of rows, and as former values of fields."""

from operator import itemgetter

import pytest

from tests.core.engine import Engine, raw, snapshot
from tests.core.event_models import catch
from tests.core.events.test_timers import timer
from tests.core.models import end, process, start, sub, task
from vivero.core.apply import apply
from vivero.core.records.instances import CancelInstance, CreateInstance
from vivero.core.records.jobs import CompleteJob, FailJob
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


def _image(state):
    """The state, in whatever order the tables have their rows: these are only looked up, by key."""
    image = snapshot(state)
    tables = {**image.pop("rows"), "variables": image.pop("variables")}
    return image | {name: sorted(rows, key=itemgetter("key")) for name, rows in tables.items()}


COMMANDS = {
    "create": lambda _engine: CreateInstance("p", variables=raw({"x": 1, "y": {"z": 2}})),
    "complete": lambda engine: CompleteJob(engine.job("a").key, raw({"x": 2, "new": 3})),
    "complete inside": lambda engine: CompleteJob(engine.job("b").key, raw({"new": 3})),
    "cancel": lambda engine: CancelInstance(min(engine.state.trees)),
    "fail": lambda engine: FailJob(engine.job("a").key, 0, 0, "boom", raw({"x": 3})),
}


def _before_the_command():
    engine = Engine()
    inner = sub("s", start("si"), task("b"), end("se"), "si > b > se")
    hour = catch("hour", timer("timeDuration", "PT1H"))
    flows = "start > fork > a > end", "fork > s > after", "fork > hour"
    engine.deploy(
        process(start(), '<parallelGateway id="fork"/>', task("a"), inner, task("after"), hour, end(), *flows)
    )
    engine.start(x=1)
    return engine


@pytest.mark.parametrize("command", COMMANDS)
def test_after_a_bug_behind_any_event_everything_is_as_before(command):
    other, engine = _before_the_command(), _before_the_command()
    events, state = other.memory.run(COMMANDS[command](other)).events, engine.state
    before = _image(state)
    for number in range(1, len(events) + 1):
        for event in events[:number]:
            apply(state, event)
        assert _image(state) != before
        undo(state)
        assert _image(state) == before, f"behind event {number}, {events[number - 1]}"
    assert len(events) > 2


def test_other_trees_stay_in_the_order_of_their_use():
    """Eviction takes the first ones."""

    def used():
        engine = Engine()
        engine.deploy(process(start(), task("a"), "start > a"))
        keys = [engine.start() for _ in range(3)]
        for key in (keys[1], keys[2], keys[0]):
            engine.state.trees[key] = engine.state.trees.pop(key)
        return engine, keys

    (other, _), (engine, (first, second, third)) = used(), used()
    for event in other.run(CancelInstance(third)).events:
        apply(engine.state, event)
    assert third not in engine.state.trees
    undo(engine.state)
    assert list(engine.state.trees) == [second, first, third]
