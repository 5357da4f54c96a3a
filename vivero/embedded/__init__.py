"""A private PostgreSQL that needs no administrator.

Any number of programs share one server per data root. It starts with the first program and stops after the last one,
even if that was killed. `docs/postgresql.md` describes it for users, and decision record 19 in `docs/adr/` explains its
design.

    with acquire(root, DEVELOPMENT) as lease:
        psycopg.connect(lease.dsn)

All functions block: under Trio, call them with `trio.to_thread.run_sync`. The package runs on Linux and macOS.
"""

from vivero.embedded.client import Lease, acquire, database_url, has_data, wait_stopped
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
    "has_data",
    "wait_stopped",
]
