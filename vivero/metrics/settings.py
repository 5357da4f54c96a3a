"""Settings of metrics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MetricsSettings:
    """Settings of metrics: where they are shown, and which figures are read for them."""

    enabled: bool = True
    """Show metrics."""
    host: str = "127.0.0.1"
    """Address of `metrics.port`."""
    port: int | None = None
    """Port for `GET /metrics` alone, without authentication; 0: a free one. None: the API serves it."""
    database_every_s: float = 15.0
    """Interval in which one node reads figures of the whole database; 0: never."""
    otlp_endpoint: str | None = None
    """URL of an OpenTelemetry collector to which metrics are pushed (OTLP over HTTP, ending with `/v1/metrics`)."""
    otlp_every_s: float = 60.0
    """Interval of the pushes."""

    @property
    def has_tasks(self) -> bool:
        """Whether metrics are shown or sent in another way than by the API."""
        return self.port is not None or self.otlp_endpoint is not None

    def __post_init__(self) -> None:
        if self.database_every_s < 0 or self.otlp_every_s <= 0:
            raise ValueError("metrics.database_every_s must not be negative, metrics.otlp_every_s must be positive")
        if self.port is not None and not 0 <= self.port <= 65_535:
            raise ValueError("metrics.port must be from 0 to 65535")
