"""Divides the files of tests among forks of the process that has collected them: `pytest --forks 3 -p no:xdist`.

Tests are collected once, and a fork has all of their modules at once. Processes that begin anew, as those of
pytest-xdist, each collect for eleven seconds of CPU, and each message of theirs costs more than a short test.

A fork runs whole files, in their order: it asks for the next file as it begins the last test of one, because pytest
must know the next test to keep the fixtures of the session. Reports go to the first process, which shows them. A test
whose fork ends has failed; another fork goes on with the rest of its file.
"""

import os
import pickle
import signal
import sys
import time
import traceback
import warnings
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NoReturn

import pytest
from _pytest.runner import pytest_sessionfinish as end_fixtures

MOST = 32
TOGETHER = Path(__file__).parent / "console"
"""The files of this folder run in one fork, one after another: they share a browser."""
LOOK_S = 5.0
"""Forks that hang are looked for so often."""
_number = 0


def number() -> int:
    """The number of the fork that this process is, from 0; 0 without forks."""
    return _number


def file_of(path: Path) -> Path:
    """The file whose tests run in one fork: the given one, or the folder that counts as one file."""
    return TOGETHER if path.parent == TOGETHER else path


@dataclass(slots=True)
class Fork:
    """A fork as the first process sees it, and the places of the tests that it has not reported, in their order."""

    pid: int
    number: int
    connection: Connection
    given: deque[int]
    heard_s: float
    """The moment of its last message, by the monotonic clock."""

    def ended(self) -> str:
        """Wait for its end, and say by what it came."""
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


def run(session: pytest.Session, count: int) -> bool:
    """Run all tests of a session in so many forks at once; as `pytest_runtestloop` does, True."""
    if not 0 < count <= MOST:
        raise pytest.UsageError(f"--forks {count}: the number of forks is from 1 to {MOST}")
    items = session.items
    files = deque(list(file) for _, file in groupby(range(len(items)), lambda at: file_of(items[at].path)))
    reporter: Any = session.config.pluginmanager.getplugin("terminalreporter")
    if reporter is not None:
        reporter.showfspath = False  # files take turns, and each turn would begin a line
    forks = Forks(session, files)
    try:
        for index in range(min(count, len(files))):
            forks.begin(index)
        while forks.running:
            forks.take_turns()
            if session.shouldfail:
                raise session.Failed(session.shouldfail)
            if session.shouldstop:
                raise session.Interrupted(session.shouldstop)
    finally:
        forks.end()
    return True


class Forks:
    """The forks of a session, and the files that none of them has yet."""

    def __init__(self, session: pytest.Session, files: deque[list[int]]) -> None:
        self._session, self._files = session, files
        self.running: list[Fork] = []

    def begin(self, number: int) -> None:
        """Fork. The fork never returns."""
        ours, theirs = Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            for connection in (ours, *(fork.connection for fork in self.running)):
                connection.close()  # a fork that outlives the first process must see its end
            _become(number, self._session, theirs)
        theirs.close()
        fork = Fork(pid, number, ours, deque(), time.monotonic())
        self.running.append(fork)
        self._give(fork)

    def take_turns(self) -> None:
        """Wait for messages of forks, and act on one of each."""
        by_connection = {fork.connection: fork for fork in self.running}
        patience_s = self._session.config.getoption("--hangs-after")
        for connection in wait(list(by_connection), patience_s and min(patience_s, LOOK_S)):
            fork = by_connection[connection]  # type: ignore[index]
            fork.heard_s = time.monotonic()
            try:
                kind, *about = fork.connection.recv()
            except (EOFError, ConnectionResetError, pickle.UnpicklingError):
                self._lost(fork)
                continue
            getattr(self, f"_{kind}")(fork, *about)
        for fork in self.running if patience_s else ():
            if time.monotonic() - fork.heard_s > patience_s:
                os.kill(fork.pid, signal.SIGKILL)  # its connection says the rest

    def end(self) -> None:
        """Wait for all forks. They end at their next message, as nobody listens."""
        for fork in self.running:
            fork.connection.close()
        for fork in self.running:
            fork.ended()

    def _give(self, fork: Fork) -> None:
        file = self._files.popleft() if self._files else None
        fork.given.extend(file or ())
        with suppress(BrokenPipeError, ConnectionResetError):  # it has ended, which its connection is about to say
            fork.connection.send(file)

    # ---- messages of forks

    def _next(self, fork: Fork) -> None:
        self._give(fork)

    def _reported(self, fork: Fork, at: int, reports: list[dict[str, Any]]) -> None:
        assert fork.given.popleft() == at
        hook = self._session.config.hook
        read = (hook.pytest_report_from_serializable(config=self._session.config, data=data) for data in reports)
        self._log(self._session.items[at], read)

    def _log(self, item: pytest.Item, reports: Iterable[pytest.TestReport]) -> None:
        hook = self._session.config.hook
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in reports:
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _warned(self, _fork: Fork, text: str, filename: str, line: int, about: dict[str, Any]) -> None:
        message = warnings.WarningMessage(pytest.PytestWarning(text), pytest.PytestWarning, filename, line)
        hook = self._session.config.hook.pytest_warning_recorded
        hook.call_historic(kwargs={"warning_message": message, **about})

    def _broke(self, _fork: Fork, told: str) -> NoReturn:
        raise RuntimeError(f"a fork cannot go on:\n{told}")

    def _done(self, fork: Fork) -> None:
        self.running.remove(fork)
        fork.connection.close()
        fork.ended()

    def _lost(self, fork: Fork) -> None:
        """The test that ran has failed. Another fork goes on."""
        self.running.remove(fork)
        fork.connection.close()
        how = fork.ended()
        if fork.given:
            item = self._session.items[fork.given.popleft()]
            told = f"the process {how} during this test"
            self._log(item, [pytest.TestReport(item.nodeid, item.location, {}, "failed", told, "call")])
        if fork.given:
            self._files.appendleft(list(fork.given))
        if self._files:
            self.begin(fork.number)


# ---- in a fork


def _become(number: int, session: pytest.Session, connection: Connection) -> NoReturn:
    """Run tests until there are none. The process ends without what the first one would do in its end."""
    global _number
    _number = number
    code = 1
    try:
        _separate(session.config)
        reporter = Reporter(session, connection)
        session.config.pluginmanager.register(reporter)
        try:
            _run_files(session, connection, reporter)
            connection.send(("done",))
            code = 0
        except (EOFError, BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
            end_fixtures(session)  # the first process has ended, or wants an end
        except BaseException:
            connection.send(("broke", traceback.format_exc()))
            end_fixtures(session)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _separate(config: pytest.Config) -> None:
    """Nothing is shown from here on, and what tests print is captured in files of this process alone."""
    config.pluginmanager.unregister(name="terminalreporter")
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()


def _run_files(session: pytest.Session, connection: Connection, reporter: "Reporter") -> None:
    following: list[int] | None = connection.recv()
    while following is not None:
        file, following = following, None
        for at, then in zip(file, [*file[1:], None], strict=True):
            if then is None:
                connection.send(("next",))
                following = connection.recv()
                then = following[0] if following else None
            item = session.items[at]
            next_item = None if then is None else session.items[then]
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=next_item)
            reporter.send(at)
            if session.shouldfail or session.shouldstop:
                return  # the first process hears of it by the same reports


class Reporter:
    """The plugin that sends the reports of a test to the first process, all at once."""

    def __init__(self, session: pytest.Session, connection: Connection) -> None:
        self._config, self._connection = session.config, connection
        self._reports: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        hook = self._config.hook
        self._reports.append(hook.pytest_report_to_serializable(config=self._config, report=report))

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: Any
    ) -> None:
        warned = warning_message
        text = f"{warned.category.__name__}: {warned.message}"
        about = {"when": when, "nodeid": nodeid, "location": location}
        self._connection.send(("warned", text, warned.filename, warned.lineno, about))

    def send(self, at: int) -> None:
        self._connection.send(("reported", at, self._reports))
        self._reports = []
