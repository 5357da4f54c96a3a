"""Imports point one way (ARCHITECTURE.md):

engine/feel < engine/bpmn < engine/core < storage < engine tasks and engine/jobs < api < vivero
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = ("engine", "storage", "api", "vivero", "benchmarks")
LAYERS = ("engine.feel", "engine.bpmn", "engine.core", "storage", "engine", "api", "vivero")
"""From left to right; `engine` are the tasks: what is in it and in no layer further left."""


@dataclass(frozen=True, slots=True)
class Import:
    """`importer` imports `name`, in this line."""

    importer: str
    name: str
    line: int

    def __str__(self) -> str:
        return f"{self.importer} (line {self.line}) imports {self.name}"


def modules() -> dict[str, Path]:
    """All our modules by name."""
    found = {}
    for package in OURS:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imports_of(module: str) -> Iterator[Import]:
    """Every import in a module, those inside of functions too, as full names of modules."""
    path = MODULES[module]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (Import(module, alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative imports are hard to follow"
            assert node.module is not None
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield Import(module, whole if whole in MODULES else node.module, node.lineno)


IMPORTS = [found for module in MODULES for found in imports_of(module)]


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def layer_of(name: str) -> str | None:
    """The layer a module belongs to: the longest that fits."""
    return max((layer for layer in LAYERS if within(name, layer)), key=len, default=None)


def told(imports: list[Import]) -> str:
    return "\n".join(map(str, imports))


def test_the_walk_sees_what_there_is():
    assert len(MODULES) > 100
    assert Import("vivero.tree", "engine.consumer", 0).name in {found.name for found in IMPORTS}
    assert {layer_of(name) for name in MODULES if not within(name, "benchmarks")} == set(LAYERS)
    assert layer_of("engine.consumer") == "engine"
    assert layer_of("engine.core.step") == "engine.core"


def test_imports_point_one_way():
    wrong = []
    for found in IMPORTS:
        importer, imported = layer_of(found.importer), layer_of(found.name)
        if importer is not None and imported is not None and LAYERS.index(imported) > LAYERS.index(importer):
            wrong.append(found)
    assert not wrong, told(wrong)


def test_only_one_command_imports_the_benchmarks():
    found = {found.importer for found in IMPORTS if within(found.name, "benchmarks")}
    assert {name for name in found if not within(name, "benchmarks")} == {"vivero.cli.bench"}


def test_only_storage_names_psycopg():
    wrong = [found for found in IMPORTS if within(found.name, "psycopg") and not within(found.importer, "storage")]
    assert not wrong, told(wrong)


def test_only_the_parser_of_models_names_lxml():
    wrong = [found for found in IMPORTS if within(found.name, "lxml") and not within(found.importer, "engine.bpmn")]
    assert not wrong, told(wrong)


IMPURE = ("trio", "asyncio", "threading", "socket", "select", "random", "secrets", "subprocess", "sqlite3", "structlog")
PURE_LIBRARIES = {"msgspec", "regex", "lxml", "tzdata"}


@pytest.mark.parametrize("layer", ["engine.feel", "engine.bpmn", "engine.core"])
def test_the_core_does_no_input_output(layer):
    """No Trio, no SQL, no sockets, no randomness: given the same commands it does the same."""
    wrong = [
        found
        for found in IMPORTS
        if layer_of(found.importer) == layer and any(within(found.name, module) for module in IMPURE)
    ]
    assert not wrong, told(wrong)


@pytest.mark.parametrize("layer", ["engine.feel", "engine.bpmn", "engine.core"])
def test_the_core_needs_few_libraries(layer):
    roots = {found.name.partition(".")[0] for found in IMPORTS if layer_of(found.importer) == layer}
    assert roots - set(sys.stdlib_module_names) - {"engine"} <= PURE_LIBRARIES


CLOCKS = {"time", "time_ns", "monotonic", "monotonic_ns", "now", "utcnow", "today"}


@pytest.mark.parametrize("layer", ["engine.bpmn", "engine.core"])
def test_the_core_reads_no_clock(layer):
    """Time arrives with the command. (FEEL's `now()` is a function of what it is given; it measures its own cost.)"""
    wrong = [found for found in IMPORTS if layer_of(found.importer) == layer and within(found.name, "time")]
    assert not wrong, told(wrong)
    for module, path in MODULES.items():
        if layer_of(module) == layer:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCKS:
                    assert ast.unparse(node.func.value) not in ("datetime", "date", "time"), f"{path}:{node.lineno}"


def test_the_api_never_runs_the_engine():
    """It appends commands and reads tables; `step` and the appliers belong to the consumer."""
    wrong = [
        found
        for found in IMPORTS
        if within(found.importer, "api")
        and any(
            within(found.name, module)
            for module in ("engine.core.step", "engine.core.apply", "engine.consumer", "engine.term")
        )
    ]
    assert not wrong, told(wrong)


def test_appliers_know_neither_elements_nor_commands():
    wrong = [
        found
        for found in IMPORTS
        if within(found.importer, "engine.core.apply")
        and any(
            within(found.name, module)
            for module in ("engine.core.elements", "engine.core.commands", "engine.core.dispatch", "engine.bpmn")
        )
    ]
    assert not wrong, told(wrong)


def test_only_the_tree_puts_the_engine_and_the_api_together():
    """`vivero/tree.py` is the one place where their parts meet; the rest of the program takes settings and errors."""
    parts = (
        "engine.consumer",
        "engine.appender",
        "engine.completions",
        "engine.definitions",
        "api.app",
        "api.services",
    )
    wrong = [
        found
        for found in IMPORTS
        if within(found.importer, "vivero")
        and found.importer not in ("vivero.tree", "vivero.config")
        and any(within(found.name, part) for part in parts)
    ]
    assert not wrong, told(wrong)


def test_nobody_hides_a_circle():
    for path in MODULES.values():
        assert "TYPE_CHECKING" not in path.read_text(encoding="utf-8"), path


def test_embedded_postgres_stands_alone():
    """Its supervisor runs as another user, who may not be able to read our other modules."""
    wrong = [
        found
        for found in IMPORTS
        if within(found.importer, "vivero.embedded")
        and found.name.partition(".")[0] in OURS
        and not within(found.name, "vivero.embedded")
    ]
    assert not wrong, told(wrong)
