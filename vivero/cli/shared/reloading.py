"""A command that starts again when Python files change."""

from __future__ import annotations

import signal
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Protocol

import trio

from vivero.terminal.texts import echo

EVERY_S = 0.5
GRACE_S = 5.0
"""The time that the old process has to finish its jobs. After it the process gives them back."""
ELSEWHERE = frozenset(("node_modules", "site-packages", "__pycache__"))
"""Directories whose files are not the user's, beside the hidden ones."""
Stamps = Mapping[str, tuple[int, int]]


class RunningCommand(Protocol):
    """The process of the command, as Trio has it."""

    def send_signal(self, sig: signal.Signals) -> None: ...

    async def wait(self) -> int: ...


def stamps(folder: Path) -> Stamps:
    """The times and sizes of the Python files in a directory and below."""
    found = {}
    for path in folder.rglob("*.py"):
        parts = path.relative_to(folder).parts
        if not any(part.startswith(".") or part in ELSEWHERE for part in parts):
            try:
                status = path.stat()
            except FileNotFoundError:
                continue  # an editor replaces it now: the next look finds it
            found[str(path)] = (status.st_mtime_ns, status.st_size)
    return found


async def changes(folder: Path, before: Stamps, every_s: float = EVERY_S) -> AsyncGenerator[None]:
    """Yields each time when files have changed, at first from what was `before`."""
    while True:
        await trio.sleep(every_s)
        now = await trio.to_thread.run_sync(stamps, folder)
        if now != before:
            before = now
            yield


async def run_again(start: Callable[[], Awaitable[RunningCommand]], changed: AsyncIterable[None]) -> None:
    """Keep the command running, and start it again at each change. A cancellation ends the command.

    A command that ends by itself, such as for a syntax error, waits for the next change.
    """
    process = await start()
    async with trio.open_nursery() as nursery:
        ended = _wait(nursery, process)
        try:
            async for _ in changed:
                echo("files have changed: starting again", err=True)
                await _end(process, ended)
                process = await start()
                ended = _wait(nursery, process)
        finally:
            with trio.CancelScope(shield=True):
                await _end(process, ended)


def _wait(nursery: trio.Nursery, process: RunningCommand) -> trio.Event:
    ended = trio.Event()

    async def wait() -> None:
        with trio.CancelScope(shield=True):
            code = await process.wait()
        if code > 0:
            echo(f"it has ended with exit code {code}, and starts again when a file changes", err=True)
        ended.set()

    nursery.start_soon(wait)
    return ended


async def _end(process: RunningCommand, ended: trio.Event) -> None:
    """End the process: with the first signal it finishes its jobs, with the second it gives them back."""
    for sent in (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL):
        if ended.is_set():
            return
        process.send_signal(sent)
        with trio.move_on_after(GRACE_S):
            await ended.wait()


async def reloading(command: list[str], folder: Path) -> None:
    """Run a command until Ctrl-C or SIGTERM, again after each change of a Python file in the directory."""

    async def start() -> RunningCommand:
        return await trio.lowlevel.open_process(command, process_group=0)  # Ctrl-C is for us: it would be a 2nd signal

    async with trio.open_nursery() as nursery:
        nursery.start_soon(_cancel_on_signal, nursery.cancel_scope)
        async with aclosing(changes(folder, stamps(folder))) as changed:
            await run_again(start, changed)


async def _cancel_on_signal(scope: trio.CancelScope) -> None:
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            scope.cancel()
            return
