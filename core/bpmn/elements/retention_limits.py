"""The time for which ended instances may stay, for settings and for the property of a model (docs/retention.md)."""

NEVER = "never"
"""In place of a duration: they are never deleted."""
SHORTEST_MS = 60_000
"""Clients still ask for the results of what has ended."""
LONGEST_MS = 365_000 * 24 * 3_600_000
"""A longer time makes no difference, and gives dates that PostgreSQL cannot represent."""
