"""Settings of connectors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vivero.engine.connectors.http.addresses import AddressPolicy
from vivero.engine.jobs.durations import seconds

SECRET_PREFIX = "VIVERO_SECRET_"


@dataclass(frozen=True, slots=True)
class ConnectorSettings:
    """The connectors that the program works, and their limits. Durations are ISO 8601."""

    enabled: bool = False
    """Nodes with the role `jobs` work the jobs of connectors, and the API answers webhooks."""
    allowed_targets: str = ""
    """Networks, addresses and hosts, separated by commas, that connectors may call although they are not public."""
    plain_logins: str = ""
    """Networks, addresses and hosts, as above, that may get passwords without TLS. This machine may always."""
    secret_prefix: str = SECRET_PREFIX
    """The secret NAME is the variable of the environment with this prefix and NAME."""
    secrets_file: Path | None = None
    """TOML file of secrets, `NAME = "value"`. It precedes the environment."""
    max_concurrent: int = 50
    """Calls of one connector that a node makes at once, with as many connections."""
    max_response_bytes: int = 1024 * 1024
    """A response, unpacked, or the keys of a webhook's tokens. Beyond it the job gets an incident."""
    max_redirects: int = 5
    """Redirects of one call; beyond it the call fails."""
    max_call: str = "PT1M"
    """Time of a whole call, with its redirects and its token; then it fails."""
    poll_interval: str = "PT1S"
    """Interval in which a node looks for jobs without a notification."""
    drain: str = "PT5S"
    """Wait of a stop for calls. Jobs of calls that do not end are handed back."""
    inbound_requests_per_s: float = 100.0
    """Calls a second of one webhook from one address that a node serves; beyond it 429."""
    inbound_burst: int = 200
    """Calls of one webhook from one address at once; beyond it 429."""

    def __post_init__(self) -> None:
        if not self.secret_prefix:
            raise ValueError("secret_prefix must not be empty: models could read every variable of the environment")
        if self.inbound_requests_per_s <= 0:
            raise ValueError("inbound_requests_per_s must be greater than 0")
        for name in ("max_concurrent", "max_response_bytes", "inbound_burst"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
        if self.max_redirects < 0:
            raise ValueError("max_redirects must not be negative")
        if self.max_call_s <= 0 or self.poll_s <= 0:
            raise ValueError("max_call and poll_interval must be longer than zero")
        _ = self.drain_s, self.addresses, self.plain_login_targets

    @property
    def max_call_s(self) -> float:
        return seconds(self.max_call)

    @property
    def poll_s(self) -> float:
        return seconds(self.poll_interval)

    @property
    def drain_s(self) -> float:
        return seconds(self.drain)

    @property
    def addresses(self) -> AddressPolicy:
        """The addresses that connectors may call. Raises ValueError."""
        return AddressPolicy.parse(self.allowed_targets)

    @property
    def plain_login_targets(self) -> AddressPolicy:
        """The addresses that may get passwords without TLS. Raises ValueError."""
        return AddressPolicy.parse(self.plain_logins)
