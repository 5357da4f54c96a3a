"""The kinds of files that may be deployed."""

from __future__ import annotations

import pytest

from vivero.core.bpmn.model import GenericResource
from vivero.core.resources.generic_resources import MAX_RPA_BYTES
from vivero.core.resources.kinds import read_resource


@pytest.mark.parametrize("name", ["straight.bpmn", "straight.BPMN", "a/b/straight.xml"])
def test_bpmn_files_are_parsed(models, name):
    parsed = read_resource(name, (models / "straight.bpmn").read_bytes())
    assert [process.id for process in parsed.processes] == ["straight"]
    assert parsed.resource == name


@pytest.mark.parametrize("name", ["welcome.md", "bpmn", "name.", "a/b/data.json", "prompt.bpmn.txt", "image.PNG"])
def test_any_other_file_is_a_generic_resource_with_its_name(name):
    parsed = read_resource(name, b"\x00\xff<definitions")
    assert (parsed.generic, parsed.deployment_problems) == (GenericResource(name), ())


def test_a_script_of_robots_names_itself():
    parsed = read_resource("robot.rpa", b'{"id": "robot", "versionTag": "v1", "script": "*** Tasks ***"}')
    assert parsed.generic == GenericResource("robot", "v1")
    assert read_resource("a.rpa", b'{"id": "robot", "versionTag": ""}').generic == GenericResource("robot")


@pytest.mark.parametrize(
    ("name", "content", "line", "message"),
    [
        ("a.rpa", b"{\n]", 2, "not valid JSON"),
        ("a.rpa", b"[]", 1, "a script of robots is a JSON object"),
        ("a.rpa", b"\xff", 1, "not UTF-8"),
        ("a.rpa", b"{}", None, "id: a script of robots needs an id"),
        ("a.rpa", b'{"id": " "}', None, "id: a script of robots needs an id"),
        ("a.rpa", b'{"id": 7}', None, "id: a script of robots needs an id"),
        ("a.rpa", b'{"id": "a\\u0000"}', None, "is not a name of at most"),
        ("a.rpa", b'{"id": "a", "versionTag": 1}', None, "versionTag: a text of at most"),
        ("a.rpa", b" " * (MAX_RPA_BYTES + 1), None, f"at most {MAX_RPA_BYTES} are read"),
        ("", b"", None, "it needs 1 to 500 printable characters"),
        ("a\x00.md", b"", None, "it needs 1 to 500 printable characters"),
        ("a\udcff.md", b"", None, "it needs 1 to 500 printable characters"),
        ("x" * 501, b"", None, "it needs 1 to 500 printable characters"),
    ],
)
def test_what_is_wrong_with_another_file_is_told(name, content, line, message):
    ((problem,), generic) = (read := read_resource(name, content)).problems, read.generic
    assert (problem.resource, problem.line, generic) == (name, line, None)
    assert message in problem.message
