"""Runs files of conformance cases and prints passed/total for each suite and directory, and each failure.

    python -m tests.core.feel.run_cases FILE… [--quiet]

Exit status 1 if a case fails.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

from tests.core.feel import case_format


def report(path: Path, quiet: bool) -> bool:
    """Runs one file. True if all cases pass."""
    outcomes = [case_format.run(case) for case in case_format.load(path)]
    by_directory: dict[str, list[case_format.Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_directory[outcome.case.directory].append(outcome)
    for directory, group in by_directory.items():
        print(f"{sum(o.passed for o in group):5}/{len(group):<5} {directory}")
    failed = [outcome for outcome in outcomes if not outcome.passed]
    if not quiet:
        for outcome in failed:
            data = outcome.case.data
            wanted = {k: data[k] for k in ("expected", "warning", "fails", "parseError") if k in data}
            print(f"FAILED {outcome.case.label}\n  {data['expression']!r}\n  wanted {wanted}\n  found  {outcome.found}")
    for line in summaries(path.stem, outcomes):
        print(line)
    return not failed


def summaries(suite: str, outcomes: list[case_format.Outcome]) -> list[str]:
    """Passed of total: of all, of those that Camunda's engine passes, of those that expect a value."""
    lines = [_ratio(suite, "all cases", outcomes)]
    camunda = [o for o in outcomes if o.case.data.get("camundaDmnScala190") == "SUCCESS"]
    if camunda:
        valued = [o for o in outcomes if o.case.data.get("expected") is not None]
        lines.append(_ratio(suite, "passed by Camunda's engine", camunda))
        lines.append(_ratio(suite, "expecting a value", valued))
    return lines


def _ratio(suite: str, what: str, outcomes: list[case_format.Outcome]) -> str:
    passed = sum(outcome.passed for outcome in outcomes)
    return f"{suite}: {what}: {passed}/{len(outcomes)} = {100 * passed / len(outcomes):.2f} %"


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--quiet"]
    results = [report(Path(argument), "--quiet" in sys.argv) for argument in arguments]
    sys.exit(0 if all(results) else 1)
