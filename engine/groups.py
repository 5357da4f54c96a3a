"""Exception groups of nurseries whose children fail for one reason."""

from __future__ import annotations

import trio


def only_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error that a group is about: its first one that is not the cancellation which the others got from it."""
    errors = leaves(group)
    return next((error for error in errors if not isinstance(error, trio.Cancelled)), group)


def leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    """The exceptions in a group and in the groups in it, in their order."""
    found: list[BaseException] = []
    for error in group.exceptions:
        found += leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
    return found
