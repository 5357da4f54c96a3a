"""References to secrets in models: `{{secrets.NAME}}`.

A text with the same signs can come from data. The source of an input mapping is therefore compiled a second time, with
a mark instead of each reference. Its value tells which references the model's author wrote. A mark
begins and ends with NUL, which no variable can contain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

REFERENCE = re.compile(r'\{\{\s*secrets\.([^\s{}"]+)\s*\}\}')
"""No name has a quotation mark: `"{{secrets."+name+"}}"` joins texts."""
_MARK = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000([0-9a-f]+)\\u0000")
"""A mark in JSON text, where NUL is an escape behind an even number of backslashes."""


def named_in(texts: Iterable[str]) -> frozenset[str]:
    """The names of the secrets that texts refer to."""
    return frozenset(name for text in texts for name in REFERENCE.findall(text))


def marked(text: str) -> str:
    """The text with a mark instead of each reference."""
    return REFERENCE.sub(lambda found: f"\0{found[0].encode().hex()}\0", text)


def unmarked(json: str, quoted: Callable[[str], str]) -> tuple[str, list[tuple[int, int]]]:
    """JSON text with references instead of the marks, and where they begin and end. `quoted`: a text as JSON."""
    parts, places, length, end = [], [], 0, 0
    for found in _MARK.finditer(json):
        before = json[end : found.end(1)]
        reference = quoted(bytes.fromhex(found[2]).decode())[1:-1]
        places.append((length + len(before), length + len(before) + len(reference)))
        parts += [before, reference]
        length, end = places[-1][1], found.end()
    return "".join((*parts, json[end:])), places
