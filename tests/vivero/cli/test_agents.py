"""`vivero agents show`: the calls of models of an instance, and what they cost together."""

from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

from vivero.cli import main
from vivero.cli.server import agent_reruns, agents
from vivero.operations.agent_reruns import RerunReport
from vivero.storage.reads.agent_calls import AgentCall

AT = datetime(2026, 1, 1, tzinfo=UTC)
PLACE = ("c", 8, "agent", 9, AT, 1, "PROMPT", 70, "openai", "gpt-5-mini")
GOOD = AgentCall(*PLACE, "ANSWERED", "q", "a", 600, 50, 400, 260, "USD", ["Load"], ["Load"])
FAILED = AgentCall(*PLACE, "FAILED_MODEL_CALL", "q", None, None, None, None, None, "", ["Load"], [])


@pytest.fixture
def show(monkeypatch):
    """The output of the command for these calls."""

    def run(*calls, more=()):
        monkeypatch.setattr(agents, "on_database", lambda *_: list(calls))
        done = CliRunner().invoke(main, ["agents", "show", "7", *more])
        assert done.exit_code == 0, done.output
        return done.output.splitlines()

    return run


def test_calls_have_a_line_each_and_a_sum(show):
    *_, good, failed, total = show(GOOD, FAILED)
    assert good.split("\t") == [
        *("2026-01-01T00:00:00", "agent", "gpt-5-mini", "PROMPT", "ANSWERED", "Load", "70", "600", "50"),
        "0.000260 USD",
    ]
    assert failed.split("\t")[4:] == ["FAILED_MODEL_CALL", "", "70", "", "", ""]
    assert total == "2 calls, 1050 tokens, 0.000260 USD"


def test_json_has_the_records_alone(show):
    [line] = show(GOOD, more=["--json"])
    assert '"cost": 0.00026' in line
    assert '"ended_at": "2026-01-01T00:00:00+00:00"' in line


@pytest.mark.parametrize("is_same", [True, False])
def test_a_rerun_has_a_line_for_each_turn_and_an_exit_code(monkeypatch, is_same):
    report = RerunReport(
        [{"element": "agent", "turn": 2, "request": "same", "answer": "Sun."}], ["agent: the end"], is_same
    )
    monkeypatch.setattr(agent_reruns, "on_database", lambda *_: report)
    done = CliRunner().invoke(main, ["agents", "rerun", "7", "--from-turn", "2"])
    assert done.exit_code == (0 if is_same else 1)
    assert done.output.splitlines()[-2:] == ["agent\t2\tsame\tSun.", "agent: the end"]
