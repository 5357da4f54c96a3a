"""Operators that a client names and does not use: null, and an empty list, are no condition, for every field there is.

Camunda's Java client sends `{"$eq": "x", "$in": [], "$notIn": []}` for `eq("x")`.
"""

import pytest

from vivero.storage.search.element_instances import ELEMENT_INSTANCES
from vivero.storage.search.fields import LISTS
from vivero.storage.search.incidents import INCIDENTS
from vivero.storage.search.jobs import JOBS
from vivero.storage.search.messages import MESSAGE_CORRELATIONS, MESSAGE_SUBSCRIPTIONS
from vivero.storage.search.problems import Unparsable
from vivero.storage.search.process_definitions import PROCESS_DEFINITIONS
from vivero.storage.search.process_instances import PROCESS_INSTANCES
from vivero.storage.search.queries import SearchQuery
from vivero.storage.search.statements import statement
from vivero.storage.search.timers import TIMERS
from vivero.storage.search.user_tasks import USER_TASKS
from vivero.storage.search.variables import VARIABLES

RESOURCES = (
    ELEMENT_INSTANCES,
    INCIDENTS,
    JOBS,
    MESSAGE_CORRELATIONS,
    MESSAGE_SUBSCRIPTIONS,
    PROCESS_DEFINITIONS,
    PROCESS_INSTANCES,
    TIMERS,
    USER_TASKS,
    VARIABLES,
)
EXAMPLES = {"bigint": "5", "text": "x", "boolean": True, "timestamptz": "2026-11-21T00:00:00Z"}
UNUSED = {"$in": [], "$notIn": []}
FIELDS = [
    (resource, field)
    for resource in RESOURCES
    for field in (*resource.fields, *(field for nested in resource.nested for field in nested.fields))
    if field.operators & LISTS
]


def said(resource, name, value):
    return statement(resource, SearchQuery({name: value}))


def uses(field):
    """Every operator of a field with an operand."""
    example = field.values[0] if field.values else EXAMPLES[field.type.cast]
    for operator in sorted(field.operators):
        yield operator, {"$exists": True, "$in": [example], "$notIn": [example]}.get(operator, example)


@pytest.mark.parametrize(("resource", "field"), FIELDS, ids=lambda one: one.name)
def test_an_empty_list_is_no_condition(resource, field):
    unused = {operator: [] for operator in field.operators & LISTS}
    nothing = said(resource, field.name, None)
    assert said(resource, field.name, unused) == nothing
    assert said(resource, field.name, dict.fromkeys(field.operators)) == nothing
    for operator, operand in uses(field):
        used = said(resource, field.name, {operator: operand})
        assert used != nothing
        assert said(resource, field.name, unused | {operator: operand}) == used
        assert (
            said(resource, field.name, {operator: operand} | {name: [] for name in unused if name != operator}) == used
        )


@pytest.mark.parametrize("name", ["candidateGroup", "candidateUser"])
def test_an_empty_list_is_no_condition_on_candidates(name):
    nothing = said(USER_TASKS, name, None)
    assert said(USER_TASKS, name, UNUSED) == nothing
    for operator, operand in {"$eq": "a", "$neq": "a", "$exists": False, "$in": ["a"], "$notIn": ["a"]}.items():
        used = said(USER_TASKS, name, {operator: operand})
        assert used != nothing
        assert said(USER_TASKS, name, UNUSED | {operator: operand}) == used


@pytest.mark.parametrize(
    ("resource", "name"),
    [
        (PROCESS_INSTANCES, "variables"),
        (USER_TASKS, "processInstanceVariables"),
        (USER_TASKS, "localVariables"),
    ],
)
def test_an_empty_list_is_no_condition_on_the_value_of_a_variable(resource, name):
    def having(value):
        return said(resource, name, [{"name": "color", "value": value}])

    assert having(UNUSED | {"$like": "a*"}) == having({"$like": "a*"})
    assert having(UNUSED) == having({})
    assert having(UNUSED) != said(resource, name, []), "the variable must be there"


@pytest.mark.parametrize("operator", ["$eq", "$neq", "$gt", "$like", "$exists"])
def test_a_list_is_no_operand_of_the_others(operator):
    field = "startDate" if operator == "$gt" else "businessId"
    with pytest.raises(Unparsable):
        said(PROCESS_INSTANCES, field, {operator: []})


@pytest.mark.parametrize("operand", ["", 0, False, {}])
def test_what_is_empty_and_no_list_is_refused(operand):
    with pytest.raises(Unparsable):
        said(PROCESS_INSTANCES, "businessId", {"$in": operand})
