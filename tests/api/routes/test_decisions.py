"""Decisions over HTTP: their evaluation, and the decision instances that it leaves behind."""

import pytest

from tests.api.official import decode
from tests.api.rows import KEY, NOW
from vivero.core.records.decision_evaluations import (
    DecisionReply,
    EvaluatedDecision,
    EvaluateDecision,
    EvaluatedInput,
    EvaluatedOutput,
    EvaluatedRule,
)
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.storage.reads import decision_statistics

EVALUATION = "/v2/decision-definitions/evaluation"
SEARCH = "/v2/decision-instances/search"
RULES = (EvaluatedRule("r2", 2, (EvaluatedOutput("o1", "rate", "0.1"),)),)
TABLE = EvaluatedDecision(
    KEY + 1, "Discount", "The discount", 3, "DECISION_TABLE", "0.1", (EvaluatedInput("i1", "total", "200"),), RULES
)
ASKED = EvaluatedDecision(KEY + 2, "Price", "Price", 1, "LITERAL_EXPRESSION", "180")
OF_RULE = {"ruleId": "r2", "ruleIndex": 2}
MATCHED = [OF_RULE | {"evaluatedOutputs": [{"outputId": "o1", "outputName": "rate", "outputValue": "0.1"} | OF_RULE]}]
INPUTS = [{"inputId": "i1", "inputName": "total", "inputValue": "200"}]


def reply(**more):
    values = (KEY, KEY + 2, "Price", "Price", 1, KEY + 3, "shop", "<default>", "180", (TABLE, ASKED))
    return DecisionReply(*values, **more)


async def test_the_answer_has_the_result_and_each_decision(client, engine):
    engine.reply = reply()
    answer = await client("POST", EVALUATION, {"decisionDefinitionId": "Price", "variables": {"total": 200}})
    assert answer.status == 200
    (command,) = [item.command for item in engine.appended]
    assert (type(command), command.decision_id, command.decision_key) == (EvaluateDecision, "Price", None)
    assert {name: bytes(value) for name, value in command.variables.items()} == {"total": b"200"}
    first, last = answer.json["evaluatedDecisions"]
    assert first == {
        "decisionDefinitionId": "Discount",
        "decisionDefinitionKey": str(KEY + 1),
        "decisionDefinitionName": "The discount",
        "decisionDefinitionVersion": 3,
        "decisionDefinitionType": "DECISION_TABLE",
        "decisionEvaluationInstanceKey": f"{KEY}-1",
        "output": "0.1",
        "tenantId": "<default>",
        "evaluatedInputs": INPUTS,
        "matchedRules": MATCHED,
    }
    assert (last["decisionEvaluationInstanceKey"], last["evaluatedInputs"], last["matchedRules"]) == (
        f"{KEY}-2",
        [],
        [],
    )
    assert {name: value for name, value in answer.json.items() if name != "evaluatedDecisions"} == {
        "decisionDefinitionId": "Price",
        "decisionDefinitionKey": str(KEY + 2),
        "decisionDefinitionName": "Price",
        "decisionDefinitionVersion": 1,
        "decisionRequirementsId": "shop",
        "decisionRequirementsKey": str(KEY + 3),
        "decisionEvaluationKey": str(KEY),
        "decisionInstanceKey": str(KEY),
        "tenantId": "<default>",
        "output": "180",
        "failedDecisionDefinitionId": None,
        "failureMessage": None,
        "commandPosition": "1",
    }
    decoded = decode("EvaluateDecisionResult", answer.json)
    assert decoded.evaluated_decisions[0].matched_rules[0].rule_index == 2


async def test_a_failed_evaluation_is_a_200(client, engine):
    engine.reply = reply(failed_decision_definition_id="Discount", failure_message="too many rules")
    answer = await client("POST", EVALUATION, {"decisionDefinitionKey": str(KEY + 2)})
    assert (answer.status, answer.json["failedDecisionDefinitionId"]) == (200, "Discount")
    assert engine.appended[0].command.decision_key == KEY + 2
    assert decode("EvaluateDecisionResult", answer.json).failure_message == "too many rules"


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, "At least one of [decisionDefinitionId, decisionDefinitionKey] is required"),
        (
            {"decisionDefinitionId": "a", "decisionDefinitionKey": "1"},
            "Only one of [decisionDefinitionId, decisionDefinitionKey] is allowed",
        ),
        ({"decisionDefinitionKey": "x"}, "decisionDefinitionKey"),
        ({"decisionDefinitionId": "a", "tenantId": "t"}, "multi-tenancy is disabled"),
        ({"decisionDefinitionId": "a" * 1001}, "decisionDefinitionId"),
    ],
)
async def test_a_bad_request_says_why(client, engine, body, detail):
    answer = await client("POST", EVALUATION, body)
    assert answer.status == 400
    assert detail in answer.problem["detail"]
    assert engine.appended == []


async def test_an_unknown_decision_is_404(client, engine):
    text = "Expected to evaluate decision 'x', but no decision found for id 'x'"
    engine.rejection = Rejection(RejectionCode.NOT_FOUND, text)
    answer = await client("POST", EVALUATION, {"decisionDefinitionId": "x"})
    assert (answer.status, answer.problem["title"]) == (404, "NOT_FOUND")
    assert answer.problem["detail"] == f"Command 'EVALUATE' rejected with code 'NOT_FOUND': {text}"


async def test_a_client_that_does_not_wait_gets_the_position(client, engine):
    engine.reply = reply()
    assert (await client("POST", f"{EVALUATION}?wait=false", {"decisionDefinitionId": "x"})).status == 202


# Decision instances ---------------------------------------------------------------------------------------------------


def put(rows, evaluation, number=1, **more):
    """A decision instance; of no process instance unless `more` names one."""
    usual = {
        "decision_definition_key": KEY + 1,
        "decision_id": "Discount",
        "name": "The discount",
        "version": 3,
        "type": "DECISION_TABLE",
        "root_decision_definition_key": KEY + 2,
        "decision_requirements_key": KEY + 3,
        "state": "EVALUATED",
        "result": "0.1",
        "inputs": '[["i1", "total", "200"]]',
        "rules": '[["r2", 2, [["o1", "rate", "0.1"]]]]',
        "evaluated_at": NOW,
        "tenant_id": "<default>",
    }
    key = {"decision_instance_key": evaluation + number, "decision_evaluation_key": evaluation, "number": number}
    rows.put("decision_instances", **usual | key | more)


async def test_an_instance_is_read_with_inputs_and_rules(reader, rows):
    put(rows, KEY, process_instance_key=KEY + 9, element_instance_key=KEY + 10, root_key=KEY + 8, business_id="b")
    answer = await reader("GET", f"/v2/decision-instances/{KEY}-1")
    assert answer.json == {
        "decisionEvaluationInstanceKey": f"{KEY}-1",
        "decisionEvaluationKey": str(KEY),
        "state": "EVALUATED",
        "evaluationFailure": None,
        "evaluationDate": NOW,
        "decisionDefinitionId": "Discount",
        "decisionDefinitionKey": str(KEY + 1),
        "decisionDefinitionName": "The discount",
        "decisionDefinitionType": "DECISION_TABLE",
        "decisionDefinitionVersion": 3,
        "rootDecisionDefinitionKey": str(KEY + 2),
        "tenantId": "<default>",
        "processDefinitionKey": "-1",
        "processInstanceKey": str(KEY + 9),
        "rootProcessInstanceKey": str(KEY + 8),
        "elementInstanceKey": str(KEY + 10),
        "businessId": "b",
        "result": "0.1",
        "evaluatedInputs": INPUTS,
        "matchedRules": MATCHED,
    }
    decoded = decode("DecisionInstanceGetQueryResult", answer.json)
    assert decoded.matched_rules[0].evaluated_outputs[0].output_value == "0.1"


async def test_a_key_that_is_no_decision_instance(reader, rows):
    put(rows, KEY, 2)
    assert (await reader("GET", f"/v2/decision-instances/{KEY}-1")).status == 404
    assert (await reader("GET", f"/v2/decision-instances/{KEY + 1}-1")).status == 404, "another row has the sum"
    for text in (str(KEY), f"{KEY}-", "x-1", f"{KEY}-1-1"):
        assert (await reader("GET", f"/v2/decision-instances/{text}")).status == 400


async def found(reader, filter, sort=(), **more):
    answer = await reader("POST", SEARCH, {"filter": filter, "sort": list(sort), **more})
    assert answer.status == 200, answer.json
    for item in answer.json["items"]:
        decode("DecisionInstanceResult", item)
    return [item["decisionEvaluationInstanceKey"] for item in answer.json["items"]]


FILTERS = [
    {"decisionEvaluationInstanceKey": f"{KEY}-1"},
    {"decisionEvaluationInstanceKey": {"$in": [f"{KEY}-1", "x", f"{KEY + 50}-7"]}},
    {"state": "EVALUATED", "decisionDefinitionType": "DECISION_TABLE"},
    {"state": {"$in": ["EVALUATED"]}, "decisionDefinitionVersion": 3},
    {"evaluationDate": {"$lt": "2027-01-01T00:00:00Z"}, "decisionDefinitionName": "The discount"},
    {"decisionDefinitionId": "Discount"},
    {"decisionDefinitionKey": {"$eq": str(KEY + 1)}},
    {"processInstanceKey": str(KEY + 9)},
    {"processDefinitionKey": str(KEY + 7)},
    {"elementInstanceKey": {"$eq": str(KEY + 10)}},
    {"businessId": {"$like": "b*"}},
    {"decisionEvaluationKey": str(KEY), "state": {"$neq": "FAILED"}},
]


@pytest.mark.parametrize("filter", FILTERS, ids=str)
async def test_each_filter_finds_the_first_of_two(reader, rows, filter):
    place = {"process_instance_key": KEY + 9, "process_definition_key": KEY + 7, "element_instance_key": KEY + 10}
    rows.instance(KEY + 9, business_id="b1")
    rows.element(KEY + 10, process_instance_key=KEY + 9, scope_key=KEY + 9)
    put(rows, KEY, root_key=KEY + 9, business_id="b1", **place)
    other = {"decision_definition_key": KEY + 2, "decision_id": "Price", "name": "Price", "version": 1}
    put(rows, KEY, 2, **other, type="CONTEXT", state="FAILED", failure="why", evaluated_at="2027-06-01T00:00:00Z")
    assert await found(reader, filter) == [f"{KEY}-1"]


async def test_types_without_a_name_in_the_api_are_unknown(reader, rows):
    put(rows, KEY, type="CONTEXT")
    assert await found(reader, {"decisionDefinitionType": "UNKNOWN"}) == [f"{KEY}-1"]
    assert (await reader("GET", f"/v2/decision-instances/{KEY}-1")).json["decisionDefinitionType"] == "UNKNOWN"


SORTS = (
    *("businessId", "decisionDefinitionId", "decisionDefinitionKey", "decisionDefinitionName"),
    *("decisionDefinitionType", "decisionDefinitionVersion", "decisionEvaluationInstanceKey"),
    *("decisionEvaluationKey", "elementInstanceKey", "evaluationDate", "evaluationFailure", "processDefinitionKey"),
    *("processInstanceKey", "rootDecisionDefinitionKey", "state", "tenantId"),
)


async def test_every_sort_pages_through_all(reader, rows):
    for n in range(3):
        put(rows, KEY + 10 * n, state="FAILED" if n == 1 else "EVALUATED", failure="why" if n == 1 else None, version=n)
    for field in SORTS:
        seen, after = [], None
        for _ in range(3):
            page = {"limit": 1} if after is None else {"limit": 1, "after": after}
            answer = await reader("POST", SEARCH, {"sort": [{"field": field, "order": "DESC"}], "page": page})
            assert answer.status == 200, (field, answer.json)
            seen += [item["decisionEvaluationInstanceKey"] for item in answer.json["items"]]
            after = answer.json["page"]["endCursor"]
        assert len(set(seen)) == 3, field


async def test_a_deletion_deletes_all_of_an_evaluation_and_nothing_else(reader, rows):
    for evaluation, number in ((KEY, 1), (KEY, 2), (KEY + 10, 1)):
        put(rows, evaluation, number)
    path = f"/v2/decision-instances/{KEY}/deletion"
    foreseen = await reader("POST", f"{path}?dryRun=true", {"operationReference": 5})
    assert foreseen.json == {"decisionInstanceCount": 2, "problems": [], "refusal": None}
    assert len(await found(reader, {})) == 3
    assert (await reader("POST", path, {"operationReference": 5})).status == 204
    assert await found(reader, {}) == [f"{KEY + 10}-1"]
    assert (await reader("POST", path)).status == 404
    assert (await reader("POST", f"{path}?dryRun=true")).status == 404
    records = rows.execute("SELECT entity_type, operation, result FROM audit_log ORDER BY audit_log_key").fetchall()
    assert records == [("DECISION", "DELETE", "SUCCESS"), ("DECISION", "DELETE", "FAIL")]
    assert (await reader("POST", "/v2/decision-instances/x/deletion")).status == 400


STATISTICS = "/v2/decision-definitions/statistics/decision-instances"


def rules_of(*indexes):
    """Rules that matched, as they are stored."""
    return str([[f"r{index}", index, []] for index in indexes]).replace("'", '"')


def stored(rows, key, *matched, **more):
    """A decision instance of the version with a key for each list of matched rules."""
    for number, indexes in enumerate(matched, 1):
        put(rows, KEY + 100 + number * 10, 1, decision_definition_key=key, rules=rules_of(*indexes), **more)


async def test_rules_are_counted_in_kept_instances(reader, rows):
    rows.execute("INSERT INTO resources (sha256, bytes) VALUES ('dd', '<x/>')")
    rows.decision(KEY + 17)
    stored(rows, KEY + 17, (1, 3), (3,), (), (2, 0))
    put(rows, KEY + 300, 1, decision_definition_key=KEY + 17, state="FAILED", failure="boom", rules="[]")
    put(rows, KEY + 310, 1, decision_definition_key=KEY + 18, rules=rules_of(9))
    answer = await reader("GET", f"/v2/decision-definitions/{KEY + 17}/statistics/rules")
    assert answer.json == {
        "decisionInstances": 5,
        "failed": 1,
        "hasMore": False,
        "withoutAllRules": 1,
        "rules": [{"ruleIndex": index, "matches": matches} for index, matches in ((1, 1), (2, 1), (3, 2))],
    }
    unknown = await reader("GET", f"/v2/decision-definitions/{KEY + 99}/statistics/rules")
    assert unknown.status == 404


@pytest.mark.parametrize(
    ("limit", "most", "seen"),
    [("LOOKED_AT", 2, [(3, 2)]), ("RULES_BYTES", 1, [(3, 1)]), ("LOOKED_AT", 3, [(1, 1), (3, 3)])],
)
async def test_counts_of_rules_are_bounded_and_say_so(reader, rows, monkeypatch, limit, most, seen):
    """By the number of rows and by their bytes; the newest come first."""
    monkeypatch.setattr(decision_statistics, limit, most)
    rows.execute("INSERT INTO resources (sha256, bytes) VALUES ('dd', '<x/>')")
    rows.decision(KEY + 17)
    stored(rows, KEY + 17, (1, 3), (3,), (3,))
    answer = await reader("GET", f"/v2/decision-definitions/{KEY + 17}/statistics/rules")
    assert [(each["ruleIndex"], each["matches"]) for each in answer.json["rules"]] == seen
    assert (answer.json["decisionInstances"], answer.json["hasMore"]) == (most, most < 3)


async def test_counts_begin_at_the_newest_of_all_partitions(reader, rows, monkeypatch):
    """Keys of a later partition are higher, however old the rows are."""
    monkeypatch.setattr(decision_statistics, "COUNTED", 2)
    monkeypatch.setattr(decision_statistics, "LOOKED_AT", 2)
    rows.execute("INSERT INTO resources (sha256, bytes) VALUES ('dd', '<x/>')")
    rows.execute("INSERT INTO partitions (id) VALUES (2), (3) ON CONFLICT DO NOTHING")
    rows.decision(KEY + 17)
    stored(rows, KEY + 17, (2,))
    for partition, at, state in ((2, "2026-11-18T11:06:39Z", "FAILED"), (3, "2026-11-18T11:06:41Z", "EVALUATED")):
        key = partition << 51 | 7
        put(rows, key, decision_definition_key=KEY + 17, rules=rules_of(partition), evaluated_at=at, state=state)
    found = (await reader("GET", f"/v2/decision-definitions/{KEY + 17}/statistics/rules")).json
    assert [each["ruleIndex"] for each in found["rules"]] == [2, 3]
    assert (found["decisionInstances"], found["failed"], found["hasMore"]) == (2, 0, True)
    counted = (await reader("POST", STATISTICS, {"decisionDefinitionKeys": [str(KEY + 17)]})).json["items"]
    assert counted == [{"decisionDefinitionKey": str(KEY + 17), "decisionInstances": 2, "failed": 0, "hasMore": True}]


async def test_evaluations_are_counted_by_version(reader, rows, monkeypatch):
    monkeypatch.setattr(decision_statistics, "COUNTED", 3)
    rows.execute("INSERT INTO resources (sha256, bytes) VALUES ('dd', '<x/>')")
    rows.decision(KEY + 17)
    rows.decision(KEY + 27, decision_id="other")
    stored(rows, KEY + 17, (), (), ())
    put(rows, KEY + 400, 1, decision_definition_key=KEY + 17, state="FAILED")
    put(rows, KEY + 410, 1, decision_definition_key=KEY + 27, state="FAILED")
    keys = [str(KEY + 27), str(KEY + 17), str(KEY + 17), str(KEY + 99)]
    answer = await reader("POST", STATISTICS, {"decisionDefinitionKeys": keys})
    assert answer.json["items"] == [
        {"decisionDefinitionKey": str(KEY + 27), "decisionInstances": 1, "failed": 1, "hasMore": False},
        {"decisionDefinitionKey": str(KEY + 17), "decisionInstances": 3, "failed": 1, "hasMore": True},
    ]
    assert (await reader("POST", STATISTICS)).json["items"] == []
    many = await reader("POST", STATISTICS, {"decisionDefinitionKeys": ["1"] * 101})
    assert (many.status, "must not have more than 100" in many.problem["detail"]) == (400, True)
