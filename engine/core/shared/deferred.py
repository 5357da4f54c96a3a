"""Work that was put off, and that a later command goes on with (CORE D5)."""

from __future__ import annotations

from engine.core.tree import Element


def is_deferred(scope: Element, *stages: str) -> bool:
    """Whether a later command is to do one of these stages of the scope."""
    work = scope.root.work
    return bool(work) and any(key == scope.key and one in stages for key, one, _ in work)
