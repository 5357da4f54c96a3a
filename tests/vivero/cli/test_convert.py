"""`vivero convert`: files, notes, exit codes."""

import json

import pytest
from click.testing import CliRunner

from tests.core.bpmn.test_camunda7 import extended, model
from vivero.cli import main

FORM = '<camunda:formData><camunda:formField id="ok" type="boolean"/></camunda:formData>'


@pytest.fixture
def convert(tmp_path, monkeypatch):
    """Runs the command in a directory with two models and a decision."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "loan.bpmn").write_bytes(
        model(extended("userTask", FORM, attributes='camunda:initiator="x"'))
    )
    (tmp_path / "models" / "plain.bpmn").write_bytes(model("<task id='it'/>").replace(b'id="p"', b'id="q"'))
    (tmp_path / "models" / "table.dmn").write_text("<definitions/>")

    def run(*arguments):
        return CliRunner().invoke(main, ["convert", *arguments], catch_exceptions=False)

    return run


def test_a_directory_is_converted_with_what_is_left(convert, tmp_path):
    done = convert("models", "--out", "new")
    assert done.exit_code == 0, done.output
    assert {file.name for file in (tmp_path / "new").iterdir()} == {
        "loan.bpmn",
        "it-form.form",
        "plain.bpmn",
        "table.dmn",
    }
    assert (
        "models/loan.bpmn -> new/loan.bpmn, new/it-form.form\n  to do:\n    line 1 'it': camunda:initiator"
        in done.output
    )
    assert "models/plain.bpmn: copied, it is not of Camunda 7" in done.output
    assert "A deployment would still refuse:\n  'table.dmn'" in done.output
    assert done.output.endswith("1 converted, 1 to do, 1 to check. Next: vivero validate new\n")
    assert (tmp_path / "new" / "table.dmn").read_text() == "<definitions/>"


def test_files_that_are_there_stay_unless_they_are_to_be_replaced(convert, tmp_path):
    assert convert("models/loan.bpmn").exit_code == 0
    before = (tmp_path / "converted" / "loan.bpmn").read_bytes()
    (tmp_path / "converted" / "loan.bpmn").write_bytes(b"edited")
    again = convert("models/loan.bpmn")
    assert again.exit_code == 1
    assert "There is converted/loan.bpmn, converted/it-form.form already: --force replaces it" in again.stderr
    assert (tmp_path / "converted" / "loan.bpmn").read_bytes() == b"edited"
    assert convert("models/loan.bpmn", "--force").exit_code == 0
    assert (tmp_path / "converted" / "loan.bpmn").read_bytes() == before


def test_programs_get_a_document_for_each_file_and_the_problems(convert):
    lines = [
        json.loads(line) for line in convert("models/loan.bpmn", "models/plain.bpmn", "--json").output.splitlines()
    ]
    loan, plain, last = lines
    assert loan["written"] == ["converted/loan.bpmn", "converted/it-form.form"]
    assert [note["care"] for note in loan["notes"]] == ["todo", "check"]
    assert loan["notes"][0]["advice"] == "It has no effect here"
    assert (plain["converted"], plain["notes"]) == (False, [])
    assert last == {"problems": []}


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"<a", "'bad.bpmn' line 1: not well-formed XML"), (b"<!DOCTYPE a><a/>", "'bad.bpmn' line 1: a DOCTYPE")],
)
def test_a_file_that_cannot_be_read_is_named_with_its_line(convert, tmp_path, content, says):
    (tmp_path / "bad.bpmn").write_bytes(content)
    done = convert("bad.bpmn")
    assert done.exit_code == 1
    assert says.partition(":")[0] in done.stderr
    assert not (tmp_path / "converted").exists()


def test_no_id_of_a_model_leads_out_of_the_directory(convert, tmp_path):
    (tmp_path / "evil.bpmn").write_bytes(model(extended("userTask", FORM)).replace(b'id="it"', b'id="../../it"'))
    assert convert("evil.bpmn", "--out", "new/deep").exit_code == 0
    assert {file.name for file in (tmp_path / "new" / "deep").iterdir()} == {"evil.bpmn", "..-..-it-form.form"}
    assert not (tmp_path / "it-form.form").exists()


def test_the_given_files_are_never_replaced(convert, tmp_path):
    before = (tmp_path / "models" / "loan.bpmn").read_bytes()
    done = convert("models", "--out", "models/../models", "--force")
    assert done.exit_code == 1
    assert "The given files are in models/../models: --out names another directory" in done.stderr
    assert (tmp_path / "models" / "loan.bpmn").read_bytes() == before


def test_two_files_of_one_name_are_refused(convert, tmp_path):
    (tmp_path / "loan.bpmn").write_bytes((tmp_path / "models" / "loan.bpmn").read_bytes())
    done = convert("loan.bpmn", "models/loan.bpmn")
    assert done.exit_code == 1
    assert "Two files would be called loan.bpmn, it-form.form" in done.stderr
