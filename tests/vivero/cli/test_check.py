"""`vivero check`: models beside the workers of Python files; and the loading of such files."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from vivero.cli import main
from vivero.cli.shared.worker_modules import BadWorkers, load

ROOT = Path(__file__).parents[3]
ORDER = ROOT / "examples" / "order" / "order.bpmn"
GREET = ROOT / "examples" / "first" / "greet.bpmn"
HEAD = "from vivero.worker import Worker\n\nworker = Worker()\n"


@pytest.fixture
def check(tmp_path):
    def run(code, *files):
        module = tmp_path / "my_workers.py"
        module.write_text(HEAD + code)
        return CliRunner().invoke(main, ("check", *map(str, files), str(module)), catch_exceptions=False)

    return run


def function(type, parameters="", returned=""):
    return f"\n@worker.job('{type}')\ndef work_{type.replace('-', '_')}({parameters}){returned}: ...\n"


def test_workers_that_fit_the_models(check):
    found = check(function("greet", "name: str = ''"), GREET)
    assert (found.exit_code, found.stdout, found.stderr) == (0, "1 job types have functions: greet\n", "")


def test_types_without_a_function_and_functions_without_a_type(check):
    found = check(function("gret") + function("charge-card") + function("check-stock"), ORDER, GREET)
    assert found.exit_code == 1
    said = found.stderr.splitlines()
    assert any(
        line.startswith("'greet.bpmn' line ")
        and line.endswith("element 'say-hello': no function works jobs of type 'greet': did you mean 'gret'?")
        for line in said
    )
    assert any("no function works jobs of type 'pack-parcel'" in line for line in said)
    assert not any("no function works jobs of type 'charge-card'" in line for line in said)
    assert any("no model has the job type 'gret' of work_gret: did you mean 'greet'?" in line for line in said)


TYPED = """
from dataclasses import dataclass
@dataclass
class Stock:
    shelf: str
"""


def test_parameters_that_nothing_sets_are_warnings(check):
    """Other functions, mappings and forms set variables, and so may the start, which nobody sees."""
    code = TYPED + function("check-stock", "items: list, nam: str, optional: int = 1", " -> Stock")
    rest = "".join(map(function, ("pick-items", "pack-parcel", "send-confirmation", "refuse-order")))
    code += function("charge-card", "shelf: str, amount: int, **rest") + rest
    found = check(code, ORDER)
    assert found.exit_code == 0, found.stderr
    [line] = found.stderr.splitlines()
    assert "nothing in the models sets 'nam', parameter 'nam' of work_check_stock, unless it comes with" in line
    strict = check(code, ORDER, "--strict", "--json")
    assert strict.exit_code == 1
    assert json.loads(strict.stdout)["warnings"] == [line.removeprefix("warning: ")]


def test_fields_of_forms_are_known(check):
    claim = ROOT / "examples" / "claim"
    found = check(
        function("pay-claim", "customer: str, amount: int, approved: bool, nothing: str"), *claim.glob("*.form"), GREET
    )
    assert "'nothing'" in found.stderr
    assert "'customer'" not in found.stderr


@pytest.mark.parametrize("files", [("check", str(GREET)), ("check", "my_workers.py")])
def test_models_and_workers_are_both_needed(files):
    found = CliRunner().invoke(main, files)
    assert (found.exit_code, "give models and Python files" in found.stderr) == (2, True)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("x = 1", "has no single worker: it has no object of vivero.worker.Worker"),
        ("def broken(:", "SyntaxError"),
        ("\n\nraise RuntimeError('no database')", r"line 3: RuntimeError: no database"),
        ("raise SystemExit(1)", "line 1: SystemExit: 1"),
        ("from vivero.worker import Worker\na, b = Worker(), Worker()", "no single worker: its workers are a, b"),
        (HEAD + "@worker.job('t')\ndef work(*all): ...", "BadFunction: work gets its arguments by name"),
        ("import neighbour_that_is_not_there", "No module named 'neighbour_that_is_not_there'"),
    ],
)
def test_a_file_that_has_no_worker_says_why(tmp_path, code, message):
    file = tmp_path / "bad_workers.py"
    file.write_text(code)
    with pytest.raises(BadWorkers, match=message):
        load(str(file))


def test_a_file_finds_what_lies_beside_it_and_names_one_of_several_workers(tmp_path, monkeypatch):
    (tmp_path / "neighbour_of_workers.py").write_text("TYPE = 'of-neighbour'\n")
    file = tmp_path / "some_workers.py"
    file.write_text(
        "from neighbour_of_workers import TYPE\nfrom vivero.worker import Worker\n"
        "other = Worker()\nworker = Worker()\n"
        "@worker.job(TYPE)\ndef work(): ...\n@other.job('of-other')\ndef work_other(): ...\n"
    )
    assert list(load(str(file)).functions) == ["of-neighbour"]
    assert list(load(f"{file}:other").functions) == ["of-other"]
    monkeypatch.chdir(tmp_path)
    assert list(load("some_workers:other").functions) == ["of-other"]
    with pytest.raises(BadWorkers, match="no worker 'third': its workers are other, worker"):
        load(f"{file}:third")
