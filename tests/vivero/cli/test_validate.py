"""`vivero validate`: what a deployment says, without a server."""

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tests import plain_http
from vivero.cli import main

ROOT = Path(__file__).parents[3]
ORDER = ROOT / "examples" / "order" / "order.bpmn"
HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"'
    ' xmlns:camunda="http://camunda.org/schema/1.0/bpmn" targetNamespace="t">'
)
START = '<startEvent id="s"/>'
HOOK = (
    '<startEvent id="s"><extensionElements><zeebe:properties><zeebe:property name="inbound.type"'
    ' value="io.camunda:webhook:1"/></zeebe:properties></extensionElements></startEvent>'
)
FORM = '<startEvent id="s"><extensionElements><zeebe:formDefinition formId="ask"/></extensionElements></startEvent>'
FAULTY = {
    "no job type": START + '<serviceTask id="one"/><serviceTask id="two"/>',
    "Camunda 7": START + '<serviceTask id="one" camunda:class="org.acme.One"/>',
    "an expression": START
    + '<scriptTask id="one"><extensionElements><zeebe:script expression="=1 +" resultVariable="x"/>'
    "</extensionElements></scriptTask>",
    "no start": '<task id="one"/>',
    "an odd node": START + '<task id="alone"/>',
    "no file at all": None,
}


def model(content, id="p"):
    return f'{HEAD}<process id="{id}" isExecutable="true">{content}</process></definitions>'


def validate(*arguments, **environment):
    return CliRunner().invoke(main, ("validate", *map(str, arguments)), env=environment, catch_exceptions=False)


@pytest.fixture
def file(tmp_path):
    def write(content, name="p.bpmn"):
        path = tmp_path / name
        path.write_text("nonsense" if content is None else content if content.startswith("{") else model(content))
        return path

    return write


def test_good_files_are_listed():
    claim = ROOT / "examples" / "claim"
    result = validate(claim / "claim.bpmn", *sorted(claim.glob("*.form")))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "claim.bpmn: process claim",
        "file-claim.form: form file-claim",
        "review-claim.form: form review-claim",
    ]


def test_a_form_that_is_elsewhere_is_a_warning(file):
    path = file(FORM)
    result = validate(path)
    assert (result.exit_code, result.stdout) == (0, "p.bpmn: process p\n")
    assert "no form 'ask' is among the files: until it is deployed, the process has no start form" in result.stderr
    assert validate("--strict", path).exit_code == 1


def test_as_json(file):
    result = validate("--json", file(FAULTY["no job type"]))
    found = json.loads(result.stdout)
    assert (result.exit_code, found["valid"], len(found["problems"])) == (1, False, 2)
    assert json.loads(validate("--json", ORDER).stdout) == {"valid": True, "problems": [], "warnings": []}


def test_files_are_checked_against_each_other(file, tmp_path):
    first, second = file(START), tmp_path / "other.bpmn"
    second.write_text(model(START))
    assert "process 'p' is also in 'p.bpmn'" in validate(first, second).stderr


def test_webhooks_are_checked_where_the_server_runs_them(file):
    path = file(HOOK)
    assert "connectors are disabled" in validate(path).stderr
    enabled = validate(path, VIVERO_CONNECTORS_ENABLED="true")
    assert (enabled.exit_code, "inbound.context" in enabled.stderr) == (1, True)


def test_a_file_that_is_not_there_is_the_callers_fault():
    assert validate("/nowhere.bpmn").exit_code == 2


@pytest.mark.process
def test_the_problems_are_those_of_a_deployment(shared_server, file):
    for content in FAULTY.values():
        path = file(content)
        answer = plain_http.post(
            f"{shared_server.address}/v2/deployments", files=[("resources", (path.name, path.read_bytes()))], timeout=60
        )
        found = json.loads(validate("--json", path).stdout)
        if answer.is_success:
            assert (found["valid"], found["warnings"]) == (True, answer.json()["warnings"])
        else:
            assert found["problems"] == answer.json()["detail"].splitlines()[1:]


def test_a_directory_stands_for_its_models_and_forms(file, tmp_path):
    (tmp_path / "deep" / ".hidden").mkdir(parents=True)
    for name in ("b.bpmn", "a.bpmn", "deep/c.bpmn", "deep/.hidden/d.bpmn", "pom.xml"):
        (tmp_path / name).write_text(model(START, id=f"of-{Path(name).stem}"))
    result = validate(tmp_path)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [f"{name}.bpmn: process of-{name}" for name in "abc"]
    assert validate(tmp_path / "deep" / "*.bpmn").stdout == "c.bpmn: process of-c\n"


@pytest.mark.parametrize(
    ("names", "argument", "complaint"),
    [
        ((), "", "there are no .bpmn or .form or .dmn files in the directory"),
        ((), "none.bpmn", "there is no file"),
        (("a.bpmn",), "*.form", "there is no file"),
    ],
)
def test_files_that_are_not_there_are_the_callers_fault(tmp_path, names, argument, complaint):
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(model(START))
    result = validate(tmp_path / argument)
    assert result.exit_code == 2
    assert complaint in " ".join(result.stderr.split())


def test_files_of_one_name_are_told_apart_by_their_paths(tmp_path):
    for name, id in (("one/a.bpmn", "p"), ("two/a.bpmn", "q"), ("b.bpmn", "r")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(model(START, id=id))
    result = validate(tmp_path, tmp_path / "b.bpmn", tmp_path / "one" / ".." / "b.bpmn")
    assert result.stdout.splitlines() == [
        "b.bpmn: process r",
        f"{tmp_path}/one/a.bpmn: process p",
        f"{tmp_path}/two/a.bpmn: process q",
    ]
    (tmp_path / "two/a.bpmn").write_text(model(START, id="p"))
    assert f"'{tmp_path}/two/a.bpmn': process 'p' is also in '{tmp_path}/one/a.bpmn'" in validate(tmp_path).stderr


@pytest.mark.parametrize("name", ["deploy", "validate"])
def test_a_shell_completes_files(name):
    command = main.get_command(click.Context(main), name)
    files = next(each for each in command.params if each.name == "files")
    assert [each.type for each in files.shell_complete(click.Context(command), "exam")] == ["file"]


DECISION = (
    '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="{id}" name="Rates" namespace="{id}">'
    '<decision id="{decision}" name="Rate"><variable name="rate"/>'
    "<literalExpression><text>{text}</text></literalExpression></decision></definitions>"
)
CALLS = (
    START + '<businessRuleTask id="rate"><extensionElements>'
    '<zeebe:calledDecision decisionId="rate" resultVariable="rate" bindingType="deployment"/>'
    '</extensionElements></businessRuleTask><sequenceFlow id="f" sourceRef="s" targetRef="rate"/>'
)


@pytest.fixture
def decision(tmp_path):
    def write(name, id="rates", decision="rate", text="1"):
        path = tmp_path / name
        path.write_text(DECISION.format(id=id, decision=decision, text=text))
        return path

    return write


def test_decisions_are_read_with_all_problems(decision):
    assert validate(decision("good.dmn")).stdout == "good.dmn: decision rate\n"
    bad = validate(decision("bad.dmn", id="a c", decision="a b", text="1 +"))
    assert bad.exit_code == 1
    for text in ("FEEL expression: failed to parse '1 +'", "'a c' is not an id", "'a b' is not the id of a decision"):
        assert text in bad.stderr


def test_two_files_with_the_same_ids(decision):
    found = validate(decision("a.dmn"), decision("b.dmn"))
    assert (found.exit_code, found.stderr.splitlines()) == (
        1,
        [
            f"Expected the {what} ids to be unique within a deployment but found a duplicated id '{id}' in the"
            " resources 'a.dmn' and 'b.dmn'."
            for what, id in (("decision requirements", "rates"), ("decision", "rate"))
        ],
    )


def test_a_decision_of_the_same_deployment_is_in_it(file, decision):
    calling = file(CALLS)
    assert validate(calling, decision("rate.dmn")).exit_code == 0
    found = validate(calling, decision("other.dmn", decision="other"))
    assert found.exit_code == 1
    assert (
        "element 'rate': Expected to find decision with id 'rate' in current deployment, but not found." in found.stderr
    )
