"""The roles of a node: what it does. By default a node has all of them."""

from __future__ import annotations

from enum import StrEnum

from vivero.core.texts.fields import listed


class Role(StrEnum):
    """A part of the work that a node can do."""

    API = "api"
    """Serves the REST API."""
    ENGINE = "engine"
    """Leads partitions: processes commands, fires timers, moves follow-ups to the logs."""
    JOBS = "jobs"
    """Runs background jobs and the chores of the whole database, and makes the calls of connectors."""
    WEB = "web"
    """Serves the console and its sign-in."""


ALL = ",".join(Role)


def parse(text: str) -> frozenset[Role]:
    """The roles in a list such as `api,engine`.

    Raises:
        ValueError: one of them does not exist, or there is none.
    """
    names = listed(text)
    known = ", ".join(Role)
    if not names:
        raise ValueError(f"a node needs at least one role; the roles are {known}")
    for name in names:
        if name not in set(Role):
            raise ValueError(f"'{name}' is not a role; the roles are {known}")
    return frozenset(map(Role, names))
