"""Scopes that end early: no element begins in them any more."""

from __future__ import annotations

from vivero.core.state.instance_tree import TERMINATING, Element


class Ending:
    """Tells whether a scope, or one around it, ends early, and caches the answers for one command."""

    __slots__ = ("known",)

    def __init__(self) -> None:
        self.known: dict[int, bool] = {}
        """Scopes by key, and whether they end early."""

    def forget(self) -> None:
        """Clear the cache, because another scope ends early or another command begins."""
        self.known.clear()

    def covers(self, scope: Element | None) -> bool:
        """Whether the scope or one around it ends early.

        Scopes end from the outside in. Elements that begin inside meanwhile might prevent the end for ever.
        """
        if scope is None:
            return False
        if scope.then is not None or scope.state is TERMINATING:
            return True
        return scope.scope is not None and self._covers_around(scope.scope)

    def _covers_around(self, scope: Element | None) -> bool:
        known, walked, ends = self.known, [], False
        while scope is not None:
            ends = known.get(scope.key, False) or scope.then is not None or scope.state is TERMINATING
            if ends or scope.key in known:
                break
            walked.append(scope.key)
            scope = scope.scope
        for key in walked:
            known[key] = ends
        return ends


def ends_its_instance(element: Element) -> bool:
    """Whether the end of this element terminates its instance. For a loop, the body counts, not its inner instances."""
    return element.element in element.instance.terminate_after and not element.is_inner
