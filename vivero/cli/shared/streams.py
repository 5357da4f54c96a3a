"""Standard input, output and error of the program: the one place that opens them and reads input.

A command writes with `click.echo`, `print` or rich. The streams of this module take what these write:

- A letter that the stream's encoding lacks becomes `?`.
- A failed write to standard output raises OutputFailed once. Later writes are dropped, so that the end of the program
  does not fail again.
- A failed write to standard error is dropped: nobody can be told of it. The exit code still tells of the work.
- A stream that was closed at the start fails like a full disk. No other file gets its number.
"""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from collections.abc import Callable
from typing import Any, BinaryIO, TextIO

import click

from vivero.config.files import Unreadable, read_whole, text_of

INPUT, OUTPUT, ERROR = 0, 1, 2
"""The numbers of the open files."""
MAX_LINE_BYTES = 1_000_000


class OutputFailed(OSError):
    """Standard output cannot be written. The text is one line."""

    def __init__(self, error: OSError) -> None:
        reason = "it is closed" if error.errno == errno.EBADF else error.strerror
        super().__init__(error.errno, f"cannot write to standard output: {reason}")

    def __str__(self) -> str:
        return str(self.strerror)


class Descriptor(io.RawIOBase):
    """The open file with a number, for writing. `quiet`: a failed write is dropped at once."""

    def __init__(self, number: int, *, quiet: bool) -> None:
        super().__init__()
        self._number, self._quiet, self._failed = number, quiet, False

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._number

    def isatty(self) -> bool:
        return os.isatty(self._number)

    def write(self, data: Any, /) -> int:
        view = memoryview(data).cast("B")
        size = len(view)
        while view and not self._failed:
            try:
                view = view[os.write(self._number, view) :]
            except BlockingIOError:  # somebody made the shared terminal or pipe non-blocking
                select.select([], [self._number], [])
            except OSError as error:
                if self._quiet:
                    return size
                self._failed = True
                raise OutputFailed(error) from error
        return size


class Output(io.TextIOWrapper):
    """Text for people and programs."""

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a property there, too, in C
        """The encoding; for ASCII its superset Latin-1, because click writes UTF-8 where it reads of ASCII."""
        found = super().encoding
        return "iso8859-1" if found.lower() in ("ascii", "us-ascii", "ansi_x3.4-1968") else found


def opened(number: int, like: TextIO | None, *, quiet: bool) -> Output:
    """A stream for the open file with this number, with the encoding of `like`."""
    raw = io.BufferedWriter(Descriptor(number, quiet=quiet))
    encoding = "utf-8" if like is None else like.encoding
    return Output(raw, encoding=encoding, errors="replace", line_buffering=quiet or os.isatty(number))


def open_all() -> None:
    """Make `sys.stdout` and `sys.stderr` streams of this module. Only the program itself does so."""
    for number, stream in ((INPUT, sys.stdin), (OUTPUT, sys.stdout), (ERROR, sys.stderr)):
        if stream is None:
            _occupy(number)
    sys.stdout = opened(OUTPUT, sys.stdout, quiet=False)
    sys.stderr = opened(ERROR, sys.stderr, quiet=True)


def _occupy(number: int) -> None:
    """Open something at a closed number, in the direction that nobody uses, so that using it fails."""
    nothing = os.open(os.devnull, os.O_WRONLY if number == INPUT else os.O_RDONLY)
    if nothing != number:
        os.dup2(nothing, number)
        os.close(nothing)


def check_output() -> None:
    """Raise OutputFailed if standard output was closed at the start: for lists, which may be empty."""
    if isinstance(sys.stdout, Output):
        try:
            os.write(OUTPUT, b"")
        except OSError as error:
            raise OutputFailed(error) from error


def is_unicode(stream: TextIO) -> bool:
    """Whether a stream can show every letter."""
    return stream.encoding.lower().startswith("utf")


def write_bytes(data: bytes) -> None:
    """Write bytes to standard output. Raises OutputFailed."""
    sys.stdout.buffer.write(data)


def read_input() -> bytes:
    """All of standard input. Raises ClickException."""
    return _read(lambda file: read_whole(file, "standard input"))


def read_line() -> str:
    """The first line of standard input, without its end. Raises ClickException."""
    return _text(_read(lambda file: file.readline(MAX_LINE_BYTES))).rstrip("\r\n")


def read_input_text() -> str:
    """The text of standard input. Raises ClickException."""
    return _text(read_input())


def _text(data: bytes) -> str:
    try:
        return text_of(data, "standard input")
    except Unreadable as error:
        raise click.ClickException(str(error)) from error


def _read(read: Callable[[BinaryIO], bytes]) -> bytes:
    if sys.stdin is None:
        raise click.ClickException("cannot read standard input: it is closed")
    try:
        return read(sys.stdin.buffer)
    except Unreadable as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"cannot read standard input: {error.strerror}") from error


def is_a_person_there() -> bool:
    """Whether standard input is a terminal, so that a question may be asked."""
    return sys.stdin is not None and sys.stdin.isatty()
