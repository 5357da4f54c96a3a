"""Hostile requests, models and clients against a whole program: see README.md beside this file.

A module has one program and one database, unless its tests say otherwise. `PROGRAM_ARGUMENTS` (a tuple) and
`PROGRAM_ENVIRONMENT` (a dictionary) of a module are given to its program; `{directory}` in their values is a new one.
`HEADERS` of a module are those of the requests of others.
"""

import pytest
import trio

from tests.hostile.others import Report, idle_p99_s
from tests.hostile.target import Target
from tests.process.program import Program

HOSTILE = "hostile"
UNSAFE = {"VIVERO_DATABASE_ALLOW_UNSAFE_COMMITS": "true"}


def pytest_collection_modifyitems(items):
    for item in items:
        if item.nodeid.startswith("tests/hostile/"):
            item.add_marker(pytest.mark.process)
            if not item.get_closest_marker("representative"):
                item.add_marker(pytest.mark.long)


def pytest_terminal_summary(terminalreporter):
    tests = [test for tests in terminalreporter.stats.values() for test in tests if getattr(test, "when", "") == "call"]
    reports = [Report(*said) for test in tests for name, said in test.user_properties if name == HOSTILE]
    if not reports:
        return
    terminalreporter.section("hostile: what others had to bear")
    terminalreporter.write_line(f"{'others p99 ms':>13} {'idle':>7} {'times':>6} {'terms':>5} {'requests':>8}  test")
    for report in sorted(reports, key=lambda report: -report.p99_s):
        terminalreporter.write_line(report.line())


@pytest.fixture(scope="module")
def running(request, tmp_path_factory, module_database):
    """The module's program, which runs, and the p99 of ordinary requests while nothing else happens."""
    module = request.module
    directory = tmp_path_factory.mktemp("hostile")
    arguments = ("--database-url", module_database, *getattr(module, "PROGRAM_ARGUMENTS", ()))
    given = getattr(module, "PROGRAM_ENVIRONMENT", {})
    environment = UNSAFE | {name: value.format(directory=directory) for name, value in given.items()}
    program = Program(directory, module.__name__.rpartition(".")[2], arguments, environment)
    try:
        trio.run(program.restart)
        yield program, trio.run(idle_p99_s, program.port, getattr(module, "HEADERS", ()))
    finally:
        program.end()
        print(f"--- {program.name}", program.said(), sep="\n")


@pytest.fixture
def target(running, request, module_database):
    """The program, to be attacked."""
    program, idle_s = running
    properties = request.node.user_properties  # they reach the summary also from another process

    def note(report):
        properties.append((HOSTILE, tuple(report)))

    headers = getattr(request.module, "HEADERS", ())
    return Target(program, idle_s, module_database, request.node.nodeid, note, headers)
