"""Loads the named statements of a .sql file.

Each statement has a name and, below it, a comment that says why it is written that way:

    -- name: read_batch
    -- Ordered by position because the cursor moves to the last row.
    SELECT position, command FROM command_log WHERE partition_id = $1 AND position > $2 ORDER BY position LIMIT $3;

Parameters are PostgreSQL's own `$1`, `$2`: the text goes to the server unchanged.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_HEADING = re.compile(r"^--\s*name:(?P<name>.*)$", re.MULTILINE)
_NAME = re.compile(r"[a-z][a-z0-9_]*")


class SqlFileError(Exception):
    """A .sql file breaks the rules above; the message names the file, the line and the statement."""


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """One named statement. Compared by identity: a connection prepares each of these objects once."""

    name: str
    """File and name, as in `log.append`. Errors show it; pg_prepared_statements shows it with a number."""

    text: str
    why: str
    """The comment below the name."""


def statement(name: str, text: str, why: str) -> Statement:
    """A statement that is not in a file (tests, or generated SQL)."""
    return Statement(name, text, why)


def load(path: Path) -> Mapping[str, Statement]:
    """All statements of a file by name, in the order of the file. Raises `SqlFileError`."""
    text = path.read_text(encoding="utf-8")
    found: dict[str, Statement] = {}
    for name, line, body in _sections(text, path):
        if name in found:
            raise SqlFileError(f"{path.name}:{line}: a second statement is named {name!r}: names are unique in a file")
        found[name] = _parse(path.stem, name, body, f"{path.name}:{line}")
    if not found:
        raise SqlFileError(f"{path.name}: the file has no '-- name:' heading")
    return found


def _sections(text: str, path: Path) -> Iterator[tuple[str, int, str]]:
    """(name, line of the heading, text up to the next heading)."""
    headings = list(_HEADING.finditer(text))
    before = text[: headings[0].start()] if headings else text
    if stray := [line for line in before.splitlines() if line.strip() and not line.lstrip().startswith("--")]:
        raise SqlFileError(f"{path.name}: SQL before the first heading: {stray[0].strip()!r}")
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    for heading, end in zip(headings, ends[: len(headings)], strict=True):
        line = text.count("\n", 0, heading.start()) + 1
        name = heading["name"].strip()
        if not _NAME.fullmatch(name):
            raise SqlFileError(
                f"{path.name}:{line}: {name!r} is not a valid name: use lower case letters, digits and underscores"
            )
        yield name, line, text[heading.end() : end]


def _parse(file: str, name: str, body: str, place: str) -> Statement:
    lines = body.strip().splitlines()
    comments: list[str] = []
    while lines and lines[0].lstrip().startswith("--"):
        comments.append(lines.pop(0).lstrip().removeprefix("--").strip())
    why = " ".join(part for part in comments if part)
    sql = "\n".join(lines).strip().removesuffix(";").rstrip()
    if not why:
        raise SqlFileError(f"{place}: {name!r} needs a comment below its name that says why it is written that way")
    if not sql:
        raise SqlFileError(f"{place}: {name!r} has no statement")
    return Statement(f"{file}.{name}", sql, why)


def beside(module_file: str) -> Mapping[str, Statement]:
    """The statements of the .sql file beside a module, with the same name (pass `__file__`)."""
    return load(Path(module_file).with_suffix(".sql"))
