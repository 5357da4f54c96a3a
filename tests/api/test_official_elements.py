"""The official Python client, unmodified, reads strictly what is rare: elements of BPMN, and shapes of decisions."""

import json
from pathlib import Path

import pytest

from tests.api.official import models
from tests.api.test_java_client import MODELS, TYPES
from tests.api.test_official_operations import run_javascript
from tests.core.dmn.models import decision, definitions, inputs, literal, table

ORDER = ("book", "pay", "ubook", "left", "right", "again", "again")
"""The jobs of `others`, as they come."""
LONG_MS = 60_000
SHAPES = {
    "number": "1.5",
    "text": '"a \\"b\\""',
    "truth": "true",
    "nothing": "null",
    "list": "[1, [2], {a: 3}]",
    "context": '{a: 1, "b c": [null]}',
    "day": '@"2026-01-31"',
    "moment": '@"2026-01-31T10:00:00Z"',
    "duration": '@"P1DT2H"',
}
OUTPUTS = {
    "number": 1.5,
    "text": 'a "b"',
    "truth": True,
    "nothing": None,
    "list": [1, [2], {"a": 3}],
    "context": {"a": 1, "b c": [None]},
    "day": "2026-01-31",
    "moment": "2026-01-31T10:00:00Z",
    "duration": "P1DT2H",
    "unique": "gold",
    "collected": ["gold", "all"],
    "boxed": {"x": 1},
}
RULES = [["> 10", '"gold"'], ["-", '"all"']]
CONTEXT = "<context><contextEntry><variable name='x'/>{}</contextEntry></context>"
FILE = definitions(
    inputs("n")
    + "".join(decision(name, literal(text)) for name, text in SHAPES.items())
    + decision("unique", table(["n"], ["kind"], RULES[:1]), inputs=["n"])
    + decision("collected", table(["n"], ["kind"], RULES, "COLLECT"), inputs=["n"])
    + decision("violated", table(["n"], ["kind"], RULES), inputs=["n"])
    + decision("endless", literal("count(for i in 1..1000000000 return i)"))
    + decision("boxed", CONTEXT.format(literal("1")))
)


async def test_every_element(in_thread, tmp_path):
    (tmp_path / "others.bpmn").write_bytes(MODELS["others"])

    def use(client):
        client.deploy_resources_from_files([str(tmp_path / "others.bpmn")])
        created = client.create_process_instance(data=models.ProcessCreationById(process_definition_id="others"))
        for type in ORDER:
            ask = models.JobActivationRequest(
                type_=type, timeout=60_000, max_jobs_to_activate=1, request_timeout=20_000
            )
            (job,) = client.activate_jobs(data=ask).jobs
            client.complete_job(job_key=job.job_key, data=models.JobCompletionRequest())
        filter = {"filter": {"processInstanceKey": str(created.process_instance_key)}, "page": {"limit": 100}}
        found = client.search_element_instances(data=models.ElementInstanceSearchQuery.from_dict(filter)).items
        types = {(one.element_id, str(one.type_), str(one.state)) for one in found}
        assert {
            ("tx", "SUB_PROCESS", "TERMINATED"),
            ("cancelled", "BOUNDARY_EVENT", "COMPLETED"),
            ("ubook", "SERVICE_TASK", "COMPLETED"),
            ("join", "UNKNOWN", "COMPLETED"),
            ("again", "MULTI_INSTANCE_BODY", "COMPLETED"),
            ("again", "SERVICE_TASK", "COMPLETED"),
        } <= types

    await in_thread(use)


async def test_elements_that_need_nobody(in_thread, tmp_path):
    (tmp_path / "alone.bpmn").write_bytes(MODELS["alone"])

    def use(client):
        client.deploy_resources_from_files([str(tmp_path / "alone.bpmn")])
        asked = models.ProcessCreationById(
            process_definition_id="alone", await_completion=True, request_timeout=LONG_MS
        )
        key = client.create_process_instance(data=asked).process_instance_key
        filter = {"filter": {"processInstanceKey": str(key)}, "page": {"limit": 100}}
        found = client.search_element_instances(data=models.ElementInstanceSearchQuery.from_dict(filter)).items
        types = {(one.element_id, str(one.type_)) for one in found}
        assert TYPES.items() <= types
        assert {str(one.state) for one in found} == {"COMPLETED"}
        for one in found:
            assert client.get_element_instance(element_instance_key=one.element_instance_key).type_ == one.type_

    await in_thread(use)


@pytest.mark.long
async def test_the_javascript_client_reads_every_element(program_address, tmp_path):
    script = Path(__file__).with_name("elements.mjs")
    models = {name: MODELS[name] for name in ("adhoc", "alone", "others")}
    await run_javascript(script, program_address, tmp_path, **models)


async def test_every_shape_of_a_decision(in_thread, tmp_path):
    (tmp_path / "shapes.dmn").write_bytes(FILE)

    def evaluate(client, name):
        given = {"decisionDefinitionId": name, "variables": {"n": 20}}
        return client.evaluate_decision(data=models.DecisionEvaluationByID.from_dict(given))

    def use(client):
        client.deploy_resources_from_files([str(tmp_path / "shapes.dmn")])
        for name, output in OUTPUTS.items():
            result = evaluate(client, name)
            assert (json.loads(result.output), result.failure_message) == (output, None), name
            assert [each.decision_definition_id for each in result.evaluated_decisions] == [name]
            key = f"{result.decision_evaluation_key}-1"
            found = client.get_decision_instance(decision_evaluation_instance_key=key)
            assert (str(found.state), json.loads(found.result)) == ("EVALUATED", output)
        failed = evaluate(client, "endless")
        assert (failed.output, failed.failed_decision_definition_id) == ("null", "endless")
        assert "exceeds the limit" in failed.failure_message
        (evaluated,) = evaluate(client, "violated").evaluated_decisions
        assert [rule.rule_index for rule in evaluated.matched_rules] == [1, 2], "all that matched"
        found = client.search_decision_instances(data=models.DecisionInstanceSearchQuery()).items
        assert {str(one.state) for one in found} == {"EVALUATED", "FAILED"}
        assert {str(one.decision_definition_type) for one in found} == {
            "DECISION_TABLE",
            "LITERAL_EXPRESSION",
            "UNKNOWN",
        }

    await in_thread(use)
