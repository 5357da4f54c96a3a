"""A private PostgreSQL that needs no administrator (docs/postgresql.md, docs/adr/0019).

Any number of programs share one server per data root. It starts with the first program and stops after the last one,
even if that was killed. All functions block. The package runs on Linux and macOS.

Entry: `acquire`, `supervisor`.
Imports: nothing of ours.
"""

from vivero.embedded.client import ServerLease, acquire, database_url, has_data, wait_stopped
from vivero.embedded.errors import EmbeddedPostgresError, GivenUp, StartTimeout
from vivero.embedded.layout import default_root
from vivero.embedded.settings import DEVELOPMENT, TEST, Settings

__all__ = [
    "DEVELOPMENT",
    "TEST",
    "EmbeddedPostgresError",
    "GivenUp",
    "ServerLease",
    "Settings",
    "StartTimeout",
    "acquire",
    "database_url",
    "default_root",
    "has_data",
    "wait_stopped",
]
