"""A loop over too much is an incident, before memory or the time of a commit is used up, and goes on when resolved."""

import pytest

from tests.core.engine import Engine, rebuilt
from tests.core.event_models import loop, model, run
from tests.core.models import end, start, task
from vivero.core.elements import multi_instance
from vivero.core.execution.step import StepLimits
from vivero.core.expressions import evaluation
from vivero.core.rules import MAX_LOOP_CHARACTERS, MAX_LOOP_ITEMS

LIMITS = {"whole": StepLimits(), "quanta": StepLimits(quantum_items=1), "paged": StepLimits(paged_from=0)}


@pytest.fixture(params=LIMITS)
def engine(request):
    return Engine(LIMITS[request.param])


def looped(collection="=items"):
    activity = loop(task("work"), collection, item="item", output="=r", into="results")
    return model(start(), activity, end(), "start > work > end")


def incident(engine):
    ((element, type_, message),) = engine.incidents
    return element, type_, message


def test_too_many_items(engine):
    key = run(engine, looped(), items=[1] * (MAX_LOOP_ITEMS + 1))
    assert incident(engine) == (
        "work",
        "EXTRACT_VALUE_ERROR",
        "Too many or too large items of a multi-instance activity: at most 200000 are allowed, not 200001.",
    )
    engine.set(key, items=[1, 2])
    engine.resolve()
    assert (engine.jobs, engine.incidents) == (["work", "work"], [])


def test_as_many_items_as_there_may_be(monkeypatch, engine):
    monkeypatch.setattr(multi_instance, "MAX_LOOP_ITEMS", 3)
    run(engine, looped(), items=[1, 2, 3])
    assert engine.jobs == ["work"] * 3


def test_few_values_that_stand_for_more_text_than_there_is_memory(monkeypatch, engine):
    """A hundred thousand items of a megabyte each are a list of pointers to one text, until they are written down."""
    made = []

    def json_of(item, _failure):
        made.append(item)
        return f'"{item}"'

    monkeypatch.setattr(evaluation, "json_of", json_of)
    run(engine, looped("=for i in 1..100000 return text"), text="x" * 1_000_000)
    assert incident(engine) == (
        "work",
        "EXTRACT_VALUE_ERROR",
        "Too many or too large items of a multi-instance activity: at most 8000000 characters of JSON are "
        "allowed in total.",
    )
    assert len(made) == MAX_LOOP_CHARACTERS // 1_000_000


@pytest.mark.parametrize(("most", "begins"), [(10, True), (9, False)])
def test_items_as_large_as_they_may_be(monkeypatch, engine, most, begins):
    monkeypatch.setattr(multi_instance, "MAX_LOOP_CHARACTERS", most)
    run(engine, looped(), items=["abc", "def"])
    assert engine.jobs == ["work"] * (2 if begins else 0)
    assert len(engine.incidents) == (0 if begins else 1)


def test_a_result_that_is_too_much_does_not_end_its_turn(monkeypatch, engine):
    key = run(engine, looped(), items=[1, 2, 3])
    monkeypatch.setattr(multi_instance, "MAX_LOOP_CHARACTERS", 10)
    engine.complete("work", r="abc")
    engine.complete("work", r="abcd")
    element, type_, message = incident(engine)
    (turn,) = (one.element.key for one in engine.state.incidents.values())
    assert (element, type_) == ("work", "EXTRACT_VALUE_ERROR")
    assert message.startswith("Too many or too large results of a multi-instance activity: ")
    rebuilt(engine)
    engine.complete("work", r=1)
    assert engine.state_of(key) == "ACTIVATED"
    engine.set(turn, r="xy")
    engine.resolve()
    assert engine.state_of(key) == "COMPLETED"
    assert engine.variables_of(key)["results"] == ["abc", "xy", 1]
