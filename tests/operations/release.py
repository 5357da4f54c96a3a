"""Tries a release on several Pythons: make release-check ARGS="python3.12 python3.13".

Builds wheel and source distribution. For each Python, a new environment gets the wheel with what it requires, in the
newest versions, as a user's installer chooses them; then it runs the demo on an embedded PostgreSQL, and tests of the
core, beside which the checkout's own packages are not importable. At last the source distribution takes the wheel's
place. A step that fails ends the run of its Python with the step's output.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.imports import ROOT

BESIDE = ("tests", "docs", "examples", "pyproject.toml")
"""Files that tests read. The packages themselves are those of the wheel."""
TESTS = ("tests/core/feel", "tests/core/elements", "tests/core/expressions", "tests/core/snapshots")
NEEDED = ("pytest", "pytest-trio", "hypothesis", "psutil")
"""Modules that these tests import beyond the program."""


def run(folder: Path, *command: str | Path) -> str:
    """The output. Raises CalledProcessError with it."""
    done = subprocess.run(
        list(map(str, command)), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout)
    return done.stdout


def built(folder: Path) -> tuple[Path, Path]:
    """Wheel and source distribution."""
    run(ROOT, sys.executable, "-m", "hatchling", "build", "-d", folder)
    [wheel], [source] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, source


def tried(python: str, wheel: Path, source: Path, home: Path) -> str:
    """One line for the report. Raises CalledProcessError."""
    environment = home / "environment"
    run(home, python, "-m", "venv", environment)
    programs = environment / "bin"
    pip = (programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(home, *pip, f"{wheel}[embedded]", *NEEDED)
    packages = len(run(home, *pip[:3], "list", "--disable-pip-version-check").splitlines()) - 2
    version = run(home, programs / "vivero", "--version").split()[-1]
    shown = run(home, programs / "vivero", "demo", "--exit").splitlines()[-1]
    for name in BESIDE:
        taken, copied = ROOT / name, home / "checkout" / name
        copied.parent.mkdir(exist_ok=True)
        shutil.copytree(taken, copied) if taken.is_dir() else shutil.copy(taken, copied)
    tests = run(home / "checkout", programs / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS)
    run(home, *pip, "--no-deps", "--force-reinstall", source)
    again = run(home, programs / "vivero", "--version").split()[-1]
    if version != again:
        raise subprocess.CalledProcessError(1, "vivero --version", f"{version} of the wheel, {again} of the source")
    said = run(home, programs / "python", "--version").strip()
    return f"{said}: vivero {version}, {packages} packages; demo: {shown.partition('.')[0]}; {tests.splitlines()[-1]}"


def main(pythons: Sequence[str]) -> int:
    """The number of Pythons on which a step failed."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        wheel, source = built(Path(folder) / "dist")
        print(
            f"{wheel.name}: {wheel.stat().st_size:,} bytes; {source.name}: {source.stat().st_size:,} bytes", flush=True
        )
        for number, python in enumerate(pythons or [sys.executable]):
            home = Path(folder) / str(number)
            home.mkdir()
            try:
                print(tried(python, wheel, source, home), flush=True)
            except (subprocess.CalledProcessError, OSError) as error:
                failed += 1
                print(f"{python}: {error}\n{getattr(error, 'output', '') or ''}", file=sys.stderr, flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) > 0)
