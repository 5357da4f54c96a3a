"""The ledger of an import: the step at which each process instance is, in a file that survives a kill at any moment.

A step is written down, and synced, before it is taken. Each step can be taken again. Therefore a later run takes the
step that the file names, and the steps behind it:

    suspending → copying → adjusting → cancelling → done
         └──────────┴────→ resuming → stays

The file has variables of instances on their way. Only its owner can read it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

SUSPENDING, COPYING, ADJUSTING = "suspending", "copying", "adjusting"
CANCELLING, RESUMING = "cancelling", "resuming"
DONE, STAYS = "done", "stays"
ENDS = (DONE, STAYS)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS servers (source TEXT NOT NULL, target TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS instances (
    key TEXT PRIMARY KEY, step TEXT NOT NULL, suspended INTEGER NOT NULL, plan TEXT, copy TEXT, reason TEXT
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS instances_under_way ON instances (key) WHERE step NOT IN ('done', 'stays');
"""


class LedgerProblem(Exception):
    """The file cannot be used. The message is one line."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The step at which an instance of the source is, with its plan as JSON, and the key of its copy."""

    key: str
    step: str
    suspended: bool
    """Whether this import suspends it in the source."""
    plan: str | None = None
    copy: str | None = None
    reason: str | None = None


class Ledger:
    """The open file. Nobody else can use it meanwhile. Open it with `with`. Raises LedgerProblem."""

    def __init__(self, path: Path, source: str, target: str) -> None:
        self._path, self._servers = path, (source, target)

    def __enter__(self) -> Ledger:
        try:
            self._path.touch(mode=0o600)
            self._database = sqlite3.connect(self._path, timeout=0, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise LedgerProblem(f"the ledger '{self._path}' cannot be opened: {error}") from error
        try:
            self._begin()
        except sqlite3.Error as error:
            self._database.close()
            raise LedgerProblem(f"the ledger '{self._path}' cannot be used: {_explained(error)}") from error
        except LedgerProblem:
            self._database.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    def _begin(self) -> None:
        self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._database.execute("PRAGMA synchronous = EXTRA")
        self._database.execute("PRAGMA secure_delete = ON")
        self._database.execute("BEGIN EXCLUSIVE")
        for statement in filter(str.strip, _SCHEMA.split(";")):
            self._database.execute(statement)
        known = self._database.execute("SELECT source, target FROM servers").fetchone()
        if known is None:
            self._database.execute("INSERT INTO servers VALUES (?, ?)", self._servers)
        self._database.execute("COMMIT")
        if known is not None and tuple(known) != self._servers:
            raise LedgerProblem(
                f"the ledger '{self._path}' is of an import from {known[0]} to {known[1]}: --ledger names another file"
            )

    def write(self, entry: Entry) -> None:
        """Write a step down before it is taken. Raises LedgerProblem."""
        values = entry.key, entry.step, entry.suspended, entry.plan, entry.copy, entry.reason
        try:
            self._database.execute("INSERT OR REPLACE INTO instances VALUES (?, ?, ?, ?, ?, ?)", values)
        except sqlite3.Error as error:
            raise LedgerProblem(f"the ledger '{self._path}' cannot be written: {error}") from error

    def under_way(self) -> Iterator[Entry]:
        """The instances that are neither copied nor stay."""
        last = ""
        while True:
            query = "SELECT * FROM instances WHERE step NOT IN ('done', 'stays') AND key > ? ORDER BY key LIMIT 1"
            row = self._database.execute(query, (last,)).fetchone()
            if row is None:
                return
            yield _entry(row)
            last = row[0]

    def entry(self, key: str) -> Entry | None:
        """The entry of an instance."""
        row = self._database.execute("SELECT * FROM instances WHERE key = ?", (key,)).fetchone()
        return None if row is None else _entry(row)


def _entry(row: tuple[str, str, int, str | None, str | None, str | None]) -> Entry:
    key, step, suspended, plan, copy, reason = row
    return Entry(key, step, bool(suspended), plan, copy, reason)


def _explained(error: sqlite3.Error) -> str:
    return "another import works with it" if "locked" in str(error) else str(error)
