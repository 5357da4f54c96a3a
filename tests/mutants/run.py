"""Prove that the tests see: each mutant of the tables, put into a copy of the tree, must be caught by its named test.

    python -m tests.mutants.run [WORD …]      only the mutants whose names contain one of the words

The copy is made in a temporary directory and nothing is written here. First all named tests are run unmutated and must
pass; then, for each mutant, its test alone, and it must fail: by a failed test, not by a file that cannot be imported.
`old` must occur exactly once in the file (tests/test_mutants.py sees to it), so that a mutant cannot rot unseen.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.mutants.access import ACCESS
from tests.mutants.ad_hoc import AD_HOC
from tests.mutants.batch import BATCH
from tests.mutants.batch_operations import BATCH_OPERATIONS
from tests.mutants.cluster import CLUSTER
from tests.mutants.connectors import CONNECTORS
from tests.mutants.core import CORE
from tests.mutants.core_events import CORE_EVENTS
from tests.mutants.forms import FORMS
from tests.mutants.log import LOG
from tests.mutants.migrations import MIGRATIONS
from tests.mutants.mutant import Mutant
from tests.mutants.partitions import PARTITIONS
from tests.mutants.resources import RESOURCES
from tests.mutants.retention import RETENTION
from tests.mutants.snapshots import SNAPSHOTS
from tests.mutants.tasks import TASKS

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 120.0
"""The limit for one test."""
TOGETHER_S = 900.0
"""The limit for all named tests, without mutants."""
FAILED, PASSED = 1, 0
"""The exit codes of pytest."""

NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info")

MUTANTS: tuple[Mutant, ...] = (
    *(*LOG, *BATCH, *CORE, *CORE_EVENTS, *PARTITIONS, *CLUSTER, *SNAPSHOTS, *TASKS),
    *AD_HOC,
    *ACCESS,
    *FORMS,
    *RESOURCES,
    *BATCH_OPERATIONS,
    *CONNECTORS,
    *RETENTION,
    *MIGRATIONS,
)


def apply(mutant: Mutant, root: Path) -> None:
    """Make the mutant's changes below `root`. Raises ValueError when a text does not occur exactly once."""
    for edit in mutant.edits:
        path = root / edit.path
        text = path.read_text()
        found = text.count(edit.old)
        if found != 1:
            raise ValueError(f"{mutant.name}: {edit.path} contains {edit.old!r} {found} times, not once")
        path.write_text(text.replace(edit.old, edit.new))


@contextmanager
def mutated(mutant: Mutant, root: Path) -> Iterator[None]:
    """The tree below `root` with the mutant in it, for the block."""
    before = {edit.path: (root / edit.path).read_text() for edit in mutant.edits}
    try:
        apply(mutant, root)
        yield
    finally:
        for path, text in before.items():
            (root / path).write_text(text)


def run_tests(root: Path, tests: Sequence[str], timeout_s: float = TIMEOUT_S) -> tuple[int, str]:
    """pytest's exit code and output; a run that does not end counts as failed."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--no-header", "--tb=line", *tests]
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired:
        return FAILED, f"1 failed to end within {timeout_s:g} s"
    return done.returncode, done.stdout + done.stderr


def try_mutant(mutant: Mutant, root: Path) -> str:
    """ "caught", or what happened instead."""
    with mutated(mutant, root):
        code, output = run_tests(root, [mutant.test])
    if code == FAILED and " failed" in output:
        return "caught"
    return "NOT CAUGHT" if code == PASSED else f"BROKEN (pytest exits {code}): {output[-500:]}"


def chosen(words: Sequence[str]) -> list[Mutant]:
    """The mutants whose names contain one of the words; without words all."""
    return [mutant for mutant in MUTANTS if not words or any(word in mutant.name for word in words)]


def main(words: Sequence[str]) -> int:
    """Run the chosen mutants and print a table; 0 when each was caught."""
    if {"-h", "--help"} & set(words):
        print(__doc__)
        return 0
    mutants = chosen(words)
    if not mutants:
        print(f"no mutant's name contains {' or '.join(words)}")
        return 1
    with tempfile.TemporaryDirectory(prefix="vivero-mutants-") as directory:
        root = Path(directory) / "tree"
        shutil.copytree(ROOT, root, ignore=NOT_COPIED, symlinks=True)
        code, output = run_tests(root, sorted({mutant.test for mutant in mutants}), TOGETHER_S)
        if code != PASSED:
            print(f"The named tests must pass without mutants:\n{output}")
            return 1
        escaped = 0
        for mutant in mutants:
            started = time.monotonic()
            verdict = try_mutant(mutant, root)
            escaped += verdict != "caught"
            print(f"{verdict:<11} {time.monotonic() - started:5.1f} s  {mutant.name}  ({mutant.test})", flush=True)
    print(f"{len(mutants) - escaped} of {len(mutants)} mutants caught")
    return 1 if escaped else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
