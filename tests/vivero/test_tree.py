"""The tasks of a node by its roles, in the order in which its status shows them."""

from dataclasses import replace
from pathlib import Path

import pytest

from vivero.api.serving.server import Endpoint
from vivero.config.sections import Config
from vivero.engine.jobs.settings import JobSettings
from vivero.engine.supervision.children import Child
from vivero.node import tree
from vivero.node.part import NodePart

ENGINE = ["consumer", "timers", "consumer-2", "timers-2", "warm-up", "batch-operations"]
TASKS = {
    "api,engine,jobs,web": [
        *("api", "appender", "cluster", *ENGINE, "chores", "jobs", "connectors"),
        *("receivers", "completions"),
        *("listener", "announcer", "siblings", "compute", "figures", "other"),
    ],
    "api": ["api", "appender", "cluster", "completions", "listener", "announcer", "siblings", "compute", "other"],
    "engine": [
        "api",
        "appender",
        "cluster",
        *ENGINE,
        "chores",
        "listener",
        "announcer",
        "siblings",
        "compute",
        "other",
    ],
    "jobs": [
        *(
            "api",
            "appender",
            "cluster",
            "chores",
            "jobs",
            "connectors",
            "receivers",
            "completions",
            "listener",
            "announcer",
            "compute",
        ),
        *("figures", "other"),
    ],
    "web": ["api", "cluster", "listener", "compute", "other"],
}
JOBS = Path(__file__).parents[2] / "examples" / "jobs" / "jobs.py"


async def idle(_beat):
    raise AssertionError("nothing runs here")


LISTENER = object()
"""No server starts."""


def built(roles, directory, listeners=(LISTENER,)):
    config = Config(roles=roles, partitions=2, jobs=JobSettings(module=str(JOBS)))
    config = replace(config, connectors=replace(config.connectors, enabled=True))
    return tree.build(config, "postgresql://nowhere", "n", Endpoint(listeners), (Child("other", idle),), directory)


@pytest.mark.parametrize("roles", TASKS)
async def test_each_role_has_its_tasks(roles, tmp_path):
    assert [child.name for child in built(roles, tmp_path).supervisor.health()] == TASKS[roles]


async def test_an_engine_process_has_no_server(tmp_path):
    tasks = [child.name for child in built("engine", tmp_path, listeners=()).supervisor.health()]
    assert tasks == [task for task in TASKS["engine"] if task != "api"]


async def test_a_program_of_one_process_has_no_siblings():
    assert "siblings" not in {child.name for child in built("api", None).supervisor.health()}


async def test_all_parts_are_in_the_list(tmp_path):
    """A part that is made and forgotten would not run."""
    ours = {kind.__name__ for kind in NodePart.__subclasses__() if kind.__module__.startswith("vivero.")}
    assert {type(part).__name__ for part in built("api,engine,jobs,web", tmp_path).parts} == ours


async def test_parts_can_be_closed_before_anything_ran(tmp_path):
    for part in built("api,engine,jobs,web", tmp_path).parts:
        await part.close()
