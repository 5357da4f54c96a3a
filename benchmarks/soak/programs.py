"""The programs of a soak, nodes and workers: started, killed, frozen and started again, each with a file of its log."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx
import psutil
import trio

from vivero.embedded.processes import dying_with_us

READY_S = 120.0
RETRY_S = 0.3


class Program:
    """A command that runs again after each end that a fault gives it."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str], directory: Path) -> None:
        self.name, self._command, self._environment = name, command, environment
        self._log = directory / f"{name}.log"
        self.start()

    def start(self) -> None:
        """Start the process; the caller is the main thread, with which the process ends."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=dict(self._environment),
                start_new_session=True,
                preexec_fn=dying_with_us(),
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def check(self) -> None:
        """Raise RuntimeError if the process has ended by itself."""
        if (code := self._process.poll()) is not None:
            raise RuntimeError(f"{self.name} has ended with code {code}; its log: {self._log}")

    def send(self, sent: signal.Signals) -> None:
        self._process.send_signal(sent)

    def kill(self) -> None:
        """End the process at once, and wait for its end."""
        self._process.kill()
        self._process.wait(20)

    def stop(self) -> int:
        """The exit code after SIGTERM."""
        self._process.send_signal(signal.SIGCONT)
        self._process.terminate()
        return self._process.wait(60)

    def figures(self) -> dict[str, float]:
        """Memory, threads and open files of the process and its children."""
        processes = [psutil.Process(self.pid), *psutil.Process(self.pid).children(recursive=True)]
        used = [each.cpu_times() for each in processes]
        return {
            "cpu_s": float(sum(each.user + each.system for each in used)),
            "memory_mb": sum(each.memory_info().rss for each in processes) / 1e6,
            "threads": float(sum(each.num_threads() for each in processes)),
            "files": float(sum(each.num_fds() for each in processes)),
        }


class Node(Program):
    """`vivero up` on a port that it keeps."""

    def __init__(self, name: str, dsn: str, environment: Mapping[str, str], directory: Path) -> None:
        self.port = _free_port()
        self.client = httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.port}", timeout=5)
        command = [sys.executable, "-m", "vivero", "up", "--port", str(self.port), "--database-url", dsn]
        super().__init__(name, [*command, "--log-format", "json"], environment, directory)

    async def ready(self, within_s: float = READY_S) -> None:
        """Wait until the node serves. Raises RuntimeError if it ends, TooSlowError."""
        with trio.fail_after(within_s):
            while await self.get("/ready") is None:
                self.check()
                await trio.sleep(RETRY_S)

    async def get(self, path: str) -> str | None:
        """The text of the answer; None without one, or if it is not 200."""
        try:
            answer = await self.client.get(path)
        except httpx.TransportError:
            return None
        return answer.text if answer.status_code == 200 else None


def worker(name: str, node: Node, environment: Mapping[str, str], directory: Path) -> Program:
    """A worker that asks this node."""
    return Program(name, [sys.executable, "-m", "benchmarks.soak.worker", str(node.port)], environment, directory)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
