"""Warnings about cluster variables that files name and that do not exist: expressions see null until they do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import structlog

from vivero.api.reading import read
from vivero.api.services import Services
from vivero.storage.postgres.errors import StorageError, describe
from vivero.storage.reads import expression_context

log = structlog.get_logger(__name__)

MOST_NAMED = 200
"""Cluster variables of all files that are looked up."""
_NAMED = re.compile(
    rb"\bcamunda\s*\.\s*vars\s*\.\s*(cluster|tenant|env)\s*\.\s*(?:`([a-zA-Z0-9_~@.+-]+)`|(\w+))", re.ASCII
)


class NamedVariable(NamedTuple):
    """A cluster variable as an expression names it, and the first line that does."""

    resource: str
    scope: str
    name: str
    line: int

    def exists(self, known: frozenset[tuple[str, str]], tenant: str) -> bool:
        """Whether it is one of the known variables, which are pairs of tenant (empty: the cluster) and name."""
        tenants = {"cluster": ("",), "tenant": (tenant,), "env": ("", tenant)}[self.scope]
        return any((each, self.name) in known for each in tenants)


async def warnings_of_variables(files: Iterable[tuple[str, bytes]], services: Services, tenant: str) -> list[str]:
    """A warning for each cluster variable that files (name, content) name, and that the tenant does not see.

    Never fails: the deployment is done. If the database cannot be asked, one warning says so.
    """
    named = list(islice((each for name, content in files for each in named_in(name, content)), MOST_NAMED))
    if not named:
        return []
    names = sorted({each.name for each in named})
    try:
        known = await read(services, lambda connection: expression_context.known(connection, tenant, names))
    except StorageError as error:
        log.warning("cluster variables of a deployment were not looked up", error=describe(error))
        return ["the cluster variables that the files name could not be looked up: check that they exist"]
    return [_lacking(each) for each in named if not each.exists(known, tenant)]


def named_in(resource: str, content: bytes) -> Iterator[NamedVariable]:
    """The cluster variables that the expressions of a file name after dots, each once. It reads on as it is asked."""
    seen = set[tuple[bytes, bytes]]()
    line, counted = 1, 0
    for found in _NAMED.finditer(content):
        scope, quoted, plain = found.groups()
        name = quoted or plain
        if (scope, name) not in seen:
            seen.add((scope, name))
            line, counted = line + content.count(b"\n", counted, found.start()), found.start()
            yield NamedVariable(resource, scope.decode(), name.decode(), line)


def _lacking(named: NamedVariable) -> str:
    of = {"cluster": "of the cluster", "tenant": "of the tenant", "env": "of the cluster or the tenant"}[named.scope]
    return (
        f"'{named.resource}' line {named.line}: there is no cluster variable '{named.name}' {of}:"
        f" until it is created, 'camunda.vars.{named.scope}.{named.name}' is null"
    )
