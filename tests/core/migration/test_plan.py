"""The elements that a migration decides at once differ in nothing that its checks and changes depend on."""

from typing import Any

import msgspec
import pytest

from benchmarks.operations import model
from tests.core.engine import Engine
from vivero.core.migration.plan import kinds_of
from vivero.core.state.instance_tree import ACTIVATING, COMPLETING, Waits
from vivero.core.state.subtrees import of_instance

ITEMS = 4


def elements_of(kind):
    engine = Engine()
    engine.deploy(model(kind, "work"))
    key = engine.start("long-loop", items=list(range(ITEMS)))
    return of_instance(engine.state.elements[key])


def sizes(elements):
    return sorted(map(len, kinds_of(elements[0], elements)))


@pytest.mark.parametrize(
    ("kind", "expected"),
    {
        "jobs": [1, 1, ITEMS],
        "user_tasks": [1, 1, ITEMS],
        "timers": [1, 1, ITEMS, ITEMS],
        "subscriptions": [1, 1, ITEMS],
    }.items(),
)
def test_the_inner_instances_of_a_loop_are_of_one_kind(kind, expected):
    """The process, the body, and the inner instances. Keys, due dates and correlation keys do not matter."""
    assert sizes(elements_of(kind)) == expected


PROGRESS = {
    "state": ACTIVATING,
    "then": ("complete",),
    "occurred": {},
    "interrupted": True,
    "pages": object(),
    "tokens": {"f": 1},
    "awaiting_reset": {"g": ("f",)},
    "registered": {"a": 1},
}


@pytest.mark.parametrize("name", PROGRESS)
def test_an_element_is_not_like_those_that_have_come_less_far(name):
    elements = elements_of("subscriptions")
    setattr(elements[-1], name, PROGRESS[name])
    assert sizes(elements) == [1, 1, 1, ITEMS - 1]


@pytest.mark.parametrize("name", ["awaiting_reset", "tokens"])
def test_tokens_at_other_gateways_make_a_difference(name):
    elements = elements_of("subscriptions")
    for number, element in enumerate(elements[-2:]):
        setattr(element, name, {f"g{number}": ("f",)})
    assert sizes(elements) == [1, 1, 1, 1, ITEMS - 2]


def test_an_element_that_ends_is_not_like_one_that_ends_with_an_incident():
    elements = elements_of("jobs")
    for element in elements[-2:]:
        element.state = COMPLETING
    assert sizes(elements) == [1, 1, 2, ITEMS - 2]
    some: Any = object()
    elements[-1].waits = Waits(jobs=elements[-1].waits.jobs, incidents={1: some})
    assert sizes(elements) == [1, 1, 1, 1, ITEMS - 2]


def test_the_scope_makes_a_difference():
    """An inner instance is in its body. Other elements are as good as the scope in which they are."""
    elements = elements_of("timers")
    assert elements[-1].element == "wait"
    elements[-1].scope = elements[0]
    assert sizes(elements) == [1, 1, 1, ITEMS - 1, ITEMS]
    elements = elements_of("jobs")
    elements[-1].index = -1
    assert sizes(elements) == [1, 1, 1, ITEMS - 1]


WAITS = {
    ("timers", "timers", "target"): "other",
    ("timers", "timers", "type"): "BOUNDARY",
    ("subscriptions", "subscriptions", "target"): "other",
    ("subscriptions", "subscriptions", "type"): "BOUNDARY",
    ("subscriptions", "subscriptions", "correlation_key"): None,
    ("subscriptions", "subscriptions", "interrupting"): False,
    ("jobs", "jobs", "kind"): "EXECUTION_LISTENER",
}


@pytest.mark.parametrize(("kind", "group", "name"), WAITS)
def test_waits_for_other_events_make_a_difference(kind, group, name):
    elements = elements_of(kind)
    change(elements[-1], group, name, WAITS[kind, group, name])
    assert 1 in sizes(elements)[2:]


@pytest.mark.parametrize("name", ["listener_event", "type"])
def test_only_the_jobs_of_listeners_make_a_difference(name):
    elements = elements_of("jobs")
    change(elements[-1], "jobs", name, "another")
    assert sizes(elements) == [1, 1, ITEMS]
    for element in elements[-2:]:
        change(element, "jobs", "kind", "TASK_LISTENER")
    assert sizes(elements) == [1, 1, 1, 1, ITEMS - 2]


def change(element, group, name, value):
    """Replace the only row of a group of waits."""
    ((key, row),) = getattr(element.waits, group).items()
    changed = msgspec.structs.replace(row, **{name: value})
    element.waits = msgspec.structs.replace(element.waits, **{group: {key: changed}})
