"""Expressions on their way to another process: a copy means the same, and is compiled when it is first used."""

import pickle

import pytest

from vivero.core.feel import FeelLimits, LimitExceeded, closures, compile_attribute, compile_expression, constant

TEXTS = [
    "=x + 1",
    "=for i in 1..x return i * x",
    "=1 + 1",
    "plain",
    "12",
    "null",
    '=if x > 1 then "a" else y.z',
    "=now()",
]


def copy(expression):
    return pickle.loads(pickle.dumps(expression))


@pytest.mark.parametrize("text", TEXTS)
def test_a_copy_gives_the_same_for_the_same_steps(text):
    original = compile_attribute(text)
    copied = copy(original)
    for _ in range(2):
        given = ({"x": 3}, 1_000, 500)
        assert copied.evaluate_within(*given) == original.evaluate_within(*given)
    assert (copied.text, copied.variables, copied.is_static) == (original.text, original.variables, original.is_static)
    assert copied.static_value == original.static_value


def test_a_copy_is_compiled_once_and_only_when_it_is_used(monkeypatch):
    copied, compiled = copy(compile_attribute("=x + 1")), []
    compile_tree = closures.compile_tree

    def counting(*arguments):
        compiled.append(arguments)
        return compile_tree(*arguments)

    monkeypatch.setattr("vivero.core.feel.expression.compile_tree", counting)
    assert compiled == []
    assert [copied.evaluate({"x": x}).value for x in (1, 2)] == [2, 3]
    assert len(compiled) == 1


def test_names_with_spaces_and_limits_go_along():
    copied = copy(compile_expression("my sum + 1", ["my sum"], FeelLimits(steps=3)))
    assert copied.evaluate({"my sum": 1}).value == 2
    with pytest.raises(LimitExceeded):
        copy(compile_expression("for i in 1..9 return i", limits=FeelLimits(steps=3))).evaluate()


def test_a_constant_that_looks_like_an_expression_stays_one():
    assert copy(constant("1 + 1", "1 + 1")).evaluate().value == "1 + 1"
