"""A process, and what all flow nodes do: several flows out of one fork, several end events end their tokens."""

from tests.core.event_models import run
from tests.core.models import chain, end, flow, process, start, task


def test_a_process_without_tasks_ends_in_its_creation(bench):
    key = run(bench, process(start(), end(), "start > end"))
    assert bench.state_of(key) == "COMPLETED"
    assert not bench.state.elements
    assert not bench.state.trees


def test_a_task_with_several_flows_takes_all_of_them(bench):
    key = run(bench, process(start(), task("a"), task("b"), task("c"), "start > a > b", "a > c"))
    bench.complete("a")
    assert bench.jobs == ["b", "c"]
    bench.complete("c")
    assert bench.state_of(key) == "ACTIVATED"
    bench.complete("b")
    assert bench.state_of(key) == "COMPLETED"


def test_a_task_is_entered_by_each_token_of_its_own(bench):
    key = run(
        bench, process(start(), task("a"), end(), flow("start", "a", id="x"), flow("start", "a", id="y"), "a > end")
    )
    assert bench.jobs == ["a", "a"]
    assert bench.element("p").tokens == {"a": 2}
    bench.complete("a")
    assert bench.element("p").tokens == {"a": 1}
    bench.complete("a")
    assert bench.state_of(key) == "COMPLETED"


def test_several_end_events_end_their_tokens_only(bench):
    key = run(bench, process(start(), task("a"), end("x"), end("y"), "start > a > x", "start > y"))
    assert bench.jobs == ["a"]
    assert bench.element("p").tokens == {"a": 1}
    bench.complete("a")
    assert bench.state_of(key) == "COMPLETED"


def test_a_chain_is_a_flow_from_each_to_the_next():
    assert chain("a > b > c").count("<sequenceFlow") == 2
