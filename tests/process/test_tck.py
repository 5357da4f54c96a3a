"""The given models of the DMN TCK over HTTP: deployed as they are, with variables and results as JSON."""

import gzip
import json
import re
from decimal import Decimal

import pytest

from tests.core.dmn import tck
from tests.core.feel import case_format
from tests.process.http_client import Caller
from tests.process.load import send_files
from vivero.core.feel import to_json

TWICE = "0089-nested-inputdata-imports"
"""Two files of this model have a decision of the same id, which no deployment may have."""
UNTYPED = re.compile(r'<variable name="([^"]*)" typeRef="Any" ?/>')
TEXTS = ("$date", "$time", "$dateTime", "$duration")


def json_of(value):
    """A value of a case as JSON, in which temporals are texts."""
    if isinstance(value, dict) and len(value) == 1:
        ((kind, text),) = value.items()
        if kind in TEXTS:
            return json.dumps(text)
        if kind == "$number":
            return str(Decimal(text))
        if kind == "$untyped":
            return text if text.isdecimal() or text in ("true", "false") else json.dumps(text)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {json_of(each)}" for key, each in value.items()) + "}"
    return f"[{', '.join(map(json_of, value))}]" if isinstance(value, list) else json.dumps(value)


async def deployed(caller, model):
    """The keys of the decisions of a model by name."""
    files = {model["model"]: model["files"][model["model"]], **model["files"]}
    answer = await send_files(caller, files)
    assert answer.status == 200, (model["dir"], answer)
    decisions = [each["decisionDefinition"] for each in answer.json["deployments"] if each.get("decisionDefinition")]
    return {each["name"]: each["decisionDefinitionKey"] for each in decisions}


def can_be_asked(model, case):
    """Whether the case is one of a decision, and JSON has its inputs: a date for an input of no type stays a text."""
    text = model["files"][model["model"]]
    untyped = set(UNTYPED.findall(text))
    temporal = {
        each["name"] for each in case["inputs"] if isinstance(each["value"], dict) and set(TEXTS) & set(each["value"])
    }
    return case.get("type") != "decisionService" and not temporal & untyped


async def result_of(caller, key, case):
    variables = json_of({each["name"]: each["value"] for each in case["inputs"]})
    body = f'{{"decisionDefinitionKey": "{key}", "variables": {variables}}}'.encode()
    answer = await caller.send("POST", "/v2/decision-definitions/evaluation", body, "application/json")
    assert answer.status == 200, answer
    return json.loads(answer.json["output"], parse_float=Decimal, parse_int=Decimal)


@pytest.mark.long
async def test_the_cases_over_http(program):
    if not tck.path().exists():
        pytest.skip(f"no cases: {tck.path()} is not there, VIVERO_CASES names another directory")
    models = json.loads(gzip.decompress(tck.path().read_bytes()))["models"]
    asked, wrong = 0, []
    await program.restart()
    async with Caller(program.port) as caller:
        for model in models:
            if model["dir"].startswith("non-compliant") or model["dir"].endswith(TWICE):
                continue
            keys = await deployed(caller, model)
            for case in (each for each in model["cases"] if can_be_asked(model, each)):
                for result in case["results"]:
                    asked += 1
                    expected = to_json(case_format.decode(result["expected"]))
                    expected = json.loads(expected, parse_float=Decimal, parse_int=Decimal)
                    found = await result_of(caller, keys[result["name"]], case)
                    if not case_format.same(found, expected, tck.TOLERANCE):
                        wrong.append(f"{model['dir']}#{case['id']} {result['name']}: {found} instead of {expected}")
    assert not wrong, "\n".join(wrong)
    assert asked > 1650
