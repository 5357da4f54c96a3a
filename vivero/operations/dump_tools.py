"""Runs pg_dump and pg_restore: finds those that fit a server, keeps passwords off command lines, tells the progress."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence

import trio

from vivero.embedded.binaries import BIN_VARIABLE, ClientProgram, find_clients
from vivero.storage.postgres import conninfo

Progress = Callable[[str, int, int], None]
"""Called with what is done, and how many bytes of how many."""
LINES_OF_ERROR = 8
_BEGUN = re.compile(r'(?:dumping contents of|processing data for) table "(?:[^".]+\.)?([^"]+)"')
_FINISHED = re.compile(r"finished item \d+ TABLE DATA (\S+)")


class NoTool(Exception):
    """There is no program of PostgreSQL that fits the server. The message says what to install."""


class Meter:
    """Turns what the tools say with `--verbose` into progress: each table counts when its rows are done."""

    def __init__(self, sizes: Mapping[str, int], what: str, progress: Progress) -> None:
        self._left = dict(sizes)
        self._total = sum(sizes.values())
        self._what, self._progress = what, progress
        self._begun: str | None = None
        progress(what, 0, self._total)

    def __call__(self, line: str) -> None:
        """Note a line of the tool."""
        if found := _FINISHED.search(line):
            self._done(found[1])
        elif found := _BEGUN.search(line):
            self._done(self._begun)
            self._begun = found[1]

    def _done(self, table: str | None) -> None:
        if self._left.pop(table or "", None) is not None:
            self._progress(self._what, self._total - sum(self._left.values()), self._total)


def tool(name: str, major: int) -> ClientProgram:
    """The oldest `name` that fits a server of this major version. Raises NoTool.

    An older one refuses the server, and the dump of a newer one may not fit into it.
    """
    found = sorted(find_clients(name), key=lambda client: client.major)
    for client in found:
        if client.major >= major:
            return client
    others = ", ".join(f"{client.major} in {client.path.parent}" for client in found) or "none"
    raise NoTool(
        f"there is no {name} for PostgreSQL {major} (found: {others}): install the client programs of PostgreSQL"
        f" {major}, and set {BIN_VARIABLE} to their directory if they are not on the PATH"
    )


async def run_tool(
    command: Sequence[str | os.PathLike[str]],
    dsn: str,
    line: Callable[[str], None],
    failure: type[Exception],
    options: str = "",
) -> None:
    """Run a tool on the database of `dsn`, and call `line` with each line that it writes.

    Its sessions have the `options` of a server process, such as `-carray_nulls=on`.

    Raises:
        Exception: `failure`, with the last lines, if it fails.
    """
    last: deque[str] = deque(maxlen=LINES_OF_ERROR)
    environment = {**os.environ, "LC_ALL": "C", **conninfo.environment(dsn)}
    if options:
        environment["PGOPTIONS"] = f"{environment.get('PGOPTIONS', '')} {options}".strip()
    read, write = os.pipe()
    async with trio.open_nursery() as nursery:
        try:
            process = await nursery.start(_process, list(command), environment, write)
        finally:
            os.close(write)
        async with trio.lowlevel.FdStream(read) as output:
            await _read_lines(output, line, last)
        status = await process.wait()
    if status:
        shown = "\n".join(f"  {text}" for text in last if _matters(text)) or f"  it ended with status {status}"
        raise failure(f"{os.path.basename(os.fspath(command[0]))} failed:\n{shown}")


async def _process(
    command: list[str | os.PathLike[str]],
    environment: dict[str, str],
    output: int,
    task_status: trio.TaskStatus[trio.Process] = trio.TASK_STATUS_IGNORED,
) -> None:
    """The process; cancelled, it ends."""
    await trio.run_process(command, env=environment, stdout=output, stderr=output, check=False, task_status=task_status)


async def _read_lines(output: trio.abc.ReceiveStream, line: Callable[[str], None], last: deque[str]) -> None:
    rest = b""
    async for chunk in output:
        *lines, rest = (rest + chunk).split(b"\n")
        for text in lines:
            last.append(text.decode("utf-8", "replace"))
            line(last[-1])


def _matters(text: str) -> bool:
    """Errors, and what belongs to them."""
    return not text.startswith("pg_") or "error" in text or "detail" in text or "hint" in text
