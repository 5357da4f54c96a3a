"""The progress of an ad-hoc sub-process: a column of its element."""

from __future__ import annotations

import msgspec


class AdHocState(msgspec.Struct, frozen=True, omit_defaults=True):
    """The progress of an ad-hoc sub-process."""

    pending: tuple[tuple[tuple[str, ...], dict[str, str]], ...] = ()
    """Activations that have yet to begin: elements (ids), and the variables of their inner instance (JSON text)."""
    begun: bool = False
    """Whether an inner instance has begun."""
    fulfilled: bool = False
    """Whether nothing begins any more, because the completion condition was true."""
    secret_places: str | None = None
    """The header of its jobs with the places of secrets; None: it has none."""
    approved: tuple[str, ...] = ()
    """Tools that a person has approved, and that need no further approval."""
