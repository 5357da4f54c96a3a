"""Faults in a child on request, to test its recovery (docs/supervision.md)."""

from __future__ import annotations

import trio

from vivero.engine.supervision.children import Life
from vivero.engine.supervision.failures import ChaosError

KINDS = ("raise", "cancel", "hang")


def inflict(life: Life | None, name: str, kind: str) -> bool:
    """Make a child raise, be cancelled or hang. False if it was not running.

    Raises:
        ValueError: there is no such kind.
    """
    if kind not in KINDS:
        raise ValueError(f"the kind of chaos must be one of {', '.join(KINDS)}; {kind!r} is none of them")
    if life is None or life.nursery is None or life.cancelled_at is not None:
        return False
    if kind == "cancel":
        life.cancel()
        return True
    thaw = trio.Event()
    try:
        if kind == "raise":
            life.nursery.start_soon(_raise, name)
        else:
            life.nursery.start_soon(_set_when_cancelled, thaw)
    except RuntimeError:  # the child has just ended, and its nursery accepts no more tasks
        return False
    if kind == "hang":
        life.beat.mute()
        life.thaw = thaw
    return True


async def _raise(name: str) -> None:
    raise ChaosError(f"{name} was made to raise")


async def _set_when_cancelled(event: trio.Event) -> None:
    try:
        await trio.sleep_forever()
    finally:
        event.set()
