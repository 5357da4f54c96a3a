"""Work that was put off, and that a later command goes on with (CORE D5)."""

from __future__ import annotations

from engine.core.tree import Element


def is_deferred(scope: Element, stage: str) -> bool:
    """Whether a later command is to do this stage of the scope."""
    work = scope.root.work
    return bool(work) and any(key == scope.key and one == stage for key, one, _ in work)
