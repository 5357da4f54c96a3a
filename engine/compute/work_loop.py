"""The compute process itself: it does one task after the other, and ends with the program.

It imports no Trio, and the modules of a task only when the task comes. Nothing is shared with the program: the process
inherits no listening socket and no connection. SIGINT and SIGTERM do not concern it, because the program ends it.
"""

from __future__ import annotations

import fcntl
import gc
import os
import resource
import select
import signal
import socket
import sys
import threading
import time
import traceback

from vivero.engine.compute.messages import HEAD, Begin, Task, TaskAnswer, TaskEnd, decode, encode

CHANNEL_FD = 0
"""The channel is the standard input."""


def main() -> None:
    """Work until the program closes the channel."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    channel = socket.socket(fileno=os.dup(CHANNEL_FD))
    threading.Thread(target=_end_with_program, args=(channel.fileno(),), daemon=True).start()
    if sys.platform == "linux":
        fcntl.fcntl(channel, fcntl.F_SETOWN, os.getpid())
    begin: Begin = decode(_receive(channel))
    _limit(begin)
    while True:
        task: Task = decode(_receive(channel))
        _signal_hang_up(channel, True)
        answer = _done(task, begin.cpu_s)
        _signal_hang_up(channel, False)
        channel.sendall(answer)
        del task, answer
        gc.collect()


def _receive(channel: socket.socket) -> bytearray:
    return _exactly(channel, HEAD.unpack(_exactly(channel, HEAD.size))[0])


def _exactly(channel: socket.socket, size: int) -> bytearray:
    data, filled = bytearray(size), 0
    while filled < size:
        count = channel.recv_into(memoryview(data)[filled:])
        if count == 0:
            sys.exit()
        filled += count
    return data


def _end_with_program(channel: int) -> None:
    """End also in the middle of a task when the program is gone, however it ended."""
    hung_up = select.POLLHUP | getattr(select, "POLLRDHUP", 0)
    poll = select.poll()
    poll.register(channel, hung_up)
    poll.poll()
    os._exit(0)


def _signal_hang_up(channel: socket.socket, wanted: bool) -> None:
    """During a task nothing comes but the end of the program. SIGIO, which nobody handles, ends the process then, even
    in a long call of C that lets no other thread run."""
    if sys.platform == "linux":
        flags = fcntl.fcntl(channel, fcntl.F_GETFL)
        fcntl.fcntl(channel, fcntl.F_SETFL, flags | os.O_ASYNC if wanted else flags & ~os.O_ASYNC)


def _limit(begin: Begin) -> None:
    """Give way to the program and to PostgreSQL, and bound the memory. A process that is ended leaves no core file."""
    os.nice(begin.nice)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        _set_limit(resource.RLIMIT_DATA, begin.memory_bytes)


def _set_limit(kind: int, limit: int) -> None:
    """Set a limit, or the one of the program if that is lower: nobody may exceed it."""
    _, most = resource.getrlimit(kind)
    resource.setrlimit(kind, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))


def _done(task: Task, cpu_s: int) -> bytes:
    """The answer to a task. The system ends the process with SIGXCPU if the task takes longer than it may."""
    _set_limit(resource.RLIMIT_CPU, int(time.process_time()) + 1 + cpu_s)
    try:
        return encode(TaskAnswer(TaskEnd.DONE, task.work(*task.arguments)))
    except MemoryError:
        return encode(TaskAnswer(TaskEnd.OUT_OF_MEMORY, None))
    except Exception:  # a bug, which the program raises
        return encode(TaskAnswer(TaskEnd.FAILED, traceback.format_exc()))
