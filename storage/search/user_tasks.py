"""User tasks that can be searched, and the variables that a user task sees."""

from __future__ import annotations

from typing import Any, NamedTuple

from vivero.storage.search import implied
from vivero.storage.search.conditions import condition, is_given
from vivero.storage.search.fields import ENUM, KEY, NUMBER, OTHER, PLAIN, TEXT, TIME, Field, filtered
from vivero.storage.search.parameters import Parameters
from vivero.storage.search.resources import KeysFunction, Resource, SpecialFilter
from vivero.storage.search.shared_filters import has_tags, has_variables
from vivero.storage.search.variables import variables

USER_TASK_STATES = (
    "ASSIGNING",
    "CANCELED",
    "CANCELING",
    "COMPLETED",
    "COMPLETING",
    "CREATED",
    "CREATING",
    "FAILED",
    "UPDATING",
)


def _candidate(column: str) -> SpecialFilter:
    """A filter over a list of texts: one item must fit. With a negated operator no item may equal the operand."""
    item = filtered("item", "item", TEXT)

    def filter(value: Any, path: str, parameters: Parameters) -> str:
        condition(item, value, path, Parameters())  # checks the values
        operators = value if type(value) is dict else {"$eq": value}
        parts = [_of_list(name, operand, parameters) for name, operand in operators.items() if is_given(name, operand)]
        return " AND ".join(parts) or "true"

    def _of_list(operator: str, operand: Any, parameters: Parameters) -> str:
        if operator == "$exists":
            return f"{column} {'<>' if operand else '='} '{{}}'"
        if operator in _BY_INDEX:
            negated, contains = _BY_INDEX[operator]
            texts = operand if type(operand) is list else [operand]
            found = f"{column} {contains} {parameters.add(texts, 'text[]')}"
            return f"NOT ({found})" if negated else found
        fits = condition(item, {operator: operand}, "", parameters)
        return f"EXISTS (SELECT FROM unnest({column}) AS item WHERE {fits})"

    return filter


_BY_INDEX = {"$eq": (False, "@>"), "$neq": (True, "@>"), "$in": (False, "&&"), "$notIn": (True, "&&")}
"""The operators that a GIN index answers: whether they are negated, and PostgreSQL's operator."""


class GrantedTasks(NamedTuple):
    """The user tasks that grants name: of processes, by key, or by what the caller is to a task."""

    processes: frozenset[str]
    keys: frozenset[int] = frozenset()
    assignee: str | None = None
    candidate_user: str | None = None
    candidate_groups: frozenset[str] = frozenset()


def _granted(value: GrantedTasks, _path: str, parameters: Parameters) -> str:
    parts = [f"t.process_id = ANY ({parameters.add(sorted(value.processes), 'text[]')})"]
    if value.keys:
        parts.append(f"t.user_task_key = ANY ({parameters.add(sorted(value.keys), 'bigint[]')})")
    if value.assignee is not None:
        parts.append(f"t.assignee = {parameters.add(value.assignee, 'text')}")
    if value.candidate_user is not None:
        parts.append(f"t.candidate_users @> {parameters.add([value.candidate_user], 'text[]')}")
    if value.candidate_groups:
        parts.append(f"t.candidate_groups && {parameters.add(sorted(value.candidate_groups), 'text[]')}")
    return " OR ".join(f"({part})" for part in parts)


GRANTED = "granted"
"""The name of the condition that a task is one of GrantedTasks."""

_OF_INSTANCE = "v.process_instance_key = t.process_instance_key"

USER_TASKS = Resource(
    "User Task",
    "user_tasks t",
    "t.user_task_key",
    (
        filtered("name", "t.name", TEXT, sort=True, sort_sql="left(t.name, 1000)"),
        filtered(
            "state",
            "t.state",
            ENUM,
            values=USER_TASK_STATES,
            cases={"CREATED": "t.state = 'CREATED' AND t.ended_at IS NULL"},
        ),
        filtered("assignee", "t.assignee", TEXT),
        Field("elementId", "t.element_id", TEXT, PLAIN),
        Field("candidateGroups", "t.candidate_groups", OTHER),
        Field("candidateUsers", "t.candidate_users", OTHER),
        filtered("processDefinitionId", "t.process_id", TEXT, implied=implied.by_process_id("t")),
        filtered("creationDate", "t.created_at", TIME, sort=True),
        filtered("completionDate", "t.ended_at", TIME, sort=True),
        filtered("followUpDate", "t.follow_up_at", TIME, sort=True),
        filtered("dueDate", "t.due_at", TIME, sort=True),
        filtered("tenantId", "t.tenant_id", TEXT),
        Field("externalFormReference", "t.external_form", TEXT),
        Field("processDefinitionVersion", "t.process_version", NUMBER),
        Field("customHeaders", "t.headers", OTHER),
        filtered("priority", "t.priority", NUMBER, sort=True),
        Field("userTaskKey", "t.user_task_key", KEY, PLAIN),
        Field("elementInstanceKey", "t.element_instance_key", KEY, PLAIN, implied=implied.by_element_key("t")),
        Field("processName", "t.process_name", TEXT),
        filtered("processDefinitionKey", "t.process_definition_key", KEY, implied=implied.by_definition_key("t")),
        filtered("processInstanceKey", "t.process_instance_key", KEY),
        Field("rootProcessInstanceKey", "t.root_key", KEY),
        filtered("businessId", "t.business_id", TEXT, sort=True, implied=implied.by_business_id("t")),
        Field("formKey", "t.form_key", KEY),
        Field("tags", "t.tags", OTHER),
    ),
    special={
        "candidateGroup": _candidate("t.candidate_groups"),
        "candidateUser": _candidate("t.candidate_users"),
        "processInstanceVariables": has_variables(f"{_OF_INSTANCE} AND v.scope_key = t.process_instance_key"),
        "localVariables": has_variables(f"{_OF_INSTANCE} AND v.scope_key = t.element_instance_key"),
        "tags": has_tags("t.tags"),
    },
    within={GRANTED: _granted},
    alternatives=True,
    key_functions={
        "candidateGroup": KeysFunction("tasks_of_groups", "t.ended_at IS NULL"),
        "candidateUser": KeysFunction("tasks_of_users", "t.ended_at IS NULL"),
    },
)

_SEEN = (
    "user_tasks t JOIN element_instances e ON e.element_instance_key = t.element_instance_key"
    " JOIN variables v ON v.process_instance_key = e.process_instance_key AND v.scope_key = ANY (e.path)"
)
_INNERMOST = (
    f"(SELECT DISTINCT ON (t.user_task_key, v.name) t.user_task_key AS of_task, v.* FROM {_SEEN}"
    " ORDER BY t.user_task_key, v.name, array_position(e.path, v.scope_key)) AS v"
)


def _task(column: str) -> SpecialFilter:
    return lambda key, _path, parameters: f"{column} = {parameters.add(key, 'bigint')}"


def variables_seen(preview: bool) -> Resource:
    """All variables of the scopes around a user task, also hidden ones. The search needs the condition "user task"."""
    return variables(_SEEN, preview, {"user task": _task("t.user_task_key")})


def effective_variables(preview: bool) -> Resource:
    """The innermost variable of each name. The search needs the condition "user task"."""
    return variables(_INNERMOST, preview, {"user task": _task("v.of_task")})
