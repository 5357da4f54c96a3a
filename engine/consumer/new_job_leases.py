"""Leases that a batch gives to new jobs: a worker that waits gets a job together with its commit (docs/adr/0091).

A job of such a worker is inserted leased, so no statement has to look for it, and its answer is made from memory. A
batch that is lost loses the leases with the rows.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Protocol

from vivero.core.state.instance_tree import Job

Subject = tuple[str, str]
"""A job type and a tenant."""


class NewLease(NamedTuple):
    """The columns of a lease: whose it is, and its end in epoch ms of the engine's clock."""

    job_key: int
    worker: str
    token: str
    until_ms: int


class NewJobLeases(Protocol):
    """The leases of new jobs of one type, for one worker. No method may wait."""

    @property
    def subject(self) -> Subject: ...

    @property
    def leases(self) -> Sequence[NewLease]: ...

    def committed(self) -> bool:
        """The batch is committed. False if the worker has left and the leases have no worker."""

    def lost(self) -> None:
        """The batch was not committed, or its outcome is unknown."""


NewJobs = Mapping[Subject, Sequence[Job]]
"""The jobs that a batch creates, and that a worker can have, by type and tenant."""


class BatchLeases:
    """The leases of one batch. Each worker is told once how the batch ended."""

    def __init__(self, given: Sequence[NewJobLeases] = ()) -> None:
        self._given = given

    @property
    def columns(self) -> tuple[list[int], list[str], list[str], list[int]]:
        """Keys of jobs, workers, tokens and ends, as the statement that inserts jobs takes them."""
        leases = [lease for given in self._given for lease in given.leases]
        keys, workers, tokens, ends = zip(*leases, strict=True) if leases else [()] * 4
        return list(keys), list(workers), list(tokens), list(ends)

    def left(self, available: Mapping[Subject, int]) -> dict[Subject, int]:
        """Tell each worker, after the commit. Returns the numbers of jobs that are left, by type and tenant."""
        given, self._given = self._given, ()
        left = dict(available)
        for one in given:
            if one.committed():
                left[one.subject] = left.get(one.subject, 0) - len(one.leases)
        return {subject: count for subject, count in left.items() if count > 0}

    @contextmanager
    def lost_without_commit(self) -> Generator[None]:
        """A block around the commit. Workers that were not told of it learn that the batch is lost."""
        try:
            yield
        finally:
            self.lose()

    def lose(self) -> None:
        """Tell the workers that the batch is lost, or its outcome unknown."""
        given, self._given = self._given, ()
        for one in given:
            one.lost()
