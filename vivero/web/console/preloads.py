"""The files that a page of the console needs beside the index, as a header `Link`.

With it, a browser asks for the chunks of a page at once. Without it, it finds out about them one after the other: each
costs the time of a round trip and of a script that runs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from vivero.web.mount import PREFIX

FILE = "preloads.json"
"""The build writes it: place → files."""


def read(directory: Path) -> Mapping[str, str]:
    """The headers by place. Nothing without the file."""
    path = directory / FILE
    if not path.is_file():
        return {}
    found: Mapping[str, Sequence[str]] = json.loads(path.read_text(encoding="utf-8"))
    return {place: ", ".join(map(_link, names)) for place, names in found.items() if names}


def place_of(path: str) -> str:
    """The first part of the path of a page; with `/*` if the page is below it."""
    first, _, rest = path.partition("/")
    return f"{first}/*" if rest else first


def _link(name: str) -> str:
    kind = "rel=preload; as=style" if name.endswith(".css") else "rel=modulepreload"
    return f"<{PREFIX}/{name}>; {kind}"
