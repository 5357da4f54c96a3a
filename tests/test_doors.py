"""Each package has a door, and the map in ARCHITECTURE.md is made of the doors."""

from __future__ import annotations

import ast
from collections import defaultdict

from tests.doors import PAGE, TABLE, door, in_order, packages, table, text_of, uses
from tests.imports import MODULES, ROOT

PACKAGES = list(packages())
MOST_LINES = 10
MOST_LOOSE = 8


def names_in(path):
    """The names that a module defines or imports, at its top."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def leads_somewhere(package, entry):
    """An entry is a module or package in the package, or a name that one of these or the package itself has."""
    module, _, name = f"{package}.{entry}".rpartition(".")
    return f"{module}.{name}" in MODULES or (module in MODULES and name in names_in(MODULES[module]))


def test_a_door_says_what_is_behind_it():
    assert [package for package in PACKAGES if len(text_of(package).splitlines()) > MOST_LINES] == []
    assert [package for package in PACKAGES if not door(package).entries] == []
    entries = [(package, entry) for package in PACKAGES for entry in door(package).entries]
    assert [(package, entry) for package, entry in entries if not leads_somewhere(package, entry)] == []


def test_a_package_imports_what_its_door_says():
    imports = uses()
    assert {package: door(package).imports for package in PACKAGES} == {
        package: in_order(imports[package]) for package in PACKAGES
    }


def test_the_map_is_made_of_the_doors():
    written = TABLE.search(PAGE.read_text(encoding="utf-8"))
    assert written
    assert written[0] == table(), "make map writes it"


def test_few_files_stand_beside_folders():
    """A folder without sub-folders may hold many of one kind, such as routes, searches, elements."""
    folders = defaultdict(list)
    for path in MODULES.values():
        if path.name != "__init__.py":
            folders[path.parent].append(path.name)
    crowded = {
        str(folder.relative_to(ROOT)): sorted(files)
        for folder, files in folders.items()
        if len(files) > MOST_LOOSE
        and any((inner / "__init__.py").is_file() for inner in folder.iterdir() if inner.is_dir())
        and folder.name != "benchmarks"
    }
    assert crowded == {}


def neighbours():
    """Folder → those beside it that it, or what is in it, imports."""
    found = defaultdict(set)
    for package, folders in uses().items():
        around = door(package).folder.split("/")
        for folder in folders:
            *parent, _ = folder.split("/")
            if parent:
                found["/".join(around[: len(parent) + 1])].add(folder)
    return found


def test_neighbours_do_not_import_each_other():
    """Neither directly nor around a corner: what stands beside a package in one folder is above it or below it."""
    below, reached = neighbours(), {}
    for start in below:
        seen, todo = set(), [start]
        while todo:
            found = below.get(todo.pop(), set()) - seen
            seen |= found
            todo += found
        reached[start] = seen
    circles = {
        frozenset(one for one in seen if start in reached.get(one, ()))
        for start, seen in reached.items()
        if start in seen
    }
    assert circles == set()
