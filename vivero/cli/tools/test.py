"""The command `test`: run tests of processes, with their coverage."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from vivero.cli.shared.failures import Failure


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[PATHS] [OPTIONS OF PYTEST]")
@click.option(
    "--html",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Draw the coverage into DIR/index.html.",
)
@click.option(
    "--min",
    "minimum",
    type=click.IntRange(0, 100),
    metavar="PERCENT",
    default=0,
    help="Fail if a process is below PERCENT.",
)
def test(arguments: tuple[str, ...], html: Path | None, minimum: int) -> None:
    """Run tests of processes with pytest, and say which elements and sequence flows no test has reached.

    All arguments and options that are not of this command are those of pytest. The exit code is that of pytest.

    \b
    Examples:
      vivero test
      vivero test tests/processes --html coverage --min 90
      vivero test -k invoice -x
    """
    try:
        import pytest
    except ImportError as error:
        raise Failure("Tests of processes need pytest: pip install pytest") from error
    options = [f"--process-coverage-min={minimum}"] + ([] if html is None else [f"--process-coverage-html={html}"])
    sys.exit(pytest.main([*options, *arguments]))
