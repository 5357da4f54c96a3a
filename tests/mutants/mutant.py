"""A mutant: see `run.py`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Edit:
    """One change of a file: `old`, which occurs once, becomes `new`."""

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Mutant:
    """A mistake that somebody could make, and the test that must catch it ("file::test")."""

    name: str
    test: str
    edits: tuple[Edit, ...]


def mutant(name: str, test: str, path: str, *changes: tuple[str, str]) -> Mutant:
    """A mutant of one file, of one or more (old, new) pairs."""
    return Mutant(name, test, tuple(Edit(path, old, new) for old, new in changes))
