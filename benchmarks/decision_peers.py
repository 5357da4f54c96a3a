"""Decision tables in other libraries for Python: SpiffWorkflow and pyDMNrules, in an environment of their own.

`make peers` installs them. This file runs there, too, with the libraries and nothing of this project.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

PYTHON = Path(__file__).parents[1] / ".venv" / "peers" / "bin" / "python"
ROUNDS, ROUND_S = 9, 0.03
PATIENCE_S = 600.0
"""pyDMNrules takes many seconds of processor time until it is imported."""

Evaluate = Callable[[], list[Any]]


def rates(content: str, variables: Mapping[str, Any], expected: list[Any]) -> dict[str, float] | None:
    """Library → evaluations of the table of a file in a second of processor time; None: not installed.

    Raises RuntimeError if one gives other outputs than `expected`.

    The table collects, has an id, and its output has a name, a label and a type: pyDMNrules needs them.
    """
    if not PYTHON.exists():
        return None
    asked = json.dumps({"content": content, "variables": variables, "expected": expected})
    command = [str(PYTHON), __file__]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    if done.returncode:
        raise RuntimeError(f"the peers failed: {done.stderr[-2_000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def per_s(work: Callable[[], Any]) -> float:
    """Evaluations in a second of processor time, in the fastest of several short rounds."""
    calls = max(10, int(10 * ROUND_S / max(_seconds(work, 10), 1e-9)))
    return calls / min(_seconds(work, calls) for _ in range(ROUNDS))


def _seconds(work: Callable[[], Any], calls: int) -> float:
    began = time.process_time()
    for _ in range(calls):
        work()
    return time.process_time() - began


def spiff_workflow(content: str, variables: dict[str, Any]) -> Evaluate:
    """SpiffWorkflow evaluates every cell as an expression of Python."""
    engine = import_module("SpiffWorkflow.dmn.engine.DMNEngine")
    parser = import_module("SpiffWorkflow.dmn.parser.DMNParser")
    scripts = import_module("SpiffWorkflow.bpmn.script_engine")
    etree = import_module("lxml.etree")
    root = etree.fromstring(content.encode())
    for number, each in enumerate(root.iter()):
        each.set("id", each.get("id") or f"e{number}")
    parsed = parser.DMNParser(None, root, {"dmn": etree.QName(root).namespace})
    parsed.parse()
    table = engine.DMNEngine(parsed.decision.decisionTables[0])
    workflow = SimpleNamespace(script_engine=scripts.PythonScriptEngine())
    task = SimpleNamespace(data=variables, workflow=workflow)
    return lambda: list(next(iter(table.result(task).values())))


def py_dmn_rules(content: str, variables: dict[str, Any]) -> Evaluate:
    """pyDMNrules evaluates FEEL with pySFeel."""
    rules = import_module("pyDMNrules").DMN()
    status = rules.useXML(content)
    if "errors" in status:
        raise RuntimeError(f"pyDMNrules refuses the table: {status['errors']}")

    def evaluate() -> list[Any]:
        _, decided = rules.decide(dict(variables))
        return list(decided["Result"]["r"])

    return evaluate


PEERS = {"SpiffWorkflow": spiff_workflow, "pyDMNrules": py_dmn_rules}


def main() -> None:
    """Print the rate of each library for what is asked on standard input."""
    asked = json.load(sys.stdin)
    found = {}
    for name, peer in PEERS.items():
        work = peer(asked["content"], dict(asked["variables"]))
        if (outputs := work()) != asked["expected"]:
            raise RuntimeError(f"{name} gives {outputs} instead of {asked['expected']}")
        found[name] = per_s(work)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
