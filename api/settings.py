"""Settings of the API: all numbers that bound the work of a request, and its defaults."""

import re
from dataclasses import dataclass

from vivero.core.bpmn.reading.text_limits import NAME_BYTES
from vivero.core.texts.fields import listed

MAX_VARIABLES = 19_000
"""The upper limit of `max_variables`: a command may change slightly more rows (`core.rules.STAGE_CHANGES`)."""

_ADDRESS = re.compile(r"https?://[^/?#@,\s]+", re.IGNORECASE)
_ORIGIN = re.compile(r"\*|[a-z][a-z0-9+.-]*://[^/,\s]+", re.IGNORECASE)
_HOST = re.compile(r"\*|\.?[^/:,\s]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """Sizes in bytes; `_s` in seconds, `_ms` in milliseconds."""

    host: str = "127.0.0.1"
    """Address to listen on; `0.0.0.0` or empty: all; `--host`."""
    port: int = 8080
    """Port to listen on; 0: a free one; `--port`."""
    grpc_port: int = 0
    """Further port with the same service, where clients of gRPC look for a server (26500): it tells them to use REST;
    0: none.
    """
    node_name: str | None = None
    """Beginning of the node's name in the topology; the rest is unique to the program. None: the host's name."""
    allowed_origins: str = ""
    """Origins, separated by commas, whose web pages may write; `*`: all."""
    allowed_hosts: str = ""
    """Further host names, separated by commas, to which a server on loopback answers; `.example.com`: all names below
    it; `*`: all.
    """
    version: str = "0.1.0"
    """Version of the node in `GET /v2/topology`."""
    api_version: str = "8.9.0"
    """Version of the REST API, which the topology shows as the gateway's."""

    max_body_bytes: int = 4 * 1024 * 1024
    """A JSON body; beyond it 413, before the body is read if its length is declared."""
    max_deployment_bytes: int = 16 * 1024 * 1024
    """A deployment; beyond it 413."""
    max_deployment_files: int = 100
    """Files of a deployment; beyond it 400."""
    max_nesting: int = 64
    """Nesting depth of JSON; beyond it 400."""
    max_name_bytes: int = NAME_BYTES
    """A variable's name; beyond it 400. It is in an index, whose rows PostgreSQL limits to a third of a page."""

    max_variables: int = 10_000
    """Variables of a request, at most 19,000; beyond it 400. Each is a row, and one transaction with a deadline saves
    them.
    """

    max_variables_bytes: int = 4 * 1024 * 1024
    """Values of all variables of a request, as compact JSON; beyond it 400."""

    max_page_bytes: int = 32 * 1024 * 1024
    """All items of a search page; beyond it 400: ask for fewer items."""
    pages_bytes: int = 64 * 1024 * 1024
    """All search pages above 256 KiB that are read at the same time; at least `api.max_page_bytes`. Others wait without
    a connection, and then get 503.
    """

    response_timeout_s: float = 15.0
    """Wait for a command's outcome, or for an awaited instance without a time of its own, before 504."""
    max_wait_s: float = 3600.0
    """Longest wait that a request can ask for."""
    redirect_to_leader: bool = False
    """Answer writes with 307 if another node leads their partition."""
    advertised_address: str = ""
    """URL at which clients reach this node, without a path; empty: that of `api.host`, `api.port` and TLS."""
    respond_async: bool = False
    """Answer 202 as soon as a command is durable, also without `Prefer: respond-async`."""

    poll_timeout_ms: int = 10_000
    """Wait of an activation without a time of its own."""
    max_jobs: int = 1000
    """Jobs of an activation, whatever it requests. The others stay available."""
    max_activation_bytes: int = 4 * 1024 * 1024
    """Jobs of an activation's answer. A larger job is answered alone."""
    max_job_bytes: int = 16 * 1024 * 1024
    """A larger job, with the variables that its worker fetches, is withheld with an incident `MESSAGE_SIZE_EXCEEDED`.
    To have an effect, it lies between `api.max_activation_bytes` and `api.activations_bytes`.
    """
    activations_bytes: int = 64 * 1024 * 1024
    """All large answers of activations that are built at the same time. Others wait without a job, up to their own
    time.
    """
    slow_poll_s: float = 2.0
    """Interval in which a waiting activation looks for jobs without a wake-up; longer above 200 waiting types."""
    max_waiting: int = 750
    """Activations and awaited instances that wait at a time, at most three quarters of `http.max_connections`; awaited
    instances half of it. Beyond it 503.
    """

    requests_per_s: float = 0.0
    """Requests a second of one client to this node, beyond it 429; 0: no limit. Work that ends does not count."""
    request_burst: int = 200
    """Requests of one client at once."""
    tenant_requests_per_s: float = 0.0
    """Requests a second of all clients of one tenant to this node, beyond it 429; 0: no limit."""
    tenant_request_burst: int = 1000
    """Requests of all clients of one tenant at once."""

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
