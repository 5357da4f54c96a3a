"""Tools of agents from the elements of an ad-hoc sub-process."""

import pytest

from vivero.core.agents.errors import AgentError
from vivero.core.agents.schemas import problems
from vivero.core.agents.tools import alias, tools_of


def schema(*parameters):
    [tool] = tools_of([{"elementId": "T", "parameters": list(parameters)}])
    return tool.input_schema


def test_a_tool_is_described_by_documentation_name_or_id():
    elements = [
        {"elementId": "a", "elementName": "A", "documentation": "Does a"},
        {"elementId": "b", "elementName": "B"},
        {"elementId": "c"},
    ]
    assert [(tool.name, tool.description) for tool in tools_of(elements)] == [("a", "Does a"), ("b", "B"), ("c", "c")]


def test_parameters_become_a_schema():
    found = schema(
        {"name": "toolCall.a"},
        {"name": "toolCall.b", "type": "number", "description": "B", "schema": {"minimum": 1, "type": "integer"}},
        {"name": "toolCall.c", "schema": {"enum": [1, 2]}, "options": {"required": False}},
    )
    assert found == {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "b": {"type": "number", "description": "B", "minimum": 1},
            "c": {"enum": [1, 2]},
        },
        "required": ["a", "b"],
    }


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ([{"name": "city"}], "fromAi takes toolCall.NAME"),
        ([{"name": "toolCall."}], "fromAi takes"),
        ([{"name": "toolCall.a.b"}], "fromAi takes"),
        ([{"name": "toolCall._meta"}], "fromAi takes"),
        ([{"name": "toolCall.a"}, {"name": "toolCall.a"}], "'a' is declared twice"),
        ([{"name": "toolCall.a", "options": {"required": "yes"}}], "options.required of the parameter 'a'"),
    ],
)
def test_wrong_parameters_are_named(parameters, why):
    with pytest.raises(AgentError, match=f"the tool 'T': .*{why}"):
        schema(*parameters)


def test_providers_get_names_that_they_take():
    assert alias("Load_the-data7") == "Load_the-data7"
    long, other = alias("a" * 90), alias("a" * 91)
    assert (len(long), len(other), long == other) == (64, 64, False)
    assert alias("Prüfung.1").startswith("Pr_fung_1_")


@pytest.mark.parametrize(
    ("value", "schema", "found"),
    [
        ({"a": 1}, {"properties": {"a": {"type": "integer"}}}, []),
        ({"a": 1}, {"properties": {"a": {"type": ["string", "null"]}}}, ["'a' must be of type string or null"]),
        ({"a": True}, {"properties": {"a": {"type": "number"}}}, ["'a' must be of type number"]),
        ({"a": "x"}, {"properties": {"a": {"enum": ["y"]}}}, ["'a' must be one of the values that its schema lists"]),
        ({"a": [1, "x"]}, {"properties": {"a": {"items": {"type": "string"}}}}, ["'a[0]' must be of type string"]),
        ({"b": 1}, {"additionalProperties": False}, ["'b' is not a property of the tool"]),
        ({"a": 3}, {"properties": {"a": {"minimum": 5}}}, ["'a' must be at least 5"]),
        ({"a": 9}, {"properties": {"a": {"maximum": 5}}}, ["'a' must be at most 5"]),
        ({"a": {}}, {"properties": {"a": {"required": ["b"]}}}, ["'a.b' is missing"]),
        ({}, {"required": list("abcdefg")}, [f"'{name}' is missing" for name in "abcde"]),
    ],
)
def test_arguments_are_checked(value, schema, found):
    assert problems(value, schema) == found
