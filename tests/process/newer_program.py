"""A program of the next minor version: it has one more migration. `python -m tests.process.newer_program up …`.

The environment may give the migration another name.
"""

import os

from vivero.cli import main
from vivero.node import engine_tasks
from vivero.storage.schema import migrate
from vivero.storage.schema.migration_files import SCHEMA_VERSION, Migration, read_migrations

VERSION = "0.2.0"
NEXT = Migration(
    SCHEMA_VERSION + 1,
    os.environ.get("NEXT_MIGRATION", "next"),
    "ALTER TABLE process_instances ADD COLUMN of_the_next_version text; CREATE TABLE next_table (n int PRIMARY KEY);"
    " INSERT INTO next_table VALUES (1)",
    "0" * 64,
)

if __name__ == "__main__":
    known = (*read_migrations(), NEXT)
    for module, name, value in (
        (migrate, "read_migrations", lambda: known),
        (engine_tasks, "SCHEMA_VERSION", NEXT.version),
    ):
        setattr(module, name, value)  # they are not exported
    os.environ["VIVERO_API_VERSION"] = VERSION
    main()
