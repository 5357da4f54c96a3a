"""The versions of the program that may work on one database at the same time.

Two adjacent minor versions do: a cluster is upgraded node by node, one minor version at a time. Each version reads the
rows, events and commands that the version before it writes, and leaves the schema usable for it. If it cannot, it has a
migration that runs alone: while no node runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from vivero.storage.cluster.nodes import Node, Running
from vivero.storage.schema.migration_files import Migration

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


def check_alone(todo: Iterable[Migration], running: Sequence[Running]) -> None:
    """Check that these migrations may run beside these nodes, all of which know none of them.

    Raises:
        IncompatibleVersion: one of them runs alone.
    """
    alone = next((migration for migration in todo if migration.is_alone), None)
    if alone is not None and running:
        found = ", ".join(f"{node.id} at {node.host}:{node.port} (version {node.version})" for node in running)
        raise IncompatibleVersion(
            f"migration {alone} runs alone, because earlier programs cannot work with what later ones write:"
            f" stop all nodes first, and then start this one. Running: {found}"
        )


def check_schema(schema: int, alone: int) -> None:
    """Check that a program that knows this schema may work on. `alone`: the latest migration that ran alone.

    Raises:
        IncompatibleVersion: it may not.
    """
    if alone > schema:
        raise IncompatibleVersion(
            f"the database has migration {alone:04d}, which ran alone, and this program knows only {schema:04d}: it"
            " cannot work with what later programs write. Start a newer version of the program"
        )


def _what_to_do(own: Minor, other: Minor) -> str:
    if own < other:
        return f"Start version {other.major}.{other.minor} here"
    if own.major == other.major:
        return f"Upgrade that node to version {own.major}.{own.minor - 1} first, or stop all other nodes"
    return "Stop all other nodes first"
