"""The recorded counts of `make budget`: what its two programs share."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path


def parser(program: str, description: str | None) -> argparse.ArgumentParser:
    """The command line of a program, with `--record`."""
    found = argparse.ArgumentParser(prog=f"python -m {program}", description=description)
    found.add_argument("--record", action="store_true", help="write the record anew")
    return found


def write(file: Path, record: Mapping[str, Mapping[str, float]]) -> int:
    """Replace the record. Returns 0, the exit code."""
    file.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return 0


def judge(grown: Sequence[str]) -> int:
    """Print the sentences about counts that have grown. Returns the exit code: 1 if there are some."""
    for sentence in grown:
        print(sentence)
    if grown:
        print("A change that is worth it records the new counts: make budget ARGS=--record")
    return 1 if grown else 0
