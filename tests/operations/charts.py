"""Renders the chart by Helm for each file of values: python -m tests.operations.charts.

What it gives is kept beside the values, with a digest of the chart, so that a machine without Helm checks it, too.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

from tests.operations.tools import ROOT

CHART = ROOT / "docs" / "operations" / "chart"
HERE = Path(__file__).parent / "chart"
KUBERNETES = "--kube-version=1.37.0"
RELEASE, NAMESPACE = "vivero", "workflows"
CASES = ("default", "production")


def digest(case: str) -> str:
    """The digest of the chart's files and of the values of a case."""
    found = hashlib.sha256()
    for path in [*sorted(path for path in CHART.rglob("*") if path.is_file()), *values(case)]:
        found.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


def values(case: str) -> list[Path]:
    """The file of values of a case. The default has none."""
    path = HERE / f"{case}.values.yaml"
    return [path] if path.exists() else []


def rendered(helm: str, case: str) -> str:
    """The manifests of a case. Raises CalledProcessError, whose stderr says why."""
    options = [f"--values={path}" for path in values(case)]
    command = (helm, "template", RELEASE, str(CHART), "--namespace", NAMESPACE, KUBERNETES, *options)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return f"# {digest(case)}: make chart\n{done.stdout}"


def main(helm: str) -> None:
    for case in CASES:
        subprocess.run(
            (helm, "lint", "--strict", KUBERNETES, str(CHART), *(f"--values={path}" for path in values(case))),
            check=True,
        )
        (HERE / f"{case}.yaml").write_text(rendered(helm, case))


if __name__ == "__main__":
    main(sys.argv[1])
