"""A process, and what all flow nodes do: several flows out of one fork, several end events end their tokens."""

from tests.core.event_models import run
from tests.core.models import chain, end, flow, process, start, task


def test_a_process_without_tasks_ends_in_its_creation(engine):
    key = run(engine, process(start(), end(), "start > end"))
    assert engine.state_of(key) == "COMPLETED"
    assert not engine.state.elements
    assert not engine.state.trees


def test_a_task_with_several_flows_takes_all_of_them(engine):
    key = run(engine, process(start(), task("a"), task("b"), task("c"), "start > a > b", "a > c"))
    engine.complete("a")
    assert engine.jobs == ["b", "c"]
    engine.complete("c")
    assert engine.state_of(key) == "ACTIVATED"
    engine.complete("b")
    assert engine.state_of(key) == "COMPLETED"


def test_a_task_is_entered_by_each_token_of_its_own(engine):
    key = run(
        engine, process(start(), task("a"), end(), flow("start", "a", id="x"), flow("start", "a", id="y"), "a > end")
    )
    assert engine.jobs == ["a", "a"]
    assert engine.element("p").tokens == {"a": 2}
    engine.complete("a")
    assert engine.element("p").tokens == {"a": 1}
    engine.complete("a")
    assert engine.state_of(key) == "COMPLETED"


def test_several_end_events_end_their_tokens_only(engine):
    key = run(engine, process(start(), task("a"), end("x"), end("y"), "start > a > x", "start > y"))
    assert engine.jobs == ["a"]
    assert engine.element("p").tokens == {"a": 1}
    engine.complete("a")
    assert engine.state_of(key) == "COMPLETED"


def test_a_chain_is_a_flow_from_each_to_the_next():
    assert chain("a > b > c").count("<sequenceFlow") == 2
