"""Ad-hoc sub-processes that decide themselves: what they activate, when they complete, what they collect."""

import pytest

from tests.core.ad_hoc_models import activate, ends, inner, rejected, tools
from tests.core.bench import Bench, rebuilt
from tests.core.event_models import LIMITS, ad_hoc, boundary, call, ended, loop, run
from tests.core.message_models import event_sub, model
from tests.core.models import end, par, process_element, start, sub, task
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CreateInstance

TIMER = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"


@pytest.fixture(params=LIMITS)
def bench(request):
    return Bench(LIMITS[request.param])


# ---- the situations of the reference, by their numbers


def test_1_a_collection_is_activated_and_the_last_one_completes_it(bench):
    key = run(bench, tools(active="=todo"), todo=["A", "B"])
    assert bench.jobs == ["A", "B"]
    assert [scope.live for scope in inner(bench)] == [1, 1]
    bench.complete("B")
    assert bench.elements == ["A", "h", "h#innerInstance", "p"]
    bench.complete("A")
    assert ends(bench) == ["B", "A", "h"]
    assert ended(bench, key) == "COMPLETED"


def test_2_the_flow_behind_an_element_runs_in_its_inner_instance(bench):
    run(bench, tools(task("A2"), "A > A2", active='=["A"]'))
    bench.complete("A")
    assert (bench.jobs, len(inner(bench))) == (["A2"], 1)
    assert bench.element("A2").scope is inner(bench)[0]
    bench.complete("A2")
    assert ends(bench) == ["A", "A2", "h"]


@pytest.mark.parametrize("active", ["=[]", None])
def test_3_without_elements_it_waits_for_a_request(bench, active):
    key = run(bench, tools(active=active))
    assert bench.elements == ["h", "p"]
    assert activate(bench, "B").rejection is None
    bench.complete("B")
    assert ends(bench) == ["B", "h"]
    assert ended(bench, key) == "COMPLETED"


@pytest.mark.parametrize("todo", [["A", "X"], ["A", "A2"], ["A", "bound"]])
def test_4_an_element_that_cannot_be_activated_is_an_incident_before_anything_begins(bench, todo):
    model_ = tools(task("A2"), "A > A2", boundary("bound", "A", TIMER), active="=todo")
    key = run(bench, model_, todo=todo)
    scope = bench.element("h").key
    text = (
        f"Expected to activate activities for ad-hoc sub-process with key '{scope}', "
        f"but the given elements [{todo[1]}] do not exist."
    )
    assert bench.incidents == [("h", "EXTRACT_VALUE_ERROR", text)]
    assert bench.jobs == []
    bench.set(key, todo=["A"])
    bench.resolve()
    assert bench.jobs == ["A"]


@pytest.mark.parametrize("todo", [None, "A", [1], {"a": 1}])
def test_4_a_collection_of_another_type_is_an_incident(bench, todo):
    run(bench, tools(active="=todo"), todo=todo)
    ((element, type_, message),) = bench.incidents
    assert (element, type_) == ("h", "EXTRACT_VALUE_ERROR")
    assert message.startswith("Failed to activate ad-hoc elements. ")


def test_5_a_true_condition_terminates_the_rest(bench):
    run(bench, tools(active='=["A","B"]', until="=done"), done=False)
    bench.complete("A", done=True)
    assert ends(bench) == ["A", "-B", "h"]


def test_6_a_true_condition_may_wait_for_the_rest_and_remembers_that_it_was_true(bench):
    settings = {"active": '=["A","B"]', "until": "=done", "cancelRemainingInstances": "false"}
    key = run(bench, tools(**settings), done=False)
    bench.complete("A", done=True)
    assert bench.jobs == ["B"]
    scope = bench.element("h").key
    text = f"Expected to activate activities for ad-hoc sub-process with key '{scope}', but it is not active."
    rejected(activate(bench, "C"), RejectionCode.INVALID_STATE, text)
    bench.set(key, done=False)
    bench.complete("B")
    assert ends(bench) == ["A", "B", "h"]


def test_7_a_condition_without_a_result_is_an_incident_of_the_inner_instance(bench):
    key = run(bench, tools(active='=["A","B"]', until="=done"))
    bench.complete("A")
    ((element, type_, message),) = bench.incidents
    assert (element, type_) == ("h#innerInstance", "EXTRACT_VALUE_ERROR")
    assert message.startswith("Failed to evaluate completion condition. ")
    assert bench.jobs == ["B"]
    bench.set(key, done=True)
    bench.resolve()
    assert ends(bench) == ["A", "-B", "h"]


def test_8_outputs_have_the_order_of_completion(bench):
    run(bench, tools(active='=["A","B"]', output="=result", into="all"))
    bench.complete("B", result="b")
    assert bench.variables("h")["all"] == ["b"]
    bench.complete("A", result="a")
    assert bench.variables("p") == {"all": ["b", "a"]}


def test_9_the_same_element_may_be_active_twice(bench):
    run(bench, tools(output="=answer", into="all"))
    activate(bench, ("A", {"question": 1}))
    activate(bench, ("A", {"question": 2}))
    first, second = inner(bench)
    assert bench.variables_of(first.key) == {"question": 1, "answer": None}
    assert bench.variables_of(second.key) == {"question": 2, "answer": None}
    bench.complete("A", answer="one")
    bench.complete("A", answer="two")
    assert bench.variables("p") == {"all": ["one", "two"]}


def joined(**settings):
    """A and B lead to a join, C stands alone."""
    return tools(par("j"), task("D"), "A > j > D", "B > j", **settings)


def test_10_elements_that_meet_at_a_join_share_an_inner_instance(bench):
    run(bench, joined(active='=["A","C","B"]'))
    assert [sorted(child.element for child in scope.children.values()) for scope in inner(bench)] == [["A", "B"], ["C"]]
    bench.complete("A")
    bench.complete("B")
    assert bench.jobs == ["C", "D"]
    bench.complete("D")
    bench.complete("C")
    assert ends(bench, "j") == ["A", "B", "D", "C", "h"]


def test_13_an_event_sub_process_beside_ends_like_an_inner_instance(bench):
    told = event_sub("esp", task("told"), "esp-start > told", on="signal", interrupting=False)
    run(bench, tools(told, active='=["A"]', output="=1", into="all", until="=count(all) = 3"))
    bench.broadcast("alarm")
    bench.broadcast("alarm")
    bench.complete("told")
    bench.complete("told")
    assert bench.variables("h")["all"] == [1, 1]
    bench.complete("A")
    assert ends(bench, "esp-start") == ["told", "esp", "told", "esp", "A", "h"]


def test_14_after_an_interrupting_event_sub_process_it_completes_without_its_condition(bench):
    told = event_sub("esp", task("told"), "esp-start > told", on="signal")
    run(bench, tools(told, active='=["A","B"]', output="=1", into="all", until="=false"))
    bench.broadcast("alarm")
    rejected(activate(bench, "C"), RejectionCode.INVALID_STATE)
    bench.complete("told")
    assert ends(bench, "esp-start") == ["-A", "-B", "told", "esp", "h"]


def test_15_an_interrupting_boundary_event_drops_the_collection(bench):
    bound = boundary("late", "h", TIMER)
    run(bench, tools(active='=["A","B"]', output="=1", into="all", beside=(bound, task("after"), "late > after")))
    bench.complete("A")
    (timer,) = bench.element("h").waits.timers.values()
    bench.fire_at(bench.element("p").key, "p/h", timer.target)
    assert ends(bench) == ["A", "-B", "-h", "late"]
    assert bench.variables("p") == {}
    assert bench.jobs == ["after"]


def test_16_an_incident_of_the_rest_is_resolved(bench):
    run(bench, tools(active='=["A","B"]', until="=done"), done=False)
    bench.fail("A")
    bench.complete("B", done=True)
    assert ends(bench) == ["B", "-A", "h"]
    assert bench.incidents == []


def test_17_in_a_loop_a_request_reaches_one_item(bench):
    looped = loop(
        ad_hoc("h", task("A"), task("B"), output="=x", into="xs"), "=[1, 2, 3]", "i", output="=xs", into="all"
    )
    run(bench, model(start(), looped, end(), "start > h > end"))
    body, *items = [element for element in bench.state.elements.values() if element.element == "h"]
    rejected(activate(bench, "A", key=body.key), RejectionCode.INVALID_ARGUMENT, "is not an ad-hoc sub-process.")
    assert activate(bench, "A", key=items[1].key).rejection is None
    assert [item.live for item in items] == [0, 1, 0]
    bench.complete("A", x="second")
    activate(bench, "B", key=items[0].key)
    bench.complete("B", x="first")
    activate(bench, "A", "B", key=items[2].key)
    bench.complete("A", x=3)
    bench.complete("B", x=4)
    assert bench.variables("p") == {"all": [["first"], ["second"], [3, 4]]}


@pytest.mark.parametrize("bench", ["quanta"], indirect=True)
def test_18_thousands_of_inner_instances_begin_and_end_in_quanta(bench):
    key = run(bench, tools(active='=for i in 1..1000 return "A"'))
    assert len(bench.jobs) == 1000
    assert bench.cancel(key).rejection is None
    assert ended(bench, key) == "TERMINATED"


# ---- the table of completion


@pytest.mark.parametrize(
    ("condition", "cancel", "expected"),
    [
        (None, "true", ["A", "B", "h"]),
        ("=n > 0", "true", ["A", "-B", "h"]),
        ("=n > 0", "false", ["A", "B", "h"]),
        ("=n > 1", "true", ["A", "B", "h"]),
    ],
)
def test_when_it_completes(bench, condition, cancel, expected):
    run(bench, tools(active='=["A","B"]', until=condition, cancelRemainingInstances=cancel), n=0)
    for n, task_ in enumerate(("A", "B"), 1):
        if task_ in bench.jobs:
            bench.complete(task_, n=n)
    assert ends(bench) == expected


def test_while_its_condition_is_false_it_stays_without_anything_inside(bench):
    key = run(bench, tools(active='=["A"]', until="=n > 1"), n=0)
    bench.complete("A", n=1)
    assert bench.elements == ["h", "p"]
    bench.set(key, n=2)
    assert bench.elements == ["h", "p"], "only the end of an inner instance evaluates the condition"
    activate(bench, "B")
    bench.complete("B")
    assert ends(bench) == ["A", "B", "h"]


def test_the_condition_sees_the_collection_and_not_the_inner_instance(bench):
    run(bench, tools(output="=a", into="all", until="=count(all) = 2 and secret = null"))
    activate(bench, ("A", {"secret": 1}), ("B", {"secret": 2}))
    bench.complete("A", a=1)
    assert bench.elements == ["B", "h", "h#innerInstance", "p"]
    bench.complete("B", a=2)
    assert bench.variables("p") == {"all": [None, None]} | bench.variables("p")


@pytest.mark.parametrize("cancel", ["true", "false"])
def test_what_is_pending_does_not_begin_after_a_true_condition(bench, cancel):
    settings = {"active": '=["A","B","C"]', "until": "=true", "ordering": "Sequential"}
    run(bench, tools(**settings, cancelRemainingInstances=cancel))
    assert bench.jobs == ["A"]
    bench.complete("A")
    assert ends(bench) == ["A", "h"]


def test_sequential_elements_run_one_after_the_other(bench):
    run(bench, tools(active='=["C","A","B"]', ordering="Sequential"))
    rejected(activate(bench, "A"), RejectionCode.INVALID_STATE, "but it is sequential, and an activity is active.")
    for id in ("C", "A", "B"):
        assert bench.jobs == [id]
        bench.complete(id)
    assert ends(bench) == ["C", "A", "B", "h"]


# ---- variables


def test_it_begins_with_what_can_be_activated_in_it_and_with_an_empty_collection(bench):
    given = [('=fromAi(toolCall.city, "the city")', "city"), ("=1", "other")]
    tool = task("T", inputs=given).replace(
        "<extensionElements>",
        "<documentation>Weather</documentation><extensionElements>"
        '<zeebe:properties><zeebe:property name="p" value="v"/></zeebe:properties>',
    )
    inputs = [("=count(adHocSubProcessElements)", "number"), ("=all", "begun")]
    run(bench, tools(tool, task("T2"), "T > T2", output="=x", into="all", inputs=inputs))
    described = {
        "elementId": "T",
        "elementName": "Task T",
        "documentation": "Weather",
        "properties": {"p": "v"},
        "parameters": [{"name": "toolCall.city", "description": "the city"}],
    }
    others = [{"elementId": id, "elementName": f"Task {id}"} for id in "ABC"]
    assert bench.variables("h") == {
        "adHocSubProcessElements": [*others, described],
        "all": [],
        "number": 4,
        "begun": [],
    }


def test_variables_of_an_inner_instance_do_not_leave_it(bench):
    run(bench, tools(outputs=[("=x", "x")]), x=0)
    activate(bench, ("A", {"x": 1, "y": 1}), "B")
    bench.complete("A", x=2, y=2, z=2)
    bench.complete("B", z=3)
    assert bench.variables("p") == {"x": 0, "z": 3}


def test_the_collection_must_stay_a_list(bench):
    run(bench, tools(active='=["A"]', output="=1", into="all"))
    bench.set(bench.element("h").key, local=True, all="text")
    bench.complete("A")
    ((element, _, message),) = bench.incidents
    assert (element, message) == (
        "h#innerInstance",
        "Expected the variable 'all' of the ad-hoc sub-process to be a list.",
    )


# ---- requests


def test_requests_that_are_refused(bench):
    run(bench, tools())
    scope = bench.element("h").key
    doing = f"Expected to activate activities for ad-hoc sub-process with key '{scope}', but"
    missing = (
        "Expected to activate activities for ad-hoc sub-process but no ad-hoc sub-process instance found with key '7'."
    )
    rejected(activate(bench, "A", key=7), RejectionCode.NOT_FOUND, missing)
    rejected(activate(bench, "A", "A"), RejectionCode.INVALID_ARGUMENT, f"{doing} duplicate activities were given.")
    rejected(
        activate(bench, "X", "A", "Y"), RejectionCode.NOT_FOUND, f"{doing} the given elements [X, Y] do not exist."
    )
    instance = bench.element("p").key
    text = f"The element instance with key '{instance}' is not an ad-hoc sub-process."
    rejected(activate(bench, "A", key=instance), RejectionCode.INVALID_ARGUMENT, text)
    assert bench.elements == ["h", "p"]


def test_elements_that_share_an_inner_instance_must_agree_on_its_variables(bench):
    run(bench, joined())
    rejected(activate(bench, ("A", {"x": 1}), ("B", {"x": 2})), RejectionCode.INVALID_ARGUMENT, "set 'x' to different")
    assert activate(bench, ("A", {"x": 1, "y": 1}), ("B", {"x": 1})).rejection is None
    assert bench.variables_of(inner(bench)[0].key) == {"x": 1, "y": 1}


def test_a_request_before_it_is_active_is_refused(bench):
    run(bench, tools(inputs=[("=assert(ok, ok)", "ok2")]))
    rejected(activate(bench, "A"), RejectionCode.INVALID_STATE, "but it is not active.")


def test_a_request_may_end_what_runs_first(bench):
    run(bench, tools(active='=["A","B"]', output="=1", into="all"))
    assert activate(bench, "C", cancel=True).rejection is None
    assert bench.jobs == ["C"]
    assert ends(bench) == ["-A", "-B"]
    bench.complete("C")
    assert bench.variables("p") == {"all": [1]}


# ---- in other scopes


def test_elements_deeper_inside_begin_with_an_instance(bench):
    deep = sub("s", start("s0"), task("S"), "s0 > S")
    bench.deploy(tools(deep, output="=1", into="all"))
    assert bench.run(CreateInstance("p", start_elements=("S",))).rejection is None
    assert bench.elements == ["S", "h", "h#innerInstance", "p", "s"]
    assert bench.variables("h")["all"] == []
    bench.complete("S")
    assert ends(bench) == ["S", "s", "h"]


@pytest.mark.parametrize("id", ["h#innerInstance", "A2"])
def test_inner_instances_are_no_targets(bench, id):
    bench.deploy(tools(task("A2"), "A > A2"))
    handled = bench.run(CreateInstance("p", start_elements=(id,)))
    assert (handled.rejection is None) == (id == "A2")


def test_called_and_nested(bench):
    nested = ad_hoc("k", task("K"), active='=["K"]', output="=k", into="ks")
    scope = ad_hoc("h", nested, active='=["k"]', output="=ks", into="all")
    called = process_element(start("s"), scope, end("e"), "s > h > e", id="called")
    content = model(start(), call("c", "called"), end(), "start > c > end")
    key = run(bench, content.replace(b"</definitions>", called.encode() + b"</definitions>"))
    bench.complete("K", k=1)
    assert ended(bench, key) == "COMPLETED"
    assert bench.variables_of(key) == {"all": [[1]]}


def test_it_goes_on_after_a_restart(bench):
    key = run(bench, tools(active='=["A","B","C"]', ordering="Sequential", output="=x", into="all"))
    for number, id in enumerate(("A", "B", "C")):
        rebuilt(bench)
        bench.complete(id, x=number)
    assert bench.variables_of(key) == {"all": [0, 1, 2]}
    assert ended(bench, key) == "COMPLETED"
