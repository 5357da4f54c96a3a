"""Loads the named statements of a .sql file.

Each statement has a name and, below it, a comment that says why it is written that way:

    -- name: read_batch
    -- Ordered by position because the cursor moves to the last row.
    SELECT position, command FROM command_log WHERE partition_id = $1 AND position > $2 ORDER BY position LIMIT $3;

Parameters are PostgreSQL's own `$1`, `$2`: the text goes to the server unchanged. Two lines of a statement are special:

    -- include: NAME        the lines of `-- fragment: NAME`, which stands above and has a comment, too
    -- only tenants: SQL    SQL that only the variant `tenants` of the statement has

A fragment may include other fragments.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import dropwhile, pairwise, takewhile
from pathlib import Path
from typing import NamedTuple

VARIANTS = frozenset({"tenants"})
"""The names that may follow `-- only`."""

_HEADING = re.compile(r"--\s*(name|fragment):")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_INCLUDE = re.compile(r"\s*--\s*include:(?P<name>.*)")
_ONLY = re.compile(r"\s*--\s*only (?P<variant>\w+):(?P<sql>.*)")
_MISTAKEN = re.compile(r"\s*--\s*(include|only)\b")


class SqlFileError(Exception):
    """A .sql file breaks the rules above; the message names the file, the line and the statement."""


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """One named statement. Compared by identity: a connection prepares each of these objects once."""

    name: str
    """File and name, as in `command_log.append`. Errors show it; pg_prepared_statements shows it with a number."""

    text: str
    why: str
    """The comment below the name."""


class _Section(NamedTuple):
    """A statement or a fragment, as it stands in the file."""

    kind: str
    name: str
    place: str
    """File and line of the heading."""
    why: str
    lines: list[tuple[str, str]]
    """(file and line, text)."""


def statement(name: str, text: str, why: str) -> Statement:
    """A statement that is not in a file (tests, or generated SQL)."""
    return Statement(name, text, why)


@cache
def load(path: Path, variant: str | None = None) -> Mapping[str, Statement]:
    """All statements of a file by name, in the order of the file, in this variant. Raises `SqlFileError`.

    Each variant is read once: modules that share a file share its statements, which a connection prepares once.
    """
    texts = _Texts(variant)
    statements: dict[str, Statement] = {}
    for section in _sections(path):
        text = texts.add(section)
        if section.kind == "name":
            statements[section.name] = Statement(f"{path.stem}.{section.name}", text, section.why)
    texts.check_all_used()
    if not statements:
        raise SqlFileError(f"{path.name}: the file has no '-- name:' heading")
    return statements


def beside(module_file: str, variant: str | None = None) -> Mapping[str, Statement]:
    """The statements of the .sql file beside a module (pass `__file__`), in this variant."""
    return load(Path(module_file).with_suffix(".sql"), variant)


def _sections(path: Path) -> Iterator[_Section]:
    lines = [(f"{path.name}:{n}", line) for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)]
    headings = [n for n, (_, line) in enumerate(lines) if _HEADING.match(line)]
    above = lines[: headings[0]] if headings else lines
    if stray := [line for _, line in above if line.strip() and not line.lstrip().startswith("--")]:
        raise SqlFileError(f"{path.name}: SQL before the first heading: {stray[0].strip()!r}")
    for start, end in pairwise([*headings, len(lines)]):
        yield _section(lines[start:end])


def _section(lines: list[tuple[str, str]]) -> _Section:
    (place, text), *rest = lines
    kind, _, name = text.removeprefix("--").strip().partition(":")
    name = name.strip()
    if not _NAME.fullmatch(name):
        raise SqlFileError(f"{place}: {name!r} is not a valid name: use lower case letters, digits and underscores")
    body = list(dropwhile(lambda line: not line[1].strip(), rest))
    comments = list(takewhile(lambda line: _is_comment(line[1]), body))
    why = " ".join(part for _, line in comments if (part := line.lstrip().removeprefix("--").strip()))
    if not why:
        raise SqlFileError(f"{place}: {name!r} needs a comment below its name that says why it is written that way")
    return _Section(kind, name, place, why, body[len(comments) :])


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("--") and not _INCLUDE.fullmatch(line) and not _ONLY.fullmatch(line)


class _Texts:
    """The texts of a file's sections, with what they include. Sections are added from top to bottom."""

    def __init__(self, variant: str | None) -> None:
        self._variant = variant
        self._names: set[str] = set()
        self._fragments: dict[str, str] = {}
        self._unused: dict[str, str] = {}

    def add(self, section: _Section) -> str:
        """The text of a section."""
        kind, name, place, *_ = section
        if name in self._names:
            word = "statement" if kind == "name" else "fragment"
            raise SqlFileError(f"{place}: a second {word} is named {name!r}: names are unique in a file")
        self._names.add(name)
        lines = [line for at, text in section.lines if (line := self._line(at, text)) is not None]
        text = "\n".join(lines).strip().removesuffix(";").rstrip()
        if not text:
            raise SqlFileError(f"{place}: {name!r} has no statement")
        if kind == "fragment":
            self._fragments[name], self._unused[name] = text, place
        return text

    def check_all_used(self) -> None:
        for name, place in self._unused.items():
            raise SqlFileError(f"{place}: no statement includes the fragment {name!r}")

    def _line(self, place: str, line: str) -> str | None:
        """A line, or what it stands for. None: nothing in this variant."""
        if include := _INCLUDE.fullmatch(line):
            return self._fragment(place, include["name"].strip())
        if only := _ONLY.fullmatch(line):
            return only["sql"] if self._is_chosen(place, only["variant"]) else None
        if _MISTAKEN.match(line):
            raise SqlFileError(f"{place}: write '-- include: NAME' or '-- only VARIANT: SQL'")
        return line

    def _fragment(self, place: str, name: str) -> str:
        if name not in self._fragments:
            raise SqlFileError(f"{place}: no fragment above is named {name!r}")
        self._unused.pop(name, None)
        return self._fragments[name]

    def _is_chosen(self, place: str, variant: str) -> bool:
        if variant not in VARIANTS:
            raise SqlFileError(f"{place}: {variant!r} is not a variant: {', '.join(sorted(VARIANTS))}")
        return variant == self._variant
