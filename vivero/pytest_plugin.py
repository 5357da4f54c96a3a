"""The pytest plugin: the fixture `processes`, and the report of coverage at the end of a session.

pytest loads it in each session of an environment that has Vivero, so the engine is imported when a test needs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

NAME = "vivero-process-coverage"
TITLE = "process coverage"
EVALUATIONS = "vivero-agent-evaluation"


class SessionCoverage:
    """The coverage of a session, and of its worker processes (pytest-xdist)."""

    def __init__(self, minimum: int, html: str | None) -> None:
        """`minimum`: a percentage. `html`: the folder of the report."""
        self.minimum = minimum
        self.html = html
        self.cache: Any = None
        self.coverage: Any = None

    def begin(self) -> None:
        """Import the test kit. Sessions without process tests never do."""
        if self.coverage is None:
            self.coverage = import_module("vivero.testing.coverage").Coverage()
            self.cache = import_module("vivero.testing.processes").ModelCache()

    @property
    def is_too_low(self) -> bool:
        return self.coverage is not None and self.coverage.lowest < self.minimum

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A worker hands its coverage over. Otherwise coverage that is too low fails a session that has passed."""
        output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
        if output is not None and self.coverage is not None:
            output[NAME] = import_module("vivero.testing.coverage").to_json(self.coverage)
        elif output is None and self.is_too_low and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over the coverage of a worker."""
        found = getattr(node, "workeroutput", {}).get(NAME)
        if found is not None:
            self.begin()
            self.coverage.merge(import_module("vivero.testing.coverage").from_json(found))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.coverage is None or not self.coverage.processes:
            return
        terminalreporter.section(TITLE)
        for line in self.coverage.lines():
            terminalreporter.write_line(line)
        if self.html is not None:
            page = import_module("vivero.testing.report").write_report(self.coverage, Path(self.html))
            terminalreporter.write_line(f"The diagrams are in {page}")
        if self.is_too_low:
            terminalreporter.write_line(
                f"A process is below {self.minimum} %, which --process-coverage-min demands", red=True
            )


class SessionEvaluation:
    """The evaluation of a session, and of its worker processes (pytest-xdist). None: it has none."""

    def __init__(self) -> None:
        self.evaluation: Any = None

    def begin(self) -> Any:
        """Import it when a test needs it."""
        if self.evaluation is None:
            self.evaluation = import_module("vivero.testing.evaluations").AgentEvaluation()
        return self.evaluation

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A worker hands its results over."""
        output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
        if output is not None and self.evaluation is not None:
            output[EVALUATIONS] = import_module("vivero.testing.evaluations").to_json(self.evaluation)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over the results of a worker."""
        if (found := getattr(node, "workeroutput", {}).get(EVALUATIONS)) is not None:
            self.begin().results.extend(import_module("vivero.testing.evaluations").from_json(found))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.evaluation is not None and self.evaluation.results:
            terminalreporter.section("agent evaluation")
            for line in self.evaluation.lines():
                terminalreporter.write_line(line)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("vivero", "tests of processes")
    group.addoption(
        "--process-coverage-min",
        type=int,
        default=0,
        metavar="PERCENT",
        help="fail if the tests reach less of a process than this, in percent of its elements and sequence flows",
    )

    group.addoption(
        "--process-coverage-html",
        metavar="DIR",
        help="draw the diagrams of the processes, with what the tests reach, into DIR/index.html",
    )
    group.addoption(
        "--vivero-url",
        metavar="URL",
        help="run the tests of processes on this server, which keeps what they deploy; credentials: VIVERO_TOKEN, …",
    )


def pytest_configure(config: pytest.Config) -> None:
    minimum, html = config.getoption("--process-coverage-min"), config.getoption("--process-coverage-html")
    config.pluginmanager.register(SessionCoverage(minimum, html), NAME)
    config.pluginmanager.register(SessionEvaluation(), EVALUATIONS)


@pytest.fixture
def processes(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The processes of a test (`vivero.testing.Processes`): models, mocks, a clock, and instances.

    With `--vivero-url` the instances run on a server, and those that still run at the end of the test are cancelled.
    """
    session: Any = request.config.pluginmanager.get_plugin(NAME)
    session.begin()
    about = ((request.path.parent, request.config.rootpath), session.coverage, session.cache)
    url = request.config.getoption("--vivero-url")
    if url is None:
        yield import_module("vivero.testing").Processes(*about)
        return
    at_server = import_module("vivero.testing.server_processes").ServerProcesses(url, *about)
    try:
        yield at_server
    finally:
        at_server.close()


@pytest.fixture
def evaluation(request: pytest.FixtureRequest) -> Any:
    """The evaluation of agents (`vivero.testing.AgentEvaluation`), whose table stands at the end of the session."""
    session: Any = request.config.pluginmanager.get_plugin(EVALUATIONS)
    return session.begin()


@pytest.fixture
def background_jobs() -> Any:
    """The background jobs of a test (`vivero.testing.background_jobs.BackgroundJobTests`), which it defers and runs."""
    return import_module("vivero.testing.background_jobs").BackgroundJobTests()


@pytest.fixture
def decisions(request: pytest.FixtureRequest) -> Any:
    """The decisions of a test (`vivero.testing.DecisionTests`): DMN files, and files of cases."""
    return import_module("vivero.testing").DecisionTests((request.path.parent, request.config.rootpath))
