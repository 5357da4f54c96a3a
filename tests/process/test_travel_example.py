"""examples/travel: two travellers see what its page shows."""

import os
import re
import sys
from pathlib import Path

import pytest
import trio

TRAVEL = Path(__file__).parents[2] / "examples" / "travel"
PAGE = (TRAVEL / "README.md").read_text()


@pytest.mark.long
async def test_the_travellers_see_what_the_page_says(program):
    await program.restart()
    environment = os.environ | {"CAMUNDA_REST_ADDRESS": f"http://localhost:{program.port}"}
    command = [sys.executable, str(TRAVEL / "travel.py")]
    ran = await trio.run_process(command, env=environment, capture_stdout=True, capture_stderr=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
    (shown,) = re.findall(r"^```\n(ann.*?)```", PAGE, re.MULTILINE | re.DOTALL)
    assert ran.stdout.decode() == shown
