"""The command `bench`: forwards everything to the benchmarks."""

from __future__ import annotations

import click

from benchmarks.__main__ import main
from vivero.cli.failures import Failure


@click.command(
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def bench(arguments: tuple[str, ...]) -> None:
    """Measure this machine: the core alone, appending, the engine, the whole over HTTP."""
    try:
        failed = main(arguments)
    except ModuleNotFoundError as error:
        raise Failure(f"this benchmark needs the package {error.name}, which `make install` brings") from error
    if failed:
        raise Failure(f"failed: {', '.join(failed)}")
