"""Sign-ins in the audit log. The API has no operation for them: it is UNKNOWN, and the description names the kind.

Failed ones are recorded together (`api.access.failed_sign_ins`).
"""

from __future__ import annotations

from vivero.storage.access.audit_log import ADMIN, AuditRecord
from vivero.storage.access.sessions import PASSWORD, NewSession, SessionUser


def signed_in(new: NewSession, address: str) -> AuditRecord:
    """The record of a sign-in."""
    return _record(SessionUser(new.username, new.provider), "UNKNOWN", address, f"sign-in, {new.provider}")


def signed_out(user: SessionUser, address: str, everywhere: bool) -> AuditRecord:
    """The record of a sign-out by the user, in one browser or in all."""
    return _record(user, "UNKNOWN", address, "sign-out everywhere" if everywhere else "sign-out")


def password_changed(username: str, address: str) -> AuditRecord:
    """The record of a user's change of the own password."""
    return _record(SessionUser(username, PASSWORD), "UPDATE", address, "change of the own password")


def _record(user: SessionUser, operation: str, address: str, description: str) -> AuditRecord:
    return AuditRecord(
        *("USER", user.username, ADMIN, "USER", operation, user.username),
        address=address or None,
        description=description,
        actor_provider=user.provider,
    )
