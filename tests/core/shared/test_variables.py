"""Variables: scopes, mappings, merging, and setting them from outside."""

import msgspec
import pytest

from tests.core.models import ONE_TASK, end, process, start, sub, task
from vivero.core.records.instances import CreateInstance, SetVariables


def tasked(**mappings):
    return process(start(), task("work", **mappings), task("next"), "start > work > next")


def test_variables_of_a_start_are_the_process_instances(engine):
    engine.deploy(ONE_TASK)
    key = engine.start(text="ü\n", number=1.5, nothing=None, list=[1, {"a": []}])
    assert engine.variables_of(key) == {"text": "ü\n", "number": 1.5, "nothing": None, "list": [1, {"a": []}]}


def test_values_are_kept_as_the_text_they_came_as(engine):
    engine.deploy(ONE_TASK)
    variables = {"n": msgspec.Raw(b"12345678901234567890.123456789"), "e": msgspec.Raw(b"1e400")}
    engine.run(CreateInstance("p", variables=variables))
    texts = {row["name"]: row["value"] for (table, _), row in engine.rows.items() if table == "Variable"}
    assert texts == {"n": "12345678901234567890.123456789", "e": "1e400"}


# ---- input mappings


def test_inputs_become_local_variables_of_the_element(engine):
    engine.deploy(tasked(inputs=[("=a + 1", "b"), ("=a", "a")]))
    key = engine.start(a=1)
    assert engine.variables("work") == {"b": 2, "a": 1}
    assert engine.variables_of(key) == {"a": 1}


def test_later_inputs_see_earlier_ones(engine):
    engine.deploy(tasked(inputs=[("=a + 1", "b"), ("=b + 1", "c"), ("=c * 10", "b")]))
    engine.start(a=1)
    assert engine.variables("work") == {"b": 30, "c": 3}


def test_an_input_to_a_path_makes_the_contexts_on_its_way(engine):
    engine.deploy(tasked(inputs=[("=1", "o.a.x"), ("=2", "o.a.y"), ("=o.a.x + o.a.y", "o.sum")]))
    engine.start()
    assert engine.variables("work") == {"o": {"a": {"x": 1, "y": 2}, "sum": 3}}


def test_an_input_to_a_path_starts_from_nothing_and_leaves_outer_variables_alone(engine):
    engine.deploy(tasked(inputs=[("=1", "o.x")]))
    key = engine.start(o={"y": 2})
    assert engine.variables("work") == {"o": {"x": 1}}
    assert engine.variables_of(key) == {"o": {"y": 2}}


def test_an_input_to_a_path_in_what_is_no_context_replaces_it(engine):
    engine.deploy(tasked(inputs=[("=5", "o"), ("=1", "o.x")]))
    engine.start()
    assert engine.variables("work") == {"o": {"x": 1}}


def test_an_input_without_a_value_is_null(engine):
    engine.deploy(tasked(inputs=[("=missing", "a")]))
    engine.start()
    assert engine.variables("work") == {"a": None}


STATIC = ["5", "", "a b", "true", "null", '"q"', "="]


@pytest.mark.parametrize("source", STATIC)
def test_a_static_source_is_text_whatever_it_looks_like(engine, source):
    engine.deploy(tasked(inputs=[(source, "a")], outputs=[(source, "b")]))
    key = engine.start()
    assert engine.variables("work") == {"a": source}
    engine.complete("work")
    assert engine.variables_of(key) == {"b": source}


# ---- output mappings


def test_without_outputs_a_result_is_merged_upwards(engine):
    engine.deploy(tasked())
    key = engine.start(a=1)
    engine.complete("work", a=2, b=3)
    assert engine.variables_of(key) == {"a": 2, "b": 3}


def test_with_outputs_a_result_is_local_and_only_what_they_choose_leaves(engine):
    engine.deploy(tasked(outputs=[("=a + 1", "c"), ("=c + 1", "d")]))
    key = engine.start(a=1)
    engine.complete("work", a=10, b=3)
    assert engine.variables("work") == {"a": 10, "b": 3}
    assert engine.variables_of(key) == {"a": 1, "c": 11, "d": 12}


def test_an_output_to_a_path_is_merged_into_what_is_there(engine):
    engine.deploy(tasked(outputs=[("=r", "order.verdict"), ("=1", "order.deep.n"), ("=order.verdict", "copy")]))
    key = engine.start(order={"id": 7, "deep": {"m": 2}})
    engine.complete("work", r="ok")
    assert engine.variables_of(key) == {
        "order": {"id": 7, "deep": {"m": 2, "n": 1}, "verdict": "ok"},
        "copy": "ok",
    }


def test_outputs_go_to_the_innermost_scope_that_has_the_variable(engine):
    inner = sub(
        "s",
        start("s1"),
        task("work", outputs=[("=1", "local"), ("=2", "outer"), ("=3", "new")]),
        task("stay"),
        "s1 > work > stay",
        inputs=[("=0", "local")],
    )
    engine.deploy(process(start(), inner, "start > s"))
    key = engine.start(outer=0)
    engine.complete("work")
    assert engine.variables("s") == {"local": 1}
    assert engine.variables_of(key) == {"outer": 2, "new": 3}


def test_results_are_merged_into_the_innermost_scope_that_has_the_variable(engine):
    inner = sub("s", start("s1"), task("work"), task("stay"), "s1 > work > stay", inputs=[("=0", "a")])
    engine.deploy(process(start(), inner, "start > s"))
    key = engine.start(a=5, b=5)
    engine.complete("work", a=1, b=2, c=3)
    assert engine.variables("s") == {"a": 1}
    assert engine.variables_of(key) == {"a": 5, "b": 2, "c": 3}


def test_a_result_is_merged_into_the_tasks_own_inputs_first(engine):
    engine.deploy(tasked(inputs=[("=0", "a")]))
    key = engine.start(a=5)
    engine.complete("work", a=1)
    assert engine.variables("work") == {"a": 1}
    assert engine.variables_of(key) == {"a": 5}


def test_outputs_of_a_sub_process_see_its_variables(engine):
    inner = sub("s", start("s1"), task("work"), "s1 > work", inputs=[("=0", "a")], outputs=[("=a * 2", "b")])
    engine.deploy(process(start(), inner, task("after"), "start > s > after"))
    key = engine.start()
    engine.complete("work", a=21)
    assert engine.variables_of(key) == {"b": 42}


def test_events_have_mappings_too(engine):
    model = process(
        start(outputs=[("=x + 1", "x")]),
        task("work"),
        end(inputs=[("=x", "y")], outputs=[("=y", "z")]),
        "start > work > end",
    )
    engine.deploy(model)
    key = engine.start(x=1)
    assert engine.variables_of(key) == {"x": 2}
    engine.complete("work")
    assert engine.variables_of(key) == {"x": 2, "z": 2}


def test_an_inner_variable_hides_an_outer_one(engine):
    inner = sub("s", start("s1"), task("work", inputs=[("=a", "seen")]), "s1 > work", inputs=[("=1", "a")])
    engine.deploy(process(start(), inner, "start > s"))
    engine.start(a=2)
    assert engine.variables("work") == {"seen": 1}


def test_the_same_value_object_is_not_shared_between_scopes(engine):
    engine.deploy(tasked(inputs=[("=o", "copy")], outputs=[("=9", "copy.x")]))
    key = engine.start(o={"x": 1})
    engine.complete("work")
    assert engine.variables_of(key) == {"o": {"x": 1}, "copy": {"x": 9}}


# ---- SetVariables


@pytest.fixture
def scoped(engine):
    """A task in a sub-process with a local `a`; the process has `a` and `b`."""
    inner = sub("s", start("s1"), task("work", inputs=[("=1", "mine")]), "s1 > work", inputs=[("=1", "a")])
    engine.deploy(process(start(), inner, "start > s"))
    engine.key = engine.start(a=2, b=2)
    return engine


def test_setting_locally_touches_no_other_scope(scoped):
    scoped.set(scoped.element("work").key, local=True, a=7, b=7, new=7)
    assert scoped.variables("work") == {"mine": 1, "a": 7, "b": 7, "new": 7}
    assert scoped.variables("s") == {"a": 1}
    assert scoped.variables_of(scoped.key) == {"a": 2, "b": 2}


def test_setting_upwards_goes_where_each_variable_is_and_new_ones_to_the_top(scoped):
    scoped.set(scoped.element("work").key, mine=8, a=8, b=8, new=8)
    assert scoped.variables("work") == {"mine": 8}
    assert scoped.variables("s") == {"a": 8}
    assert scoped.variables_of(scoped.key) == {"a": 2, "b": 8, "new": 8}


def test_variables_can_be_set_at_the_process_instance(scoped):
    scoped.set(scoped.key, a=3)
    scoped.set(scoped.key, local=True, c=3)
    assert scoped.variables_of(scoped.key) == {"a": 3, "b": 2, "c": 3}


def test_a_variable_keeps_its_key_when_it_gets_another_value(scoped):
    def keys():
        return sorted(variable.key for variable in scoped.element("p").variables.values())

    before = keys()
    scoped.set(scoped.key, a=[1], b=None)
    assert keys() == before


def test_what_was_decoded_is_forgotten_with_the_old_value(engine):
    model = process(start(), task("a", inputs=[("=x", "y")]), task("b", inputs=[("=x", "y")]), "start > a > b")
    engine.deploy(model)
    engine.start(x=1)
    engine.complete("a", x=2)
    assert engine.variables("b") == {"y": 2}


@pytest.mark.parametrize("local", [True, False])
def test_variables_of_what_is_not_there_are_rejected(engine, local):
    assert str(engine.run(SetVariables(77, {}, local)).rejection.reason) == (
        "Expected to update variables for element with key '77', but no such element was found"
    )
