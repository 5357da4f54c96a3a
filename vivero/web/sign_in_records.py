"""Sign-ins in the audit log. The API has no operation for them: it is UNKNOWN, and the description names the kind."""

from __future__ import annotations

import structlog

from vivero.storage import audit_log, identities
from vivero.storage.audit_log import ADMIN, FAIL, AuditRecord
from vivero.storage.postgres.errors import StorageError
from vivero.storage.postgres.pool import Pool
from vivero.storage.sessions import NewSession

log = structlog.get_logger(__name__)


def signed_in(new: NewSession, address: str) -> AuditRecord:
    """The record of a sign-in."""
    return _record("USER", new.username, "UNKNOWN", new.username, address, f"sign-in, {new.provider}")


def password_changed(username: str, address: str) -> AuditRecord:
    """The record of a user's change of the own password."""
    return _record("USER", username, "UPDATE", username, address, "change of the own password")


async def add_failure(pool: Pool, username: str, address: str) -> None:
    """Record a wrong user name or password. Of unknown names nothing is stored: people type passwords there."""
    try:
        async with pool.connection() as connection:
            known = await identities.user(connection, username)
            entity = None if known is None else username
            made = _record("ANONYMOUS", "anonymous", "UNKNOWN", entity, address, "failed sign-in")
            await audit_log.add(connection, made, FAIL)
    except StorageError as error:
        log.warning("cannot record a failed sign-in", error=str(error))


def _record(kind: str, actor: str, operation: str, entity: str | None, address: str, description: str) -> AuditRecord:
    return AuditRecord(kind, actor, ADMIN, "USER", operation, entity, address=address or None, description=description)
