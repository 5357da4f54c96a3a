"""Texts of servers, files and people do not command the terminal, whichever way a command prints them."""

import io

import pytest
from click.testing import CliRunner
from rich.console import Console
from rich.text import Text

from tests.imports import ROOT
from vivero.cli import main
from vivero.cli.shared.failures import Failure
from vivero.importing.camunda8 import ImportOutcome
from vivero.terminal.terminal_tables import Column, field, plain_row
from vivero.terminal.texts import as_markup, readable

HOSTILE = "a\x1b]0;owned\x07\x1b[2J\r\x9b31m\u202eb\x7f"
SHOWN = r"a\x1b]0;owned\x07\x1b[2J\r\x9b31m\u202eb\x7f"
RAW = {"vivero/cli/looking/definitions.py", "vivero/cli/server/schema.py", "vivero/cli/tools/completion.py"}
"""Commands that print a file as it is: a model, the schema, a script for the shell."""
OF_PROGRAM = {
    f"vivero/cli/{name}.py" for name in ("__init__", "server/db", "server/up", "shared/failures", "shared/guard")
}
"""Modules that print texts of the program alone, or texts that are readable already."""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (HOSTILE, SHOWN),
        ("één\tline\nof 🐎 עברית [x]", "één\tline\nof 🐎 עברית [x]"),
        ("\x00\x85\u2066", r"\x00\x85\u2066"),
    ],
)
def test_characters_that_command_a_terminal_are_shown_as_escapes(text, shown):
    assert readable(text) == shown


def test_lines_failures_and_tables_have_none(monkeypatch):
    instance = {"processInstanceKey": "1", "processDefinitionId": HOSTILE, "processDefinitionVersion": 1}

    async def count(_source):
        return 1

    async def dry_run(_source, _target, tell, _now):
        tell(ImportOutcome(instance, "stays", (f"the variable '{HOSTILE}'",), elements=(HOSTILE,)))

    monkeypatch.setattr("vivero.importing.camunda8.count", count)
    monkeypatch.setattr("vivero.importing.camunda8.dry_run", dry_run)
    said = CliRunner().invoke(main, ("import", "camunda8", "--from", "http://old:8080")).stdout
    assert (said.count(SHOWN), "\x1b" in said) == (3, False)
    assert Failure(HOSTILE).format_message() == SHOWN
    assert plain_row({"name": HOSTILE}, (Column("name", field("name")),)) == SHOWN
    drawn = io.StringIO()
    Console(file=drawn, width=100).print(Text.from_markup(as_markup(f"[red]{HOSTILE}")))
    assert drawn.getvalue() == f"[red]{SHOWN}\n"


def test_all_commands_print_this_way():
    raw = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "vivero" / "cli").rglob("*.py")
        if "click.echo(" in path.read_text(encoding="utf-8")
    }
    assert raw <= RAW | OF_PROGRAM
    escaping = [
        str(path.relative_to(ROOT))
        for folder in ("cli", "terminal")
        for path in (ROOT / "vivero" / folder).rglob("*.py")
        if "rich.markup import escape" in path.read_text(encoding="utf-8")
    ]
    assert escaping == ["vivero/terminal/texts.py"]
