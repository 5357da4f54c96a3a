"""Decision instances that can be searched: all decisions that evaluations took."""

from __future__ import annotations

from dataclasses import replace

from vivero.storage.search import implied
from vivero.storage.search.fields import (
    ENUM,
    INT64_MAX,
    KEY,
    NUMBER,
    NUMBERED_KEY,
    OTHER,
    PLAIN,
    TEXT,
    TIME,
    Field,
    enumeration,
    filtered,
    plain,
)
from vivero.storage.search.resources import Resource

DECISION_STATES = ("EVALUATED", "FAILED", "UNKNOWN", "UNSPECIFIED")
DECISION_TYPES = ("DECISION_TABLE", "LITERAL_EXPRESSION", "UNKNOWN", "UNSPECIFIED")


def _by_text(among: str) -> str:
    """The condition that the text of a key implies: `<key of the evaluation>-<number>` is the row of their sum."""
    is_list = among.startswith("= ANY (")
    texts = among[len("= ANY (") : -1] if is_list else f"ARRAY[{among.removeprefix('= ')}]"
    parts = (f"least(split_part(k, '-', {part})::numeric, {INT64_MAX // 2})::bigint" for part in (1, 2))
    rows = f"SELECT {' + '.join(parts)} FROM unnest({texts}) k WHERE k ~ '^[0-9]{{1,20}}-[0-9]{{1,9}}$'"
    return f"d.decision_instance_key = ANY (ARRAY({rows}))"


_TYPE = "CASE WHEN d.type = ANY ('{DECISION_TABLE,LITERAL_EXPRESSION}') THEN d.type ELSE 'UNKNOWN' END"
_INSTANCE_KEY = "d.decision_evaluation_key || '-' || d.number"

DECISION_INSTANCES = Resource(
    "Decision Instance",
    "decision_instances d",
    "d.decision_instance_key",
    (
        filtered("decisionEvaluationInstanceKey", _INSTANCE_KEY, TEXT, sort=True, implied=_by_text),
        enumeration("state", "d.state", DECISION_STATES, sort=True),
        plain("evaluationFailure", "d.failure", TEXT, sort=True, sort_sql="left(d.failure, 1000)"),
        filtered("evaluationDate", "d.evaluated_at", TIME, sort=True, orders=True),
        plain("decisionDefinitionId", "d.decision_id", TEXT, sort=True),
        plain("decisionDefinitionName", "d.name", TEXT, sort=True),
        plain("decisionDefinitionVersion", "d.version", NUMBER, sort=True),
        Field("decisionDefinitionType", _TYPE, ENUM, PLAIN, sort=True, values=DECISION_TYPES),
        plain("tenantId", "d.tenant_id", TEXT, sort=True),
        plain("decisionEvaluationKey", "d.decision_evaluation_key", KEY, sort=True),
        plain("processDefinitionKey", "d.process_definition_key", NUMBERED_KEY, sort=True),
        plain("processInstanceKey", "d.process_instance_key", NUMBERED_KEY, sort=True),
        Field("rootProcessInstanceKey", "d.root_key", KEY),
        filtered("businessId", "d.business_id", TEXT, sort=True, implied=implied.by_business_id("d")),
        filtered("decisionDefinitionKey", "d.decision_definition_key", KEY, sort=True),
        filtered(
            "elementInstanceKey",
            "d.element_instance_key",
            NUMBERED_KEY,
            sort=True,
            implied=implied.by_element_key("d"),
        ),
        filtered("rootDecisionDefinitionKey", "d.root_decision_definition_key", KEY, sort=True),
        filtered("decisionRequirementsKey", "d.decision_requirements_key", KEY, shown=False),
        Field("result", "d.result", OTHER),
    ),
    process_sql="d.decision_id",
)
"""The id of a decision stands for that of a process where grants name decisions."""

_OF_RULE = "'ruleId', r->>0, 'ruleIndex', (r->>1)::int"
_OUTPUT = f"'outputId', o->>0, 'outputName', o->>1, 'outputValue', o->>2, {_OF_RULE}"
_OUTPUTS = f"SELECT json_agg(json_build_object({_OUTPUT})) FROM json_array_elements(r->2) o"
_RULE = f"{_OF_RULE}, 'evaluatedOutputs', coalesce(({_OUTPUTS}), '[]')"
_INPUT = "'inputId', i->>0, 'inputName', i->>1, 'inputValue', i->>2"


def _list_of(document: str, column: str, each: str) -> str:
    return f"(SELECT coalesce(json_agg(json_build_object({document})), '[]') FROM json_array_elements({column}) {each})"


DECISION_INSTANCE = replace(
    DECISION_INSTANCES,
    fields=(
        *DECISION_INSTANCES.fields,
        Field("evaluatedInputs", _list_of(_INPUT, "d.inputs", "i"), OTHER),
        Field("matchedRules", _list_of(_RULE, "d.rules", "r"), OTHER),
    ),
)
"""A single one, with the inputs of a table and the rules that matched."""
