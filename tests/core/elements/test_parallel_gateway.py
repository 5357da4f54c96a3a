"""Parallel gateways: all flows are taken, and a join takes one token of each."""

from tests.core.event_models import run
from tests.core.models import end, flow, par, process, start, task, xor


def test_a_parallel_gateway_forks_and_joins(engine):
    key = run(
        engine,
        process(start(), par("f"), task("a"), task("b"), par("j"), end(), "start > f > a > j > end", "f > b > j"),
    )
    assert engine.jobs == ["a", "b"]
    engine.complete("b")
    assert engine.element("p").tokens == {"a": 1, "b-j": 1}
    engine.complete("a")
    assert engine.state_of(key) == "COMPLETED"
    assert [row["element"] for row in engine.rows.values() if row.get("type") == "PARALLEL_GATEWAY"] == ["f", "j"]


def two_by_two():
    """Two tokens on each of two incoming flows of the join `j`: it opens twice."""
    flows = [
        flow("start", "a", id="a1"),
        flow("start", "a", id="a2"),
        flow("start", "b", id="b1"),
        flow("start", "b", id="b2"),
    ]
    return process(start(), task("a"), task("b"), par("j"), task("after"), *flows, "a > j > after", "b > j")


def test_a_join_takes_one_token_of_each_flow_and_leaves_the_surplus(engine):
    key = run(engine, two_by_two())
    engine.complete("a")
    engine.complete("a")
    assert engine.element("p").tokens == {"a-j": 2, "b": 2}
    engine.complete("b")
    assert engine.element("p").tokens == {"a-j": 1, "b": 1, "after": 1}
    engine.complete("b")
    assert engine.jobs == ["after", "after"]
    engine.complete("after")
    engine.complete("after")
    assert engine.state_of(key) == "COMPLETED"


def test_a_full_join_opens_as_often_as_it_is_full_when_all_tokens_come_at_once(engine):
    forks = [flow("start", f"f{n}", id=f"in{n}") for n in (1, 2)]
    ways = [flow(f"f{n}", f"{side}") for n in (1, 2) for side in ("l", "r")]
    model = process(
        start(),
        par("f1"),
        par("f2"),
        xor("l"),
        xor("r"),
        par("j"),
        task("after"),
        *forks,
        *ways,
        "l > j > after",
        "r > j",
    )
    run(engine, model)
    assert engine.jobs == ["after", "after"]
    assert engine.element("p").tokens == {"after": 2}


def test_two_flows_of_one_source_are_two_flows_for_a_join(engine):
    model = process(
        start(), par("f"), par("j"), task("a"), "start > f", flow("f", "j", id="x"), flow("f", "j", id="y"), "j > a"
    )
    run(engine, model)
    assert engine.jobs == ["a"]


def test_a_join_that_never_fills_keeps_the_process_alive(engine):
    model = process(
        start(),
        xor("g"),
        task("a"),
        task("b"),
        par("j"),
        "start > g",
        flow("g", "a", "=true"),
        flow("g", "b", "=false"),
        "a > j",
        "b > j",
    )
    key = run(engine, model)
    engine.complete("a")
    assert engine.state_of(key) == "ACTIVATED"
    assert engine.element("p").tokens == {"a-j": 1}
    assert engine.jobs == []


def test_a_join_in_a_loop_opens_in_each_round(engine):
    model = process(
        start(),
        xor("again"),
        par("f"),
        task("a"),
        task("b"),
        par("j"),
        xor("enough", default="enough-again"),
        end(),
        "start > again > f > a > j > enough",
        "f > b > j",
        flow("enough", "end", "=done"),
        flow("enough", "again"),
    )
    key = run(engine, model, done=False)
    for done in (False, True):
        engine.complete("b")
        assert engine.element("p").tokens == {"a": 1, "b-j": 1}
        engine.complete("a", done=done)
    assert engine.state_of(key) == "COMPLETED"
