"""The official Python client, unmodified and with default settings, does what the documentation promises."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "first" / "greet.py"


@pytest.mark.long
@pytest.mark.process
def test_deploys_starts_works_and_awaits(up, database):
    server = up(database)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("CAMUNDA_", "ZEEBE_"))}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLE)],
        env=environment | {"CAMUNDA_REST_ADDRESS": server.address},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "Hello, Ada!\n"), done.stderr
