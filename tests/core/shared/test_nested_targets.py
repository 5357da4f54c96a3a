"""Mappings to fields of variables: what their sources read, what becomes local, and what the scopes around get."""

import pytest

from tests.core.engine import raw
from tests.core.event_models import boundary, call, catch, error, loop, model, on, run, script, throw
from tests.core.message_models import _definition as awaited
from tests.core.message_models import message, signal
from tests.core.models import file, process, process_element, start, sub, task
from vivero.core.records.user_tasks import CompleteUserTask

CONF = {"host": "h", "login": {"name": "n", "word": "w"}}


def tasked(inputs=(), outputs=()):
    return process(start(), task("work", inputs=inputs, outputs=outputs), task("next"), "start > work > next")


def mapped_inputs(engine, *inputs, **variables):
    """The local variables of a task with these input mappings."""
    run(engine, tasked(inputs), **variables)
    return engine.variables("work")


# ---- inputs: a source sees the variables around the element with the targets so far


@pytest.mark.parametrize(
    ("inputs", "local"),
    [
        ([("=conf.host", "conf.host"), ("=conf.login", "conf.login")], {"conf": CONF}),
        ([("=conf.login", "conf.login"), ("=conf.host", "conf.host")], {"conf": CONF}),
        (
            [
                ("=conf.host", "conf.host"),
                ("=conf.login.name", "conf.login.name"),
                ("=conf.login.word", "conf.login.word"),
            ],
            {"conf": CONF},
        ),
        ([("=conf.login.name", "conf.a.b"), ("=conf.host", "conf.a.c")], {"conf": {"a": {"b": "n", "c": "h"}}}),
        ([("=1", "conf.login.name"), ("=conf.login.word", "w")], {"conf": {"login": {"name": 1}}, "w": "w"}),
        ([('="x"', "conf.port"), ("=conf.port + conf.host", "seen")], {"conf": {"port": "x"}, "seen": "xh"}),
        ([('="x"', "conf.port"), ("=conf", "conf")], {"conf": CONF | {"port": "x"}}),
        ([("=conf", "conf"), ("=1", "conf.port"), ("=conf.host", "seen")], {"conf": CONF | {"port": 1}, "seen": "h"}),
        ([("=conf.host", "conf"), ("=conf.login", "seen")], {"conf": "h", "seen": None}),
        ([("=1", "other.x"), ("=conf.host", "other.y")], {"other": {"x": 1, "y": "h"}}),
    ],
)
def test_sources_read_the_variable_around_with_the_fields_mapped_so_far(engine, inputs, local):
    assert mapped_inputs(engine, *inputs, conf=CONF) == local


@pytest.mark.parametrize("around", [None, 5, "text", [1, 2], True])
def test_a_variable_around_that_is_no_context_gives_no_fields(engine, around):
    assert mapped_inputs(engine, ("=1", "o.x"), ("=o.x", "o.y"), ("=o.z", "o.z"), o=around) == {
        "o": {"x": 1, "y": 1, "z": None}
    }


def test_fields_copied_from_a_scope_between_keep_those_of_that_scope(engine):
    fields = [("=o.a", "o.a"), ("=o.b", "o.b")]
    inner = sub("s", start("s1"), task("work", inputs=fields), "s1 > work", inputs=[("={a: 1, b: 2}", "o")])
    key = run(engine, process(start(), inner, "start > s"), o={"a": 3, "b": 4})
    assert engine.variables("work") == {"o": {"a": 1, "b": 2}}
    assert engine.variables_of(key) == {"o": {"a": 3, "b": 4}}


FIELDS = [("=o.a", "o.a"), ("=o.b", "o.b.c"), ("=o.d", "o.d")]
LOCAL = {"o": {"a": 1, "b": {"c": 2}, "d": 3}}


@pytest.mark.parametrize(
    "element",
    [
        task("x", inputs=FIELDS),
        sub("x", start("i"), task("within"), "i > within", inputs=FIELDS),
        call("x", "c", inputs=FIELDS),
        script("x", "=o", "copy", inputs=FIELDS),
        throw("x", inputs=FIELDS),
        catch("x", awaited("message"), inputs=FIELDS),
    ],
    ids=["task", "sub-process", "call activity", "script task", "throw event", "catch event"],
)
def test_inputs_of_every_element_keep_all_fields(engine, element):
    called = process_element(start("cs"), task("in"), "cs > in", id="c")
    run(
        engine,
        file(message(), process_element(start(), element, "start > x"), called),
        o={"a": 1, "b": 2, "d": 3},
        k="k",
    )
    assert engine.variables("x")["o"] == LOCAL["o"]


def test_a_called_process_gets_the_fields_of_the_inputs(engine):
    called = process_element(start("cs"), task("in"), "cs > in", id="c")
    parts = (start(), call("x", "c", inputs=FIELDS, propagateAllParentVariables="false"), "start > x")
    run(engine, model(*parts, beside=[called]), o={"a": 1, "b": 2, "d": 3})
    assert engine.variables("c") == LOCAL


@pytest.mark.parametrize("sequential", [False, True])
def test_inputs_in_a_loop_add_fields_to_its_item(engine, sequential):
    inputs = [
        ("=item.n + 1", "item.next"),
        ("=item.n", "item.same"),
        ("=shared.a", "shared.a"),
        ("=shared.b", "shared.b"),
    ]
    work = loop(task("work", inputs=inputs), item="item", sequential=sequential)
    run(engine, process(start(), work, "start > work"), items=[{"n": 1}], shared={"a": 1, "b": 2, "c": 3})
    assert engine.variables("work") == {
        "loopCounter": 1,
        "item": {"n": 1, "next": 2, "same": 1},
        "shared": {"a": 1, "b": 2},
    }


@pytest.mark.parametrize("output", ["=o", "=o.a"])
def test_inputs_in_a_loop_read_the_variable_around_although_the_result_has_its_name(engine, output):
    inputs = [("=o.a", "o.a"), ("=o.b", "o.b")]
    work = loop(task("work", inputs=inputs), output=output, into="all")
    run(engine, process(start(), work, "start > work"), items=[1], o={"a": 1, "b": 2, "c": 3})
    assert engine.variables("work") == {"loopCounter": 1, "o": {"a": 1, "b": 2}}


# ---- outputs: a target is a field of the variable around


CLAIM = {"id": 7, "sum": 9}
OK = [("=result.ok", "claim.ok")]
DONE = {"result": {"ok": True}, "claim": {"note": "n"}}
"""The variables that the element gets: the result, and a variable of the same name as the target's."""


def after(engine, key):
    return engine.variables_of(key)["claim"]


def test_a_jobs_result_does_not_replace_the_variable_around(engine):
    key = run(engine, tasked(outputs=OK), claim=CLAIM)
    engine.complete("work", **DONE)
    assert after(engine, key) == CLAIM | {"ok": True}
    assert engine.variables("work") == DONE


@pytest.mark.parametrize("local", [None, 5, "text", [1], {}, {"ok": False, "id": 0}])
def test_whatever_the_element_has_under_that_name(engine, local):
    key = run(engine, tasked(outputs=OK), claim=CLAIM)
    engine.complete("work", result={"ok": True}, claim=local)
    assert after(engine, key) == CLAIM | {"ok": True}


@pytest.mark.parametrize("around", [{}, {"claim": None}, {"claim": 5}, {"claim": [1, 2]}, {"claim": "text"}])
def test_a_context_replaces_what_is_missing_or_no_context(engine, around):
    key = run(engine, tasked(outputs=OK), **around)
    engine.complete("work", **DONE)
    assert after(engine, key) == {"ok": True}


@pytest.mark.parametrize(
    ("outputs", "claim"),
    [
        ([("=1", "claim.a"), ("=2", "claim.c.d"), ("=3", "claim.c.e")], {"a": 1, "c": {"d": 2, "e": 3}}),
        ([("=1", "claim.deep.b.c"), ("=2", "claim.deep.b.d")], {"deep": {"x": 1, "b": {"y": 2, "c": 1, "d": 2}}}),
        ([("=1", "claim.id.x")], {"id": {"x": 1}}),
        ([("=claim.note", "claim.note")], {"note": "n"}),
        ([("=claim", "claim.local")], {"local": {"note": "n"}}),
        ([("=1", "claim.a"), ("=claim", "claim.seen")], {"a": 1, "seen": {"note": "n", "a": 1}}),
        ([("=1", "claim.a"), ("=claim.note", "claim.b")], {"a": 1, "b": "n"}),
        ([("=result", "claim.r"), ("=claim.r.ok", "claim.s")], {"r": {"ok": True}, "s": True}),
    ],
)
def test_several_outputs_go_into_one_variable(engine, outputs, claim):
    around = CLAIM | {"deep": {"x": 1, "b": {"y": 2}}}
    key = run(engine, tasked(outputs=outputs), claim=around)
    engine.complete("work", **DONE)
    assert after(engine, key) == around | claim


def test_a_whole_target_and_then_a_field_of_it(engine):
    key = run(engine, tasked(outputs=[("=claim", "claim"), ("=1", "claim.a")]), claim=CLAIM)
    engine.complete("work", **DONE)
    assert after(engine, key) == {"note": "n", "a": 1}


def test_an_input_of_that_name_stays_in_the_element(engine):
    key = run(engine, tasked(inputs=[("=1", "claim.mine")], outputs=[("=claim.mine", "claim.ok")]), claim=CLAIM)
    engine.complete("work")
    assert after(engine, key) == CLAIM | {"ok": 1}


def test_the_innermost_scope_around_that_has_the_variable_gets_the_field(engine):
    work = task("work", outputs=OK)
    inner = sub("s", start("s1"), work, task("stay"), "s1 > work > stay", inputs=[("={x: 1}", "claim")])
    key = run(engine, process(start(), inner, "start > s"), claim=CLAIM)
    engine.complete("work", **DONE)
    assert (engine.variables("s")["claim"], after(engine, key)) == ({"x": 1, "ok": True}, CLAIM)


def test_outputs_of_a_sub_process_leave_its_own_variable_inside(engine):
    inner = sub("s", start("s1"), task("work"), "s1 > work", inputs=[("={note: 1}", "claim")], outputs=OK)
    key = run(engine, process(start(), inner, task("next"), "start > s > next"), claim=CLAIM)
    engine.complete("work", **DONE)
    assert engine.variables("s")["claim"] == {"note": "n"}
    assert after(engine, key) == CLAIM | {"ok": True}


def test_outputs_of_a_script_and_of_a_throw_event(engine):
    parts = (
        start(),
        script("script", "={ok: true, note: 1}", "claim", outputs=[("=claim.ok", "claim.ok")]),
        '<intermediateThrowEvent id="thrown"><extensionElements><zeebe:ioMapping><zeebe:input source="={n: 1}" '
        'target="claim"/><zeebe:output source="=claim.n" target="claim.n"/></zeebe:ioMapping></extensionElements>'
        "</intermediateThrowEvent>",
        task("next"),
        "start > script > thrown > next",
    )
    assert after(engine, run(engine, process(*parts), claim=CLAIM)) == CLAIM | {"ok": True, "n": 1}


def test_outputs_of_a_form(engine):
    user = (
        '<userTask id="ask"><extensionElements><zeebe:userTask/><zeebe:ioMapping><zeebe:output source="=result.ok" '
        'target="claim.ok"/></zeebe:ioMapping></extensionElements></userTask>'
    )
    key = run(engine, process(start(), user, task("next"), "start > ask > next"), claim=CLAIM)
    (asked,) = engine.state.user_tasks
    engine.accepted(CompleteUserTask(asked, raw(DONE)))
    assert after(engine, key) == CLAIM | {"ok": True}


@pytest.mark.parametrize("all_child_variables", ["true", "false"])
def test_outputs_of_a_call_activity(engine, all_child_variables):
    called = process_element(
        start("cs"),
        script("a", "={ok: true}", "result"),
        script("b", "={id: claim.id, internal: true}", "claim"),
        "cs > a > b",
        id="c",
    )
    calling = call("x", "c", outputs=OK, propagateAllChildVariables=all_child_variables)
    key = run(engine, model(start(), calling, task("next"), "start > x > next", beside=[called]), claim=CLAIM)
    assert after(engine, key) == CLAIM | {"ok": True}


OUT = (
    '<extensionElements><zeebe:ioMapping><zeebe:output source="=result.ok" target="claim.ok"/></zeebe:ioMapping>'
    "</extensionElements>"
)
WAITING = {
    "catch event": f'<intermediateCatchEvent id="x">{OUT}{{event}}</intermediateCatchEvent>',
    "boundary event": f'{task("host")}<boundaryEvent id="x" attachedToRef="host">{OUT}{{event}}</boundaryEvent>',
    "event beside": f'{task("host")}<boundaryEvent id="x" attachedToRef="host" cancelActivity="false">{OUT}{{event}}'
    "</boundaryEvent>",
    "event sub-process": '<subProcess id="e" triggeredByEvent="true"><startEvent id="x">'
    f"{OUT}{{event}}</startEvent></subProcess>{task('host')}",
}


@pytest.mark.parametrize("event", ["message", "signal"])
@pytest.mark.parametrize("waiting", WAITING)
def test_outputs_of_an_event(engine, waiting, event):
    part = WAITING[waiting].format(event=awaited(event))
    flows = "start > x" if waiting == "catch event" else "start > host"
    content = process_element(start(), part, flows, task("beside"), "start > beside")
    key = run(engine, file(message(), signal(), content), claim=CLAIM, k="1")
    if event == "message":
        engine.publish("hello", "1", **DONE)
    else:
        engine.broadcast("alarm", **DONE)
    assert after(engine, key) == CLAIM | {"ok": True}


def test_outputs_of_a_receive_task(engine):
    receive = f'<receiveTask id="x" messageRef="m">{OUT}</receiveTask>'
    content = process_element(start(), receive, task("next"), "start > x > next")
    key = run(engine, file(message(), content), claim=CLAIM, k="1")
    engine.publish("hello", "1", **DONE)
    assert after(engine, key) == CLAIM | {"ok": True}


def test_outputs_of_the_start_event_of_a_message(engine):
    begin = f'<startEvent id="start">{OUT}{awaited("message")}</startEvent>'
    engine.deploy(file(message(key=None), process_element(begin, task("work"), "start > work")))
    engine.publish("hello", "1", **DONE)
    assert engine.variables("p") == {"claim": {"ok": True}}


@pytest.mark.parametrize("inside", [False, True])
def test_outputs_of_an_errors_catcher(engine, inside):
    caught = on(error("A"), "e", outputs=OK) if inside else boundary("b", "work", error("A"), outputs=OK)
    key = run(
        engine, model(start(), task("work"), caught, "start > work", task("beside"), "start > beside"), claim=CLAIM
    )
    engine.throw("work", "A", **DONE)
    assert after(engine, key) == CLAIM | {"ok": True}


# ---- outputs in a loop: the inner instance is the first scope


def looped(engine, done, *, output="=claim", item=None, **variables):
    work = loop(task("work", outputs=OK), item=item, output=output, into="all")
    key = run(engine, process(start(), work, task("next"), "start > work > next"), items=[{"n": 1}], **variables)
    engine.complete("work", **done)
    return engine.variables_of(key)


def test_a_loop_without_a_variable_of_that_name_changes_the_one_around(engine):
    found = looped(engine, {"result": {"ok": True}}, output="=result.ok", claim=CLAIM)
    assert (found["claim"], found["all"]) == (CLAIM | {"ok": True}, [True])


def test_a_loop_changes_its_item(engine):
    found = looped(engine, {"result": {"ok": True}}, item="claim", claim=CLAIM)
    assert (found["claim"], found["all"]) == (CLAIM, [{"n": 1, "ok": True}])


def test_a_loop_keeps_its_result_to_itself(engine):
    found = looped(engine, DONE, claim=CLAIM)
    assert (found["claim"], found["all"]) == (CLAIM, [{"note": "n", "ok": True}])


def test_each_instance_of_a_loop_adds_its_field(engine):
    outputs = [("=result", "claim.ok")]
    inner = sub("s", start("i"), task("work", outputs=outputs), "i > work", inputs=[("=item", "n")])
    key = run(
        engine, process(start(), loop(inner, item="item"), task("next"), "start > s > next"), items=[1, 2], claim=CLAIM
    )
    engine.complete("work", result=1, claim={"note": "n"})
    engine.complete("work", result=2, claim={"note": "n"})
    assert after(engine, key) == CLAIM | {"ok": 2}
