"""What went wrong, in one readable line and an exit code; tracebacks are for bugs.

1: it did not work, and the line says why. 2: the command line is wrong (click's own). 70 (EX_SOFTWARE of sysexits.h):
the program gave itself up.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import click
import trio

T = TypeVar("T")


class Failure(click.ClickException):
    """Ends the command with exit code 1: `Error: message` on stderr."""


class GaveUp(Failure):
    """The program could not help itself (EX_SOFTWARE of sysexits.h)."""

    exit_code = 70


def run(work: Callable[[], Awaitable[T]], expected: Mapping[type[Exception], type[Failure]]) -> T:
    """The result of `work` under Trio; an expected exception becomes the Failure that it stands for."""
    try:
        return trio.run(work)
    except BaseException as error:
        cause = alone(error)
        if isinstance(cause, KeyboardInterrupt):
            raise cause from None
        for kind, failure in expected.items():
            if isinstance(cause, kind):
                raise failure(str(cause)) from error
        raise


def alone(error: BaseException) -> BaseException:
    """What happened, without the groups that nurseries put around it; a group of several stays one."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
