"""Settings of restarts: when a child is restarted, and when the program gives up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SupervisionSettings:
    """Times are in seconds."""

    max_failures: int = 20
    window_s: float = 10.0
    first_delay_s: float = 0.05
    """The delay before the second restart in a row. The first restart is immediate; each further delay is doubled."""
    max_delay_s: float = 1.0
    healthy_after_s: float = 10.0
    """A child that lived this long starts its backoff anew."""
    hang_after_s: float = 1.0
    idle_beat_s: float = 0.25
    stalled_after_s: float = 1.5
    """A child that waits for PostgreSQL this long does not hang, but the program is not healthy."""
    stuck_after_s: float = 5.0
    """The process ends if a cancelled child has not ended after this time."""
    check_every_s: float = 0.1
    max_deaths: int = 10
    """More deaths of processes than this within `deaths_window_s` end the program (`vivero up --processes`)."""
    deaths_window_s: float = 60.0
    blocked_after_s: float = 10.0
    """The process ends when its event loop has been blocked this long (`watchdog`)."""
