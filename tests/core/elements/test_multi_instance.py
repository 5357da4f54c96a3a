"""Multi-instance: items, results, completion conditions, incidents; whole and in quanta of one item."""

import pytest

from tests.core.engine import Engine
from tests.core.event_models import LIMITS, boundary, call, ended, error, loop, model, run, script, states
from tests.core.models import end, start, sub, task
from vivero.core.execution.step import StepLimits


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def engine(request):
    return Engine(LIMITS[request.param])


def looped(activity=None, *rest, **settings):
    given = {"item": "item", "output": "=r", "into": "results"} | settings
    return model(start(), loop(activity or task("work"), **given), task("after"), "start > work > after", *rest)


def jobs_of(engine, task):
    """The items of the open jobs of a looped task, in the order of creation."""
    jobs = [job for job in engine.state.jobs.values() if job.element.element == task]
    return [engine.variables_of(job.element.key)["item"] for job in sorted(jobs, key=lambda job: job.key)]


def complete_item(engine, item, **variables):
    from tests.core.engine import raw
    from vivero.core.records.jobs import CompleteJob

    job = next(j for j in engine.state.jobs.values() if engine.variables_of(j.element.key).get("item") == item)
    return engine.run(CompleteJob(job.key, raw(variables)))


# ---- which instances there are


def test_in_parallel_all_wait_at_once(engine):
    run(engine, looped(), items=["a", "b", "c"])
    assert jobs_of(engine, "work") == ["a", "b", "c"]
    body, *inner = (e for e in engine.state.elements.values() if e.element == "work")
    assert body.type == "MULTI_INSTANCE_BODY"
    assert [e.type for e in inner] == ["SERVICE_TASK"] * 3
    assert [engine.variables_of(e.key) for e in inner] == [
        {"loopCounter": n, "item": i, "r": None} for n, i in enumerate("abc", 1)
    ]


def test_in_sequence_one_after_the_other(engine):
    run(engine, looped(sequential=True), items=["a", "b"])
    assert jobs_of(engine, "work") == ["a"]
    engine.complete("work", r=1)
    assert jobs_of(engine, "work") == ["b"]
    engine.complete("work", r=2)
    assert engine.jobs == ["after"]
    assert engine.variables("p")["results"] == [1, 2]


@pytest.mark.parametrize("sequential", [False, True])
def test_an_empty_collection_is_done_at_once(engine, sequential):
    run(engine, looped(sequential=sequential), items=[])
    assert engine.jobs == ["after"]
    assert engine.variables("p") == {"items": [], "results": []}
    assert states(engine, "work") == ["COMPLETED"]


@pytest.mark.parametrize("sequential", [False, True])
def test_more_items_than_a_page(engine, sequential):
    activity = script("work", "=item * 2", "r")
    run(engine, looped(activity, sequential=sequential), items=list(range(250)))
    assert engine.jobs == ["after"]
    assert engine.variables("p")["results"] == [n * 2 for n in range(250)]


def test_the_collection_is_evaluated_once(engine):
    """Camunda 8 reads it again for each inner instance, and stumbles over one that has changed."""
    key = run(engine, looped(sequential=True), items=["a", "b", "c"])
    engine.set(key, items=["x"])
    for _ in range(2):
        engine.complete("work", r=1)
    assert jobs_of(engine, "work") == ["c"]


@pytest.mark.parametrize("items", [None, 7, "text", {"a": 1}])
def test_what_is_no_list_is_an_incident_of_the_body(engine, items):
    key = run(engine, looped(), items=items)
    ((element, type_, _),) = engine.incidents
    assert (element, type_) == ("work", "EXTRACT_VALUE_ERROR")
    engine.set(key, items=["a"])
    engine.resolve()
    assert jobs_of(engine, "work") == ["a"]


def test_items_may_be_anything(engine):
    values = [None, 1, "x", [1, [2]], {"a": {"b": 1}}, True]
    run(engine, looped(script("work", "=item", "r")), items=values)
    assert engine.variables("p")["results"] == values


def test_a_loop_over_an_expression(engine):
    run(engine, looped(script("work", "=item", "r"), collection="=for i in 1..3 return i * n"), n=10)
    assert engine.variables("p")["results"] == [10, 20, 30]


# ---- results


def test_results_stand_in_the_order_of_the_items(engine):
    run(engine, looped(), items=["a", "b", "c"])
    for item in ("c", "a", "b"):
        complete_item(engine, item, r=item.upper())
    assert engine.variables("p")["results"] == ["A", "B", "C"]


@pytest.mark.parametrize("sequential", [False, True])
@pytest.mark.parametrize("output", ["=r", "= r.x.y"])
def test_the_variable_of_the_result_is_one_of_the_turn(engine, output, sequential):
    """Others' results are not collected by who sets none, and it does not leave the activity."""
    run(engine, looped(output=output, sequential=sequential), items=["a", "b", "c"], r="outside")
    complete_item(engine, "a", r={"x": {"y": 1}}, s=1)
    complete_item(engine, "b")
    complete_item(engine, "c", r={"x": {"y": 3}}, s=3)
    expected = [1, None, 3] if ".x" in output else [{"x": {"y": 1}}, None, {"x": {"y": 3}}]
    assert engine.variables("p") == {"items": ["a", "b", "c"], "results": expected, "r": "outside", "s": 3}


@pytest.mark.parametrize(("output", "results"), [("=item", ["a", "b"]), ("=loopCounter", [1, 2]), ("=r + 1", [9, 9])])
def test_what_is_no_variable_of_its_own_is_not_set_to_null(engine, output, results):
    run(engine, looped(output=output), items=["a", "b"], r=8)
    engine.complete("work")
    engine.complete("work")
    assert engine.variables("p") == {"items": ["a", "b"], "results": results, "r": 8}


def test_an_output_mapping_sets_the_result_of_its_turn_and_others_outside(engine):
    activity = task("work", outputs=[("=loopCounter", "r"), ("=loopCounter", "last")])
    run(engine, looped(activity), items=["a", "b"])
    complete_item(engine, "b")
    complete_item(engine, "a")
    assert engine.variables("p") == {"items": ["a", "b"], "results": [1, 2], "last": 1}


def test_nothing_leaves_a_loop_whose_results_are_mapped_to_a_local_variable(engine):
    activity = task("work", inputs=[("=null", "r")], outputs=[("=found", "r")])
    run(engine, looped(activity), items=["a", "b"])
    for item in ("b", "a"):
        complete_item(engine, item, found=item * 2)
    assert engine.variables("p") == {"items": ["a", "b"], "results": ["aa", "bb"]}


def test_results_go_to_the_scope_that_has_the_variable(engine):
    inner = loop(task("work"), item="item", output="=r", into="results")
    outer = sub("s", start("i"), inner, task("inside"), "i > work > inside", inputs=[("=null", "results")])
    run(engine, model(start(), outer, "start > s"), items=["a"])
    engine.complete("work", r=1)
    assert engine.variables("s") == {"results": [1]}
    assert "results" not in engine.variables("p")


LIMITS_AND_PAGES = [StepLimits(), StepLimits(quantum_items=1), StepLimits(paged_from=0)]


@pytest.mark.parametrize("limits", LIMITS_AND_PAGES)
def test_a_turn_sees_the_results_of_those_before_it(limits):
    engine = Engine(limits)
    total = "=item + (if loopCounter = 1 then 0 else results[loopCounter - 1])"
    run(engine, looped(script("work", total, "r"), sequential=True), items=[1, 2, 3], results=["before"])
    assert engine.variables("p")["results"] == [1, 3, 6]


@pytest.mark.parametrize("limits", LIMITS_AND_PAGES)
def test_what_is_inside_of_a_turn_sees_the_results_so_far(limits):
    """Not those that the variable of that name had before, and null where there is none yet."""
    engine = Engine(limits)
    inside = sub("work", start("in"), task("first"), script("look", "=results", "seen"), "in > first > look")
    run(engine, looped(inside, output="=seen"), items=["a", "b"], results=["before"])
    engine.complete("first")
    engine.complete("first")
    assert engine.variables("p")["results"] == [[None, None], [[None, None], None]]


def test_of_loops_in_each_other_the_inner_results_are_seen_first(engine):
    inner = loop(script("cell", "=count(results[item != null])", "r"), "=[1, 2]", output="=r", into="results")
    rows = sub(
        "rows", start("in"), inner, script("row", "=results", "line"), "in > cell > row", inputs=[("=0", "results")]
    )
    outer = loop(rows, "=items", output="=line", into="results", sequential=True)
    run(engine, model(start(), outer, end(), "start > rows > end"), items=[1, 2])
    assert engine.variables("p")["results"] == [[0, 1], [0, 1]]


def test_the_collection_may_have_the_name_of_the_results(engine):
    settings = {"collection": "=items", "item": "item", "output": "=item * 2", "into": "items"}
    run(
        engine,
        model(start(), loop(task("work", inputs=[("=items", "seen")]), **settings), end(), "start > work > end"),
        items=[1, 2],
    )
    assert engine.variables("work")["seen"] == [None, None]
    engine.complete("work")
    engine.complete("work")
    assert engine.variables("p")["items"] == [2, 4]


def test_results_of_a_loop_in_a_loop(engine):
    inner = loop(script("square", "=cell * cell", "r"), "=row", "cell", output="=r", into="line")
    outer = loop(
        sub("rows", start("i"), inner, "i > square"),
        "=items",
        "row",
        output="=line",
        into="results",
    )
    run(engine, model(start(), outer, end(), "start > rows > end"), items=[[1, 2], [], [3]])
    assert not engine.state.elements
    assert engine.variables("p") == {"items": [[1, 2], [], [3]], "results": [[1, 4], [], [9]]}


# ---- completion condition


def test_a_completion_condition_ends_the_others(engine):
    run(engine, looped(until="=numberOfCompletedInstances = 2"), items=["a", "b", "c", "d"])
    complete_item(engine, "d", r=4)
    complete_item(engine, "b", r=2)
    assert engine.jobs == ["after"]
    assert engine.variables("p")["results"] == [None, 2, None, 4]
    assert sorted(states(engine, "work")) == ["COMPLETED", "COMPLETED", "COMPLETED", "TERMINATED", "TERMINATED"]


def test_a_completion_condition_ends_a_sequence(engine):
    run(engine, looped(sequential=True, until="=r = 0"), items=["a", "b", "c"])
    engine.complete("work", r=1)
    engine.complete("work", r=0)
    assert engine.jobs == ["after"]
    assert engine.variables("p")["results"] == [1, 0, None]
    assert states(engine, "work").count("COMPLETED") == 3


def test_a_completion_condition_sees_how_far_it_is(engine):
    counters = (
        "numberOfInstances",
        "numberOfActiveInstances",
        "numberOfCompletedInstances",
        "numberOfTerminatedInstances",
    )
    run(engine, looped(until=f"=[{', '.join(counters)}] = [3, 1, 2, 0]"), items=["a", "b", "c"])
    engine.complete("work", r=1)
    assert engine.jobs == ["work", "work"]
    engine.complete("work", r=1)
    assert engine.jobs == ["after"]


def test_in_a_sequence_instances_are_counted_when_they_are_made(engine):
    """BPMN 2.0.2 §10.3.9: the number of inner instances created."""
    counted = "=[numberOfInstances, numberOfActiveInstances, numberOfCompletedInstances] = [2, 0, 2]"
    run(engine, looped(sequential=True, until=counted), items=["a", "b", "c"])
    engine.complete("work", r=1)
    assert engine.jobs == ["work"]
    engine.complete("work", r=1)
    assert engine.jobs == ["after"]


@pytest.mark.parametrize("sequential", [False, True])
@pytest.mark.parametrize("limits", [StepLimits(), StepLimits(quantum_items=1), StepLimits(paged_from=0)])
def test_a_completion_condition_sees_the_results_so_far(limits, sequential):
    engine = Engine(limits)
    condition = "=results = [null, 2, null]" if not sequential else "=results = [1, 2, null]"
    run(engine, looped(until=condition, sequential=sequential), items=["a", "b", "c"], results="before")
    for r in (1, 2) if sequential else (2,):
        assert engine.incidents == []
        complete_item(engine, "ab"[r - 1], r=r)
    assert engine.jobs == ["after"]
    assert engine.variables("p")["results"] == [1 if sequential else None, 2, None]


def test_the_counters_are_no_variables(engine):
    run(engine, looped(until="=numberOfInstances > 9"), items=["a"])
    engine.complete("work", r=1)
    assert engine.variables("p") == {"items": ["a"], "results": [1]}


def test_a_completion_condition_that_is_no_boolean_is_an_incident_of_the_inner_instance(engine):
    key = run(engine, looped(until="=enough"), items=["a", "b"])
    complete_item(engine, "a", r=1)
    ((element, type_, _),) = engine.incidents
    assert (element, type_) == ("work", "EXTRACT_VALUE_ERROR")
    assert jobs_of(engine, "work") == ["b"]
    engine.set(key, enough=True)
    engine.resolve()
    assert engine.jobs == ["after"]
    assert engine.variables("p")["results"] == [1, None]


# ---- incidents


def test_an_incident_in_one_inner_instance_leaves_the_others_alone(engine):
    activity = task("work", inputs=[("=assert(item, item > least)", "x")])
    key = run(engine, looped(activity), items=[1, 2, 3], least=1)
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("work", "IO_MAPPING_ERROR")]
    assert jobs_of(engine, "work") == [2, 3]
    complete_item(engine, 2, r="b")
    complete_item(engine, 3, r="c")
    assert engine.jobs == []
    engine.set(key, least=0)
    engine.resolve()
    complete_item(engine, 1, r="a")
    assert engine.variables("p")["results"] == ["a", "b", "c"]


def test_a_result_that_fails_is_an_incident_of_that_inner_instance(engine):
    key = run(engine, looped(output="=assert(r, r > least)"), items=["a", "b"], least=0)
    complete_item(engine, "a", r=0)
    assert [element for element, _, _ in engine.incidents] == ["work"]
    complete_item(engine, "b", r=1)
    engine.set(key, least=-1, r=0)
    engine.resolve()
    assert engine.jobs == ["after"]
    assert engine.variables("p")["results"] == [0, 1]


def test_the_completion_condition_ends_instances_with_incidents(engine):
    activity = task("work", inputs=[("=assert(item, item > 1)", "x")])
    run(engine, looped(activity, until="=true"), items=[1, 2])
    complete_item(engine, 2, r="b")
    assert (engine.jobs, engine.incidents) == (["after"], [])
    assert engine.variables("p")["results"] == [None, "b"]


# ---- boundary events, cancel


def test_a_boundary_event_belongs_to_the_body(engine):
    run(engine, looped(None, boundary("b", "work", error("A")), task("repair"), "b > repair"), items=["a", "b", "c"])
    complete_item(engine, "a", r=1)
    engine.throw("work", "A")
    assert engine.jobs == ["repair"]
    assert states(engine, "work").count("TERMINATED") == 3
    assert "results" not in engine.variables("p")


def test_an_error_boundary_inside_of_a_looped_sub_process_belongs_to_its_instance(engine):
    inner = sub("work", start("i"), task("t"), boundary("b", "t", error("A")), task("repair"), "i > t", "b > repair")
    run(engine, looped(inner), items=["a", "b"])
    engine.throw("t", "A")
    assert engine.jobs == ["repair", "t"]


@pytest.mark.parametrize("sequential", [False, True])
def test_cancel_ends_all(engine, sequential):
    key = run(engine, looped(sequential=sequential), items=list(range(230)))
    engine.cancel(key)
    assert ended(engine, key) == "TERMINATED"
    assert set(states(engine, "work")) == {"TERMINATED"}


# ---- loops of calls


def test_each_item_calls_a_process(engine):
    child = model(start("cs"), script("n", "=item * 10", "r"), "cs > n", id="c")
    run(engine, child, looped(call("work", "c")), items=[1, 2, 3])
    assert engine.jobs == ["after"]
    assert engine.variables("p")["results"] == [10, 20, 30]


def test_items_and_counters_do_not_leak_out_of_calls(engine):
    """Others let the child's copies of `item`, `loopCounter` and the results overwrite what the caller has."""
    child = model(start("cs"), task("t"), "cs > t", id="c")
    run(engine, child, looped(call("work", "c")), items=[1, 2], results="before")
    engine.complete("t", r=1)
    engine.complete("t", r=2)
    assert engine.variables("p") == {"items": [1, 2], "results": [1, 2]}


def test_a_process_that_calls_itself_in_loops(engine):
    collection = "=if n = 0 then [] else for i in 1..n return i - 1"
    body = loop(call("work", "p"), collection, "n", output="=count", into="counts")
    total = script("total", "=1 + (if n = 0 then 0 else sum(counts))", "count")
    key = run(engine, model(start(), body, total, "start > work > total"), n=4)
    assert engine.variables_of(key)["count"] == 16
