"""Settings of restarts: when a child is restarted, and when the program gives up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SupervisionSettings:
    """Times are in seconds."""

    max_failures: int = 20
    """More failures than this within `supervision.window_s` end the program with exit code 70."""
    window_s: float = 10.0
    """See `supervision.max_failures`."""
    first_delay_s: float = 0.05
    """Delay before the second restart in a row; the first one is immediate. It doubles with each further one."""
    max_delay_s: float = 1.0
    """Longest delay."""
    healthy_after_s: float = 10.0
    """A child that has lived this long starts with the first delay again."""
    hang_after_s: float = 1.0
    """A child that does not beat for this long is cancelled and restarted. The next term of a consumer tries the
    commands one by one.
    """
    idle_beat_s: float = 0.25
    """Interval of the beats of an idle child."""
    stalled_after_s: float = 1.5
    """A child that waits for PostgreSQL this long makes health 503."""
    stuck_after_s: float = 5.0
    """The program ends if a cancelled child has not ended after this time."""
    check_every_s: float = 0.125
    """Interval in which beats are checked. In a part of `supervision.idle_beat_s`, idle tasks share these turns."""
    max_deaths: int = 10
    """More deaths of processes than this within `supervision.deaths_window_s` end the program with exit code 70."""
    deaths_window_s: float = 60.0
    """See `supervision.max_deaths`."""
    blocked_after_s: float = 10.0
    """The program ends with exit code 70 when its event loop has been blocked this long."""

    def __post_init__(self) -> None:
        for name in ("idle_beat_s", "check_every_s"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be greater than 0")
