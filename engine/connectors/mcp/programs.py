"""MCP servers that are programs: one process for each call, with the standard streams as its transport (stdio).

A shell starts the program in a process group of its own, and kills the group when its leash ends: a pipe that the
engine holds open for the call, and that its death closes, too.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import mcp_types
import trio
from mcp.shared.message import SessionMessage

from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.value_counts import MOST_VALUES, ValueCounter

PATH = "/usr/local/bin:/usr/bin:/bin"
"""The only variable that a program has beside its own ones."""
AT_ONCE = 8
"""Programs that a node runs at once."""
END_S, KILL_S = 2.0, 2.0
"""The time of a program to end by itself after its input has ended, and of the system to end it."""
PART = 64 * 1024
LEASH = """\
ulimit -v "$0" || exit 125
exec 3<"$1" && shift || exit 125
( read -r _ <&3; kill -s KILL 0 ) </dev/null >/dev/null 2>&1 &
( exec 3<&-; exec "$@" )
kill -s KILL 0
"""
"""The script of the shell. `$0`: KiB; `$1`: the end of the leash; then the program with its arguments. The number 0 is
the own process group."""

_running = trio.CapacityLimiter(AT_ONCE)


@dataclass(slots=True)
class ProgramTransport:
    """The bounds of one call. `failure`: the first reason why it cannot go on."""

    most_bytes: int
    failure: ConnectorError | None = None
    status: int | None = None

    async def aclose(self) -> None:
        """Nothing is open here: the streams end with their block."""

    def fail(self, code: str, message: str, *, final: bool = False) -> None:
        self.failure = self.failure or ConnectorError(code, message, final=final)


@dataclass(frozen=True, slots=True)
class Program:
    """A program of the operator. `environment` replaces that of the engine."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path
    memory_mb: int
    is_sse: bool = False

    @asynccontextmanager
    async def streams(self, transport: ProgramTransport, _limit_s: float) -> AsyncGenerator[Any]:
        """The streams of messages for the block, as the library takes them. The program ends with it."""
        async with _running, self._process() as process:
            from_program, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
            write, to_program = anyio.create_memory_object_stream[SessionMessage](0)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_read, process, from_program, transport)
                nursery.start_soon(_write, process, to_program)
                try:
                    yield read, write
                finally:
                    for stream in (read, write, to_program, from_program):
                        stream.close()
                    nursery.cancel_scope.cancel()

    @asynccontextmanager
    async def _process(self) -> AsyncGenerator[trio.Process]:
        leash, hold = os.pipe()
        try:
            try:
                process = await trio.lowlevel.open_process(
                    ["/bin/sh", "-c", LEASH, str(self.memory_mb * 1024), f"/dev/fd/{leash}", *self.command],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    cwd=self.folder,
                    env={"PATH": PATH, **self.environment},
                    pass_fds=(leash,),
                    process_group=0,
                )
            except OSError as error:
                text = f"the program of the client '{self.name}' cannot be started: {error.strerror}"
                raise ConnectorError("UNAVAILABLE", text) from error
            finally:
                os.close(leash)
            try:
                yield process
            finally:
                await self._end(process)
        finally:
            os.close(hold)

    async def _end(self, process: trio.Process) -> None:
        """End the program and all that it has started."""
        with trio.CancelScope(shield=True, deadline=trio.current_time() + END_S + KILL_S):
            assert process.stdin is not None, "it has pipes"
            await process.stdin.aclose()
            with trio.move_on_after(END_S):
                await process.wait()
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        if process.stdout is not None:
            await process.stdout.aclose()


async def _read(process: trio.Process, messages: Any, transport: ProgramTransport) -> None:
    """Messages are lines. Too many bytes or values end the stream."""
    assert process.stdout is not None, "it has pipes"
    rest, left = bytearray(), transport.most_bytes
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, trio.ClosedResourceError):
        async with messages:
            while part := await process.stdout.receive_some(PART):
                left -= len(part)
                if left < 0:
                    text = f"the program has written more than {transport.most_bytes} bytes"
                    transport.fail("RESPONSE_TOO_LARGE", text, final=True)
                    return
                *lines, last = part.split(b"\n")
                for line in lines:
                    rest += line
                    if not rest:
                        continue  # a flood of empty lines is cheap
                    if ValueCounter().add(bytes(rest)) > MOST_VALUES:
                        text = f"an answer of the program has more than {MOST_VALUES} values"
                        transport.fail("RESPONSE_TOO_LARGE", text, final=True)
                        return
                    if rest.strip():
                        await messages.send(_message(bytes(rest)))
                    rest.clear()
                rest += last
            transport.fail("UNAVAILABLE", "the program has ended before it answered")


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error


async def _write(process: trio.Process, messages: Any) -> None:
    assert process.stdin is not None, "it has pipes"
    with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
        async with messages:
            async for each in messages:
                text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.send_all(f"{text}\n".encode())
