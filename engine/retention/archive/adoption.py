"""Files that the database does not know, because it was restored to an earlier moment (docs/operations/archive.md)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from vivero.core.partitions.keys import partition_of
from vivero.engine.retention.archive.compression import decompressed
from vivero.engine.retention.archive.lines import sift
from vivero.engine.retention.archive.stores import Damaged, Store
from vivero.storage.retention.archives import ArchiveProblem, Contents

_NAME = re.compile(r"(\d{4}-\d\d-\d\d/\d{6})-p(\d{1,6})-[0-9a-z-]+\.jsonl\.gz")


@dataclass(frozen=True, slots=True)
class Adoptable:
    """An unknown file, read from its beginning to its end. `begun`: as its name says."""

    name: str
    partition: int
    begun: datetime
    contents: Contents


def look_through(store: Store, name: str) -> Adoptable:
    """Read an unknown file; blocks.

    Raises:
        ArchiveProblem: it is not a whole file of an archive; the message says why. Or the store is away.
    """
    partition, begun = _of_name(name)
    digest, size, roots = hashlib.sha256(), 0, list[int]()

    def stored() -> Iterator[bytes]:
        nonlocal size
        for part in store.parts(name):
            digest.update(part)
            size += len(part)
            yield part

    def note(root: int) -> bool:
        roots.append(root)
        return False

    for _ in sift(decompressed(stored(), name), note):
        continue
    if not roots:
        raise Damaged(f"{name} has no trees: delete it")
    if any(partition_of(root) != partition for root in roots):
        raise Damaged(f"{name} has trees of other partitions than its name says: it is not of this archive")
    return Adoptable(name, partition, begun, Contents(digest.hexdigest(), size, roots, ()))


def _of_name(name: str) -> tuple[int, datetime]:
    """The partition, and when the file was begun. Raises ArchiveProblem."""
    if found := _NAME.fullmatch(name):
        try:
            return int(found[2]), datetime.strptime(found[1], "%Y-%m-%d/%H%M%S").replace(tzinfo=UTC)
        except ValueError:
            pass  # such as the 31st of February: told below
    raise ArchiveProblem(f"{name} is not a name of a file of an archive: it is of somebody else")
