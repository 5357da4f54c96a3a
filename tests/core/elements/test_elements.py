"""Every element: what its tokens do."""

import pytest

from tests.core.models import ONE_TASK, chain, end, flow, par, process, start, sub, task, xor
from vivero.engine.core.records.jobs import CompleteJob


def run(bench, model, **variables):
    bench.deploy(model)
    return bench.start(**variables)


def test_a_process_without_tasks_ends_in_its_creation(bench):
    key = run(bench, process(start(), end(), "start > end"))
    assert bench.state_of(key) == "COMPLETED"
    assert not bench.state.elements
    assert not bench.state.trees


def test_a_service_task_waits_for_its_job(bench):
    key = run(bench, ONE_TASK)
    assert bench.jobs == ["work"]
    assert bench.element("work").state == "ACTIVATED"
    assert bench.element("p").tokens == {"work": 1}
    bench.complete("work")
    assert bench.state_of(key) == "COMPLETED"
    assert [row["state"] for (table, _), row in bench.rows.items() if table == "Job"] == ["COMPLETED"]


def test_a_job_is_what_the_task_definition_evaluates_to(bench):
    model = process(
        start(),
        task("work", type='="type-" + kind', retries="=n + 1", priority="=n * 10", headers=[("h", "1"), ("g", "=2")]),
        "start > work",
    )
    run(bench, model, kind="x", n=4)
    job = bench.job("work")
    assert (job.type, job.retries, job.priority, job.state) == ("type-x", 5, 40, "CREATED")
    assert job.headers == {"h": "1", "g": "=2"}
    assert (job.created_at, job.updated_at, job.kind) == (1_000, 1_000, "BPMN_ELEMENT")


def test_retries_may_be_text_that_holds_a_whole_number(bench):
    run(bench, process(start(), task("work", retries='="7"'), "start > work"))
    assert bench.job("work").retries == 7


def test_without_priority_and_retries_the_job_has_0_and_3(bench):
    run(bench, ONE_TASK)
    assert (bench.job("work").priority, bench.job("work").retries) == (0, 3)


# ---- implicit fork and end


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


# ---- exclusive gateway


def choice(**gateway):
    return process(
        start(),
        xor("which", **gateway),
        task("a"),
        task("b"),
        task("c"),
        "start > which",
        flow("which", "a", "=x > 10"),
        flow("which", "b", "=x > 5"),
        flow("which", "c", None if gateway else "=x > 1"),
    )


@pytest.mark.parametrize(("x", "taken"), [(11, "a"), (6, "b"), (2, "c")])
def test_an_exclusive_gateway_takes_the_first_true_flow_in_the_order_of_the_file(bench, x, taken):
    run(bench, choice(), x=x)
    assert bench.jobs == [taken]


@pytest.mark.parametrize(("x", "taken"), [(11, "a"), (6, "b"), (5, "c")])
def test_an_exclusive_gateway_takes_its_default_flow_when_no_condition_is_true(bench, x, taken):
    run(bench, choice(default="which-c"), x=x)
    assert bench.jobs == [taken]


def test_a_default_flow_is_not_taken_early_wherever_it_stands(bench):
    model = process(
        start(), xor("g", default="g-a"), task("a"), task("b"), "start > g", flow("g", "a"), flow("g", "b", "=true")
    )
    run(bench, model)
    assert bench.jobs == ["b"]


def test_an_exclusive_gateway_without_a_way_out_is_an_incident(bench):
    run(bench, choice(), x=0)
    assert bench.incidents == [
        ("which", "CONDITION_ERROR", "Expected at least one condition to evaluate to true, or to have a default flow")
    ]
    assert bench.element("which").state == "COMPLETING"


def test_an_exclusive_gateway_with_nothing_behind_it_ends_its_token(bench):
    assert bench.state_of(run(bench, process(start(), xor("g"), "start > g"))) == "COMPLETED"


def test_an_exclusive_gateway_passes_each_token_on_by_itself(bench):
    run(bench, process(start(), xor("g"), task("a"), flow("start", "g", id="x"), flow("start", "g", id="y"), "g > a"))
    assert bench.jobs == ["a", "a"]


def test_a_loop_goes_round_until_its_condition_ends_it(bench):
    model = process(
        start(),
        xor("again"),
        task("work"),
        xor("enough", default="enough-again"),
        end(),
        "start > again > work > enough",
        flow("enough", "end", "=n >= 3"),
        flow("enough", "again"),
    )
    key = run(bench, model)
    for n in (1, 2, 3):
        assert bench.jobs == ["work"]
        bench.complete("work", n=n)
    assert bench.state_of(key) == "COMPLETED"
    works = [row for (table, _), row in bench.rows.items() if table == "Element" and row["element"] == "work"]
    assert len(works) == 3


# ---- parallel gateway


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


# ---- sub-process


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


def test_a_chain_is_a_flow_from_each_to_the_next():
    assert chain("a > b > c").count("<sequenceFlow") == 2
