"""The program's side of a compute process: starts it, gives it tasks, and ends it."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import trio

from vivero.engine.compute import messages
from vivero.engine.compute.messages import HEAD, Begin, Task, TaskEnd
from vivero.engine.compute.problems import CannotWork, ProcessDied, TaskFailed, TooCostly
from vivero.engine.compute.settings import ComputeSettings

T = TypeVar("T")

COMMAND = (sys.executable, "-P", "-m", "vivero.engine.compute")
NICE = 3
"""On a busy processor, the program gets twice as much as a compute process."""
CHUNK_BYTES = 256 * 1024
"""Other tasks of the loop get their turn after so many bytes."""
_PACKAGE_HOME = Path(__file__).absolute().parents[3]
"""The folder that has the package `vivero`. In a clone the package has links to folders beside it."""


class ComputeProcess:
    """A running compute process. `usable` is false while it does a task and after it has ended."""

    def __init__(self, process: trio.Process, channel: socket.socket, settings: ComputeSettings) -> None:
        self._process, self._settings = process, settings
        self._socket = trio.socket.from_stdlib_socket(channel)
        self._stream = trio.SocketStream(self._socket)
        self.usable = True
        self.idle_since = 0.0
        """Trio's clock; when its last task ended."""

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def runs(self) -> bool:
        """Whether nobody has ended it."""
        return self._process.poll() is None

    @classmethod
    async def start(cls, settings: ComputeSettings) -> ComputeProcess:
        """A new process. It imports while the first task is on its way."""
        ours, theirs = socket.socketpair()
        path = [str(_PACKAGE_HOME), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(path)}
        try:
            with theirs:
                process = await trio.lowlevel.open_process(
                    COMMAND, stdin=theirs.fileno(), env=environment, process_group=0
                )
        except BaseException:
            ours.close()
            raise
        started = cls(process, ours, settings)
        begin = messages.encode(Begin(NICE, settings.memory_bytes, settings.cpu_s))
        with trio.CancelScope(shield=True):  # it fits into the buffer of the socket
            try:
                await started._stream.send_all(begin)
            except trio.BrokenResourceError:
                started.usable = False
        return started

    async def call(self, work: Callable[..., T], arguments: tuple[Any, ...]) -> T:
        """The result of a task.

        Raises:
            TooCostly: it takes more CPU time, memory or time than a task may.
            ProcessDied: somebody ended the process.
            CannotWork: it ended itself, because it could not begin.
            TaskFailed: the function raised an exception.
        """
        self.usable = False
        with trio.move_on_after(self._settings.task_s):
            answer = await self._exchange(messages.encode(Task(work, arguments)))
            self.usable = answer.end is not TaskEnd.OUT_OF_MEMORY  # what is left of its memory may be in pieces
            if answer.end is TaskEnd.FAILED:
                raise TaskFailed(answer.result)
            if answer.end is TaskEnd.OUT_OF_MEMORY:
                raise TooCostly(f"more than {self._settings.memory_bytes >> 20} MiB of memory")
            result: T = answer.result
            return result
        raise TooCostly(f"more than {self._settings.task_s:g} s")

    async def _exchange(self, request: bytes) -> messages.TaskAnswer:
        try:
            await self._send(request)
            (size,) = HEAD.unpack(await self._receive(HEAD.size))
            answer: messages.TaskAnswer = messages.decode(await self._receive(size))
            return answer
        except (trio.BrokenResourceError, EOFError):
            with trio.CancelScope(shield=True):
                status = await self._ended()
        if status == -signal.SIGXCPU:
            raise TooCostly(f"more than {self._settings.cpu_s} s of CPU time")
        if status >= 0:
            raise CannotWork(f"a compute process ended with status {status}, and has written why")
        raise ProcessDied(f"a compute process ended with status {status}")

    async def _send(self, data: bytes) -> None:
        view = memoryview(data)
        for begin in range(0, len(view), CHUNK_BYTES):
            await self._stream.send_all(view[begin : begin + CHUNK_BYTES])

    async def _receive(self, size: int) -> bytearray:
        data, filled = bytearray(size), 0
        view = memoryview(data)
        while filled < size:
            try:
                count = await self._socket.recv_into(view[filled : filled + CHUNK_BYTES])
            except OSError as error:
                raise trio.BrokenResourceError from error
            if count == 0:
                raise EOFError
            filled += count
        view.release()
        return data

    async def end(self) -> None:
        """End it at once. Safe to call again."""
        with trio.CancelScope(shield=True):
            await self._ended()

    async def _ended(self) -> int:
        self.usable = False
        self._socket.close()
        if self._process.poll() is None:
            self._process.kill()
        return await self._process.wait()
