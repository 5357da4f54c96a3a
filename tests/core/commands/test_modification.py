"""Modification: what begins, what ends, and in which scopes."""

from collections import deque

import pytest

from tests.core.ad_hoc_models import tools
from tests.core.compensation_models import INSIDE, T, in_line
from tests.core.engine import Engine, raw
from tests.core.event_models import ad_hoc, boundary, call, error, inc, loop, model, on
from tests.core.models import flow, par, process, start, sub, task, xor
from tests.core.modification_models import FORKED, NESTED, activate, command, modify, move, refused, terminate
from vivero.core.commands.conditional_change import conditional
from vivero.core.execution.step import StepLimits
from vivero.core.modifications.scopes import Scopes
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import ContinueWork, CreateInstance
from vivero.core.records.modifications import ActivateInstruction, VariableInstruction


def begin(engine, *files, **variables):
    engine.deploy(*files)
    return engine.start(**variables)


def instances(engine, id):
    return [one for one in engine.state.elements.values() if one.element == id and not one.is_inner]


def inner(engine, id):
    return [one for one in engine.state.elements.values() if one.element == id and one.is_inner]


# ---- elements that begin


def test_an_element_begins_beside_what_runs(engine):
    key = begin(engine, NESTED)
    modify(engine, key, "after")
    assert engine.elements == ["after", "before", "p"]
    engine.complete("after")
    assert engine.elements == ["before", "p"]


class Walked(dict):
    """Children of a scope, which count how often all of them are looked at."""

    walks = 0

    def values(self):
        self.walks += 1
        return super().values()


def test_the_children_of_a_scope_are_not_searched_for_each_activation(engine):
    key = begin(engine, NESTED)
    modify(engine, key, "deeper")
    walks = []
    for number in (1, 50):
        instance = engine.state.elements[key]
        instance.children = children = Walked(instance.children)
        modify(engine, key, *["deep"] * number)
        walks.append(children.walks)
        instance.children = dict(children)
    assert walks[0] == walks[1]


def test_missing_scopes_begin_without_start_event(engine):
    key = begin(engine, NESTED)
    modify(engine, key, "deeper")
    assert engine.elements == ["before", "deeper", "inner", "outer", "p"]
    for id in ("deeper", "beside", "after", "before"):
        engine.complete(id)
    assert engine.jobs == ["deep"]


def test_live_scopes_are_used_and_new_ones_are_shared(engine):
    key = begin(engine, NESTED)
    modify(engine, key, "deep", "deeper", "beside")
    modify(engine, key, "deep")
    assert engine.elements == ["before", "beside", "deep", "deep", "deeper", "inner", "outer", "p"]


def test_below_a_given_ancestor_all_scopes_are_new(engine):
    key = begin(engine, NESTED)
    modify(engine, key, "deep")
    modify(engine, key, activate("deeper", ancestor=engine.element("outer").key))
    modify(engine, key, activate("deeper", ancestor=key), activate("deeper", ancestor=key))
    assert (len(instances(engine, "outer")), len(instances(engine, "inner"))) == (3, 4)


def test_a_scope_that_has_not_begun_is_not_used(engine):
    """Its input mapping has failed. The element moves to a new one."""
    inside = sub("s", start("i"), task("a"), "i > a", inputs=[("=assert(nope, nope != null)", "y")])
    key = begin(engine, model(start(), inside, "start > s"))
    assert engine.incidents
    modify(engine, key, move("s", "a"))
    assert (engine.incidents, engine.elements) == ([], ["a", "p", "s"])


def test_new_scopes_wait_for_their_events(engine):
    caught = boundary("late", "s", "<timerEventDefinition><timeDuration>=wait</timeDuration></timerEventDefinition>")
    esp = on(error("A"), "esp", task("repair"), "esp-start > repair")
    file = model(
        start(),
        task("t"),
        sub("s", start("i"), task("a"), esp, "i > a"),
        caught,
        task("b"),
        "start > t > s",
        "late > b",
    )
    key = begin(engine, file)
    modify(engine, key, "-t", activate("a", scope="", wait="PT1H"))
    (timer,) = engine.state.timers.values()
    assert (timer.target, timer.due_at, timer.element.element) == ("late", 3_601_000, "s")
    engine.throw("a", "A")
    assert engine.jobs == ["repair"]


def test_the_target_itself_begins_as_ever(engine):
    """Its mappings see the variables of the instruction, and a failure is its incident."""
    file = process(
        start(),
        task("t"),
        task("w", inputs=[("=assert(x, x != null) + 1", "y")], outputs=[("=y", "z")]),
        "start > t > w",
    )
    key = begin(engine, file)
    modify(engine, key, activate("w", scope="w", x=1))
    assert engine.variables("w") == {"x": 1, "y": 2}
    modify(engine, key, activate("w"))
    assert [id for id, _, _ in engine.incidents] == ["w"]


def test_variables_are_set_in_the_named_scope(engine):
    key = begin(engine, NESTED)
    scopes = ["", "outer", "inner", "deep"]
    given = tuple(VariableInstruction(raw({"v": number}), scope) for number, scope in enumerate(scopes))
    modify(engine, key, ActivateInstruction("deep", given))
    assert [engine.variables(id).get("v") for id in ("p", "outer", "inner", "deep")] == [0, 1, 2, 3]


def test_a_variable_that_is_set_twice_is_one(engine):
    key = begin(engine, NESTED, v=0)
    modify(engine, key, activate("deep", scope="", v=1, w=1), activate("deep", scope="p", v=2, w=2))
    assert engine.variables("p") == {"v": 2, "w": 2}
    assert len([row for (table, _), row in engine.rows.items() if table == "Variable" and row["scope"] == key]) == 2


def test_a_join_as_a_target_passes_at_once(engine):
    key = begin(engine, FORKED)
    modify(engine, key, "j", "-a", "-b")
    assert engine.jobs == ["c"]
    engine.complete("c")
    assert engine.state_of(key) == "COMPLETED"


def test_a_branch_beside_its_join_is_stuck_there(engine):
    key = begin(engine, FORKED)
    modify(engine, key, "j", "-b")
    engine.complete("c")
    engine.complete("a")
    assert [id for id, _, _ in engine.incidents] == ["p"]


def test_an_event_sub_process_begins_and_interrupts_nothing(engine):
    esp = on(error("A"), "esp", task("repair"), "esp-start > repair")
    key = begin(engine, model(start(), task("a"), esp, "start > a"))
    modify(engine, key, "esp")
    modify(engine, key, "repair")
    assert engine.jobs == ["a", "repair", "repair"]


def test_a_call_activity_creates_a_new_instance(engine):
    called = model(start(), task("w"), "start > w", id="called")
    key = begin(engine, called, model(start(), task("t"), call("c", "called"), "start > t > c"))
    modify(engine, key, "c", "c")
    assert engine.elements.count("called") == 2


def test_a_multi_instance_activity_begins_with_its_collection(engine):
    key = begin(engine, model(start(), task("t"), loop(task("m")), "start > t > m"), items=[1, 2])
    modify(engine, key, "m")
    assert engine.jobs == ["m", "m", "t"]


# ---- multi-instance and ad-hoc sub-processes

EACH = model(
    start(), loop(sub("m", start("i"), task("x"), task("y"), "i > x > y"), item="n"), task("after"), "start > m > after"
)


@pytest.fixture
def each(engine):
    engine.key = begin(engine, EACH, items=[1, 2, 3])
    return engine


@pytest.mark.parametrize("scope_type", ["inferred", "sourceParent"])
def test_a_move_stays_in_the_inner_instance(each, scope_type):
    modify(each, each.key, move("x", "y", scope_type))
    assert each.jobs == ["y", "y", "y"]
    assert len(inner(each, "m")) == 3
    for _ in range(3):
        each.complete("y")
    assert each.jobs == ["after"]


def test_one_of_several_is_moved_by_its_key(each):
    (first, *_) = instances(each, "x")
    modify(each, each.key, move(first.key, "y", "sourceParent"))
    assert each.jobs == ["x", "x", "y"]


def test_an_ancestor_names_an_inner_instance(each):
    modify(each, each.key, activate("y", ancestor=inner(each, "m")[1].key))
    assert each.jobs == ["x", "x", "x", "y"]


def test_an_inner_instance_ends_and_the_loop_goes_on(each):
    modify(each, each.key, terminate(inner(each, "m")[0].key))
    assert (each.jobs, each.element("m").loop.terminated) == (["x", "x"], 1)
    for id in ("x", "y", "x", "y"):
        each.complete(id)
    assert each.jobs == ["after"]


def test_the_next_item_follows_in_a_sequential_loop(engine):
    key = begin(
        engine,
        model(start(), loop(task("m"), item="n", sequential=True), task("after"), "start > m > after"),
        items=[1, 2],
    )
    modify(engine, key, terminate(inner(engine, "m")[0].key))
    assert (engine.jobs, engine.variables("m")) == (["m"], {"n": 2, "loopCounter": 2})
    modify(engine, key, terminate(inner(engine, "m")[0].key))
    assert engine.state_of(key) == "TERMINATED"


def test_by_id_the_body_ends(each):
    modify(each, each.key, "-m", "after")
    assert each.elements == ["after", "p"]


def test_all_inner_instances_that_are_emptied_end_with_their_body(each):
    modify(each, each.key, "-x")
    assert each.elements == []
    assert each.state_of(each.key) == "TERMINATED"


def test_an_activity_of_an_ad_hoc_sub_process_has_an_inner_instance_of_its_own(engine):
    key = begin(engine, tools(active='=["A"]'))
    modify(engine, key, "B", "B")
    assert engine.elements.count("h#innerInstance") == 3
    for id in ("A", "B", "B"):
        engine.complete(id)
    assert engine.state_of(key) == "COMPLETED"


def test_the_inner_instances_of_an_ad_hoc_sub_process_are_not_searched_for_each_activation(engine, monkeypatch):
    inside = sub("s", start("i"), task("x"), "i > x")
    key = begin(engine, model(start(), ad_hoc("h", inside, task("A"), active='=["A"]'), "start > h"))
    looks = []
    looked_at = Scopes.at

    def look(*given):
        looks.append(given)
        return looked_at(*given)

    monkeypatch.setattr(Scopes, "at", look)
    for ids in (["A"] * 20, ["x"], ["x"] * 20, ["A", "x"] * 20):
        looks.clear()
        modify(engine, key, *ids)
        assert len(looks) <= 4 * len(ids) + engine.elements.count("h#innerInstance"), ids
    assert (engine.elements.count("s"), engine.elements.count("h#innerInstance")) == (1, 42)


def test_a_new_scope_in_an_ad_hoc_sub_process_is_shared_unless_it_is_asked_for(engine):
    inside = sub("s", start("i"), task("x"), task("y"), "i > x > y")
    key = begin(engine, model(start(), ad_hoc("h", inside, task("A"), active='=["A"]'), "start > h"))
    host = engine.element("h").key
    modify(engine, key, "x", "y", activate("x", ancestor=host))
    assert engine.elements.count("s") == 2
    (reason,) = refused(engine, key, "x")
    assert "more than one active instance" in reason
    with_new = begin(engine, model(start(), ad_hoc("h", inside, task("A"), active='=["A"]'), "start > h"))
    host = next(one.key for one in engine.state.elements.values() if one.element == "h" and one.tree.key == with_new)
    (reason,) = refused(engine, with_new, "x", activate("x", ancestor=host), "y")
    assert "more than one active instance" in reason


def test_a_new_ad_hoc_sub_process_completes_after_what_was_activated(engine):
    file = model(
        start(), task("t"), ad_hoc("h", task("A"), task("B"), active='=["A"]'), task("after"), "start > t > h > after"
    )
    key = begin(engine, file)
    modify(engine, key, move("t", "B"))
    assert engine.jobs == ["B"]
    engine.complete("B")
    assert engine.jobs == ["after"]


def test_a_scope_in_an_ad_hoc_sub_process_is_used_again(engine):
    inside = sub("s", start("i"), task("x"), task("y"), "i > x > y")
    key = begin(engine, model(start(), ad_hoc("h", inside, task("A"), active='=["s", "A"]'), "start > h"))
    modify(engine, key, "y")
    assert (engine.elements.count("s"), engine.jobs) == (1, ["A", "x", "y"])


def test_an_empty_ad_hoc_sub_process_ends_unless_its_worker_decides(engine):
    key = begin(engine, tools(active='=["A"]'))
    modify(engine, key, "-A")
    assert engine.state_of(key) == "TERMINATED"
    key = begin(engine, tools(job="agent"))
    modify(engine, key, "B")
    modify(engine, key, "-B")
    assert engine.jobs == ["h"]


# ---- elements that end


def test_what_ends_cancels_its_waits(engine):
    called = model(start(), task("w"), "start > w", id="called")
    key = begin(engine, called, model(start(), par("f"), call("c", "called"), task("t"), "start > f > c", "f > t"))
    engine.fail("t")
    modify(engine, key, "-c", move("t", "t"))
    assert (engine.elements, engine.incidents, engine.jobs) == (["p", "t"], [], ["t"])
    assert engine.states_of("called", "w", "c") == ["TERMINATED"] * 3


def test_scopes_that_are_left_empty_end_and_no_end_event_is_reached(engine):
    key = begin(engine, NESTED)
    modify(engine, key, move("before", "deep"))
    modify(engine, key, move("deep", "after"))
    assert engine.elements == ["after", "p"]
    assert engine.states_of("outer", "inner") == ["TERMINATED", "TERMINATED"]
    modify(engine, key, "-after")
    assert engine.state_of(key) == "TERMINATED"


def test_a_scope_that_others_need_stays(engine):
    key = begin(engine, NESTED)
    modify(engine, key, move("before", "deep"))
    modify(engine, key, move("deep", "deeper"))
    assert (engine.elements, len(instances(engine, "inner"))) == (["deeper", "inner", "outer", "p"], 1)


def test_in_a_moved_scope_nothing_is_moved_again(engine):
    key = begin(engine, NESTED)
    modify(engine, key, move("before", "deep"))
    modify(engine, key, move("inner", "beside"), terminate(engine.element("deep").key))
    assert engine.elements == ["beside", "outer", "p"]


def test_a_target_that_ends_with_its_scope_is_skipped(engine):
    key = begin(engine, NESTED)
    modify(engine, key, move("before", "deep"))
    deep = engine.element("deep").key
    modify(engine, key, terminate("outer"), terminate(deep), "after")
    assert engine.elements == ["after", "p"]


def test_the_process_itself_ends(engine):
    key = begin(engine, NESTED)
    modify(engine, key, terminate(key))
    assert engine.state_of(key) == "TERMINATED"


def test_a_called_instance_is_modified_by_its_own_key(engine):
    called = model(start(), task("w"), task("x"), "start > w > x", id="called")
    begin(engine, called, model(start(), call("c", "called"), task("t"), "start > c > t"))
    modify(engine, engine.element("called").key, move("w", "x"))
    engine.complete("x")
    assert engine.jobs == ["t"]


def test_listeners_of_its_cancellation_hold_an_element_and_its_scope_ends_with_it(engine):
    listener = '<zeebe:taskListeners><zeebe:taskListener eventType="canceling" type="l"/></zeebe:taskListeners>'
    user = f'<userTask id="u"><extensionElements><zeebe:userTask/>{listener}</extensionElements></userTask>'
    key = begin(engine, model(start(), sub("s", start("i"), user, "i > u"), task("after"), "start > s > after"))
    modify(engine, key, move("u", "after"))
    assert engine.elements == ["after", "p", "s", "u"]
    modify(engine, key, activate("after"))
    engine.complete("u")
    assert engine.elements == ["after", "after", "p"]


def test_what_completed_in_an_ended_scope_is_not_compensated(engine):
    key = begin(engine, in_line(INSIDE, T))
    engine.complete("b")
    modify(engine, key, move("c", "t"))
    assert engine.state_of(key) == "COMPLETED"


def test_a_join_no_longer_waits_for_what_ended(engine):
    file = model(start(), par("f"), task("a"), task("b"), inc("j"), task("c"), "start > f > a > j > c", "f > b > j")
    key = begin(engine, file)
    engine.complete("a")
    assert engine.jobs == ["b"]
    modify(engine, key, "-b", activate("c"))
    assert engine.jobs == ["c", "c"]


def test_nothing_given_changes_nothing(engine):
    key = begin(engine, NESTED)
    modify(engine, key)
    assert engine.elements == ["before", "p"]


# ---- deferred work


@pytest.mark.parametrize("quantum_items", [1, 3])
def test_it_waits_for_deferred_work(quantum_items):
    """All inner instances have begun when it is done, and then its request is answered."""
    engine = Engine(StepLimits(quantum_items))
    engine.deploy(EACH)
    log = engine.memory.log
    engine.memory.handle(CreateInstance("p", variables=raw({"items": [1, 2, 3, 4]})), "<default>", None)
    (key,) = engine.state.trees
    engine.memory.processor.notices.to_inbox.clear()
    first = run_with(engine, command(key, move("x", "y", "inferred")), ContinueWork(key))
    assert engine.jobs == ["y"] * 4
    answers = [row for logged in log for row in logged.handled if row.answered and row.request == first]
    assert [row.rejection for row in answers] == [None]


def test_it_does_not_wait_for_ever():
    """The process goes round without a wait state."""
    engine = Engine(StepLimits(1))
    file = process(start(), xor("x", "x-y"), task("t"), xor("y"), "start > x > y > x", flow("x", "t", "=false"))
    engine.deploy(file)
    engine.memory.handle(CreateInstance("p"), "<default>", None)
    (key,) = engine.state.trees
    engine.memory.processor.notices.to_inbox.clear()
    first = run_with(engine, command(key, "t"), ContinueWork(key), 250)
    answers = [row for logged in engine.memory.log for row in logged.handled if row.answered and row.request == first]
    assert [row.rejection.code for row in answers] == [RejectionCode.INVALID_STATE]
    assert "Please retry the modification" in answers[0].rejection.reason


def run_with(engine, first, other, most=200):
    """Handle two commands with their follow-ups in the order of the inbox; the position of the first one."""
    pending, position = deque([(first, None), (other, None)]), None
    while pending and most:
        given, request = pending.popleft()
        engine.memory.handle(given, "<default>", request)
        position, most = position or len(engine.memory.log), most - 1
        pending.extend((command, request) for command, _, request in engine.memory.take_inbox())
    return position


def test_a_condition_on_the_version_does_not_wait():
    engine = Engine(StepLimits(1))
    engine.deploy(EACH)
    engine.memory.handle(CreateInstance("p", variables=raw({"items": [1, 2, 3, 4]})), "<default>", None)
    (key,) = engine.state.trees
    revision = engine.state.trees[key].revision
    (handled,) = engine.memory.handle(conditional(command(key, "y"), key, (revision,)), "<default>", None)
    assert handled.rejection.code is RejectionCode.PRECONDITION_FAILED
    assert "it is being changed" in handled.rejection.reason


def test_a_trace(engine, golden):
    key = begin(engine, NESTED)
    modify(engine, key, move("before", "deep", scope="inner", v=1))
    modify(engine, key, "after", terminate("deep"))
    engine.complete("after")
    golden("modification", "\n".join(engine.trace[3:]) + "\n")
