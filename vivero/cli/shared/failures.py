"""Failures of commands as one readable line and an exit code. `vivero.cli.shared.guard` has the line of a bug.

Exit codes: 1, the command failed and the line says why; 2, the command line is invalid (by click), and nothing was
done; 70 (EX_SOFTWARE of sysexits.h), the program gave up after too many failures; 130 (128 and SIGINT), Ctrl-C.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import IO, Any, TypeVar

import click
import trio

from vivero.cli.shared.streams import OutputFailed
from vivero.program.ends import GAVE_UP, alone
from vivero.terminal.texts import readable

T = TypeVar("T")


class Failure(click.ClickException):
    """Ends the command with exit code 1: `Error: message` on stderr, without characters that command the terminal."""

    def __init__(self, message: str) -> None:
        super().__init__(readable(message))


class GaveUp(Failure):
    """The program gave up after too many failures."""

    exit_code = GAVE_UP


class Interrupted(Failure):
    """Ctrl-C ended the command. The message says what goes on without it; it may be empty."""

    exit_code = 130

    def show(self, file: IO[Any] | None = None) -> None:
        begin = "\n" if sys.stderr.isatty() else ""  # behind the terminal's ^C
        if text := f"{begin}{self.message}".rstrip():
            click.echo(text, file=file, err=file is None)


def run(
    work: Callable[[], Awaitable[T]],
    expected: Mapping[type[Exception], type[Failure]],
    goes_on: Callable[[], str] = str,
) -> T:
    """Run `work` under Trio and return its result. An expected exception becomes the Failure that `expected` names.

    After Ctrl-C the command raises Interrupted with what `goes_on` says.
    """
    try:
        return trio.run(work)
    except BaseException as error:
        cause = alone(error)
        if isinstance(cause, KeyboardInterrupt):
            raise Interrupted(goes_on()) from None
        if isinstance(cause, OutputFailed) and (text := goes_on()):
            raise Failure(f"{cause}. {text}") from error
        if isinstance(cause, click.ClickException | OutputFailed):
            raise cause from cause.__cause__  # without the groups of nurseries
        for kind, failure in expected.items():
            if isinstance(cause, kind):
                raise failure(str(cause)) from error
        raise
