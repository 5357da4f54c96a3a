"""Completions of the shell, as bash asks for them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
eval "$(vivero completion bash)"
ask() { COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=(); _vivero_completion vivero; echo "${COMPREPLY[*]}"; }
ask vivero inst
ask vivero batches su
ask vivero instances --sta
"""


@pytest.mark.long
def test_bash_completes_commands_groups_and_options():
    environment = os.environ | {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
    done = subprocess.run(["bash", "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    assert (done.stdout.splitlines(), done.stderr) == (["instances", "suspend", "--state"], "")
