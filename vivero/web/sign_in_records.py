"""Sign-ins in the audit log. The API has no operation for them: it is UNKNOWN, and the description names the kind.

Failed ones are recorded together (`api.access.failed_sign_ins`).
"""

from __future__ import annotations

from vivero.storage.audit_log import ADMIN, AuditRecord
from vivero.storage.sessions import NewSession


def signed_in(new: NewSession, address: str) -> AuditRecord:
    """The record of a sign-in."""
    return _record(new.username, "UNKNOWN", address, f"sign-in, {new.provider}")


def signed_out(username: str, address: str, everywhere: bool) -> AuditRecord:
    """The record of a sign-out by the user, in one browser or in all."""
    return _record(username, "UNKNOWN", address, "sign-out everywhere" if everywhere else "sign-out")


def password_changed(username: str, address: str) -> AuditRecord:
    """The record of a user's change of the own password."""
    return _record(username, "UPDATE", address, "change of the own password")


def _record(username: str, operation: str, address: str, description: str) -> AuditRecord:
    return AuditRecord(
        *("USER", username, ADMIN, "USER", operation, username),
        address=address or None,
        description=description,
    )
