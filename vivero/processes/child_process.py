"""The parent's side of a child: starts the process, talks to it, and notices its end."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import structlog
import trio

from vivero.api.http.metrics import Metrics
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.failures import FailureWindow
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.engine.supervision.wake_up import WakeUp
from vivero.processes.channel import (
    Answer,
    AskMetrics,
    AskStatus,
    Begin,
    Channel,
    FromChild,
    Inflict,
    Inflicted,
    LogEverything,
    Reload,
    Serving,
    ShownMetrics,
    Status,
    Stop,
    ToChild,
    from_child,
)
from vivero.processes.connection_counts import ConnectionCounts
from vivero.storage.postgres.given_time import patient

log = structlog.get_logger(__name__)

COMMAND = (sys.executable, "-P", "-m", "vivero.processes")
ANSWER_TIMEOUT_S = 2.0
_PACKAGE_HOME = Path(__file__).resolve().parents[2]


class ProcessEnded(Exception):
    """The process ended by itself, or somebody ended it."""


class NoAnswer(Exception):
    """The process does not run, or did not answer in time."""


def deaths(settings: SupervisionSettings) -> FailureWindow:
    """Counts the deaths of all processes. Too many of them end the program."""
    return FailureWindow(replace(settings, max_failures=settings.max_deaths, window_s=settings.deaths_window_s))


class ChildProcess:
    """The handle of a process; `run` is the parent's child that supervises it. Each life is a new process."""

    def __init__(
        self, begin: Begin, counts: ConnectionCounts, deaths: FailureWindow, serving: Callable[[], None]
    ) -> None:
        """`serving()` is called each time the process serves clients. It may not wait."""
        self.name = begin.name
        self.serves_clients = bool(begin.listeners)
        """Without the listening sockets, it only leads partitions."""
        self._begin = begin
        self._counts = counts
        self._deaths = deaths
        self._tell_serving = serving
        self._ids = itertools.count(1)
        self._asked: dict[int, trio.MemorySendChannel[Answer]] = {}
        self._channel: Channel[FromChild] | None = None
        self._stopping = trio.Event()
        self._orders: deque[ToChild] = deque()
        self._ordered = WakeUp()
        self._logs_everything = False
        self.serving = False
        self.pid: int | None = None
        """The process id; None while no process runs."""

    # -- for the admin port

    async def status(self) -> Status:
        """The status of the process. Raises NoAnswer."""
        number = next(self._ids)
        answer = await self._ask(number, AskStatus(number))
        if not isinstance(answer, Status):
            raise NoAnswer(f"process {self.name} gave another answer")
        return answer

    async def metrics(self) -> Metrics | None:
        """The metrics of the process; None if they are off. Raises NoAnswer."""
        number = next(self._ids)
        answer = await self._ask(number, AskMetrics(number))
        if not isinstance(answer, ShownMetrics):
            raise NoAnswer(f"process {self.name} gave another answer")
        return answer.shown

    async def inflict(self, child: str, kind: str) -> Inflicted:
        """Make one of its children fail. Raises NoAnswer."""
        number = next(self._ids)
        answer = await self._ask(number, Inflict(number, child, kind))
        if not isinstance(answer, Inflicted):
            raise NoAnswer(f"process {self.name} gave another answer")
        return answer

    async def _ask(self, number: int, question: AskStatus | AskMetrics | Inflict) -> Answer:
        channel = self._channel
        if channel is None or not self.serving:
            raise NoAnswer(f"process {self.name} is being started")
        send, receive = trio.open_memory_channel[Answer](1)
        self._asked[number] = send
        try:
            with trio.fail_after(ANSWER_TIMEOUT_S) as scope, patient(scope), send, receive:
                await channel.send(question)
                return await receive.receive()
        except (trio.TooSlowError, trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise NoAnswer(f"process {self.name} does not answer") from error
        finally:
            del self._asked[number]

    # -- the parent's child

    def drain(self) -> None:
        """Let the process finish its open requests and end. `run` returns then."""
        self._stopping.set()

    def reload(self) -> None:
        """Let the process read the certificate of TLS again. A process that is started later reads it anyway."""
        self._order(Reload())

    def log_everything(self, everything: bool) -> None:
        """Let the process, and those after it, log everything from `debug` on, or no longer."""
        self._logs_everything = everything
        self._order(LogEverything(everything))

    def _order(self, message: ToChild) -> None:
        if self._channel is not None:
            self._orders.append(message)
            self._ordered.set()

    async def run(self, beat: Beat) -> None:
        """One life of the process.

        Raises:
            ProcessEnded: the process ended, although it was not to stop.
            Escalated: the processes have died too often.
        """
        beat.report_progress(lambda: self.serving)
        process, self._channel = await _start([*self._begin.listeners, self._begin.counts])
        self.pid = process.pid
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._talk, self._channel)
                await beat.idle(process.wait)
                nursery.cancel_scope.cancel()
        finally:
            self.serving, self.pid = False, None
            self._channel.close()
            await _end(process)
            self._counts.clear(self._begin.index)
        if not self._stopping.is_set():
            reason = _reason(process.returncode)
            self._deaths.add(f"process {self.name}", reason)
            raise ProcessEnded(reason)

    async def _talk(self, channel: Channel[FromChild]) -> None:
        try:
            await channel.send(self._begin)
            self._orders.clear()
            self.log_everything(self._logs_everything)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._tell_to_stop, channel)
                nursery.start_soon(self._tell_orders, channel)
                async for message in channel.messages():
                    self._take(message)
                nursery.cancel_scope.cancel()
        except* trio.BrokenResourceError:
            log.debug("a process has closed its channel", process=self.name)

    async def _tell_orders(self, channel: Channel[FromChild]) -> None:
        while True:
            await self._ordered.wait()
            while self._orders:
                await channel.send(self._orders.popleft())

    async def _tell_to_stop(self, channel: Channel[FromChild]) -> None:
        await self._stopping.wait()
        await channel.send(Stop())

    def _take(self, message: FromChild) -> None:
        if isinstance(message, Serving):
            self.serving = True
            self._tell_serving()
        elif (asked := self._asked.get(message.id)) is not None:
            asked.send_nowait(message)


async def _start(inherited: Sequence[int]) -> tuple[trio.Process, Channel[FromChild]]:
    """Start a process. It is in a process group of its own, so that Ctrl-C in a terminal signals only the parent."""
    ours, theirs = socket.socketpair()
    search_path = [str(_PACKAGE_HOME), *filter(None, [os.environ.get("PYTHONPATH")])]
    try:
        with theirs:
            process = await trio.lowlevel.open_process(
                COMMAND,
                stdin=theirs.fileno(),
                pass_fds=inherited,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(search_path)},
                process_group=0,
            )
    except BaseException:
        ours.close()
        raise
    return process, Channel(ours, from_child)


async def _end(process: trio.Process) -> None:
    """End the process at once, if it still runs."""
    if process.poll() is None:
        process.kill()
    with trio.CancelScope(shield=True):
        await process.wait()


def _reason(status: int | None) -> str:
    if status is not None and status < 0:
        return f"it was ended by {signal.Signals(-status).name}"
    return f"it ended with exit code {status}"
