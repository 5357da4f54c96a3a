"""The SQL files of the project that have named statements."""

from pathlib import Path

STORAGE = Path(__file__).parents[1] / "storage"
SCRIPTS = {"schema", "distributed"}
"""Files without named statements, beside the migrations."""


def named_sql_files():
    """Their paths, in order."""
    return [
        path for path in sorted(STORAGE.rglob("*.sql")) if path.parent.name != "migrations" and path.stem not in SCRIPTS
    ]
