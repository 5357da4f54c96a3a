"""The end of the program after something unexpected: one line and an exit code. Tracebacks come on request only."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from vivero.cli.shared import streams
from vivero.cli.shared.streams import OutputFailed

TRACEBACK = "VIVERO_TRACEBACK"
"""The variable of the environment that asks for tracebacks."""
OURS = str(Path(__file__).parents[3])


def guarded(program: Callable[[], object]) -> None:
    """Run the command line in this process. Every exception becomes a line on standard error and exit code 1."""
    streams.open_all()
    try:
        try:
            program()
        finally:
            sys.stdout.flush()
    except Exception as error:
        if os.environ.get(TRACEBACK):
            traceback.print_exception(error)
        if text := line(error):
            print(f"Error: {text}", file=sys.stderr)
        sys.exit(1)


def line(error: Exception) -> str:
    """The problem in one line. Empty if nobody need be told: the reader of the output has seen enough."""
    causes = list(_leaves(error))
    for each in causes:
        if isinstance(each, OutputFailed):
            return "" if each.errno == errno.EPIPE else str(each)
    if _are_of_answers(causes):
        return "; ".join(map(str, causes))
    text = "; ".join(map(_text, causes))
    return f"{text}. {TRACEBACK}=1 shows where it comes from"


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _leaves(each)
    else:
        yield error


def _are_of_answers(causes: Iterable[BaseException]) -> bool:
    """Whether answers of the server caused them, such as one without a member that a command prints."""
    from vivero.client.answers import ClientError  # slow to import

    return all(isinstance(each, ClientError) for each in causes)


def _text(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        about = f" '{error.filename}'" if error.filename is not None else ""
        return f"{error.strerror}{about}"
    found = " ".join(str(error).split())
    return f"unexpected {type(error).__name__}{_place(error)}{f': {found}' if found else ''}"


def _place(error: BaseException) -> str:
    """The last line of our code that led to the error."""
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(OURS)]
    return f" in {Path(ours[-1].filename).stem}, line {ours[-1].lineno}" if ours else ""
