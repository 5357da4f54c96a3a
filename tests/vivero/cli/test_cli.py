"""The command line without a server: help, and what is said when something is wrong."""

import io
import json
import re
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from vivero.cli import CLI_COMMANDS, main
from vivero.cli.shared.groups import suggestion

NAMES = [name for section in CLI_COMMANDS.values() for name in section]
HEAVY = {
    "trio",
    "httpx",
    "rich",
    "structlog",
    "lxml",
    "psycopg",
    "msgspec",
    "vivero.engine",
    "vivero.api",
    "vivero.storage",
}


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
    for word in (*NAMES, "VIVERO_ADDRESS", "VIVERO_DATABASE_URL", "vivero demo", "vivero start greet"):
        assert word in result.output


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom vivero.cli import main\nmain(['--help'], standalone_mode=False)\n"
        f"print('loaded:', sorted({HEAVY!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("loaded: []\n")


def test_a_shell_completes_commands_without_importing_them():
    code = (
        "import sys, click\nfrom vivero.cli import main\n"
        "print([item.value for item in main.shell_complete(click.Context(main), 'st')])\n"
        f"print('loaded:', sorted({HEAVY!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['start', 'status']\nloaded: []\n"


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help(run, name):
    result = run(name, "--help")
    assert result.exit_code == 0
    assert name in result.output


def _with_groups(command, path=()):
    """The words of each command and of each command of a group."""
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from _with_groups(command.get_command(context, name), (*path, name))


def test_help_fits_80_columns_and_is_whole(run):
    for path in _with_groups(main):
        lines = run(*path, "--help", env={"COLUMNS": "80"}).output.splitlines()
        assert [line for line in lines if len(line) > 80 or (line.endswith("...") and "Usage:" not in line)] == [], path
        assert not any("RANGE" in line for line in lines), path


@pytest.mark.parametrize("arguments", [("show", "abc"), ("cancel", "7", "abc"), ("task", "show", "x"), ("events", "0")])
def test_a_key_that_is_none_is_the_callers_fault(run, arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert arguments[-1] in result.stderr


@pytest.mark.parametrize("name", NAMES)
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
    ("arguments", "says"),
    [
        (["instanecs"], "No such command 'instanecs'. Did you mean 'instances'?"),
        (["batches", "supsend", "7"], "No such command 'supsend'. Did you mean 'suspend'?"),
        (["start", "p", "--varables", "{}"], "No such option '--varables'. Did you mean '--variables'?"),
        (["instances", "--sate", "ACTIVE"], "No such option '--sate'. Did you mean '--state'?"),
        (["batches", "list", "--lmit", "3"], "No such option '--lmit'. Did you mean '--limit'?"),
        (["--vesion"], "No such option '--vesion'. Did you mean '--version'?"),
    ],
)
def test_what_is_misspelt_gets_a_suggestion(run, arguments, says):
    result = run(*arguments)
    assert result.exit_code == 2
    assert says in result.stderr


def test_suggestions_are_ranked_by_likeness():
    assert suggestion("--sate", ["--after", "--state", "--tag"]) == "Did you mean '--state'?"
    assert suggestion("stats", ["stat", "state", "status"]) == "Did you mean 'status' or 'stat'?"
    assert suggestion("inst", ["instances", "jobs"]) == "Did you mean 'instances'?"
    assert suggestion("inst", []) == ""


def test_an_unlike_option_gets_no_suggestion(run):
    said = run("instances", "--quux").stderr
    assert "No such option '--quux'." in said
    assert "Did you mean" not in said


def all_commands(group=main, path=()):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from all_commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


FOR_PEOPLE = {"up", "demo", "schema", "db roles", "feel", "psql", "completion", "archive show", "test"}
"""Commands that print no data, or SQL, or JSON always, or what pytest prints."""


@pytest.mark.parametrize(("name", "command"), list(all_commands()), ids=lambda value: str(value))
def test_every_command_prints_json(name, command):
    assert ("as_json" in {parameter.name for parameter in command.params}) == (name not in FOR_PEOPLE)


@pytest.mark.parametrize("name", NAMES)
def test_every_command_shows_an_example(name):
    assert re.search(rf"\n +vivero {name}\b", main.get_command(click.Context(main), name).help or "")


def test_the_schema_is_printed(run):
    assert "\n-- table jobs\nCREATE TABLE jobs (" in run("schema").output
    assert "\nSELECT create_distributed_table('jobs', 'partition_id'" in run("schema", "--distributed").output


def test_after_ctrl_c_a_command_says_what_goes_on(run, monkeypatch):
    def interrupted(_work):
        raise KeyboardInterrupt

    monkeypatch.setattr("trio.run", interrupted)
    result = run("batches", "watch", "7")
    assert result.exit_code == 130
    assert "batch operation 7 goes on at the server:\n  vivero batches watch 7 " in result.stderr
    assert run("status").exit_code == 130


class Interrupted(io.BytesIO):
    def read1(self, _size=-1):
        raise KeyboardInterrupt


def test_ctrl_c_at_a_question_is_no_refusal(run):
    question = ("erase", "--business-id", "x")
    assert run(*question, input="n\n").exit_code == 1
    assert run(*question, input="").exit_code == 1
    result = run(*question, input=Interrupted())
    assert (result.exit_code, result.stdout) == (130, ""), result.stderr
    assert result.stderr.endswith("nothing was changed\n")


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
    assert result.exit_code == 2
    assert "'ftp://x' is not a valid server address" in result.stderr


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "the text is not valid JSON"),
        ("[1]", "the value must be a JSON object"),
        ("@/nowhere", "there is no file"),
        ("@/", "cannot read '/': Is a directory"),
        ('{"a": NaN}', "the text is not valid JSON (NaN is not a number of JSON)"),
    ],
)
def test_variables_that_are_none_are_the_callers_fault(run, text, complaint):
    result = run("start", "p", "--variables", text)
    assert result.exit_code == 2
    assert complaint in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("top", "--every", "nan"),
        ("start", "p", "--timeout", "inf"),
        ("drain", "--timeout", "nan"),
        ("worker", "x", "--exec", "true", "--backoff", "1e300"),
        ("archive", "show", "9" * 30),
        ("worker", "x", "--exec", "true", "--error", f"{'1' * 5000}=x"),
    ],
)
def test_numbers_that_are_none(run, arguments):
    assert run(*arguments).exit_code == 2


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"VIVERO_TOKEN": "a\r\n"}, "the token has characters that a token cannot have"),
        ({"VIVERO_USERNAME": "\udcff"}, "has bytes that are not UTF-8"),
        ({"SSL_CERT_FILE": "/nowhere", "VIVERO_ADDRESS": "https://127.0.0.1:1"}, "No such file"),
        ({"HTTP_PROXY": "::::", "VIVERO_ADDRESS": "http://nowhere.invalid"}, "cannot be made"),
        ({"VIVERO_ADDRESS": f"http://{'a' * 300}"}, "cannot be sent"),
    ],
)
def test_an_environment_that_no_client_can_use(run, environment, said):
    result = run("instances", env=environment)
    assert result.exit_code == 1
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", [("start", "a\udcff"), ("forms", "--id", "a\udcff"), ("user", "add", "a\udcff")])
def test_arguments_that_are_not_utf_8(run, command):
    result = run(*command)
    assert result.exit_code in (1, 2)
    assert not isinstance(result.exception, UnicodeError)


def test_two_databases_are_one_too_many(run):
    result = run("up", "--data-dir", "x", "--database-url", "postgresql://y")
    assert result.exit_code == 2
    assert "give only one of them" in result.stderr


def test_a_setting_that_does_not_exist(run, tmp_path):
    file = tmp_path / "vivero.toml"
    file.write_text("[api]\nprot = 1\n")
    result = run("up", "--config", str(file))
    assert result.exit_code == 1
    assert result.stderr == f"Error: there is no setting 'api.prot' (file {file}, line 2): did you mean 'api.port'?\n"


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
