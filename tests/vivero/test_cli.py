"""The command line without a server: help, and what is said when something is wrong."""

import importlib
import inspect
import json
import subprocess
import sys
from types import SimpleNamespace

import click
import pytest
from click.testing import CliRunner

from benchmarks import __main__ as bench
from vivero.cli import COMMANDS, main

NAMES = [name for section in COMMANDS.values() for name in section]
HEAVY = {"trio", "httpx", "rich", "structlog", "lxml", "psycopg", "msgspec", "engine", "api", "storage"}


@pytest.fixture
def run(monkeypatch):
    """Runs a command in this process, with nothing of the caller's environment."""
    for name in ("VIVERO_ADDRESS", "CAMUNDA_REST_ADDRESS", "VIVERO_DATABASE_URL", "VIVERO_DATA_DIR", "VIVERO_CONFIG"):
        monkeypatch.delenv(name, raising=False)

    def invoke(*arguments, **options):
        return CliRunner().invoke(main, arguments, catch_exceptions=False, **options)

    return invoke


def test_help_names_every_command_and_the_environment(run):
    result = run("--help")
    assert result.exit_code == 0
    for word in (*NAMES, "VIVERO_ADDRESS", "VIVERO_DATABASE_URL", "vivero demo", "vivero start order"):
        assert word in result.output


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom vivero.cli import main\nmain(['--help'], standalone_mode=False)\n"
        f"print('loaded:', sorted({HEAVY!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("loaded: []\n")


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help(run, name):
    result = run(name, "--help")
    assert result.exit_code == 0
    assert name in result.output


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("bench",)])
def test_every_option_has_help_or_choices(name):
    command = main.get_command(click.Context(main), name)
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help or isinstance(parameter.type, click.Choice), parameter.name


def test_without_arguments_it_helps(run):
    assert "Begin with" in run().output


def test_version(run):
    assert run("--version").output == "vivero 0.1.0\n"


def test_an_unknown_command_is_the_callers_fault(run):
    result = run("fly")
    assert result.exit_code == 2
    assert "No such command 'fly'" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    ["status", "instances", "jobs", "incidents", "start p", "cancel 1", "resolve 1", "show 1", "events 1"],
)
def test_a_server_that_is_not_there_is_one_line(run, unused_port, arguments):
    result = run(*arguments.split(), "--address", f"localhost:{unused_port}")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: no server answers at http://localhost:{unused_port} (")
    assert result.stderr.endswith("is `vivero up` running?\n")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", ["VIVERO_ADDRESS", "CAMUNDA_REST_ADDRESS"])
def test_the_address_comes_from_the_environment(run, unused_port, name):
    result = run("status", env={name: f"http://localhost:{unused_port}/v2"})
    assert f"no server answers at http://localhost:{unused_port} (" in result.stderr


def test_an_address_that_is_none(run):
    result = run("status", "--address", "ftp://x")
    assert result.exit_code == 1
    assert "'ftp://x' is no address of a server" in result.stderr


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("{", "this is no JSON"), ("[1]", "a JSON object is expected"), ("@/nowhere", "cannot be read")],
)
def test_variables_that_are_none_are_the_callers_fault(run, text, complaint):
    result = run("start", "p", "--variables", text)
    assert result.exit_code == 2
    assert complaint in result.stderr


def test_two_databases_are_one_too_many(run):
    result = run("up", "--data-dir", "x", "--database-url", "postgresql://y")
    assert result.exit_code == 2
    assert "give one of them" in result.stderr


def test_a_setting_that_does_not_exist(run, tmp_path):
    file = tmp_path / "vivero.toml"
    file.write_text("[api]\nprot = 1\n")
    result = run("up", "--config", str(file))
    assert result.exit_code == 1
    assert result.stderr == f"Error: there is no setting 'api.prot' (file {file}): did you mean 'api.port'?\n"


def test_no_embedded_server_runs_there(run, tmp_path):
    result = run("database-url", "--data-dir", str(tmp_path / "nothing"))
    assert result.exit_code == 1
    assert "no embedded PostgreSQL runs at" in result.stderr


# ------------------------------------------------------------------------------------------------------------ feel


@pytest.mark.parametrize(
    ("expression", "context", "value"),
    [
        ("1 + 1", "{}", "2"),
        ("= 1 + 1", "{}", "2"),
        ('sum(for i in items return i.price) > limit', '{"items": [{"price": 3}, {"price": 4}], "limit": 5}', "true"),
        ('date("2026-01-31") + duration("P1M")', "{}", '"2026-02-28"'),
        ('{a: x, b: "ü"}', '{"x": 0.1}', '{"a":0.1,"b":"ü"}'),
    ],
)  # fmt: skip
def test_feel_prints_the_value_as_json(run, expression, context, value):
    result = run("feel", expression, "--context", context)
    assert (result.exit_code, result.stdout, result.stderr) == (0, f"{value}\n", "")


def test_feel_knows_the_time(run):
    assert json.loads(run("feel", "string(today())").stdout) >= "2025-01-01"


def test_feel_warns_on_stderr(run):
    result = run("feel", "1 + missing")
    assert (result.exit_code, result.stdout) == (0, "null\n")
    assert result.stderr.startswith("warning: ")


def test_feel_that_does_not_parse_is_one_line(run):
    result = run("feel", "1 +")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: line 1, column 4: expected an expression but found end of input\n"


def test_feel_reads_its_context_from_standard_input(run):
    assert run("feel", "a + 1", "--context", "@-", input='{"a": 41}').stdout == "42\n"


@pytest.fixture
def benchmarks(monkeypatch):
    """Benchmarks that are played: each name stands for what its `run` does."""

    def play(**runs):
        monkeypatch.setattr(bench, "USUAL", tuple(runs))
        for name, run in runs.items():
            monkeypatch.setitem(sys.modules, f"benchmarks.{name}", SimpleNamespace(run=run))

    return play


def _breaks():
    raise RuntimeError("the machine is too busy")


def test_benchmarks_print_a_line_of_json_each_and_one_that_fails_stops_no_other(benchmarks):
    benchmarks(first=lambda: ({"per_s": 2.0}, {}), broken=_breaks, last=lambda: ({"per_s": 3.0}, {"note": "n"}))
    result = CliRunner().invoke(main, ["bench"])
    assert result.exit_code == 1
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(line["benchmark"], line["figures"]) for line in found] == [("first", {"per_s": 2}), ("last", {"per_s": 3})]
    assert "RuntimeError: the machine is too busy" in result.stderr
    assert "Error: failed: broken" in result.stderr


def test_benchmarks_are_compared_with_an_earlier_run(benchmarks, tmp_path):
    earlier = tmp_path / "before.jsonl"
    earlier.write_text('{"benchmark": "first", "figures": {"per_s": 4.0}}\n')
    benchmarks(first=lambda: ({"per_s": 2.0}, {}))
    assert "0.50" in CliRunner().invoke(main, ["bench", "--compare", str(earlier)]).stderr
    missing = CliRunner().invoke(main, ["bench", "--compare", str(tmp_path / "nowhere")])
    assert missing.exit_code == 2
    assert "cannot be read" in missing.stderr


@pytest.mark.parametrize("name", bench.NAMES)
def test_every_benchmark_gives_figures_and_notes(name):
    run = importlib.import_module(f"benchmarks.{name}").run
    returned = inspect.signature(run).return_annotation
    assert (returned if isinstance(returned, str) else str(returned)) == "tuple[dict[str, float], dict[str, str]]"


def test_bench_forwards_its_arguments(run):
    result = CliRunner().invoke(main, ["bench", "nonsense", "--compare", "/nowhere"])
    assert result.exit_code == 2
    assert "there is no benchmark 'nonsense'" in result.stderr
