"""Counts values of JSON before they are read: nothing else runs while objects are made of them, some µs for each."""

from __future__ import annotations

import re

import trio

PART = 64 * 1024
"""Bytes that are counted in a millisecond. Then other work of the program has its turn."""
MOST_VALUES = 20_000
"""Values of JSON in one response."""
_LINE_ENDS = re.compile(rb"[\r\n]+")


class ValueCounter:
    """Counts the values of JSON in parts of a response by the signs before them, which lie outside of texts.

    No text of JSON has a line end, so each line of an event stream begins outside of a text.
    """

    __slots__ = ("_count", "_in_text", "_rest")

    def __init__(self) -> None:
        self._count, self._in_text, self._rest = 0, False, b""

    def add(self, part: bytes) -> int:
        """The values so far."""
        content = self._rest + part
        kept = len(content) - (len(content) - len(content.rstrip(b"\\"))) % 2  # the last sign begins an escape
        content, self._rest = content[:kept], content[kept:]
        for number, line in enumerate(_LINE_ENDS.split(content.replace(b"\\\\", b"").replace(b'\\"', b""))):
            split = line.split(b'"')
            begins = self._in_text and not number
            structure = b"".join(split[begins::2])
            self._count += sum(map(structure.count, (b",", b"[", b"{")))
            self._in_text = bool((len(split) - 1 + begins) % 2)
        return self._count


async def has_too_many_values(body: bytes) -> bool:
    """Whether a body has more values than are read."""
    counter = ValueCounter()
    for begin in range(0, len(body), PART):
        if counter.add(body[begin : begin + PART]) > MOST_VALUES:
            return True
        await trio.lowlevel.checkpoint()
    return False
