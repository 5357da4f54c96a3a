"""The files of a test: models, and files of cases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def find_file(folders: Sequence[Path], path: str | Path) -> Path:
    """A file, by a path that begins at one of the folders. The first one that has it counts."""
    places = [folder / path for folder in folders]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise FileNotFoundError(f"There is no file {path} in {', '.join(map(str, folders))}")
    return found
