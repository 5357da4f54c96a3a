"""Names of deployed files. Clients send the path that their user has given (docs/adr/0092)."""

from __future__ import annotations

import re

_SEPARATOR = re.compile(r"[/\\]")
_ABSOLUTE = re.compile(r"[/\\]|[A-Za-z]:[/\\]")
_NOT_A_FILE = ("", ".", "..")


def name_within(path: str) -> str | None:
    """The name under which a file is stored: as it came, or its last part if it leads out of its folder.

    None if nothing of it names a file.
    """
    folders = _SEPARATOR.split(path)
    if folders[-1] in _NOT_A_FILE:
        return None
    return folders[-1] if _ABSOLUTE.match(path) or ".." in folders else path
