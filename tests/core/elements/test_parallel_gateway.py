"""Parallel gateways: all flows are taken, and a join takes one token of each."""

from tests.core.event_models import run
from tests.core.models import end, flow, par, process, start, task, xor


def test_a_parallel_gateway_forks_and_joins(bench):
    key = run(
        bench, process(start(), par("f"), task("a"), task("b"), par("j"), end(), "start > f > a > j > end", "f > b > j")
    )
    assert bench.jobs == ["a", "b"]
    bench.complete("b")
    assert bench.element("p").tokens == {"a": 1, "b-j": 1}
    bench.complete("a")
    assert bench.state_of(key) == "COMPLETED"
    assert [row["element"] for row in bench.rows.values() if row.get("type") == "PARALLEL_GATEWAY"] == ["f", "j"]


def two_by_two():
    """Two tokens on each of two incoming flows of the join `j`: it opens twice."""
    flows = [
        flow("start", "a", id="a1"),
        flow("start", "a", id="a2"),
        flow("start", "b", id="b1"),
        flow("start", "b", id="b2"),
    ]
    return process(start(), task("a"), task("b"), par("j"), task("after"), *flows, "a > j > after", "b > j")


def test_a_join_takes_one_token_of_each_flow_and_leaves_the_surplus(bench):
    key = run(bench, two_by_two())
    bench.complete("a")
    bench.complete("a")
    assert bench.element("p").tokens == {"a-j": 2, "b": 2}
    bench.complete("b")
    assert bench.element("p").tokens == {"a-j": 1, "b": 1, "after": 1}
    bench.complete("b")
    assert bench.jobs == ["after", "after"]
    bench.complete("after")
    bench.complete("after")
    assert bench.state_of(key) == "COMPLETED"


def test_a_full_join_opens_as_often_as_it_is_full_when_all_tokens_come_at_once(bench):
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
    run(bench, model)
    assert bench.jobs == ["after", "after"]
    assert bench.element("p").tokens == {"after": 2}


def test_two_flows_of_one_source_are_two_flows_for_a_join(bench):
    model = process(
        start(), par("f"), par("j"), task("a"), "start > f", flow("f", "j", id="x"), flow("f", "j", id="y"), "j > a"
    )
    run(bench, model)
    assert bench.jobs == ["a"]


def test_a_join_that_never_fills_keeps_the_process_alive(bench):
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
    key = run(bench, model)
    bench.complete("a")
    assert bench.state_of(key) == "ACTIVATED"
    assert bench.element("p").tokens == {"a-j": 1}
    assert bench.jobs == []


def test_a_join_in_a_loop_opens_in_each_round(bench):
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
    key = run(bench, model, done=False)
    for done in (False, True):
        bench.complete("b")
        assert bench.element("p").tokens == {"a": 1, "b-j": 1}
        bench.complete("a", done=done)
    assert bench.state_of(key) == "COMPLETED"
