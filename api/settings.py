"""Settings of the API: all numbers that bound the work of a request, and its defaults."""

import re
from dataclasses import dataclass

from vivero.core.bpmn.reading.text_limits import NAME_BYTES

MAX_VARIABLES = 19_000
"""The upper limit of `max_variables`: a command may change slightly more rows (`core.rules.STAGE_CHANGES`)."""

_ADDRESS = re.compile(r"https?://[^/?#@,\s]+", re.IGNORECASE)
_ORIGIN = re.compile(r"\*|[a-z][a-z0-9+.-]*://[^/,\s]+", re.IGNORECASE)
_HOST = re.compile(r"\*|\.?[^/:,\s]+", re.IGNORECASE)


def listed(text: str) -> list[str]:
    """The items of a setting that is a list, separated by commas."""
    return [item for item in map(str.strip, text.split(",")) if item]


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """Sizes in bytes; `_s` in seconds, `_ms` in milliseconds."""

    host: str = "127.0.0.1"
    port: int = 8080
    """The port of this node; the topology shows it to clients."""
    node_name: str | None = None
    """The prefix of the node's name in the topology (None: the host's name). The rest is unique to the program."""
    allowed_origins: str = ""
    """Origins (`https://console.example.com`) whose web pages may write, separated by commas; `*`: all."""
    allowed_hosts: str = ""
    """Additional names of a server that listens on loopback, separated by commas. `.example.com` stands for all its
    subdomains, `*` for all names."""
    version: str = "0.1.0"
    api_version: str = "8.9.0"
    """The version of the REST API, which the topology shows as the gateway's version."""

    max_body_bytes: int = 4 * 1024 * 1024
    max_deployment_bytes: int = 16 * 1024 * 1024
    max_deployment_files: int = 100
    max_nesting: int = 64
    max_name_bytes: int = NAME_BYTES
    """Bytes of a variable's name. The name is in an index, whose rows PostgreSQL limits to a third of a page."""

    max_variables: int = 10_000
    """Variables of one request. Each is a row, and one transaction with a deadline saves all rows of a command."""

    max_variables_bytes: int = 4 * 1024 * 1024
    """Bytes of the values of all variables of one request, as compact JSON."""

    max_page_bytes: int = 32 * 1024 * 1024
    """Bytes of the items of a search. They take several times as much while the answer is built."""
    pages_bytes: int = 64 * 1024 * 1024
    """Bytes of the items of all large pages that are read at the same time; at least `max_page_bytes`."""

    response_timeout_s: float = 15.0
    """Seconds to wait for a command's outcome, and for the end of an instance if the request has no time limit."""
    max_wait_s: float = 3600.0
    redirect_to_leader: bool = False
    """Answer a write with 307 if another node leads its partition. Clients must reach the nodes at their addresses."""
    advertised_address: str = ""
    """The URL at which clients reach this node, without a path; empty: that of `host`, `port` and TLS."""
    respond_async: bool = False
    """Answer 202 as soon as a command is durable, even if the request does not ask for it."""

    poll_timeout_ms: int = 10_000
    """Milliseconds that an activation waits for a job if the request has no time limit (0 or absent)."""
    max_jobs: int = 1000
    """The most jobs of one activation, whatever it requests."""
    max_activation_bytes: int = 4 * 1024 * 1024
    """Bytes of the jobs of one activation. A larger job is given alone."""
    max_job_bytes: int = 16 * 1024 * 1024
    """Bytes of a job with the variables that its worker fetches. A larger job is not given, but gets an incident."""
    activations_bytes: int = 64 * 1024 * 1024
    """Bytes of all large answers of activations that are built at the same time."""
    slow_poll_s: float = 2.0
    """Seconds after which a long poll looks for jobs without a wake-up, in case one is lost."""
    max_waiting: int = 750
    """Activations and awaited instances that may wait at a time, and at most three quarters of the connections."""

    requests_per_s: float = 0.0
    """Requests a second that one client may send to this node; 0: no limit. Reports of finished work do not count."""
    request_burst: int = 200
    """Requests that one client may send at once."""
    tenant_requests_per_s: float = 0.0
    """Requests a second that all clients of one tenant together may send to this node; 0: no limit."""
    tenant_request_burst: int = 1000
    """Requests that all clients of one tenant together may send at once."""

    def __post_init__(self) -> None:
        if min(self.requests_per_s, self.tenant_requests_per_s) < 0:
            raise ValueError("requests per second must be at least 0")
        if min(self.request_burst, self.tenant_request_burst) < 1:
            raise ValueError("requests at once must be at least 1")
        if not 1 <= self.max_variables <= MAX_VARIABLES:
            raise ValueError(f"max_variables must be between 1 and {MAX_VARIABLES}")
        for item in listed(self.allowed_origins):
            if _ORIGIN.fullmatch(item) is None:
                raise ValueError(f"'{item}' is not an origin such as https://console.example.com")
        if self.advertised_address and _ADDRESS.fullmatch(self.advertised_address) is None:
            raise ValueError("advertised_address must be a URL such as https://node-1.example.com:8443, without a path")
        for item in listed(self.allowed_hosts):
            if _HOST.fullmatch(item) is None:
                raise ValueError(f"'{item}' is not a host name without a port")
