"""Models that engines of tests share: each file is parsed once as long as it is kept.

Random tests play a model several times, under other limits or for a comparison, and half of their CPU went into parsing
it again.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache

from vivero.core.bpmn.parser import Parsed
from vivero.core.resources.kinds import read_resources

KEPT = 64
"""The deployments that are kept: a test with parameters plays up to some tens of models for each of them."""
_anew = 0


def read_shared(files: Mapping[str, bytes]) -> list[Parsed]:
    """The same as `read_resources`, with the models of an earlier test."""
    return read_resources(files) if _anew else _read(tuple(files.items()))


@contextmanager
def read_anew() -> Iterator[None]:
    """No model is shared meanwhile: something that reads models may be patched."""
    global _anew
    _anew += 1
    try:
        yield
    finally:
        _anew -= 1


@lru_cache(KEPT)
def _read(files: tuple[tuple[str, bytes], ...]) -> list[Parsed]:
    return read_resources(dict(files))
