"""Names of the tasks and connections that a node has for each partition."""

from __future__ import annotations


def task_name(name: str, partition: int) -> str:
    """The name alone for the first partition, which every database has, and with the partition for the others."""
    return name if partition == 1 else f"{name}-{partition}"
