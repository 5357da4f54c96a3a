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


def test_nested_sub_processes_complete_from_the_inside_out(engine):
    key = run(engine, nested())
    assert engine.elements == ["beside", "deep", "inner", "outer", "p"]
    assert engine.element("deep").path == (
        engine.element("deep").key,
        engine.element("inner").key,
        engine.element("outer").key,
        key,
    )
    engine.complete("deep")
    assert engine.elements == ["beside", "outer", "p"]
    engine.complete("beside")
    assert engine.elements == ["after", "p"]
    engine.complete("after")
    assert engine.state_of(key) == "COMPLETED"


def test_a_sub_process_takes_all_its_flows_once_it_is_quiet(engine):
    model = process(
        start(),
        sub("s", start("s1"), task("a"), task("b"), "s1 > a", "s1 > b"),
        task("x"),
        task("y"),
        "start > s > x",
        "s > y",
    )
    run(engine, model)
    engine.complete("a")
    assert engine.jobs == ["b"]
    engine.complete("b")
    assert engine.jobs == ["x", "y"]


def test_tokens_in_a_sub_process_are_its_own(engine):
    """The same sub-process entered twice: a join in it waits for its own tokens."""
    inside = sub("s", start("s1"), task("a"), task("b"), par("j"), task("c"), "s1 > a > j > c", "s1 > b > j")
    run(engine, process(start(), inside, flow("start", "s", id="x"), flow("start", "s", id="y")))
    scopes = [element for element in engine.state.elements.values() if element.element == "s"]
    first, second = (
        {job.element.element: job.key for job in engine.state.jobs.values() if job.element.scope is scope}
        for scope in scopes
    )
    engine.run(CompleteJob(first["a"]))
    engine.run(CompleteJob(second["b"]))
    assert [scope.tokens for scope in scopes] == [{"b": 1, "a-j": 1}, {"a": 1, "b-j": 1}]
    engine.run(CompleteJob(first["b"]))
    assert [scope.tokens for scope in scopes] == [{"c": 1}, {"a": 1, "b-j": 1}]
