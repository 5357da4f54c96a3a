"""The processes of `vivero up --processes` begin as forks as well, if their program did (`tests/process/preloaded.py`).

Before it begins, such a program forks an origin, with the code imported and nothing else, and asks it for each process.
The origin forks twice and leaves the second fork to the program, whose child it is from then on, to wait for and to
signal as one that was started in the usual way.
"""

import ctypes
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import threading

from vivero.processes.child_process import COMMAND

MODULE = COMMAND[-1]
_SUBREAPER = 36
"""`PR_SET_CHILD_SUBREAPER` of prctl(2): whose parent has ended becomes this process's child."""
_MOST_BYTES = 200_000
_MOST_FILES = 64
_ABOVE = 200
"""Descriptors from here on are not in use."""


def prepare():
    """Let this process fork instead of running `COMMAND`. True in each process that it asks for, and False here."""
    if sys.platform != "linux":
        return False
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        ours.close()
        _serve(theirs)
        return True
    theirs.close()
    Popen.origin = ours
    subprocess.Popen = Popen  # type: ignore[misc]
    return False


class Popen(subprocess.Popen):
    """The usual one, but for `COMMAND`."""

    origin: socket.socket = None
    lock = threading.Lock()

    def _execute_child(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *more):
        if tuple(args) != COMMAND:
            super()._execute_child(  # type: ignore[misc]
                args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *more
            )
            return
        stdin = more[3]  # after what Windows needs, and whether there is a shell
        with self.lock:
            self.pid = self._ask({"env": env, "files": [0, *pass_fds]}, [stdin, *pass_fds])
        self._child_created = True

    def _ask(self, question, files):
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        prctl(_SUBREAPER, 1, 0, 0, 0)  # only meanwhile: what others leave behind is not ours
        try:
            socket.send_fds(self.origin, [json.dumps(question).encode()], files)
            return int(self.origin.recv(100))
        finally:
            prctl(_SUBREAPER, 0, 0, 0, 0)


def _serve(asking):
    """In the origin: fork on request until the program has ended. Returns in each process that was asked for."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        said, files, _, _ = socket.recv_fds(asking, _MOST_BYTES, _MOST_FILES)
        if not said:
            os._exit(0)
        reading, writing = os.pipe()
        between = os.fork()
        if between == 0 and (pid := os.fork()) != 0:
            os.write(writing, str(pid).encode())
            os._exit(0)
        if between == 0:
            for number in (asking.fileno(), reading, writing):
                os.close(number)
            _become(json.loads(said), files)
            return
        os.waitpid(between, 0)
        asking.send(os.read(reading, 100))
        for number in (reading, writing, *files):
            os.close(number)


def _become(question, files):
    """The process that `open_process` would give: descriptors, environment, process group."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    above = [_moved(number) for number in files]
    for number, target in zip(above, question["files"], strict=True):
        os.dup2(number, target)
        os.close(number)
    os.environ.clear()
    os.environ.update(question["env"])
    sys.argv = [MODULE]


def _moved(number):
    moved = fcntl.fcntl(number, fcntl.F_DUPFD, _ABOVE)
    os.close(number)
    return moved
