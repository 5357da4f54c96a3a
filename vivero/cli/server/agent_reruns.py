"""The command `agents rerun`: a recorded agent runs again in a sandbox, with its answers or those of another model."""

from __future__ import annotations

from pathlib import Path

import click

from vivero.cli.shared.database import on_database
from vivero.cli.shared.failures import Failure
from vivero.cli.shared.options import KEY, json_option, say
from vivero.cli.shared.rows import print_rows
from vivero.cli.shared.settings import Database, database_in_use
from vivero.terminal.terminal_tables import Column, field
from vivero.terminal.texts import echo

TURNS = (
    Column("element", field("element")),
    Column("turn", lambda item: str(item["turn"])),
    Column("request", field("request")),
    Column("answer", field("answer"), wraps=True),
)


@click.command("rerun")
@click.argument("key", type=KEY)
@click.option(
    "--from-turn", type=click.IntRange(1), default=1, metavar="N", help="The first call of a model to run again."
)
@click.option(
    "--prompt",
    "prompt_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A file with another system prompt.",
)
@click.option("--model", metavar="NAME", help="Ask this model of the same provider, which is paid, instead of nobody.")
@json_option
@database_in_use
@click.pass_context
def rerun(
    context: click.Context, key: str, from_turn: int, prompt_file: Path | None, model: str | None, as_json: bool,
    database: Database,
) -> None:  # fmt: skip
    """Run the agents of the process instance KEY again in a sandbox, from what was recorded.

    Each request is made again and compared with the recorded one, and the recorded answer follows. The first request
    that differs is shown, and ends the run with the exit code 1. Nobody is called, and nothing is changed.

    With --model the model is asked, as the settings of agents allow it. Its calls of tools get the recorded results of
    calls with the same arguments; another call ends the run.

    The output of --json is a script for tests: `vivero.testing.recorded`.

    \b
    Examples:
      vivero agents rerun 2251799813685276
      vivero agents rerun 2251799813685276 --prompt shorter.txt
      vivero agents rerun 2251799813685276 --from-turn 2 --model gpt-5-mini
    """
    from vivero.operations.agent_reruns import NotAgain, Wish, run_again  # the libraries of HTTP are slow to load

    wish = Wish(from_turn, None if prompt_file is None else _text(prompt_file).rstrip("\n"), model, database.settings())
    report = on_database(database, lambda connection: run_again(connection, int(key), wish), NotAgain)
    print_rows(report.rows, TURNS, as_json)
    for line in report.said:
        if as_json:
            say({"text": line})
        else:
            echo(line)
    context.exit(0 if report.is_same else 1)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"{file} cannot be read as text: {error}") from error
