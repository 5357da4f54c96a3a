"""The times between two looks of nodes at each other."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """Times are in seconds."""

    look_s: float = 1.0
    """Interval in which a node that leads all partitions makes a heartbeat and looks at the other nodes."""
    watch_s: float = 0.25
    """Interval in which a node does this that may have to take over."""
    grace_s: float = 1.0
    """A free partition that is meant for another node is claimed after this time."""
