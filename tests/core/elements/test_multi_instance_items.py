"""The items of a long loop that are a variable's value as it stands are not written into the events once more."""

import msgspec
import pytest

from tests.core.engine import Engine, keep_rows, raw, rebuilt, recorded_batches
from tests.core.event_models import loop, model
from tests.core.models import end, start, sub, task
from vivero.core.elements import multi_instance
from vivero.core.execution.step import StepLimits
from vivero.core.records.codec import decode_events, encode_events
from vivero.core.records.instances import CreateInstance, LoopStarted
from vivero.core.replay import replay
from vivero.core.state.state import State


def compact(variables):
    """As the API writes them."""
    return {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in variables.items()}


@pytest.fixture
def engine():
    return Engine(StepLimits(paged_from=0))


def begun(engine, variables, collection="=items", paged=True):
    """The event that begins the loop of a new instance, and the texts of its items in its instances."""
    activity = loop(task("work"), collection, item="item")
    engine.deploy(model(start(), activity, end(), "start > work > end"))
    engine.run(CreateInstance("p", variables=variables))
    (event,) = (
        event
        for logged in engine.memory.log
        for handled in logged.handled
        for event in handled.events
        if isinstance(event, LoopStarted)
    )
    assert event.paged == paged
    rebuilt(engine)
    return event, texts_of(engine)


def texts_of(engine):
    """The items that the inner instances were given."""
    return [row["value"] for (table, _), row in engine.rows.items() if table == "Variable" and row["name"] == "item"]


@pytest.mark.parametrize(
    "items",
    [
        [7],
        [1, 2, 3],
        [-1, 0, 2**64, -(2**63) - 1],
        [True, False, None, 5],
        ["a", "b,c", 'with "marks", ä and \n'],
        [1, "2"],
        [[1, 2], [], [[3]]],
        [{"a": 1, "b": "x"}, {}],
    ],
)
def test_what_has_no_fractions_stands_in_the_variable_alone(engine, items):
    event, texts = begun(engine, compact({"items": items}))
    assert event.items == ()
    assert event.variable is not None
    assert event.variable[1] == "items"
    assert texts == [msgspec.json.encode(item).decode() for item in items]


@pytest.mark.parametrize("items", [[1, 2.5], [[1, 2], [3.25]], [{"a": 1, "b": -0.5}]])
def test_all_else_stands_in_the_event(engine, items):
    event, texts = begun(engine, compact({"items": items}))
    assert (event.variable, list(event.items)) == (None, texts)
    assert [msgspec.json.decode(text) for text in texts] == items


def test_a_value_with_other_spaces_is_not_what_its_items_are(engine):
    event, texts = begun(engine, raw({"items": [1, 2]}))
    assert (event.variable, event.items, texts) == (None, ("1", "2"), ["1", "2"])


def test_another_list_of_the_same_items_is_not_the_variable(engine):
    event, _ = begun(engine, compact({"items": [1, 2, 3]}), "=[1, 2, 3]")
    assert (event.variable, event.items) == (None, ("1", "2", "3"))


def test_the_events_of_a_short_loop_say_all(engine):
    engine = Engine(StepLimits(paged_from=5))  # the process and the body count, too
    event, texts = begun(engine, compact({"items": [1, 2, 3]}), paged=False)
    assert (event.variable, list(event.items), texts) == (None, ["1", "2", "3"], ["1", "2", "3"])


@pytest.mark.parametrize("quantum_items", [1, 7, 500])
def test_replay_gives_each_row(quantum_items):
    engine = Engine(StepLimits(quantum_items, paged_from=0))
    event, _ = begun(engine, compact({"items": list(range(20))}))
    assert event.variable is not None
    for _ in range(20):
        engine.complete("work")
    state = State(1, engine.state.next_key)
    rows = keep_rows(state)
    replay(state, recorded_batches(engine))
    assert {key: msgspec.json.encode(row) for key, row in rows.items()} == {
        key: msgspec.json.encode(row) for key, row in engine.rows.items()
    }
    assert not state.elements


def test_the_variable_is_found_where_it_is(engine):
    """In the scope that hides the others."""
    inner = sub("inner", start("s"), loop(task("work"), item="item"), "s > work", inputs=[("=items", "items")])
    engine.deploy(model(start(), inner, "start > inner"))
    key = engine.run(CreateInstance("p", variables=compact({"items": [4, 5]}))).response.process_instance_key
    (scope,) = (element for element in engine.state.elements.values() if element.element == "inner")
    started = [e for logged in engine.memory.log for h in logged.handled for e in h.events if type(e) is LoopStarted]
    assert [event.variable for event in started] == [(scope.key, "items")]
    assert scope.key != key
    rebuilt(engine)


def test_a_variable_that_changes_later_changes_no_items(engine):
    event, texts = begun(engine, compact({"items": [1, 2]}))
    (key,) = engine.state.trees
    engine.set(key, items=[3])
    rebuilt(engine)
    assert texts_of(engine) == texts == ["1", "2"]
    assert event.variable == (key, "items")


@pytest.mark.parametrize(("most", "begins"), [(6, True), (5, False)])
@pytest.mark.parametrize("paged_from", [0, 500])
def test_they_are_as_large_as_items_may_be(monkeypatch, most, begins, paged_from):
    monkeypatch.setattr(multi_instance, "MAX_LOOP_CHARACTERS", most)
    engine = Engine(StepLimits(paged_from=paged_from))
    engine.deploy(model(start(), loop(task("work")), "start > work"))
    engine.run(CreateInstance("p", variables=compact({"items": [12, 345, 6]})))
    assert len(engine.incidents) == (0 if begins else 1)


def test_events_from_before_have_their_items():
    text = encode_events([LoopStarted(7, ("1", "2"), True)]).replace(b",true,null]", b",true]")
    assert text.endswith(b",true]]")
    assert decode_events(text) == (LoopStarted(7, ("1", "2"), True),)


def test_the_texts_of_a_list_are_those_of_its_items(engine, monkeypatch):
    """The short cut and the long way come to the same."""
    items = [0, -5, True, None, False, 10**18]
    _, short = begun(engine, compact({"items": items}))
    monkeypatch.setattr(multi_instance, "is_compact", lambda *_: False)
    whole, at_once = begun(Engine(StepLimits(paged_from=0)), compact({"items": items}))
    monkeypatch.setattr(multi_instance, "scalars_to_json", lambda _: None)
    event, long = begun(Engine(StepLimits(paged_from=0)), compact({"items": items}))
    assert (whole.variable, event.variable) == (None, None)
    assert short == at_once == long
