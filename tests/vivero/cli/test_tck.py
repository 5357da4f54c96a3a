"""The given models of the DMN TCK, through `vivero evaluate --batch`: files in, FEEL texts in and out."""

import gzip
import json

import pytest
from click.testing import CliRunner

from tests.core.dmn import tck
from tests.core.feel import case_format
from vivero.cli import main
from vivero.core.feel.closures.fragments import compile_fragment
from vivero.core.feel.standard import DMN
from vivero.core.feel.values import FeelLimits, Run

LIMITS = FeelLimits(source_length=4_000_000)
TEMPORAL = {"$date": "date", "$time": "time", "$dateTime": "date and time", "$duration": "duration"}


def feel(value):
    """A value of a case as FEEL."""
    if isinstance(value, dict) and len(value) == 1:
        ((kind, text),) = value.items()
        if kind in TEMPORAL:
            return f"{TEMPORAL[kind]}({json.dumps(text)})"
        if kind == "$number":
            return f"({text})"
        if kind == "$untyped":
            return text if text.isdecimal() or text in ("true", "false") else json.dumps(text)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {feel(each)}" for key, each in value.items()) + "}"
    return f"[{', '.join(map(feel, value))}]" if isinstance(value, list) else json.dumps(value, ensure_ascii=False)


def line(case, result):
    given = feel({each["name"]: each["value"] for each in case["inputs"]})
    if case.get("type") == "decisionService":
        return {"service": case["invocable"], "context": given}
    return {"decision": result["name"], "context": given}


def answered(model, directory):
    """The answer to each result of the cases of a model."""
    files = {model["model"]: model["files"][model["model"]], **model["files"]}
    for name, text in files.items():
        (directory / name).write_text(text)
    lines = [json.dumps(line(case, result)) for case in model["cases"] for result in case["results"]]
    arguments = ["evaluate", *(str(directory / name) for name in files), "--batch", "-"]
    done = CliRunner().invoke(main, arguments, input="\n".join(lines), catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    answers = [json.loads(each) for each in done.stdout.splitlines()]
    assert len(answers) == len(lines)
    return answers


def found(answer, case, result):
    if "error" in answer:
        return None
    value = compile_fragment(answer["result"], dialect=DMN, limits=LIMITS)(Run({}, case_format.NOW_MS, LIMITS))
    several = case.get("type") == "decisionService" and len(case["results"]) > 1
    return value[result["name"]] if several else value


@pytest.mark.long
def test_all_official_cases_pass(tmp_path):
    if not tck.path().exists():
        pytest.skip(f"no cases: {tck.path()} is not there, VIVERO_CASES names another directory")
    models = json.loads(gzip.decompress(tck.path().read_bytes()))["models"]
    wrong, passed = [], 0
    for number, model in enumerate(each for each in models if not each["dir"].startswith("non-compliant")):
        directory = tmp_path / str(number)
        directory.mkdir()
        answers = iter(answered(model, directory))
        for case in model["cases"]:
            for result in case["results"]:
                answer, expected = next(answers), case_format.decode(result["expected"])
                if case_format.same(found(answer, case, result), expected, tck.TOLERANCE):
                    passed += 1
                else:
                    wrong.append(f"{model['dir']}#{case['id']} {result['name']}: {answer} instead of {expected}")
    assert wrong == []
    assert passed > 1600
