"""The order of the long tests of a run that has time for a part of them (`pytest --at-most MINUTES`)."""

import shutil
import subprocess
from collections.abc import Collection, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMITS = 20


def in_turn(files: Sequence[Path], changed: Collection[Path], seed: int) -> list[Path]:
    """Changed files first, then the others. Both begin at a place that the seed chooses, so that each gets its turn."""
    first = [path for path in files if path in changed]
    return [*_rotated(first, seed), *_rotated([path for path in files if path not in changed], seed)]


def _rotated(files: Sequence[Path], seed: int) -> list[Path]:
    start = seed % len(files) if files else 0
    return [*files[start:], *files[:start]]


def changed_lately(root: Path = ROOT) -> set[Path]:
    """The files that the last commits have changed. None, if this is no clone."""
    if shutil.which("git") is None:
        return set()
    command = ["git", "log", f"-{COMMITS}", "--format=", "--name-only"]
    found = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return {root / name for name in found.stdout.splitlines()}
