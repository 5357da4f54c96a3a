"""The size of the program in counts that do not depend on the machine, compared with the recorded budget.

Modules are those that `vivero up` has imported when it serves clients, on a database that is migrated. The packages are
those of requirements/program.txt, without the extras. The wheel's bytes are compressed, without the console's.

`python -m benchmarks.size` fails when a count has grown beyond the record; `--record` writes the record anew, so that a
feature that needs more says so in its commit. Counts differ between versions of Python; one without counts is shown.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import trio
from packaging.requirements import Requirement

from benchmarks import recorded
from benchmarks.server import fresh_database
from vivero.embedded.processes import dying_with_us

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "benchmarks" / "results" / "size.json"
VERSION = f"Python {sys.version_info.major}.{sys.version_info.minor}"
"""The name of this Python's counts in the record."""
TOLERANCES = {"packages": 1.0, "modules": 1.05, "own_modules": 1.05}
"""Growth that is no news. Files and bytes grow with each feature."""
OTHERS = 1.1
STARTED_S = 120.0
IMPORTED = re.compile(r"^import time:\s+\d+ \|\s+\d+ \|\s+(\S+)$", re.MULTILINE)
Figures = Mapping[str, int]


def run() -> dict[str, int]:
    """Modules, packages, files, bytes."""
    return imported(trio.run(_start)) | installed(ROOT / "requirements" / "program.txt") | wheel()


async def _start() -> str:
    async with fresh_database() as (dsn, _):
        return await trio.to_thread.run_sync(partial(_imports_of_up, dsn))


def _imports_of_up(dsn: str) -> str:
    """Python's report of the imports until the server is ready. Raises RuntimeError if it does not become ready."""
    command = (sys.executable, "-X", "importtime", "-m", "vivero", "up", "--port", "0", "--database-url", dsn)
    settings = {"VIVERO_DATABASE_ALLOW_UNSAFE_COMMITS": "true", "PYTHONUNBUFFERED": "1"}
    plain = {name: value for name, value in os.environ.items() if not name.startswith("VIVERO_")}
    with tempfile.TemporaryFile("w+", encoding="utf-8") as report:
        environment, dies = plain | settings, dying_with_us()
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=report, text=True, preexec_fn=dies
        ) as server:
            assert server.stdout is not None
            try:
                ready = any("Vivero is ready" in line for line in server.stdout)
                report.seek(0)
                said = report.read()
            finally:
                server.terminate()
                server.communicate(timeout=STARTED_S)
    if not ready:
        raise RuntimeError(f"the server did not start: {IMPORTED.sub('', said).strip()}")
    return said


def imported(report: str) -> dict[str, int]:
    """The counts of Python's report: all modules, and ours."""
    names = set(IMPORTED.findall(report))
    return {"modules": len(names), "own_modules": sum(name.partition(".")[0] == "vivero" for name in names)}


def installed(lock: Path) -> dict[str, int]:
    """Packages of a lock file that this Python needs, and the bytes of their files, without compiled modules."""
    pinned = re.findall(r"^([\w.-]+(?:\[\w+\])?==[^\\\n]+)", lock.read_text(encoding="utf-8"), re.MULTILINE)
    wanted = [each for each in map(Requirement, pinned) if each.marker is None or each.marker.evaluate()]
    size = 0
    for each in wanted:
        for file in importlib.metadata.files(each.name) or ():
            if file.suffix != ".pyc" and (path := Path(str(file.locate()))).is_file():
                size += path.stat().st_size
    return {"packages": len(wanted), "packages_bytes": size}


def wheel() -> dict[str, int]:
    """Files and compressed bytes of a wheel that is built now, without the console, which may not be there."""
    with tempfile.TemporaryDirectory() as folder:
        command = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        [built] = Path(folder).iterdir()
        with zipfile.ZipFile(built) as content:
            ours = [each for each in content.infolist() if not each.filename.startswith("vivero/console/")]
    return {"wheel_files": len(ours), "wheel_bytes": sum(each.compress_size for each in ours)}


def grown(figures: Figures, record: Figures) -> list[str]:
    """A sentence for each count that has grown beyond the record."""
    return [
        f"{name} has grown from {record[name]:,} to {value:,}"
        for name, value in figures.items()
        if name in record and value > record[name] * TOLERANCES.get(name, OTHERS)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the counts beside the record. Returns 1 if one has grown beyond it, which `--record` accepts."""
    options = recorded.parser("benchmarks.size", __doc__).parse_args(arguments)
    figures = run()
    records: dict[str, dict[str, int]] = json.loads(RECORD.read_text(encoding="utf-8"))
    record = records.get(VERSION, {})
    print(f"{'the program':20} {'recorded':>12} {'now':>12}")
    for name, value in figures.items():
        print(f"{name:20} {f'{record[name]:,}' if name in record else '-':>12} {value:12,}")
    if options.record:
        return recorded.write(RECORD, records | {VERSION: figures})
    return recorded.judge(grown(figures, record))


if __name__ == "__main__":
    sys.exit(main())
