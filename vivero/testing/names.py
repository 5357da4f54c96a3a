"""The names that a test uses: a wrong one fails the test, which would prove nothing otherwise, and gets a proposal."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from vivero.library import Models


def elements_of(models: Models) -> frozenset[str]:
    """The ids of all elements of the models, those of called processes included."""
    processes = (process for of_file in models.resources.values() for process in of_file.values())
    return frozenset(id for process in processes for id in process.nodes)


def proposal(name: str, known: Iterable[str]) -> str:
    """A sentence with the nearest known name, behind a space; nothing if none is near."""
    return "".join(f" Did you mean '{near}'?" for near in get_close_matches(name, sorted(set(known)), 1))
