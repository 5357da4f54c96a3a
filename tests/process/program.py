"""A whole Vivero program as a process of its own: start it, wait for it, hurt it, read what it said."""

import itertools
import json
import os
import random
import signal
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path

import psutil

from tests import forks
from tests.eventually import eventually
from tests.process import preloaded
from tests.process.http_client import Caller, Unanswered
from vivero.embedded.processes import dying_with_us

REPOSITORY = Path(__file__).resolve().parents[2]
READY_S = 40.0
READY_EVERY_S = 0.03
"""The pause between two requests that ask whether a program is ready. It works on them while it starts."""
_PORTS_OF_EACH = 2_000
_FIRST_PORT, _PROCESSES = 20_000, 6


COMPUTE = "vivero.engine.compute"


def _command(process):
    """Does nothing if the process has just ended."""
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


@cache
def _turns():
    """Ports in a random order: whoever asks later gets another one than somebody who does not listen yet.

    Each process of a test run has ports of its own. They are below those that systems give to clients: a client that
    tries one of those again and again while nobody listens may end up connected to itself, and the program cannot have
    its port back.
    """
    first = _FIRST_PORT + forks.number() % _PROCESSES * _PORTS_OF_EACH
    return itertools.cycle(random.sample(range(first, first + _PORTS_OF_EACH), _PORTS_OF_EACH))


def free_port():
    """A port that nobody has and that no client will be given."""
    for port in itertools.islice(_turns(), 200):
        with socket.socket() as attempt:
            attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                attempt.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no free port")


class Program:
    """`vivero up`, started as often as wanted, always on the same port."""

    def __init__(self, directory, name, arguments, environment) -> None:
        self.port = free_port()
        self.name, self.directory = name, directory
        self._log = directory / f"{name}.log"
        self._out = directory / f"{name}.out"
        self._arguments = arguments
        self.environment = os.environ | {"VIVERO_ADMIN_PORT": "0"} | environment  # several programs run at once
        self._process: subprocess.Popen[bytes] | preloaded.Forked | None = None
        self.module = "vivero"
        """The module that Python runs."""
        self.is_forked = True
        """Whether it begins with the code imported."""

    def add_arguments(self, *arguments):
        """Pass these from the next start on. The last one of an option counts."""
        self._arguments = (*self._arguments, *arguments)

    def log_to(self, path):
        """Write its log there from the next start on. What is not a file is not read."""
        self._log = path

    def start(self):
        """Begin; `ready` waits for it."""
        command = ["up", "--port", str(self.port), "--chaos", "--log-format", "json", *self._arguments]
        if self.is_forked:
            self._process = preloaded.start(self.module, command, self.environment, self._out, self._log)
            return
        with self._log.open("ab") as log, self._out.open("ab") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-m", self.module, *command],
                cwd=REPOSITORY,
                env=self.environment,
                stdout=out,
                stderr=log,
                preexec_fn=dying_with_us(),
            )

    @property
    def pid(self):
        return self._process.pid

    @property
    def running(self):
        return self._process is not None and self._process.poll() is None

    @property
    def memory(self):
        """Resident set in MB, now and at its peak."""
        text = Path(f"/proc/{self.pid}/status").read_text()
        values = dict(line.split(":", 1) for line in text.splitlines())
        return tuple(int(values[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))

    @property
    def exit_code(self):
        """Negative: the number of the signal that ended it."""
        return self._process.returncode

    def signal(self, number):
        self._process.send_signal(number)

    async def kill(self):
        """kill -9, and wait for the end."""
        self.signal(signal.SIGKILL)
        return await self.wait()

    async def wait(self, within_s=40.0):
        """The exit code, when it has ended."""
        await eventually(self._ended, f"{self.name} ends", within_s=within_s, every_s=preloaded.ASK_EVERY_S)
        return self._process.returncode

    async def _ended(self):
        return self._process.poll() is not None

    async def ready(self, within_s=READY_S):
        """Wait until every part of it is healthy."""

        async def healthy():
            assert self.running, f"{self.name} ended with {self._process.returncode}:\n{self.said()}"
            return await self.status() == 204

        await eventually(healthy, f"{self.name} is ready", within_s=within_s, every_s=READY_EVERY_S)

    async def all_serve(self, within_s=READY_S):
        """Wait until each of its processes serves, after its first start. Any one of them answers for `ready`."""

        async def told():
            return "Vivero is ready" in self.printed()

        await eventually(told, f"all processes of {self.name} serve", within_s=within_s)

    async def restart(self):
        self.start()
        await self.ready()

    async def status(self):
        """The status of GET /v2/status; 0 without an answer."""
        async with Caller(self.port) as caller:
            try:
                return (await caller.call("GET", "/v2/status", within_s=5)).status
            except Unanswered:
                return 0

    async def hurt(self, child, kind):
        """Chaos for a child: whether it was running."""
        async with Caller(self.port) as caller:
            answer = await caller.call("POST", f"/chaos/children/{child}", {"kind": kind})
        return answer.status

    def logged(self, event):
        """The log's entries of that event, in their order."""
        return [entry for entry in self.entries() if entry.get("event") == event]

    def ends_of(self, child):
        """The log's entries of that child's ends."""
        return [entry for entry in self.logged("child ended") if entry["child"] == child]

    @property
    def log_bytes(self):
        """The length of its log, as a beginning for `entries`."""
        return self._log.stat().st_size

    def entries(self, begin=0):
        """The log's entries from that byte on."""
        with self._log.open("rb") as log:
            log.seek(begin)
            lines = log.read().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.startswith(b"{") and line.endswith(b"\n")]

    def said(self, lines=40):
        """The end of its log, for people: what an assertion looks for may stand before it."""
        return "\n".join(self.whole_log().splitlines()[-lines:])

    def whole_log(self):
        return self._log.read_text() if self._log.is_file() else ""

    def printed(self):
        return self._out.read_text()

    def compute_processes(self):
        """Its compute processes, and those of its processes."""
        found = psutil.Process(self.pid).children(recursive=True)
        return [each for each in found if COMPUTE in _command(each)]

    def end(self):
        """End the program now, and all that it started."""
        if self.running:
            for process in [*psutil.Process(self.pid).children(recursive=True), self._process]:
                process.kill()
            self._process.wait(20)
