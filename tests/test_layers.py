"""Imports point one way (ARCHITECTURE.md): core < storage < engine < api < vivero.

In code all of them are parts of one package: `vivero` links to the folders at the top.
"""

from __future__ import annotations

import ast
import sys

from tests.imports import LAYERS, LINKED, MODULES, ROOT, Import, every_import, layer_of, within


def told(imports: list[Import]) -> str:
    return "\n".join(map(str, imports))


def test_the_walk_sees_what_there_is():
    assert len(MODULES) > 100
    assert "vivero.engine.consumer.leadership" in {
        found.name for found in every_import() if found.importer == "vivero.node.engine_tasks"
    }
    assert {layer_of(name) for name in MODULES if not within(name, "benchmarks")} == set(LAYERS)
    assert layer_of("vivero.engine.consumer.leadership") == "vivero.engine"
    assert layer_of("vivero.core.execution.step") == "vivero.core"


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
    """`core` and `vivero.core` would be two modules, with two classes of each name."""
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
        if within(found.name, "lxml") and not within(found.importer, "vivero.core.bpmn")
    ]
    assert not wrong, told(wrong)


IMPURE = ("trio", "asyncio", "threading", "socket", "select", "random", "secrets", "subprocess", "sqlite3", "structlog")
PURE_LIBRARIES = {"msgspec", "regex", "lxml", "tzdata"}


def test_the_core_does_no_input_output():
    """No Trio, no SQL, no sockets, no randomness: given the same commands it does the same."""
    wrong = [
        found
        for found in every_import()
        if layer_of(found.importer) == "vivero.core" and any(within(found.name, module) for module in IMPURE)
    ]
    assert not wrong, told(wrong)


def test_the_core_needs_few_libraries():
    roots = {found.name.partition(".")[0] for found in every_import() if layer_of(found.importer) == "vivero.core"}
    assert roots - set(sys.stdlib_module_names) - {"vivero"} <= PURE_LIBRARIES


CLOCKS = {"time", "time_ns", "monotonic", "monotonic_ns", "now", "utcnow", "today"}


def test_the_core_reads_no_clock():
    """Time arrives with the command. (FEEL's `now()` is a function of what it is given; it measures its own cost.)"""
    core = {name for name in MODULES if within(name, "vivero.core") and not within(name, "vivero.core.feel")}
    wrong = [found for found in every_import() if found.importer in core and within(found.name, "time")]
    assert not wrong, told(wrong)
    for path in map(MODULES.__getitem__, core):
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
                "vivero.core.execution.step",
                "vivero.core.apply",
                "vivero.engine.consumer.leadership",
                "vivero.engine.consumer.term",
            )
        )
    ]
    assert not wrong, told(wrong)


def test_appliers_know_neither_elements_nor_commands():
    wrong = [
        found
        for found in every_import()
        if within(found.importer, "vivero.core.apply")
        and any(
            within(found.name, module)
            for module in (
                "vivero.core.elements",
                "vivero.core.commands",
                "vivero.core.dispatch",
                "vivero.core.bpmn",
            )
        )
    ]
    assert not wrong, told(wrong)


def test_only_the_tree_puts_the_engine_and_the_api_together():
    """Their parts meet in `vivero/node`, and metrics read them. The rest takes settings and errors."""
    parts = (
        "vivero.engine.consumer.leadership",
        "vivero.engine.appender.task",
        "vivero.engine.outcomes.completions",
        "vivero.engine.definitions.cache",
        "vivero.api.app",
        "vivero.api.services",
    )
    wrong = [
        found
        for found in every_import()
        if layer_of(found.importer) == "vivero"
        and not within(found.importer, "vivero.node")
        and found.importer not in ("vivero.metrics.instruments", "vivero.metrics.histograms", "vivero.config.sections")
        and any(within(found.name, part) for part in parts)
    ]
    assert not wrong, told(wrong)


LIBRARY = ("vivero.core", "vivero.library", "vivero.testing")
WITH_FUNCTIONS = {
    "vivero.testing.background_jobs",
    "vivero.testing.workers",
    "vivero.testing.models",
    "vivero.testing.server_processes",
    "vivero.testing.server_runs",
}
"""Functions of users run there by the code of a worker and of a server, or instances on a server. Other tests import
neither."""


def test_the_library_stands_on_the_core_alone():
    """No database, no Trio: it works in a program that has neither. The test kit stands on the library, but for the
    modules that run functions of users, or instances on a server."""
    assert not [
        one for one in every_import() if within(one.importer, "vivero.library") and within(one.name, "vivero.testing")
    ]
    ours = [
        one
        for one in every_import()
        if within(one.importer, "vivero.library")
        or (within(one.importer, "vivero.testing") and one.importer not in WITH_FUNCTIONS)
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
    names = {f"vivero.cli.server.{name}" for name in ("archive", "backup", "doctor", "migrate")}
    seen = reached_from(names | {"vivero.cli.access.identities", "vivero.cli.access.tenants", "vivero.cli.tools.psql"})
    assert len(seen) > 100
    assert not seen & {"vivero.program.program", "vivero.node.tree", "vivero.api.app", "vivero.core.execution.step"}


def test_compute_processes_start_without_the_libraries_of_the_server():
    """Trio, the log and the driver take longer to import than what a compute process does with most files."""
    for module in (
        *("vivero.core.bpmn.packing", "vivero.api.deployment.problems", "vivero.api.computing.evaluation"),
        *("vivero.api.computing.migration_plans", "vivero.engine.dry_runs.copies", "vivero.engine.compute.work_loop"),
    ):
        heavy = reached_from({module}) & {"trio", "structlog", "psycopg", "quart"}
        assert not heavy, (module, heavy)
    assert reached_from({"vivero.engine.compute.models"}) >= {"trio", "structlog"}, "the walk sees libraries"


def reached_from(names: set[str]) -> set[str]:
    """These modules, and all that they import, also late, with the libraries."""
    todo, seen = set(names), set[str]()
    imported: dict[str, set[str]] = {}
    for one in every_import():
        imported.setdefault(one.importer, set()).add(one.name)
    while todo:
        seen.add(module := todo.pop())
        todo |= imported.get(module, set()) - seen
    return seen


def test_nobody_hides_a_circle():
    for path in MODULES.values():
        assert "TYPE_CHECKING" not in path.read_text(encoding="utf-8"), path


def test_embedded_postgres_stands_alone():
    """Its supervisor runs as another user, who may not be able to read our other modules."""
    wrong = [
        found
        for found in every_import()
        if within(found.importer, "vivero.embedded")
        and within(found.name, "vivero")
        and not within(found.name, "vivero.embedded")
    ]
    assert not wrong, told(wrong)
