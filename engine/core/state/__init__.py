"""The state of a partition in memory, by aggregate."""
