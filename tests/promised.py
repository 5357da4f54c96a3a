"""The names that stay as long as a major version does, as lines: settings, metrics, commands with options, routes.

python -m tests.promised >> tests/promised.txt      # at a release: then sort it, without doubles
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from tests.vivero.metrics.names import shown
from vivero.api.routes import ROUTES
from vivero.cli import main
from vivero.config import sections
from vivero.metrics.histograms import HISTOGRAMS
from vivero.metrics.instruments import INSTRUMENTS

FILE = Path(__file__).with_suffix(".txt")


def names() -> set[str]:
    """Each name of today, with its kind in front."""
    return {
        *(f"setting {name}" for name in sections.names()),
        *(f"metric {shown(one)}" for one in (*INSTRUMENTS, *HISTOGRAMS)),
        *(f"route {route.method} {route.path}" for route in ROUTES),
        *_of_command(main, click.Context(main, info_name="vivero"), "vivero"),
    }


def _of_command(command: click.Command, context: click.Context, path: str) -> Iterator[str]:
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            yield from (f"option {path} {name}" for name in parameter.opts + parameter.secondary_opts)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None, name
            yield f"command {path} {name}"
            yield from _of_command(inner, click.Context(inner, context, info_name=name), f"{path} {name}")


if __name__ == "__main__":
    print("\n".join(sorted(names())))
