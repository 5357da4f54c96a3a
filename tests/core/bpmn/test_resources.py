"""The kinds of files that may be deployed."""

from __future__ import annotations

import pytest

from vivero.core.bpmn.resources import read_resource


@pytest.mark.parametrize("name", ["straight.bpmn", "straight.BPMN", "a/b/straight.xml"])
def test_bpmn_files_are_parsed(models, name):
    parsed = read_resource(name, (models / "straight.bpmn").read_bytes())
    assert [process.id for process in parsed.processes] == ["straight"]
    assert parsed.resource == name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rules.dmn", "decisions (.dmn) are not supported yet"),
        ("Rules.DMN", "decisions (.dmn) are not supported yet"),
        ("robot.rpa", "files of type .rpa cannot be deployed; known are .bpmn, .xml, .form"),
        ("bpmn", "files without an extension cannot be deployed; known are .bpmn, .xml, .form"),
        ("", "files without an extension cannot be deployed; known are .bpmn, .xml, .form"),
        ("name.", "files without an extension cannot be deployed; known are .bpmn, .xml, .form"),
        ("x." + "y" * 1000, f"files of type .{'y' * 20} cannot be deployed; known are .bpmn, .xml, .form"),
    ],
)
def test_other_files_are_refused(models, name, message):
    parsed = read_resource(name, (models / "straight.bpmn").read_bytes())
    assert parsed.processes == ()
    assert [(p.resource, p.element_id, p.line, p.message) for p in parsed.problems] == [(name, None, None, message)]
