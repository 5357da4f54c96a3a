"""A private PostgreSQL that needs no administrator.

Any number of programs share one server per data root; it starts with the first of them and stops when the last is
gone, however that one died. `docs/postgresql.md` describes it for users, `docs/adr/0019` says why
it is built this way.

    with acquire(root, DEVELOPMENT) as lease:
        psycopg.connect(lease.dsn)

Everything here blocks: under Trio call it through `trio.to_thread.run_sync`. Linux and macOS.
"""

from vivero.embedded.client import Lease, acquire, database_url, wait_stopped
from vivero.embedded.errors import EmbeddedPostgresError, GivenUp, StartTimeout
from vivero.embedded.layout import default_root
from vivero.embedded.settings import DEVELOPMENT, TEST, Settings

__all__ = [
    "DEVELOPMENT",
    "TEST",
    "EmbeddedPostgresError",
    "GivenUp",
    "Lease",
    "Settings",
    "StartTimeout",
    "acquire",
    "database_url",
    "default_root",
    "wait_stopped",
]
