"""The examples of docs/testing-your-processes.md and examples/invoice pass, with the plugin as it is installed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "testing-your-processes.md").read_text()
MODEL = ROOT / "examples" / "invoice" / "invoice.bpmn"
PLUGIN = ("-p", "vivero.pytest_plugin", "-p", "no:cacheprovider")


ALONE = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""Without the other plugins that are installed here, whose imports take longer than the tests."""


def run_pytest(folder, *arguments, environment=ALONE):
    """A session of its own, without the settings of this one."""
    command = [sys.executable, "-m", "pytest", "-q", "--rootdir", str(folder), "-c", "/dev/null", *PLUGIN, *arguments]
    return subprocess.run(
        [*command, str(folder)], cwd=folder, capture_output=True, text=True, check=False, env=environment
    )


@pytest.fixture
def folder(tmp_path):
    """The examples of the page as test files, with the models beside them."""
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 4
    for number, block in enumerate(blocks):
        (tmp_path / f"test_block_{number}.py").write_text(block)
    for model in MODEL.parent.glob("*.bpmn"):
        (tmp_path / model.name).write_bytes(model.read_bytes())
    return tmp_path


@pytest.mark.long
def test_the_examples_of_the_page_pass_and_cover_the_model(folder):
    done = run_pytest(folder, "--process-coverage-min=100")
    assert "process coverage" in done.stdout, done.stdout + done.stderr
    report = re.search(r"^=+ process coverage =+\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1]
    assert report in done.stdout
    assert "A process is below 100 %" in done.stdout
    assert done.returncode == 1
    assert run_pytest(folder, "--process-coverage-min=90").returncode == 0


@pytest.mark.long
def test_workers_hand_their_coverage_over(folder):
    alone, shared = (run_pytest(folder, *more) for more in ((), ("-n", "2", "-p", "xdist.plugin")))
    assert shared.returncode == 0, shared.stdout + shared.stderr
    reports = [done.stdout.partition("process coverage")[2].splitlines()[1:3] for done in (alone, shared)]
    assert reports[0] == reports[1]
    assert "invoice (invoice.bpmn)" in reports[0][0]


@pytest.mark.long
def test_the_failures_that_the_page_shows(folder):
    shown = re.findall(r"^AssertionError: (.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (folder / "test_failing.py").write_text(
        "def test_it(processes):\n"
        '    processes.use("invoice.bpmn")\n'
        '    invoice = processes.start("invoice", {"invoiceId": "A-7"})\n'
        '    invoice.complete("check-credit", {"score": 80}).complete("send-invoice")\n'
        '    invoice.advance(days=13).expect_active("remind")\n'
        "\n"
        "def test_its_migration(processes):\n"
        '    processes.use("invoice.bpmn").mock_process("archive-document").mock_job("check-credit", {"score": 80})\n'
        '    ids = ("check-credit", "send-invoice", "fix-address", "returned", "wait", "paid", "overdue", "archive")\n'
        '    given = {"mappings": {id: id for id in ids}, "variables": {"invoiceId": "A-7"}}\n'
        '    processes.expect_migrations("invoice-2.bpmn", **given)\n'
    )
    done = run_pytest(folder, "-k", "test_it")
    found = re.sub(r"^E +(?:AssertionError: )?", "", done.stdout, flags=re.MULTILINE)
    assert len(shown) == 2
    for one in shown:
        assert " ".join(one.split()) in " ".join(found.split()), done.stdout


def test_the_tests_of_the_examples_pass():
    """With all plugins that are installed."""
    agent = str(MODEL.parents[1] / "agent")
    done = run_pytest(MODEL.parent, agent, "--process-coverage-min=100", environment=None)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "brief: 3 of 3 cells pass, 6 turns" in done.stdout, "the evaluation of the agent"


def test_a_session_without_processes_is_not_disturbed(tmp_path):
    """It neither reports a coverage nor imports the engine."""
    (tmp_path / "test_other.py").write_text(
        "import sys\n\ndef test_it():\n    assert not [n for n in sys.modules if n.startswith('vivero.engine')]\n"
    )
    done = run_pytest(tmp_path)
    assert done.returncode == 0, done.stdout
    assert "coverage" not in done.stdout
