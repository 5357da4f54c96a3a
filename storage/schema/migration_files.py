"""The migrations as files: `migrations/NNNN_name.sql`, numbered without gaps. A released file never changes."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

MIGRATIONS_DIRECTORY = Path(__file__).parent / "migrations"

ALONE = "alone_"
"""The name of a migration begins so if programs that do not know it cannot work with what later ones write.

It runs while no node runs, and nodes of such programs lead no partition afterwards (`leadership.claim`).
"""
ALSO_ALONE = frozenset({89, 94, 97})
"""Those of before that rule: earlier programs hold no commands, miss all but the last work items of a tree, and find
the variables of a scope without an index: their batches take too long, and commands are rejected."""

_FILE_NAME = re.compile(r"(?P<version>\d{4})_(?P<name>[a-z0-9_]+)\.sql")
_TRANSACTION_CONTROL = re.compile(r"^(BEGIN|START TRANSACTION|COMMIT|ROLLBACK)\b.*;", re.IGNORECASE | re.MULTILINE)


class MigrationError(Exception):
    """The database cannot be migrated to this program's schema. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file. `sha256` covers its text with plain line ends, which a checkout may change."""

    version: int
    name: str
    sql: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.version:04d}_{self.name}"

    @property
    def is_alone(self) -> bool:
        """Whether no node of an earlier program may run meanwhile or afterwards."""
        return self.name.startswith(ALONE) or self.version in ALSO_ALONE


def read_migrations(directory: Path = MIGRATIONS_DIRECTORY) -> tuple[Migration, ...]:
    """All migrations in order. Raises `MigrationError` if the files break the rules."""
    migrations = tuple(_read(path) for path in sorted(directory.glob("*.sql")))
    if not migrations:
        raise MigrationError(f"no migrations in {directory}")
    for expected, migration in enumerate(migrations, migrations[0].version):
        if migration.version != expected:
            raise MigrationError(f"{migration}.sql: its number must be {expected:04d}, without gaps or duplicates")
    return migrations


def _read(path: Path) -> Migration:
    name = _FILE_NAME.fullmatch(path.name)
    if name is None:
        raise MigrationError(f"{path.name}: rename the migration to the pattern 0001_name.sql")
    sql = path.read_text(encoding="utf-8")  # universal newlines
    if control := _TRANSACTION_CONTROL.search(sql):
        line = sql.count("\n", 0, control.start()) + 1
        raise MigrationError(f"{path.name}:{line}: remove {control[1]}: each migration runs in one transaction")
    return Migration(int(name["version"]), name["name"], sql, hashlib.sha256(sql.encode()).hexdigest())


_all = read_migrations()
MIGRATIONS = len(_all)
"""The number of migrations that make a new database."""
SCHEMA_VERSION = _all[-1].version
"""The newest schema that this program knows."""
