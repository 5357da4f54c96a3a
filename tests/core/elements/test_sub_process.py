"""Embedded sub-processes: tokens of their own; they complete when the last one has ended."""

from tests.core.event_models import run
from tests.core.models import end, flow, par, process, start, sub, task
from vivero.core.records.jobs import CompleteJob


def nested():
    inner = sub("inner", start("i1"), task("deep"), end("i2"), "i1 > deep > i2")
    return process(
        start(),
        sub("outer", start("o1"), inner, task("beside"), "o1 > inner", "o1 > beside"),
        task("after"),
        "start > outer > after",
    )


def test_nested_sub_processes_complete_from_the_inside_out(bench):
    key = run(bench, nested())
    assert bench.elements == ["beside", "deep", "inner", "outer", "p"]
    assert bench.element("deep").path == (
        bench.element("deep").key,
        bench.element("inner").key,
        bench.element("outer").key,
        key,
    )
    bench.complete("deep")
    assert bench.elements == ["beside", "outer", "p"]
    bench.complete("beside")
    assert bench.elements == ["after", "p"]
    bench.complete("after")
    assert bench.state_of(key) == "COMPLETED"


def test_a_sub_process_takes_all_its_flows_once_it_is_quiet(bench):
    model = process(
        start(),
        sub("s", start("s1"), task("a"), task("b"), "s1 > a", "s1 > b"),
        task("x"),
        task("y"),
        "start > s > x",
        "s > y",
    )
    run(bench, model)
    bench.complete("a")
    assert bench.jobs == ["b"]
    bench.complete("b")
    assert bench.jobs == ["x", "y"]


def test_tokens_in_a_sub_process_are_its_own(bench):
    """The same sub-process entered twice: a join in it waits for its own tokens."""
    inside = sub("s", start("s1"), task("a"), task("b"), par("j"), task("c"), "s1 > a > j > c", "s1 > b > j")
    run(bench, process(start(), inside, flow("start", "s", id="x"), flow("start", "s", id="y")))
    scopes = [element for element in bench.state.elements.values() if element.element == "s"]
    first, second = (
        {job.element.element: job.key for job in bench.state.jobs.values() if job.element.scope is scope}
        for scope in scopes
    )
    bench.run(CompleteJob(first["a"]))
    bench.run(CompleteJob(second["b"]))
    assert [scope.tokens for scope in scopes] == [{"b": 1, "a-j": 1}, {"a": 1, "b-j": 1}]
    bench.run(CompleteJob(first["b"]))
    assert [scope.tokens for scope in scopes] == [{"c": 1}, {"a": 1, "b-j": 1}]
