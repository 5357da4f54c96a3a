"""Commands for the nodes of a cluster."""

import json

import pytest
from click.testing import CliRunner

from tests.eventually import eventually_sync
from vivero.cli import main
from vivero.cli.server.nodes import chosen, progress_of
from vivero.cli.shared.failures import Failure

pytestmark = pytest.mark.process


@pytest.fixture
def start(up, database):
    """Starts a server of a name; the function that runs commands against it."""

    def start(name):
        program = up(database, VIVERO_API_NODE_NAME=name)

        def invoke(*arguments):
            environment = {"VIVERO_ADDRESS": program.address, "COLUMNS": None}
            return CliRunner().invoke(main, arguments, env=environment, catch_exceptions=False)

        return invoke

    return start


def eventually_led(run, nodes):
    """Wait until these nodes lead these partitions. Each question is a command of the program."""
    eventually_sync(lambda: partitions(run), accept=lambda found: found == nodes, every_s=0.05)


def partitions(run):
    """By the first part of the node's name."""
    listed = [json.loads(line) for line in run("nodes", "--json").stdout.splitlines()]
    return {node["nodeId"].split("-")[0]: node["partitions"] for node in listed}


@pytest.mark.long
def test_a_node_is_drained_and_taken_back(start):
    run = start("blue")
    eventually_led(run, {"blue": [1]})
    alone = run("drain", "--timeout", "0.1")
    assert alone.exit_code == 1
    assert "no other engine node can take over" in alone.stdout
    assert "DRAINING" in run("nodes").stdout
    assert run("drain", "--undo").exit_code == 0
    start("green")
    eventually_led(run, {"blue": [1], "green": []})
    drained = run("drain", "blue")
    assert drained.exit_code == 0, drained.output
    assert drained.stdout.splitlines()[-1].endswith("leads no partition")
    eventually_led(run, {"blue": [], "green": [1]})
    assert "gets partitions again" in run("drain", "blue", "--undo").stdout
    unknown = run("drain", "red")
    assert (unknown.exit_code, "'red' fits 0 nodes" in unknown.stderr) == (1, True)


def test_levels_of_loggers_are_changed_and_taken_back(start):
    run = start("blue")
    eventually_led(run, {"blue": [1]})

    def levels(*arguments):
        done = run("log-levels", "--json", *arguments)
        assert done.exit_code == 0, done.output
        return [json.loads(line)["logLevels"] for line in done.stdout.splitlines()]

    assert levels() == [{}]
    assert levels("vivero.engine=debug", "vivero.api=warning") == [{"vivero.engine": "debug", "vivero.api": "warning"}]
    assert levels("vivero.api=error", "--node", "blue") == [{"vivero.engine": "debug", "vivero.api": "error"}]
    assert "vivero.api=error, vivero.engine=debug" in run("log-levels").stdout
    assert levels("--reset") == levels() == [{}]
    wrong = {
        ("vivero.api",): "'vivero.api' is not LOGGER=LEVEL",
        ("vivero.api=loud",): "a level is one of debug, info, warning, error",
        ("vivero=info", "--reset"): "--reset takes all changes back",
    }
    for arguments, told in wrong.items():
        refused = run("log-levels", *arguments)
        assert (refused.exit_code, told in refused.stderr) == (2, True), refused.output


def found(*nodes):
    return {
        "thisNode": "a-1",
        "nodes": [
            {"nodeId": id, "state": state, "roles": ["engine"], "partitions": partitions}
            for id, state, partitions in nodes
        ],
    }


def test_a_node_is_chosen_by_a_part_of_its_name():
    nodes = found(("a-1", "LIVE", []), ("a-12", "LIVE", []), ("b-1", "LIVE", []))
    assert [chosen(nodes, part) for part in (None, "b", "a-1", "12")] == ["a-1", "b-1", "a-1", "a-12"]
    for part in ("a", "c"):
        with pytest.raises(Failure, match="the nodes are a-1, a-12, b-1"):
            chosen(nodes, part)


def test_the_progress_says_what_is_left():
    nodes = found(("a-1", "DRAINING", [1, 3]), ("b-1", "LIVE", [2]))
    assert progress_of(nodes, "a-1") == "node a-1 leads partitions 1, 3"
    assert progress_of(nodes, "b-1") == "node b-1 leads partition 2"
    assert progress_of(nodes, "gone") == "node gone leads no partition"
