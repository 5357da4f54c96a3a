"""The kinds of files that may be deployed."""

from __future__ import annotations

import pytest

from vivero.core.resources.kinds import read_resource


@pytest.mark.parametrize("name", ["straight.bpmn", "straight.BPMN", "a/b/straight.xml"])
def test_bpmn_files_are_parsed(models, name):
    parsed = read_resource(name, (models / "straight.bpmn").read_bytes())
    assert [process.id for process in parsed.processes] == ["straight"]
    assert parsed.resource == name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("robot.rpa", "files of type .rpa cannot be deployed; known are .bpmn, .xml, .form, .dmn"),
        ("bpmn", "files without an extension cannot be deployed; known are .bpmn, .xml, .form, .dmn"),
        ("", "files without an extension cannot be deployed; known are .bpmn, .xml, .form, .dmn"),
        ("name.", "files without an extension cannot be deployed; known are .bpmn, .xml, .form, .dmn"),
        ("x." + "y" * 1000, f"files of type .{'y' * 20} cannot be deployed; known are .bpmn, .xml, .form, .dmn"),
    ],
)
def test_other_files_are_refused(models, name, message):
    parsed = read_resource(name, (models / "straight.bpmn").read_bytes())
    assert parsed.processes == ()
    assert [(p.resource, p.element_id, p.line, p.message) for p in parsed.problems] == [(name, None, None, message)]
