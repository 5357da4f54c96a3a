"""Our modules, packages and imports, as the files say it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINKED = ("core", "storage", "engine", "api")
"""The folders at the top that `vivero` links to, from the lowest layer to the highest."""
LAYERS = (*(f"vivero.{name}" for name in LINKED), "vivero")


@dataclass(frozen=True, slots=True)
class Import:
    """`importer` imports `name`, in this line."""

    importer: str
    name: str
    line: int

    def __str__(self) -> str:
        return f"{self.importer} (line {self.line}) imports {self.name}"


def _modules() -> dict[str, Path]:
    found = {}
    for package in (*LINKED, "vivero", "benchmarks"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[f"vivero.{name}" if package in LINKED else name] = path
    return found


MODULES = _modules()
"""All our modules by name."""


def statements(tree: ast.Module) -> Iterator[ast.AST]:
    """All statements of a module, those inside of others too, and what stands between: handlers and cases.

    A walk through the expressions in them, too, takes six times as long.
    """
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, name, ())
            todo += inner if isinstance(inner, list) else ()  # a lambda's body is an expression


def imports_of(module: str) -> Iterator[Import]:
    """Every import in a module, those inside of functions too, as full names of modules."""
    path = MODULES[module]
    for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
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
    """The imports of all modules. They are read when a test asks, in the one process that needs them."""
    return [found for module in MODULES for found in imports_of(module)]


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def layer_of(name: str) -> str | None:
    """The layer a module belongs to: the longest that fits."""
    return max((layer for layer in LAYERS if within(name, layer)), key=len, default=None)


def package_of(module: str) -> str:
    """The package that a module is in; a package is in itself."""
    return module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
