"""The creators of batch operations: what they may change, at the creation and when each item is sent.

A batch outlives the request and the session of its creator. Therefore the rights are read again: those of a user or
client by its name and mapping rules, those of an API token by its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vivero.api.access.needs import authorise
from vivero.api.callers.caller import Caller, caller
from vivero.api.callers.permissions import Permission, Rights
from vivero.engine.batch_operations.items import NEEDED
from vivero.storage.access import identities
from vivero.storage.postgres.driver import Connection
from vivero.storage.work.batch_operations import CallerBounds, Creator


def needed(type: str) -> tuple[Permission, Permission]:
    """The permissions for each item of a batch: to read it, and to change it."""
    action, reading, resource = NEEDED[type]
    return Permission(resource, reading), Permission(resource, action)


def creator_of(caller: Caller) -> Creator:
    """A batch keeps this of its creator."""
    return Creator(caller.kind, caller.id, tuple(caller.mapping_rules), caller.provider)


def processes(rights: Rights, type: str) -> tuple[str, ...] | None:
    """The processes, or decisions, whose instances a caller may see and change; None: all."""
    found = [ids for each in needed(type) if (ids := rights.ids(each)) is not None]
    return tuple(sorted(frozenset.intersection(*found))) if found else None


def sorted_ids(ids: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if ids is None else tuple(sorted(ids))


def bounds_of(caller: Caller, tenants: Iterable[str] | None, type: str) -> CallerBounds:
    """The rights of a caller with these tenants to see and change. Raises Problem 403 if there are none."""
    for permission in needed(type):
        authorise(caller, permission)
    return CallerBounds(sorted_ids(tenants), processes(caller.rights, type))


class PresentRights:
    """Tells what creators of batches may change now. Without authentication, everything."""

    def __init__(self, *, authentication: bool, multi_tenancy: bool, shared_names: Sequence[str] = ()) -> None:
        self._authentication, self._multi_tenancy = authentication, multi_tenancy
        self._shared_names = shared_names

    async def __call__(self, connection: Connection, creator: Creator, type: str) -> CallerBounds:
        if not self._authentication:
            return CallerBounds()
        found = await _caller(connection, creator, self._shared_names)
        if found is None:
            return CallerBounds((), ())
        return CallerBounds(sorted_ids(found.tenants) if self._multi_tenancy else None, processes(found.rights, type))


async def _caller(connection: Connection, creator: Creator, shared_names: Sequence[str]) -> Caller | None:
    """The creator with its present rights; None if it has none.

    Its token was revoked, it never had a name, or it is a user of the provider whose name a local user has got.
    """
    if creator.kind == "TOKEN":
        tokens = [token for token in await identities.tokens(connection) if token.name == creator.id]
        if not tokens or tokens[0].expired:
            return None
        if await identities.is_taken(connection, tokens[0].owner_provider, tokens[0].owner, shared_names):
            return None
        stored = await identities.rights_of_token(connection, tokens[0].roles, tokens[0].tenants, tokens[0].owner)
        return caller(creator.kind, creator.id, stored)
    if creator.kind == "ANONYMOUS":
        return None
    if creator.kind == "USER" and await identities.is_taken(connection, creator.provider, creator.id, shared_names):
        return None
    rules = [("MAPPING_RULE", rule) for rule in creator.mapping_rules]
    return caller(creator.kind, creator.id, await identities.rights(connection, [(creator.kind, creator.id), *rules]))
