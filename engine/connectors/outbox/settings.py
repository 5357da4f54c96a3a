"""Settings of the outbox webhook."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from vivero.core.texts.fields import listed
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.jobs.definitions import Events
from vivero.engine.jobs.durations import seconds
from vivero.engine.jobs.retries import RetrySettings

MAX_ANSWER_BYTES = 64 * 1024

TYPE = "vivero-outbox"
"""The type of the job."""


@dataclass(frozen=True, slots=True)
class OutboxSettings:
    """The delivery of events. Durations are ISO 8601."""

    url: str = ""
    """URL that gets the events; empty: none."""
    events: str = ""
    """Names of the events, separated by commas."""
    alerts: bool = False
    """Deliver the notices of those alert rules, too, that ask for it."""
    secret: str | None = None
    """Key of the signatures. None: deliveries are not signed."""
    from_start: bool = False
    """Begin with the oldest event that is kept, instead of with the next one."""
    max_concurrent: int = 10
    """Deliveries of one partition at once, each of another instance."""
    max_waiting: int = 100_000
    """Events of one partition that wait to be delivered. Beyond it no more are taken from the log."""
    timeout: str = "PT10S"
    """Time of one delivery."""
    max_attempts: int = 12
    """Attempts before an event is a dead letter."""
    initial_interval: str = "PT1S"
    """Pause after the first failed attempt."""
    max_interval: str = "PT10M"
    """Longest pause between attempts."""
    multiplier: float = 2.0
    """Factor by which each pause is longer than the one before."""

    def __post_init__(self) -> None:
        if not self.url:
            return
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
            raise ValueError("url must be an http or https URL without credentials")
        if not self.types and not self.alerts:
            raise ValueError("events must name the events that are delivered, unless alerts is on")
        if min(self.max_attempts, self.max_concurrent, self.max_waiting) < 1:
            raise ValueError("max_attempts, max_concurrent and max_waiting must be at least 1")
        _ = self.types and self.follows, self.retry, self.client

    @property
    def types(self) -> frozenset[str]:
        return frozenset(listed(self.events))

    @property
    def follows(self) -> Events:
        """The events to follow. Raises ValueError for an unknown name."""
        return Events(self.types, not self.from_start)

    @property
    def retry(self) -> RetrySettings:
        intervals = seconds(self.initial_interval), seconds(self.max_interval)
        return RetrySettings(self.max_attempts, *intervals, self.multiplier)

    @property
    def client(self) -> ConnectorSettings:
        """The settings of the HTTP client. The operator chose the host, so it may be a private one."""
        return ConnectorSettings(
            allowed_targets=urlsplit(self.url).hostname or "",
            max_concurrent=self.max_concurrent,
            max_response_bytes=MAX_ANSWER_BYTES,
            max_redirects=0,
            max_call=self.timeout,
        )
