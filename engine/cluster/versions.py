"""The versions of the program that may work on one database at the same time.

Two adjacent minor versions do: a cluster is upgraded node by node, one minor version at a time. Each version reads the
rows, events and commands that the version before it writes, and leaves the schema usable for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from vivero.storage.cluster.nodes import Node, Running

_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.|$)")


class IncompatibleVersion(Exception):
    """A running node has a version that cannot work together with this one. The message says what to do."""


class Minor(NamedTuple):
    """The part of a version that decides."""

    major: int
    minor: int

    def is_adjacent(self, other: Minor) -> bool:
        return self.major == other.major and abs(self.minor - other.minor) <= 1


def minor(version: str) -> Minor | None:
    """The minor version; None for a text that is not a version, such as that of a development build."""
    found = _VERSION.match(version)
    return None if found is None else Minor(int(found[1]), int(found[2]))


def check(version: str, nodes: Iterable[Node | Running]) -> None:
    """Check that a program of this version may join these live nodes.

    Raises:
        IncompatibleVersion: it may not.
    """
    own = minor(version)
    for node in nodes:
        other = minor(node.version)
        if own is None or other is None or own.is_adjacent(other):
            continue
        raise IncompatibleVersion(
            f"the node {node.id} at {node.host}:{node.port} runs version {node.version}, and this program is version"
            f" {version}: only adjacent minor versions work together. {_what_to_do(own, other)}"
        )


def _what_to_do(own: Minor, other: Minor) -> str:
    if own < other:
        return f"Start version {other.major}.{other.minor} here"
    if own.major == other.major:
        return f"Upgrade that node to version {own.major}.{own.minor - 1} first, or stop all other nodes"
    return "Stop all other nodes first"
