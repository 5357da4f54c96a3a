"""Ad-hoc sub-processes that decide themselves: what they activate, when they complete, what they collect."""

import pytest

from tests.core.ad_hoc_models import activate, ends, inner, rejected, tools
from tests.core.compensation_models import compensation, done
from tests.core.engine import Engine, rebuilt
from tests.core.event_models import LIMITS, ad_hoc, boundary, call, ended, loop, run, throw
from tests.core.message_models import event_sub, model
from tests.core.models import end, par, process_element, start, sub, task
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CreateInstance

TIMER = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"


@pytest.fixture(params=LIMITS)
def engine(request):
    return Engine(LIMITS[request.param])


# ---- the situations of the reference, by their numbers


def test_1_a_collection_is_activated_and_the_last_one_completes_it(engine):
    key = run(engine, tools(active="=todo"), todo=["A", "B"])
    assert engine.jobs == ["A", "B"]
    assert [scope.live for scope in inner(engine)] == [1, 1]
    engine.complete("B")
    assert engine.elements == ["A", "h", "h#innerInstance", "p"]
    engine.complete("A")
    assert ends(engine) == ["B", "A", "h"]
    assert ended(engine, key) == "COMPLETED"


def test_2_the_flow_behind_an_element_runs_in_its_inner_instance(engine):
    run(engine, tools(task("A2"), "A > A2", active='=["A"]'))
    engine.complete("A")
    assert (engine.jobs, len(inner(engine))) == (["A2"], 1)
    assert engine.element("A2").scope is inner(engine)[0]
    engine.complete("A2")
    assert ends(engine) == ["A", "A2", "h"]


@pytest.mark.parametrize("active", ["=[]", None])
def test_3_without_elements_it_waits_for_a_request(engine, active):
    key = run(engine, tools(active=active))
    assert engine.elements == ["h", "p"]
    assert activate(engine, "B").rejection is None
    engine.complete("B")
    assert ends(engine) == ["B", "h"]
    assert ended(engine, key) == "COMPLETED"


@pytest.mark.parametrize("todo", [["A", "X"], ["A", "A2"], ["A", "bound"]])
def test_4_an_element_that_cannot_be_activated_is_an_incident_before_anything_begins(engine, todo):
    model_ = tools(task("A2"), "A > A2", boundary("bound", "A", TIMER), active="=todo")
    key = run(engine, model_, todo=todo)
    scope = engine.element("h").key
    text = (
        f"Expected to activate activities for ad-hoc sub-process with key '{scope}', "
        f"but the given elements [{todo[1]}] do not exist."
    )
    assert engine.incidents == [("h", "EXTRACT_VALUE_ERROR", text)]
    assert engine.jobs == []
    engine.set(key, todo=["A"])
    engine.resolve()
    assert engine.jobs == ["A"]


@pytest.mark.parametrize("todo", [None, "A", [1], {"a": 1}])
def test_4_a_collection_of_another_type_is_an_incident(engine, todo):
    run(engine, tools(active="=todo"), todo=todo)
    ((element, type_, message),) = engine.incidents
    assert (element, type_) == ("h", "EXTRACT_VALUE_ERROR")
    assert message.startswith("Failed to activate ad-hoc elements. ")


def test_5_a_true_condition_terminates_the_rest(engine):
    run(engine, tools(active='=["A","B"]', until="=done"), done=False)
    engine.complete("A", done=True)
    assert ends(engine) == ["A", "-B", "h"]


def test_6_a_true_condition_may_wait_for_the_rest_and_remembers_that_it_was_true(engine):
    settings = {"active": '=["A","B"]', "until": "=done", "cancelRemainingInstances": "false"}
    key = run(engine, tools(**settings), done=False)
    engine.complete("A", done=True)
    assert engine.jobs == ["B"]
    scope = engine.element("h").key
    text = f"Expected to activate activities for ad-hoc sub-process with key '{scope}', but it is not active."
    rejected(activate(engine, "C"), RejectionCode.INVALID_STATE, text)
    engine.set(key, done=False)
    engine.complete("B")
    assert ends(engine) == ["A", "B", "h"]


def test_7_a_condition_without_a_result_is_an_incident_of_the_inner_instance(engine):
    key = run(engine, tools(active='=["A","B"]', until="=done"))
    engine.complete("A")
    ((element, type_, message),) = engine.incidents
    assert (element, type_) == ("h#innerInstance", "EXTRACT_VALUE_ERROR")
    assert message.startswith("Failed to evaluate completion condition. ")
    assert engine.jobs == ["B"]
    engine.set(key, done=True)
    engine.resolve()
    assert ends(engine) == ["A", "-B", "h"]


def test_8_outputs_have_the_order_of_completion(engine):
    run(engine, tools(active='=["A","B"]', output="=result", into="all"))
    engine.complete("B", result="b")
    assert engine.variables("h")["all"] == ["b"]
    engine.complete("A", result="a")
    assert engine.variables("p") == {"all": ["b", "a"]}


def test_9_the_same_element_may_be_active_twice(engine):
    run(engine, tools(output="=answer", into="all"))
    activate(engine, ("A", {"question": 1}))
    activate(engine, ("A", {"question": 2}))
    first, second = inner(engine)
    assert engine.variables_of(first.key) == {"question": 1, "answer": None}
    assert engine.variables_of(second.key) == {"question": 2, "answer": None}
    engine.complete("A", answer="one")
    engine.complete("A", answer="two")
    assert engine.variables("p") == {"all": ["one", "two"]}


def joined(**settings):
    """A and B lead to a join, C stands alone."""
    return tools(par("j"), task("D"), "A > j > D", "B > j", **settings)


def test_10_elements_that_meet_at_a_join_share_an_inner_instance(engine):
    run(engine, joined(active='=["A","C","B"]'))
    assert [sorted(child.element for child in scope.children.values()) for scope in inner(engine)] == [
        ["A", "B"],
        ["C"],
    ]
    engine.complete("A")
    engine.complete("B")
    assert engine.jobs == ["C", "D"]
    engine.complete("D")
    engine.complete("C")
    assert ends(engine, "j") == ["A", "B", "D", "C", "h"]


def test_13_an_event_sub_process_beside_ends_like_an_inner_instance(engine):
    told = event_sub("esp", task("told"), "esp-start > told", on="signal", interrupting=False)
    run(engine, tools(told, active='=["A"]', output="=1", into="all", until="=count(all) = 3"))
    engine.broadcast("alarm")
    engine.broadcast("alarm")
    engine.complete("told")
    engine.complete("told")
    assert engine.variables("h")["all"] == [1, 1]
    engine.complete("A")
    assert ends(engine, "esp-start") == ["told", "esp", "told", "esp", "A", "h"]


def test_14_after_an_interrupting_event_sub_process_it_completes_without_its_condition(engine):
    told = event_sub("esp", task("told"), "esp-start > told", on="signal")
    run(engine, tools(told, active='=["A","B"]', output="=1", into="all", until="=false"))
    engine.broadcast("alarm")
    rejected(activate(engine, "C"), RejectionCode.INVALID_STATE)
    engine.complete("told")
    assert ends(engine, "esp-start") == ["-A", "-B", "told", "esp", "h"]


def test_15_an_interrupting_boundary_event_drops_the_collection(engine):
    bound = boundary("late", "h", TIMER)
    run(engine, tools(active='=["A","B"]', output="=1", into="all", beside=(bound, task("after"), "late > after")))
    engine.complete("A")
    (timer,) = engine.element("h").waits.timers.values()
    engine.fire_at(engine.element("p").key, "p/h", timer.target)
    assert ends(engine) == ["A", "-B", "-h", "late"]
    assert engine.variables("p") == {}
    assert engine.jobs == ["after"]


def test_16_an_incident_of_the_rest_is_resolved(engine):
    run(engine, tools(active='=["A","B"]', until="=done"), done=False)
    engine.fail("A")
    engine.complete("B", done=True)
    assert ends(engine) == ["B", "-A", "h"]
    assert engine.incidents == []


def test_17_in_a_loop_a_request_reaches_one_item(engine):
    looped = loop(
        ad_hoc("h", task("A"), task("B"), output="=x", into="xs"), "=[1, 2, 3]", "i", output="=xs", into="all"
    )
    run(engine, model(start(), looped, end(), "start > h > end"))
    body, *items = [element for element in engine.state.elements.values() if element.element == "h"]
    rejected(activate(engine, "A", key=body.key), RejectionCode.INVALID_ARGUMENT, "is not an ad-hoc sub-process.")
    assert activate(engine, "A", key=items[1].key).rejection is None
    assert [item.live for item in items] == [0, 1, 0]
    engine.complete("A", x="second")
    activate(engine, "B", key=items[0].key)
    engine.complete("B", x="first")
    activate(engine, "A", "B", key=items[2].key)
    engine.complete("A", x=3)
    engine.complete("B", x=4)
    assert engine.variables("p") == {"all": [["first"], ["second"], [3, 4]]}


@pytest.mark.parametrize("engine", ["quanta"], indirect=True)
def test_18_thousands_of_inner_instances_begin_and_end_in_quanta(engine):
    key = run(engine, tools(active='=for i in 1..300 return "A"'))
    assert len(engine.jobs) == 300
    assert engine.cancel(key).rejection is None
    assert ended(engine, key) == "TERMINATED"


@pytest.mark.long
def test_18_ten_thousand_inner_instances_are_loaded_in_pages_and_end_in_quanta():
    engine = Engine(keeps_rows=False)
    key = run(engine, tools(active='=for i in 1..10000 return "A"'))
    assert (len(engine.jobs), engine.incidents) == (10_000, [])
    assert engine.state.trees[key].rows < 10
    commands = len(engine.memory.log)
    assert engine.cancel(key).rejection is None
    assert not engine.state.elements
    assert len(engine.memory.log) - commands > 50


def test_the_elements_that_wait_for_their_activation_are_limited(engine):
    run(engine, tools(active='=for i in 1..10001 return "A"'))
    text = "Failed to activate ad-hoc elements. At most 10000 elements are allowed, not 10001."
    assert engine.incidents == [("h", "EXTRACT_VALUE_ERROR", text)]


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
def test_when_it_completes(engine, condition, cancel, expected):
    run(engine, tools(active='=["A","B"]', until=condition, cancelRemainingInstances=cancel), n=0)
    for n, task_ in enumerate(("A", "B"), 1):
        if task_ in engine.jobs:
            engine.complete(task_, n=n)
    assert ends(engine) == expected


def test_while_its_condition_is_false_it_stays_without_anything_inside(engine):
    key = run(engine, tools(active='=["A"]', until="=n > 1"), n=0)
    engine.complete("A", n=1)
    assert engine.elements == ["h", "p"]
    engine.set(key, n=2)
    assert engine.elements == ["h", "p"], "only the end of an inner instance evaluates the condition"
    activate(engine, "B")
    engine.complete("B")
    assert ends(engine) == ["A", "B", "h"]


def test_the_condition_sees_the_collection_and_not_the_inner_instance(engine):
    run(engine, tools(output="=a", into="all", until="=count(all) = 2 and secret = null"))
    activate(engine, ("A", {"secret": 1}), ("B", {"secret": 2}))
    engine.complete("A", a=1)
    assert engine.elements == ["B", "h", "h#innerInstance", "p"]
    engine.complete("B", a=2)
    assert engine.variables("p") == {"all": [None, None]} | engine.variables("p")


@pytest.mark.parametrize("cancel", ["true", "false"])
def test_what_is_pending_does_not_begin_after_a_true_condition(engine, cancel):
    settings = {"active": '=["A","B","C"]', "until": "=true", "ordering": "Sequential"}
    run(engine, tools(**settings, cancelRemainingInstances=cancel))
    assert engine.jobs == ["A"]
    engine.complete("A")
    assert ends(engine) == ["A", "h"]


def test_sequential_elements_run_one_after_the_other(engine):
    run(engine, tools(active='=["C","A","B"]', ordering="Sequential"))
    rejected(activate(engine, "A"), RejectionCode.INVALID_STATE, "but it is sequential, and an activity is active.")
    for id in ("C", "A", "B"):
        assert engine.jobs == [id]
        engine.complete(id)
    assert ends(engine) == ["C", "A", "B", "h"]


# ---- variables


def test_it_begins_with_what_can_be_activated_in_it_and_with_an_empty_collection(engine):
    given = [('=fromAi(toolCall.city, "the city")', "city"), ("=1", "other")]
    tool = task("T", inputs=given).replace(
        "<extensionElements>",
        "<documentation>Weather</documentation><extensionElements>"
        '<zeebe:properties><zeebe:property name="p" value="v"/></zeebe:properties>',
    )
    inputs = [("=count(adHocSubProcessElements)", "number"), ("=all", "begun")]
    run(engine, tools(tool, task("T2"), "T > T2", output="=x", into="all", inputs=inputs))
    described = {
        "elementId": "T",
        "elementName": "Task T",
        "documentation": "Weather",
        "properties": {"p": "v"},
        "parameters": [{"name": "toolCall.city", "description": "the city"}],
    }
    others = [{"elementId": id, "elementName": f"Task {id}"} for id in "ABC"]
    assert engine.variables("h") == {
        "adHocSubProcessElements": [*others, described],
        "all": [],
        "number": 4,
        "begun": [],
    }


def test_variables_of_an_inner_instance_do_not_leave_it(engine):
    run(engine, tools(outputs=[("=x", "x")]), x=0)
    activate(engine, ("A", {"x": 1, "y": 1}), "B")
    engine.complete("A", x=2, y=2, z=2)
    engine.complete("B", z=3)
    assert engine.variables("p") == {"x": 0, "z": 3}


def test_the_collection_must_stay_a_list(engine):
    run(engine, tools(active='=["A"]', output="=1", into="all"))
    engine.set(engine.element("h").key, local=True, all="text")
    engine.complete("A")
    ((element, _, message),) = engine.incidents
    assert (element, message) == (
        "h#innerInstance",
        "Expected the variable 'all' of the ad-hoc sub-process to be a list.",
    )


# ---- requests


def test_requests_that_are_refused(engine):
    run(engine, tools())
    scope = engine.element("h").key
    doing = f"Expected to activate activities for ad-hoc sub-process with key '{scope}', but"
    missing = (
        "Expected to activate activities for ad-hoc sub-process but no ad-hoc sub-process instance found with key '7'."
    )
    rejected(activate(engine, "A", key=7), RejectionCode.NOT_FOUND, missing)
    rejected(activate(engine, "A", "A"), RejectionCode.INVALID_ARGUMENT, f"{doing} duplicate activities were given.")
    rejected(
        activate(engine, "X", "A", "Y"), RejectionCode.NOT_FOUND, f"{doing} the given elements [X, Y] do not exist."
    )
    instance = engine.element("p").key
    text = f"The element instance with key '{instance}' is not an ad-hoc sub-process."
    rejected(activate(engine, "A", key=instance), RejectionCode.INVALID_ARGUMENT, text)
    assert engine.elements == ["h", "p"]


def test_elements_that_share_an_inner_instance_must_agree_on_its_variables(engine):
    run(engine, joined())
    rejected(activate(engine, ("A", {"x": 1}), ("B", {"x": 2})), RejectionCode.INVALID_ARGUMENT, "set 'x' to different")
    assert activate(engine, ("A", {"x": 1, "y": 1}), ("B", {"x": 1})).rejection is None
    assert engine.variables_of(inner(engine)[0].key) == {"x": 1, "y": 1}


def test_a_request_before_it_is_active_is_refused(engine):
    run(engine, tools(inputs=[("=assert(ok, ok)", "ok2")]))
    rejected(activate(engine, "A"), RejectionCode.INVALID_STATE, "but it is not active.")


def test_a_request_may_end_what_runs_first(engine):
    run(engine, tools(active='=["A","B"]', output="=1", into="all"))
    assert activate(engine, "C", cancel=True).rejection is None
    assert engine.jobs == ["C"]
    assert ends(engine) == ["-A", "-B"]
    engine.complete("C")
    assert engine.variables("p") == {"all": [1]}


# ---- in other scopes


def test_elements_deeper_inside_begin_with_an_instance(engine):
    deep = sub("s", start("s0"), task("S"), "s0 > S")
    engine.deploy(tools(deep, output="=1", into="all"))
    assert engine.run(CreateInstance("p", start_elements=("S",))).rejection is None
    assert engine.elements == ["S", "h", "h#innerInstance", "p", "s"]
    assert engine.variables("h")["all"] == []
    engine.complete("S")
    assert ends(engine) == ["S", "s", "h"]


@pytest.mark.parametrize("id", ["h#innerInstance", "A2"])
def test_inner_instances_are_no_targets(engine, id):
    engine.deploy(tools(task("A2"), "A > A2"))
    handled = engine.run(CreateInstance("p", start_elements=(id,)))
    assert (handled.rejection is None) == (id == "A2")


def test_called_and_nested(engine):
    nested = ad_hoc("k", task("K"), active='=["K"]', output="=k", into="ks")
    scope = ad_hoc("h", nested, active='=["k"]', output="=ks", into="all")
    called = process_element(start("s"), scope, end("e"), "s > h > e", id="called")
    content = model(start(), call("c", "called"), end(), "start > c > end")
    key = run(engine, content.replace(b"</definitions>", called.encode() + b"</definitions>"))
    engine.complete("K", k=1)
    assert ended(engine, key) == "COMPLETED"
    assert engine.variables_of(key) == {"all": [[1]]}


def test_it_goes_on_after_a_restart(engine):
    key = run(engine, tools(active='=["A","B","C"]', ordering="Sequential", output="=x", into="all"))
    for number, id in enumerate(("A", "B", "C")):
        rebuilt(engine)
        engine.complete(id, x=number)
    assert engine.variables_of(key) == {"all": [0, 1, 2]}
    assert ended(engine, key) == "COMPLETED"


def test_19_activities_of_a_completed_one_are_compensated_the_latest_first(engine):
    scope = ad_hoc("h", done("A"), done("B"), active='=["A","B"]')
    undo = throw("undo", compensation())
    key = run(engine, model(start(), scope, task("w"), undo, end(), "start > h > w > undo > end"))
    for id in ("A", "B", "w"):
        engine.complete(id)
    for handler in ("uB", "uA"):
        assert engine.jobs == [handler]
        engine.complete(handler)
    assert ended(engine, key) == "COMPLETED"
