"""Whole programs that begin as forks of a process that has imported their code: a start costs a tenth of the CPU.

Each is a process of its own, with its own arguments, environment, files and end. Only the start of Python and its
imports are skipped. Some tests start programs in the usual way, too.
"""

import atexit
import gc
import json
import os
import signal
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from runpy import run_module

from tests.eventually import NotInTime, eventually_sync
from vivero.embedded.processes import die_with

REPOSITORY = Path(__file__).resolve().parents[2]
ASK_EVERY_S = 0.02
"""Each question whether a program has ended passes through the process that forks."""


class Forked:
    """A forked program, with the part of `subprocess.Popen` that tests use."""

    def __init__(self, pid) -> None:
        self.pid = pid
        self.returncode = None

    def poll(self):
        """The exit code, if it has ended. Negative: the number of the signal that ended it."""
        if self.returncode is None:
            self.returncode = _ask(pid=self.pid)
        return self.returncode

    def wait(self, timeout):
        """The exit code, within so many seconds."""
        try:
            eventually_sync(lambda: self.poll() is not None, within_s=timeout, every_s=ASK_EVERY_S)
        except NotInTime:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout) from None
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)


def start(module, arguments, environment, out, err):
    """Begin `python -m module` with these arguments; its output and log are appended to two files."""
    for file in (out, err):
        file.touch()
    files = {"out": str(out), "err": str(err)}
    return Forked(_ask(module=module, arguments=list(arguments), environment=environment, **files))


@cache
def _origin():
    """The process to fork. It ends with this one, whose end closes its input."""
    pipe = subprocess.PIPE
    origin = subprocess.Popen([sys.executable, "-m", __name__], cwd=REPOSITORY, stdin=pipe, stdout=pipe, text=True)
    atexit.register(origin.communicate)
    return origin


def _ask(**question):
    origin = _origin()
    origin.stdin.write(json.dumps(question) + "\n")
    origin.stdin.flush()
    return json.loads(origin.stdout.readline())


# ---- in the process to fork


def serve():
    """Fork and wait on request. Returns in each fork, which is the program then, with what it was told."""
    origin = os.getpid()
    for line in sys.stdin:
        question = json.loads(line)
        if "pid" in question:
            ended, status = os.waitpid(question["pid"], os.WNOHANG)
            answer = os.waitstatus_to_exitcode(status) if ended else None
        else:
            answer = os.fork()
            if answer == 0:
                die_with(origin, signal.SIGKILL)
                return question
        print(json.dumps(answer), flush=True)
    sys.exit()


def become(module, arguments, environment, out, err):
    """Replace what the fork has of its origin, but for the imported code, and run the module."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    for number, file in enumerate((os.open(os.devnull, os.O_RDONLY), os.open(out, flags), os.open(err, flags))):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [module, *arguments]
    if "--processes" in arguments and import_module("tests.process.preloaded_children").prepare():
        module = "vivero.processes"
    run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    gc.disable()
    served = ("node.tree", "web.application", "metrics.exposition", "processes.child")
    for name in (
        "cli.server.up",
        "cli.server.demo",
        "cli.processes.start",
        "cli.processes.worker",
        "program.program",
        *served,
    ):
        import_module(f"vivero.{name}")
    gc.freeze()  # a program looks for garbage at its start: among imported modules that takes half of its CPU
    gc.enable()
    become(**serve())
