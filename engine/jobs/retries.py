"""The retries of failed executions: exponential backoff up to a maximum, and a maximum number of attempts."""

from __future__ import annotations

from dataclasses import dataclass

MAX_EXPONENT = 1000
"""A larger exponent makes no difference, and would overflow a float."""


@dataclass(frozen=True, slots=True)
class RetrySettings:
    """The number of attempts at a job, and the seconds between two of them."""

    max_attempts: int = 5
    """0: no limit."""
    initial_interval_s: float = 5.0
    max_interval_s: float = 3600.0
    multiplier: float = 2.0

    def __post_init__(self) -> None:
        if self.max_attempts < 0:
            raise ValueError("max_attempts must not be negative")
        if self.initial_interval_s < 0 or self.max_interval_s < self.initial_interval_s:
            raise ValueError("initial_interval must not be negative, nor greater than max_interval")
        if self.multiplier < 1:
            raise ValueError("multiplier must be at least 1")

    def delay_s(self, attempt: int) -> float:
        """The seconds to wait after the attempt with this index (the first has 0) has failed."""
        try:
            interval = self.initial_interval_s * self.multiplier ** min(attempt, MAX_EXPONENT)
        except OverflowError:
            return self.max_interval_s
        return min(interval, self.max_interval_s)

    def is_last(self, attempt: int) -> bool:
        """Whether no attempt follows the one with this index."""
        return 0 < self.max_attempts <= attempt + 1
