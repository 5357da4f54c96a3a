"""The end of a program after a failure: its exit code, and the exception that is the cause."""

from __future__ import annotations

GAVE_UP = 70
"""The exit code of a program that gave up after too many failures (EX_SOFTWARE of sysexits.h)."""


def alone(error: BaseException) -> BaseException:
    """The exception without the groups that nurseries add. A group of several exceptions stays a group."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
