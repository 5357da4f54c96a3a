"""Imports point one way (ARCHITECTURE.md):

engine/feel < engine/bpmn < engine/core < engine/tracing < storage < engine/runtime < engine/jobs < engine/connectors
    < api < vivero

In code all of them are parts of one package: `vivero` links to the folders at the top.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = ("engine", "storage", "api", "vivero", "benchmarks")
LINKED = ("engine", "storage", "api")
LAYERS = (
    *("vivero.engine.feel", "vivero.engine.bpmn", "vivero.engine.core", "vivero.engine.tracing", "vivero.storage"),
    *("vivero.engine.runtime", "vivero.engine.jobs", "vivero.engine.connectors", "vivero.api", "vivero"),
)
"""From left to right."""


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
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[f"vivero.{name}" if package in LINKED else name] = path
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


@cache
def every_import() -> list[Import]:
    """Of all modules. They are read when a test asks, in the one process that runs this file."""
    return [found for module in MODULES for found in imports_of(module)]


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def layer_of(name: str) -> str | None:
    """The layer a module belongs to: the longest that fits."""
    return max((layer for layer in LAYERS if within(name, layer)), key=len, default=None)


def told(imports: list[Import]) -> str:
    return "\n".join(map(str, imports))


def test_the_walk_sees_what_there_is():
    assert len(MODULES) > 100
    assert Import("vivero.engine_tasks", "vivero.engine.runtime.consumer.leadership", 0).name in {
        found.name for found in every_import()
    }
    assert {layer_of(name) for name in MODULES if not within(name, "benchmarks")} == set(LAYERS)
    assert layer_of("vivero.engine.runtime.consumer.leadership") == "vivero.engine.runtime"
    assert layer_of("vivero.engine.core.step") == "vivero.engine.core"


def test_imports_point_one_way():
    wrong = []
    for found in every_import():
        importer, imported = layer_of(found.importer), layer_of(found.name)
        if importer is not None and imported is not None and LAYERS.index(imported) > LAYERS.index(importer):
            wrong.append(found)
    assert not wrong, told(wrong)


def test_nothing_that_is_installed_imports_the_benchmarks():
    found = {found.importer for found in every_import() if within(found.name, "benchmarks")}
    assert {name for name in found if not within(name, "benchmarks")} == set()


def test_our_packages_have_one_name():
    """`engine.core` and `vivero.engine.core` would be two modules, with two classes of each name."""
    wrong = [found for found in every_import() if any(within(found.name, package) for package in LINKED)]
    assert not wrong, told(wrong)
    for package in LINKED:
        link = ROOT / "vivero" / package
        assert link.is_symlink()
        assert link.resolve() == ROOT / package


def test_asyncio_is_patched_only_when_a_job_needs_it():
    """Importing trio_asyncio patches asyncio. One module does, and nobody imports that module at once."""
    patching = "vivero.engine.jobs.asyncio_handlers"
    assert {found.importer for found in every_import() if within(found.name, "trio_asyncio")} == {patching}
    at_once = [
        found
        for found in every_import()
        if found.name == patching and MODULES[found.importer].read_text().splitlines()[found.line - 1][:1] != " "
    ]
    assert not at_once, told(at_once)


def test_only_storage_names_psycopg():
    wrong = [
        found
        for found in every_import()
        if within(found.name, "psycopg") and not within(found.importer, "vivero.storage")
    ]
    assert not wrong, told(wrong)


def test_only_the_parser_of_models_names_lxml():
    wrong = [
        found
        for found in every_import()
        if within(found.name, "lxml") and not within(found.importer, "vivero.engine.bpmn")
    ]
    assert not wrong, told(wrong)


IMPURE = ("trio", "asyncio", "threading", "socket", "select", "random", "secrets", "subprocess", "sqlite3", "structlog")
PURE_LIBRARIES = {"msgspec", "regex", "lxml", "tzdata"}


@pytest.mark.parametrize("layer", ["vivero.engine.feel", "vivero.engine.bpmn", "vivero.engine.core"])
def test_the_core_does_no_input_output(layer):
    """No Trio, no SQL, no sockets, no randomness: given the same commands it does the same."""
    wrong = [
        found
        for found in every_import()
        if layer_of(found.importer) == layer and any(within(found.name, module) for module in IMPURE)
    ]
    assert not wrong, told(wrong)


@pytest.mark.parametrize("layer", ["vivero.engine.feel", "vivero.engine.bpmn", "vivero.engine.core"])
def test_the_core_needs_few_libraries(layer):
    roots = {found.name.partition(".")[0] for found in every_import() if layer_of(found.importer) == layer}
    assert roots - set(sys.stdlib_module_names) - {"vivero"} <= PURE_LIBRARIES


CLOCKS = {"time", "time_ns", "monotonic", "monotonic_ns", "now", "utcnow", "today"}


@pytest.mark.parametrize("layer", ["vivero.engine.bpmn", "vivero.engine.core"])
def test_the_core_reads_no_clock(layer):
    """Time arrives with the command. (FEEL's `now()` is a function of what it is given; it measures its own cost.)"""
    wrong = [found for found in every_import() if layer_of(found.importer) == layer and within(found.name, "time")]
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
        for found in every_import()
        if within(found.importer, "vivero.api")
        and any(
            within(found.name, module)
            for module in (
                "vivero.engine.core.step",
                "vivero.engine.core.apply",
                "vivero.engine.runtime.consumer.leadership",
                "vivero.engine.runtime.consumer.term",
            )
        )
    ]
    assert not wrong, told(wrong)


def test_appliers_know_neither_elements_nor_commands():
    wrong = [
        found
        for found in every_import()
        if within(found.importer, "vivero.engine.core.apply")
        and any(
            within(found.name, module)
            for module in (
                "vivero.engine.core.elements",
                "vivero.engine.core.commands",
                "vivero.engine.core.dispatch",
                "vivero.engine.bpmn",
            )
        )
    ]
    assert not wrong, told(wrong)


SUPERVISION_TREE = (
    "vivero.tree",
    "vivero.engine_tasks",
    "vivero.http_server",
    "vivero.api_services",
    "vivero.connector_tasks",
    "vivero.stopping",
    "vivero.metrics.parts",
)
"""The module that connects the parts, those that make them for it, and what metrics are read from."""


def test_only_the_tree_puts_the_engine_and_the_api_together():
    """Their parts meet in the supervision tree and in `node_events.py` only; the rest takes settings and errors."""
    parts = (
        "vivero.engine.runtime.consumer.leadership",
        "vivero.engine.runtime.appender.task",
        "vivero.engine.runtime.completions",
        "vivero.engine.runtime.definitions",
        "vivero.api.app",
        "vivero.api.services",
    )
    wrong = [
        found
        for found in every_import()
        if layer_of(found.importer) == "vivero"
        and found.importer not in (*SUPERVISION_TREE, "vivero.node_events", "vivero.config")
        and any(within(found.name, part) for part in parts)
    ]
    assert not wrong, told(wrong)


LIBRARY = ("vivero.engine.bpmn", "vivero.engine.core", "vivero.engine.feel", "vivero.library", "vivero.testing")


def test_the_library_stands_on_the_core_alone():
    """No database, no Trio: it works in a program that has neither. The test kit stands on the library."""
    assert not [
        one for one in every_import() if within(one.importer, "vivero.library") and within(one.name, "vivero.testing")
    ]
    ours = [
        one
        for one in every_import()
        if within(one.importer, "vivero.library") or within(one.importer, "vivero.testing")
    ]
    assert len(ours) > 20
    wrong = [
        found
        for found in ours
        if not any(within(found.name, package) for package in LIBRARY)
        and found.name.partition(".")[0] not in sys.stdlib_module_names | {"msgspec"}
    ]
    assert not wrong, told(wrong)


def test_commands_of_the_database_start_without_the_server():
    """Importing the API and the engine's tasks takes longer than what most of these commands do."""
    todo = {f"vivero.cli.{name}" for name in ("access", "archive", "backup", "doctor", "migrate", "psql", "tenants")}
    seen: set[str] = set()
    while todo:
        seen.add(module := todo.pop())
        todo |= {one.name for one in every_import() if one.importer == module and one.name in MODULES} - seen
    assert len(seen) > 100
    assert not seen & {"vivero.program", "vivero.tree", "vivero.api.app", "vivero.engine.core.step"}


def test_nobody_hides_a_circle():
    for path in MODULES.values():
        assert "TYPE_CHECKING" not in path.read_text(encoding="utf-8"), path


def test_embedded_postgres_stands_alone():
    """Its supervisor runs as another user, who may not be able to read our other modules."""
    wrong = [
        found
        for found in every_import()
        if within(found.importer, "vivero.embedded")
        and found.name.partition(".")[0] in OURS
        and not within(found.name, "vivero.embedded")
    ]
    assert not wrong, told(wrong)
