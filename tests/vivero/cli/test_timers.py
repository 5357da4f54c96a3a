"""Commands for timers against a server whose clock may be set."""

import json
from pathlib import Path

import pytest

from tests.vivero.cli.commands import at

pytestmark = pytest.mark.process

MODEL = Path(__file__).parents[2] / "models" / "timer_due.bpmn"


@pytest.fixture
def run(up, database):
    """Runs a command in this process, against a server on a database of its own."""
    return at(up(database).address)


def test_timers_are_listed_moved_and_fired(run):
    run("deploy", str(MODEL))
    keys = []
    for _ in range(2):
        started = run("start", "timer_due", "--variables", '{"due": "2099-01-01T00:00:00Z"}')
        keys.append(started.stdout.strip())
    listed = [json.loads(line) for line in run("timers", "--instance", keys[0], "--json").stdout.splitlines()]
    assert [(timer["elementId"], timer["dueDate"]) for timer in listed] == [("wait", "2099-01-01T00:00:00.000Z")]
    key = listed[0]["timerKey"]
    assert run("move", key, "2098-01-01T00:00:00+01:00").stdout == f"moved {key}\n"
    assert "2097-12-31" in run("timers", "--instance", keys[0], "--json").stdout
    assert run("fire", key).stdout == f"fired {key}\n"
    assert run("timers", "--instance", keys[0], "--json").stdout == ""
    assert json.loads(run("timers", "--state", "any", "--instance", keys[0], "--json").stdout)["state"] == "TRIGGERED"
    assert len(run("timers", "--process", "timer_due", "--json").stdout.splitlines()) == 1
    again = run("fire", key)
    assert (again.exit_code, again.stderr) == (1, f"Error: timer {key} waits no more: TRIGGERED\n")
    for date in ("soon", "2099-01-01T00:00:00"):
        assert run("move", key, date).exit_code == 2
