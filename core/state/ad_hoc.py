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
    approved: tuple[str, ...] = ()
    """Tools that a person has approved, and that need no further approval."""
