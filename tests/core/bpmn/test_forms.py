"""Form files, and which form belongs to a task or to the start of a process."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from random import Random

import pytest

from tests.core.bpmn.conftest import MODELS
from vivero.core.bpmn.forms import MAX_COMPONENT_DEPTH, MAX_COMPONENTS, MAX_FORM_BYTES
from vivero.core.bpmn.model import Form
from vivero.core.resources.kinds import read_resource

FIELD: dict[str, object] = {"type": "textfield", "id": "f", "key": "name", "label": "Name"}
EXAMPLES = MODELS.parents[1] / "examples" / "claim"


def form(**changes):
    """A form as bytes; a change to None removes a property."""
    document = {"type": "default", "id": "ask", "schemaVersion": 19, "components": [FIELD]} | changes
    return json.dumps({name: value for name, value in document.items() if value is not None}).encode()


def read(content):
    return read_resource("ask.form", content)


def told(problems):
    return [(problem.line, problem.message) for problem in problems]


def nested(depth):
    inside = FIELD
    for _ in range(depth):
        inside = {"type": "group", "components": [inside]}
    return [inside]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.form")), ids=lambda path: path.name)
def test_the_examples_are_forms(path):
    parsed = read_resource(path.name, path.read_bytes())
    assert (parsed.problems, parsed.warnings, parsed.form.id) == ((), (), path.stem)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (form(), Form("ask")),
        (form(versionTag="v2"), Form("ask", "v2")),
        (BOM_UTF8 + form(), Form("ask")),
        (form(versionTag=""), Form("ask")),
        (form(schemaVersion=None, type=None, components=[]), Form("ask")),
        (form(id="Über uns 1"), Form("Über uns 1")),
        (form(components=nested(MAX_COMPONENT_DEPTH - 1)), Form("ask")),
        (form(components=[FIELD] * MAX_COMPONENTS), Form("ask")),
    ],
    ids=["plain", "tag", "byte order mark", "empty tag", "least", "any name", "deep", "long"],
)
def test_a_form_has_an_id_and_perhaps_a_tag(content, expected):
    parsed = read(content)
    assert (parsed.form, parsed.processes, told(parsed.problems), parsed.warnings) == (expected, (), [], ())


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"", None, "not valid JSON"),
        (b'{\n "id": "a",\n "components": [}\n}', 3, "not valid JSON: "),
        (b'{\n"id": "\xff"}', 2, "not UTF-8"),
        (b"[]", 1, "a form is a JSON object"),
        (b"[" * 100_000, None, "the JSON is nested too deep"),
        (b" " * (MAX_FORM_BYTES + 1), None, f"the file has {MAX_FORM_BYTES + 1} bytes; at most {MAX_FORM_BYTES} are"),
        (form(id=None), None, "id: a form needs an id"),
        (form(id=" "), None, "id: a form needs an id"),
        (form(id=7), None, "id: a form needs an id"),
        (form(id="a\0b"), None, "id: 'a\0b' is not a name of at most 255 characters"),
        (form(id="a" * 256), None, "id: '"),
        (form(versionTag=1), None, "versionTag: a text of at most 255 characters is expected"),
        (form(versionTag="v\n"), None, "versionTag: a text of at most 255 characters is expected"),
        (form(schemaVersion="19"), None, "schemaVersion: a whole number from 1 is expected"),
        (form(schemaVersion=True), None, "schemaVersion: a whole number from 1 is expected"),
        (form(schemaVersion=0), None, "schemaVersion: a whole number from 1 is expected"),
        (form(type="bpmn"), None, "type: 'bpmn' is not a form"),
        (form(components=None), None, "components: a form needs a list of components"),
        (form(components={}), None, "components: a list of components is expected"),
        (form(components=[FIELD, 7]), None, "components[1]: an object is expected"),
        (form(components=[FIELD, {"id": "x"}]), None, "components[1].type: a component needs a type"),
        (
            form(components=[{"type": "group", "components": 1}]),
            None,
            "components[0].components: a list of components is expected",
        ),
        (form(components=nested(MAX_COMPONENT_DEPTH)), None, "components[0].components"),
        (
            form(components=[FIELD] * (MAX_COMPONENTS + 1)),
            None,
            f"components: the form has more than {MAX_COMPONENTS} components",
        ),
    ],
    ids=str,
)
def test_a_bad_form_says_where(content, line, message):
    parsed = read(content)
    ((found_line, found),) = told(parsed.problems)
    assert (found_line, found[: len(message)]) == (line, message)
    assert parsed.form is None


def test_all_problems_of_a_form_are_told_at_once():
    parsed = read(form(id=None, schemaVersion="x", components=[1, {"type": "group", "components": [2]}]))
    assert [message.partition(":")[0] for _, message in told(parsed.problems)] == [
        "id",
        "schemaVersion",
        "components[0]",
        "components[1].components[0]",
    ]
    assert str(parsed.problems[0]).startswith("'ask.form': id: ")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schemaVersion": 20}, "schemaVersion: 20 is newer than 19"),
        ({"components": [{"type": "group", "components": [{"type": "iframe"}]}]}, "components: 'iframe' has"),
        ({"components": [{"type": "iframe"}]}, "components: 'iframe' has no effect in the console"),
    ],
)
def test_what_the_console_does_not_show_is_a_warning(changes, message):
    parsed = read(form(**changes))
    assert parsed.form == Form("ask")
    assert [text[: len(message)] for _, text in told(parsed.warnings)] == [message]


@pytest.mark.parametrize("type_", ["filepicker", "documentPreview"])
def test_components_with_files_are_shown(type_):
    assert read(form(components=[{"type": type_}])).warnings == ()


def test_reading_a_form_never_raises(seed):
    random = Random(seed)
    whole = (EXAMPLES / "review-claim.form").read_bytes()
    for _ in range(300):
        content = bytearray(whole)
        for _ in range(random.randint(1, 5)):
            content[random.randrange(len(content))] = random.randrange(256)
        parsed = read(bytes(content))
        assert (parsed.form is None) == bool(parsed.problems)


# ---- references

START = '<startEvent id="s"><extensionElements><zeebe:formDefinition {}/></extensionElements>{}</startEvent>'
TIMER = "<timerEventDefinition><timeDate>2030-01-01T00:00:00Z</timeDate></timerEventDefinition>"
TASK = '<userTask id="t"><extensionElements>{}<zeebe:formDefinition {}/></extensionElements></userTask>'
NO_EFFECT = "zeebe:formDefinition has no effect here: "


@pytest.mark.parametrize(
    ("attributes", "binding", "tag"),
    [
        ('formId="ask"', "latest", None),
        ('formId="ask" bindingType="deployment"', "deployment", None),
        ('formId="ask" bindingType="versionTag" versionTag="v1"', "versionTag", "v1"),
    ],
)
def test_a_process_has_a_start_form(process, attributes, binding, tag):
    parsed = process(START.format(attributes, ""))
    assert (told(parsed.problems), told(parsed.warnings)) == ([], [])
    found = parsed.processes[0].nodes["s"].start_form
    assert (found.form_id.static_value, found.binding, found.version_tag) == ("ask", binding, tag)


@pytest.mark.parametrize(
    ("content", "warning"),
    [
        (START.format('formKey="camunda-forms:bpmn:x"', ""), NO_EFFECT + "a start form is named by formId, and"),
        (START.format('formId="=x"', ""), NO_EFFECT + "the formId of a start form cannot be an expression"),
        (START.format('formId="x" bindingType="any"', ""), NO_EFFECT + "bindingType 'any' is none of latest,"),
        (START.format('formId="x" bindingType="versionTag"', ""), NO_EFFECT + "bindingType='versionTag' needs a"),
        (START.format('formId="x"', TIMER), "zeebe:formDefinition has no effect on this element"),
        (
            TASK.format("<zeebe:userTask/>", 'formKey="camunda-forms:bpmn:x"') + '<startEvent id="s"/>',
            "an embedded form (zeebe:userTaskForm) is not served: deploy it as a .form file",
        ),
    ],
    ids=["embedded", "expression", "binding", "tag", "timer", "task"],
)
def test_a_form_that_nobody_gets_is_a_warning(process, content, warning):
    parsed = process(content)
    assert told(parsed.problems) == []
    assert all(node.start_form is None for node in parsed.processes[0].nodes.values())
    assert warning in [text[: len(warning)] for _, text in told(parsed.warnings)]


def test_an_embedded_form_of_a_job_is_for_its_worker(process):
    parsed = process(TASK.format("", 'formKey="camunda-forms:bpmn:x"') + '<startEvent id="s"/>')
    assert "formDefinition" not in str(told(parsed.warnings))
    assert parsed.processes[0].nodes["t"].job.computed["io.camunda.zeebe:formKey"].static_value == (
        "camunda-forms:bpmn:x"
    )
