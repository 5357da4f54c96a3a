"""The lines of the archive's files: one tree each, a JSON object (docs/operations/archive.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from vivero.engine.retention.archive.stores import Damaged, Writer
from vivero.storage.postgres.driver import Connection
from vivero.storage.retention import archives
from vivero.storage.retention.archives import ArchiveProblem, Tree

FORMAT = 1
_HEAD = re.compile(rb'\{"format":(\d+),"rootKey":"(\d+)",')
_LONGEST_HEAD = 100


def sift(contents: Iterable[bytes], keep: Callable[[int], bool]) -> Iterator[bytes]:
    """The lines of those trees that are to be kept, in parts: a line may be larger than the memory."""
    head, keeping = b"", None
    for chunk in contents:
        for chunk_line in chunk.splitlines(keepends=True):
            part = chunk_line
            if keeping is None:
                head += chunk_line
                if not (found := _HEAD.match(head)):
                    if len(head) > _LONGEST_HEAD:
                        raise Damaged(f"a line of the file is not of an archive: it begins with {head[:40]!r}")
                    continue
                if int(found[1]) > FORMAT:
                    raise ArchiveProblem(f"the archive has format {int(found[1])}, and this program knows {FORMAT}")
                keeping, part, head = keep(int(found[2])), head, b""
            if keeping:
                yield part
            if part.endswith(b"\n"):
                keeping = None


async def write_tree(connection: Connection, writer: Writer, tree: Tree) -> int:
    """Write a tree as one line of JSON: a few fields, then a list for each table, then the events. Its bytes."""
    head = {"format": FORMAT, "rootKey": str(tree.root), "tenantId": tree.tenant, "processId": tree.process_id}
    head |= {"endedAtMs": tree.ended_ms}
    table, size = "", 0

    async def write(data: bytes) -> None:
        nonlocal size
        size += len(data)
        await writer.write(data)

    async def each(rows: Sequence[tuple[str, str]]) -> None:
        nonlocal table
        parts = []
        for kind, text in rows:
            if kind == table:
                parts.append(",")
            else:
                parts.append(f'{"]" if table else ""},"{kind}":[')
                table = kind
            # Line ends in JSON stand between values: clients may have sent them. In texts they are escaped.
            parts.append(text.replace("\n", " ").replace("\r", " "))
        await write("".join(parts).encode())

    await write(msgspec.json.encode(head)[:-1])
    await archives.read(connection, tree, each)
    await write(b"]}\n" if table else b"}\n")
    return size
