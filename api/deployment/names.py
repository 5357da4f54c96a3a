"""Names of deployed files. Clients send the path that their user has given (docs/adr/0092)."""

from __future__ import annotations

import re

_SEPARATOR = re.compile(r"[/\\]")
_DRIVES = re.compile(r"(?:[A-Za-z]:)*")
_NOT_A_FILE = ("", ".", "..")


def name_within(path: str) -> str | None:
    """The name under which a file is stored: as it came, or its last part if it leads out of its folder.

    `C:x.bpmn` leads out, too: it is a file in another folder of a Windows client. None if nothing of the path names a
    file.
    """
    without_drive = _DRIVES.sub("", path, count=1)
    folders = _SEPARATOR.split(without_drive)
    if folders[-1] in _NOT_A_FILE:
        return None
    leads_out = without_drive != path or folders[0] == "" or ".." in folders
    return name_within(folders[-1]) if leads_out else path
