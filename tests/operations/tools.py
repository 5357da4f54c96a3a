"""The tools that check what operators install: those of `make deploy-tools`, and those of the machine."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACES = (ROOT / ".venv" / "deploy" / "bin", ROOT / ".venv" / "helm", os.environ.get("PATH", ""), "/usr/sbin", "/sbin")


def optional(name):
    """The path of a program, or None."""
    return shutil.which(name, path=os.pathsep.join(map(str, PLACES)))


def tool(name):
    """The path of a program. The test is skipped without it, and fails if VIVERO_TOOLS is `required`."""
    found = optional(name)
    if found is None and os.environ.get("VIVERO_TOOLS") == "required":
        pytest.fail(f"{name} is not installed: make deploy-tools, or your distribution's package")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def run(*command, **environment):
    """The output of a tool. Fails with it if the tool fails."""
    done = subprocess.run(
        list(map(str, command)), cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr
