"""The examples of docs/feel.md are true, and every built-in function and every bound is on the page."""

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from vivero.core.feel import FeelLimits, compile_expression, from_json, to_json
from vivero.core.feel.builtins import FUNCTIONS

PAGE = (Path(__file__).parents[3] / "docs" / "feel.md").read_text()
ROW = re.compile(r"^- `(.+?)`:\s`(.+?)`$", re.MULTILINE)
EXAMPLES = ROW.findall(PAGE[PAGE.index("## The language") : PAGE.index("## Limits")])
NOW_MS = 1_750_000_000_000


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(("text", "expected"), EXAMPLES)
def test_expressions_have_the_value_that_the_page_says(text, expected):
    (variables,) = blocks("json")
    evaluation = compile_expression(text).evaluate(from_json(variables), NOW_MS)
    assert json.loads(to_json(evaluation.value)) == json.loads(expected)


@pytest.mark.parametrize("code", blocks("python"))
def test_python_examples_run(code):
    exec(compile("from vivero.core import feel\n" + code, "docs/feel.md", "exec"), {})


def test_there_are_examples():
    assert len(EXAMPLES) > 120
    assert len(blocks("python")) >= 7


def test_every_function_has_an_example():
    missing = [name for name in FUNCTIONS if not any(re.search(rf"(?<!\w){name}\(", text) for text, _ in EXAMPLES)]
    assert missing == []


def test_every_bound_is_on_the_page():
    assert [field.name for field in fields(FeelLimits) if field.init and f"`{field.name}`" not in PAGE] == []
