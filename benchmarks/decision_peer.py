"""A decision table in SpiffWorkflow, which programs in Python would use otherwise. It is in the group `peers`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import SimpleNamespace
from typing import Any


def evaluation(content: bytes, variables: Mapping[str, Any]) -> Callable[[], Any] | None:
    """The evaluation of the first table of a file, which gives the list of its only output; None: not installed.

    SpiffWorkflow evaluates every cell as an expression of Python.
    """
    try:
        engine, parser, scripts, etree = map(import_module, _MODULES)
    except ModuleNotFoundError:
        return None
    root = etree.fromstring(content)
    for number, each in enumerate(root.iter()):
        each.set("id", each.get("id") or f"e{number}")
    parsed = parser.DMNParser(None, root, {"dmn": etree.QName(root).namespace})
    parsed.parse()
    table = engine.DMNEngine(parsed.decision.decisionTables[0])
    workflow = SimpleNamespace(script_engine=scripts.PythonScriptEngine())
    task = SimpleNamespace(data=dict(variables), workflow=workflow)
    return lambda: next(iter(table.result(task).values()))


_MODULES = (
    "SpiffWorkflow.dmn.engine.DMNEngine",
    "SpiffWorkflow.dmn.parser.DMNParser",
    "SpiffWorkflow.bpmn.script_engine",
    "lxml.etree",
)
