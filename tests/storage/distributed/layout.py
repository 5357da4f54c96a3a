"""The layout of `storage/schema/distributed.sql` on a plain PostgreSQL, and statements that fit it."""

from functools import cache
from pathlib import Path

from tests.storage.distributed.statements import laid_out
from vivero.storage.postgres.sql_files import Statement
from vivero.storage.schema.catalogue import DISTRIBUTED_FILE

CITUS = Path(__file__).with_name("citus.sql").read_text(encoding="utf-8")
SETTING = "vivero.partition"
"""Each session of the trial works for one partition, which this setting names."""
PARTITION = f"current_setting('{SETTING}', true)::int"


def script():
    """The SQL that lays a migrated and unused database out, and notes in `placements` where its tables are."""
    return CITUS + DISTRIBUTED_FILE.read_text(encoding="utf-8")


@cache
def _of(statement: Statement) -> bytes:
    return laid_out(statement.text, PARTITION).encode()


def text(query):
    """In place of `queries.text`: named statements get the conditions and values of the layout."""
    return _of(query) if isinstance(query, Statement) else query.encode()
