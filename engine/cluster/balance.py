"""The node that should lead each partition: evenly, and with as few moves as possible.

Each node computes this by itself, from the same rows, so the result depends on nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence


def assign(owners: Mapping[int, str | None], nodes: Collection[str]) -> dict[int, str]:
    """The node of each partition. `owners` are the present ones; partitions of nodes that are not in `nodes` are free.

    No two nodes differ by more than one partition, and no other assignment with this property moves fewer partitions.
    Without nodes there is no assignment.
    """
    if not nodes:
        return {}
    partitions = sorted(owners)
    held: dict[str, list[int]] = {node: [] for node in sorted(nodes)}
    for partition in partitions:
        if (owner := owners[partition]) in held:
            held[str(owner)].append(partition)
    quotas = _quotas(held, len(partitions))
    assigned = {partition: node for node in held for partition in held[node][: quotas[node]]}
    rest = iter([partition for partition in partitions if partition not in assigned])
    for node in held:
        for _ in range(quotas[node] - len(held[node])):
            assigned[next(rest)] = node
    return assigned


def _quotas(held: Mapping[str, Sequence[int]], partitions: int) -> dict[str, int]:
    """The number of partitions that each node should lead. Those that lead most keep the odd ones."""
    least, odd = divmod(partitions, len(held))
    by_load = sorted(held, key=lambda node: (-len(held[node]), node))
    return {node: least + (place < odd) for place, node in enumerate(by_load)}
