"""The API's limits and defaults: every number that bounds what one request can make the program do."""

import re
from dataclasses import dataclass

MOST_VARIABLES = 19_000
"""A command may change a little more rows than these (`engine.core.rules.STAGE_CHANGES`)."""

_ORIGIN = re.compile(r"\*|[a-z][a-z0-9+.-]*://[^/,\s]+", re.IGNORECASE)
_HOST = re.compile(r"\*|\.?[^/:,\s]+", re.IGNORECASE)


def listed(text: str) -> list[str]:
    """The items of a setting that is a list, divided by commas."""
    return [item for item in map(str.strip, text.split(",")) if item]


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """Sizes in bytes; `_s` in seconds, `_ms` in milliseconds."""

    host: str = "127.0.0.1"
    port: int = 8080
    """Where clients reach this node, for the topology."""
    node_name: str | None = None
    """What its name in the topology begins with (None: the host's name); the rest is unique to the running program."""
    allowed_origins: str = ""
    """Origins (`https://console.example.com`), divided by commas, whose web pages may write; `*`: all."""
    allowed_hosts: str = ""
    """Names, divided by commas, under which a server that listens on loopback is served besides its own; `.example.com`
    stands for all names below it, `*` for all names."""
    version: str = "0.1.0"
    api_version: str = "8.9.0"
    """The version of the REST API that is spoken: what clients read as the gateway's version."""

    max_body_bytes: int = 4 * 1024 * 1024
    max_deployment_bytes: int = 16 * 1024 * 1024
    max_deployment_files: int = 100
    max_nesting: int = 64
    max_name_bytes: int = 1024
    """Of a variable: its name is in an index, whose rows PostgreSQL limits to a third of a page."""

    max_variables: int = 10_000
    """Of one request. Each is a row, and all rows of a command are saved in one transaction, which has a deadline."""

    max_page_bytes: int = 32 * 1024 * 1024
    """Of the items of a search, which take several times as much while they are on their way."""
    pages_bytes: int = 64 * 1024 * 1024
    """Of the items of all large pages that are read at the same time; at least `max_page_bytes`."""

    response_timeout_s: float = 15.0
    """How long a command, or an awaited instance whose request names no time, may take."""
    max_wait_s: float = 3600.0
    respond_async: bool = False
    """Answer 202 as soon as a command is durable, also without being asked to."""

    poll_timeout_ms: int = 10_000
    """How long an activation waits for a job when the request names no time (0 or absent)."""
    max_jobs: int = 1000
    """What one activation gives at most, whatever it asks for."""
    max_activation_bytes: int = 4 * 1024 * 1024
    """An activation gives as many jobs as fit into this, or one that alone is larger."""
    max_job_bytes: int = 16 * 1024 * 1024
    """A job that is larger, with the variables that its worker fetches, is given to nobody and gets an incident."""
    activations_bytes: int = 64 * 1024 * 1024
    """Of the large answers of activations that are built at the same time."""
    slow_poll_s: float = 2.0
    """The fallback of a long poll, should a wake-up be lost."""
    max_waiting: int = 750
    """Activations and awaited instances that may wait at once; never more than three quarters of the connections."""

    def __post_init__(self) -> None:
        if not 1 <= self.max_variables <= MOST_VARIABLES:
            raise ValueError(f"a request has 1 to {MOST_VARIABLES} variables")
        for item in listed(self.allowed_origins):
            if _ORIGIN.fullmatch(item) is None:
                raise ValueError(f"'{item}' is not an origin such as https://console.example.com")
        for item in listed(self.allowed_hosts):
            if _HOST.fullmatch(item) is None:
                raise ValueError(f"'{item}' is not a host name without a port")
