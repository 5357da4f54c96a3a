"""Settings of traces."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TracingSettings:
    """Settings of tracing: where spans go, and how many traces begin here."""

    otlp_endpoint: str | None = None
    """URL of an OpenTelemetry collector that gets traces (OTLP over HTTP, ending with `/v1/traces`). None: nothing is
    traced.
    """
    sample_ratio: float = 0.01
    """Part of the traces that begin here and are sampled, from 0 to 1. A `traceparent` has decided for others."""
    service_name: str = "vivero"
    """`service.name` of all spans."""
    queue_size: int = 8_192
    """Spans that wait for the collector. Further ones are dropped, and counted."""
    flush_s: float = 3.0
    """Wait of a stop for spans that are not yet exported."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.sample_ratio <= 1.0:
            raise ValueError("tracing.sample_ratio must be from 0 to 1")
        if self.queue_size < 512 or self.flush_s < 0:
            raise ValueError("tracing.queue_size must be at least 512, and tracing.flush_s must not be negative")
