"""Files under a new name, for good: their directory must reach the disk, too."""

from __future__ import annotations

import os
from pathlib import Path


def flush_directory(directory: Path) -> None:
    """Write the names in a directory to disk: after a power failure they are there."""
    number = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
