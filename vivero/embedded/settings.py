"""PostgreSQL settings of the embedded server, by purpose.

The program that starts the server decides; programs that join later share its settings. There is no profile for
production, which needs a server of its own.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from vivero.embedded.errors import EmbeddedPostgresError

_PARAMETER = re.compile(r"[a-z_]+(\.[a-z_]+)?")


@dataclass(frozen=True, slots=True)
class Settings:
    """`parameters`: those of `postgresql.conf`. `grace_s`: the seconds that the server runs after its last lease, so
    that a restarted program finds it running."""

    parameters: Mapping[str, str]
    grace_s: float = 2.0

    def __post_init__(self) -> None:
        for name in self.parameters:
            if not _PARAMETER.fullmatch(name):
                raise EmbeddedPostgresError(f"{name!r} is not the name of a PostgreSQL setting")

    @property
    def durable(self) -> bool:
        """False if a crash of the machine may destroy the data (tests)."""
        return self.parameters.get("fsync", "on") != "off"

    def to_json(self) -> str:
        return json.dumps({"parameters": dict(self.parameters), "grace_s": self.grace_s})

    @staticmethod
    def from_json(text: str) -> "Settings":
        value = json.loads(text)
        return Settings(value["parameters"], value["grace_s"])


_COMMON = {
    "max_connections": "50",
    "max_wal_size": "1GB",
    "max_parallel_workers_per_gather": "0",  # a container's /dev/shm is often 64 MB
    "lock_timeout": "10s",
    "timezone": "UTC",
    "log_timezone": "UTC",
}

DEVELOPMENT = Settings(
    MappingProxyType(
        _COMMON
        | {
            "synchronous_commit": "on",  # a command is acknowledged after it is on disk
            "shared_buffers": "128MB",
            "checkpoint_timeout": "15min",
            "random_page_cost": "1.1",  # an SSD
            "idle_in_transaction_session_timeout": "60s",
        }
    )
)

TEST = Settings(
    MappingProxyType(
        _COMMON
        | {
            "fsync": "off",
            "full_page_writes": "off",
            "synchronous_commit": "off",
            "max_connections": "80",  # several programs
            "shared_buffers": "64MB",
            "checkpoint_timeout": "30min",
            "wal_level": "minimal",
            "max_wal_senders": "0",
        }
    ),
    grace_s=0.2,
)
