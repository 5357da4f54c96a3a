"""The doors of our packages: the docstring of each `__init__` says what the package is, where one enters, and what it
may import. The table of folders in ARCHITECTURE.md is made of them: `make map` writes it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tests.imports import LAYERS, LINKED, MODULES, ROOT, every_import, package_of, within

PAGE = ROOT / "ARCHITECTURE.md"
TABLE = re.compile(r"(?<=^\| folder \| what it is \| enter at \|\n\|---\|---\|---\|\n)(?:\|.*\n)+", re.MULTILINE)
_DOOR = re.compile(r"(?P<what>.+?)\n\n(?:.+\n\n)?Entry: (?P<entry>.+?)\.\nImports: (?P<imports>.+?)\.", re.DOTALL)
NOTHING = "nothing of ours"


@dataclass(frozen=True, slots=True)
class Door:
    """`what` is one paragraph, `entries` are names within the package, `imports` are as `used` gives them."""

    package: str
    what: str
    entries: list[str]
    imports: list[str]

    @property
    def folder(self) -> str:
        return "/".join(_parts(self.package))


def text_of(package: str) -> str:
    """The docstring of a package. Raises AssertionError without one."""
    text = ast.get_docstring(ast.parse(MODULES[package].read_text(encoding="utf-8")))
    assert text, f"{MODULES[package]} does not say what its package is"
    return text


def door(package: str) -> Door:
    """Raises AssertionError if the docstring is not that of a door."""
    found = _DOOR.fullmatch(text_of(package))
    assert found, f"{MODULES[package]}: what it is, then `Entry: ….` and `Imports: ….` as the last lines"
    imports = " ".join(found["imports"].split())
    return Door(
        package,
        " ".join(found["what"].split()),
        re.findall(r"`(.+?)`", found["entry"]),
        [] if imports == NOTHING else imports.split(", "),
    )


def packages() -> Iterator[str]:
    """The packages of the product, layer by layer, each before what is in it."""
    ours = [name for name, path in MODULES.items() if path.name == "__init__.py" and not within(name, "benchmarks")]
    for layer in LAYERS:
        yield from (name for name in ours if max((one for one in LAYERS if within(name, one)), key=len) == layer)


def _parts(name: str) -> list[str]:
    parts = name.split(".")
    return parts[1:] if parts[1:2] and parts[1] in LINKED else parts


@cache
def uses() -> dict[str, set[str]]:
    """Package → the folders that its modules import: another one at the top, or what stands beside the package or
    beside one around it. What is inside of the package, or around it, is not listed."""
    found: dict[str, set[str]] = defaultdict(set)
    for one in every_import():
        if one.name in MODULES and not within(one.importer, "benchmarks"):
            importer, imported = (_parts(package_of(name)) for name in (one.importer, one.name))
            pairs = zip(importer, imported, strict=False)
            common = next((at for at, (left, right) in enumerate(pairs) if left != right), None)
            if common is not None:
                found[package_of(one.importer)].add("/".join(imported[: common + 1]))
    return found


def in_order(folders: set[str]) -> list[str]:
    """The folders at the top as the layers are, then the others by their own names."""
    tops = [*LINKED, "vivero"]
    return [*(top for top in tops if top in folders), *sorted({one.rpartition("/")[2] for one in folders - set(tops)})]


def table() -> str:
    """The rows of the table in ARCHITECTURE.md."""
    rows = []
    for one in map(door, packages()):
        entries = ", ".join(f"`{entry}`" for entry in one.entries)
        rows.append(f"| [`{one.folder}/`]({one.folder}/__init__.py) | {one.what} | {entries} |\n")
    return "".join(rows)


if __name__ == "__main__":
    PAGE.write_text(TABLE.sub(lambda _: table(), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
