"""The archive of ended trees in the database: what a tree has, and which files have it (docs/operations/archive.md)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime

import msgspec
import trio

from vivero.core.partitions.keys import partition_of
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import Statement, beside

_sql = beside(__file__)

READ_S = 60.0
"""The longest that one part of a tree may take to read."""


Each = Callable[[Sequence[tuple[str, str]]], Awaitable[None]]
"""Takes rows: the table, or `events`, and the row as JSON. Those of a table come one after the other."""


Record = Callable[[Connection, Sequence[int]], Awaitable[None]]
"""Called with the roots that are erased, in the transaction that erases them."""


BeforeDeletion = Callable[[Sequence[int]], Awaitable[Sequence[int]]]
"""Called with the roots of trees before they are deleted; those that may be deleted now.

Raises ArchiveProblem: none of them may, for now.
"""


class ArchiveProblem(Exception):
    """The archive cannot be written or read. The message says why, and what to do."""


class _GivenUp(Exception):
    """Nobody waits for the new file any more: what the transaction did is rolled back."""


class ArchiveFile(msgspec.Struct, frozen=True):
    """A complete file. The roots of its trees lie between the two keys."""

    name: str
    partition: int
    bytes: int
    trees: int
    first_key: int
    last_key: int
    begun_ms: int
    sha256: str


class Contents(msgspec.Struct, frozen=True):
    """The record of a complete file. `waiting`: roots that are not deleted from the tables yet."""

    sha256: str
    bytes: int
    roots: Sequence[int]
    waiting: Sequence[int]


class Waiting(msgspec.Struct, frozen=True):
    """A tree that is in a complete file and not deleted from the tables yet. `bytes`: of the file."""

    root: int
    file: str
    bytes: int


class Erasure(msgspec.Struct, frozen=True):
    """A tree that was erased from the archive."""

    root: int
    file: str
    at_ms: int
    reason: str


class Tree(msgspec.Struct, frozen=True):
    """A tree whose instances have all ended."""

    root: int
    instances: list[int]
    ended_ms: int
    tenant: str
    process_id: str


async def now_ms(connection: Connection) -> int:
    """The engine's time."""
    found: int = (await connection.execute(_sql["now"])).rows[0][0]
    return found


async def begin(connection: Connection, name: str, partition: int) -> None:
    """Note a file that is to be written."""
    await connection.execute(_sql["begin"], (name, partition))


async def mark_comments(connection: Connection, name: str, roots: Sequence[int]) -> None:
    """Note, before they are read, that a file has the comments of these trees."""
    await connection.execute(_sql["mark_comments"], (name, list(roots)))


async def complete(connection: Connection, name: str, contents: Contents) -> bool:
    """Note that a file is durable. False if it was given up meanwhile."""
    roots = contents.roots
    values = (name, contents.sha256, contents.bytes, len(roots), min(roots), max(roots), list(contents.waiting))
    return bool((await connection.execute(_sql["complete"], values)).rows)


async def complete_new(connection: Connection, partition: int, name: str, contents: Contents) -> bool:
    """The same for trees that are still in the tables, and in no other file; False also if they are not, or given up.

    Of two writers of one tree, the second comes too late. Whoever looks for trees to erase waits for this transaction.
    """
    async with connection.transaction():
        await connection.execute(_sql["one_at_a_time"])
        roots = list(contents.waiting)
        if (await connection.execute(_sql["overtaken"], (partition, roots))).rows:
            return False
        return await complete(connection, name, contents)


async def replace(
    connection: Connection,
    old: str,
    new: str,
    contents: Contents | None,
    erased: Sequence[int],
    reason: str,
    record: Record | None = None,
) -> bool:
    """A file takes the place of another one, without the trees that are erased; None: nothing is left of it.

    `record` is called in the same transaction. False if either file was replaced or given up meanwhile: then nothing
    has changed.
    """
    try:
        async with connection.transaction():
            if not (await connection.execute(_sql["remove"], (old,))).rows:
                return False
            await connection.execute(_sql["record_erasure"], (list(erased), old, reason))
            if record is not None:
                await record(connection, erased)
            if contents is not None:
                await connection.execute(_sql["move_comments"], (old, new, list(contents.waiting)))
                if not await complete(connection, new, contents):
                    raise _GivenUp
    except _GivenUp:
        return False
    return True


async def give_up(connection: Connection, name: str) -> None:
    """Nobody completes the file any more."""
    await connection.execute(_sql["give_up"], (name,))


async def orphans(connection: Connection, partition: int) -> list[str]:
    """Files of the partition that are to be deleted."""
    return [name for (name,) in (await connection.execute(_sql["orphans"], (partition,))).rows]


async def forget(connection: Connection, name: str) -> None:
    """The file is deleted."""
    await connection.execute(_sql["forget"], (name,))


async def settle(connection: Connection, partition: int) -> None:
    """Note which archived trees have been deleted from the tables."""
    await connection.execute(_sql["settle"], (partition,))


async def knows_files(connection: Connection) -> bool:
    """Whether any file is complete: the store has been written to."""
    ((knows,),) = (await connection.execute(_sql["knows_files"])).rows
    return bool(knows)


async def waiting(connection: Connection, partition: int, roots: Sequence[int]) -> list[Waiting]:
    """Those of the roots that are in a complete file, each once."""
    return [Waiting(*row) for row in (await connection.execute(_sql["waiting"], (partition, list(roots)))).rows]


async def mark_missing(connection: Connection, name: str) -> None:
    """The store lacks a complete file, or has another one: its trees that are not deleted yet need another file."""
    await connection.execute(_sql["mark_missing"], (name,))


async def let_go(connection: Connection, roots: Sequence[int]) -> None:
    """Note that these trees are deleted without the archive, whatever their files lack: it is off, or not for them."""
    await connection.execute(_sql["let_go"], (sorted(set(map(partition_of, roots))), list(roots)))


async def waiting_of(connection: Connection, name: str) -> list[int]:
    """The roots in the file that are not deleted from the tables yet."""
    rows = (await connection.execute(_sql["waiting_of"], (name,))).rows
    return list(rows[0][0]) if rows else []


async def files(connection: Connection, limit: int) -> list[ArchiveFile]:
    """Complete files, the newest first."""
    return [ArchiveFile(*row) for row in (await connection.execute(_sql["files"], (limit,))).rows]


async def files_behind(connection: Connection, name: str, limit: int) -> list[ArchiveFile]:
    """Complete files behind a name, by name. Has all files that were completed with trees that are deleted by now."""
    async with connection.transaction():
        await connection.execute(_sql["one_at_a_time"])
        return [ArchiveFile(*row) for row in (await connection.execute(_sql["files_behind"], (name, limit))).rows]


async def unknown(connection: Connection, names: Sequence[str]) -> list[str]:
    """Those of the files that are not written down, neither as complete nor as begun or replaced."""
    return [name for (name,) in (await connection.execute(_sql["unknown"], (list(names),))).rows]


async def adopt(connection: Connection, name: str, partition: int, begun: datetime, contents: Contents) -> bool:
    """Note an unknown file of the store as complete. False if it is known meanwhile. Call it in a transaction.

    Raises:
        ArchiveProblem: it has trees that were erased.
    """
    await connection.execute(_sql["one_at_a_time"])
    if erased := (await connection.execute(_sql["erased_again"], (list(contents.roots),))).rows:
        listed = ", ".join(str(root) for (root,) in erased)
        raise ArchiveProblem(f"{name} has trees that were erased ({listed}): it is an old copy. Delete it")
    roots = contents.roots
    values = (name, partition, contents.sha256, contents.bytes, len(roots), min(roots), max(roots), begun)
    return bool((await connection.execute(_sql["adopt"], values)).rows)


async def still_to_be_deleted(connection: Connection) -> list[str]:
    """Files that nobody needs, and that were to be deleted an hour ago."""
    return [name for (name,) in (await connection.execute(_sql["still_to_be_deleted"])).rows]


async def forget_lost(connection: Connection, name: str) -> bool:
    """Forget a complete file that the store no longer has. False if it was forgotten or replaced before."""
    return bool((await connection.execute(_sql["forget_lost"], (name,))).rows)


async def not_archived(connection: Connection, keys: Sequence[int]) -> dict[int, str]:
    """Reasons why instances were not archived: `history.UNKNOWN`, `CALLED`, `RUNNING` or `BUSY`."""
    return dict((await connection.execute(_sql["not_archived"], (list(keys),))).rows)


async def files_of(connection: Connection, root: int) -> list[ArchiveFile]:
    """Complete files that may have the tree of this root, the newest first."""
    return [ArchiveFile(*row) for row in (await connection.execute(_sql["files_of"], (root,))).rows]


async def erasures(connection: Connection, limit: int) -> list[Erasure]:
    """The records of erasures, the newest first."""
    return [Erasure(*row) for row in (await connection.execute(_sql["erasures"], (limit,))).rows]


async def tree(connection: Connection, root: int) -> Tree | None:
    """The tree of a root; None if it is not there, or something in it has not ended."""
    deadline = trio.current_time() + READ_S
    instances, running, *more = (await connection.execute(_sql["tree"], (root,), deadline=deadline)).rows[0]
    return None if not instances or running else Tree(root, list(instances), *more)


@asynccontextmanager
async def reading(connection: Connection) -> AsyncGenerator[None]:
    """A moment in which trees are read. However long that takes, each of its calls has a deadline of its own."""
    async with connection.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY"):
        yield


async def read(connection: Connection, tree: Tree, each: Each) -> None:
    """Calls `each` with parts of a tree, within `reading`: all rows, then all of its events in the order of the log."""
    await _read_through(connection, _sql["open_rows"], tree.instances, each)
    await _read_through(connection, _sql["open_events"], tree.root, each)


async def _read_through(connection: Connection, cursor: Statement, of: list[int] | int, each: Each) -> None:
    await connection.execute(cursor, (of,), deadline=trio.current_time() + READ_S)
    while found := (await connection.execute(_sql["fetch"], deadline=trio.current_time() + READ_S)).rows:
        await each(found)
    await connection.execute(_sql["close"])
