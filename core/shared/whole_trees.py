"""Operations on a whole instance: all that is alive in it is in memory, or the operation is refused.

Inner instances of a paged loop may be in the database alone. An operation that looks for elements would miss them.
"""

from __future__ import annotations

from vivero.core.needs import Need, NeedKind, NotLoaded
from vivero.core.records.effects import Reject, RejectionCode
from vivero.core.state.instance_tree import Element, Instance
from vivero.core.state.state import State
from vivero.core.view import View


def require_whole(instance: Instance, doing: str, view: View) -> None:
    """Check that all live elements of the instance are in memory, with those of the instances that it calls.

    `doing`: the begin of the message, as in "Expected to modify process instance with key '1'".

    Raises:
        NotLoaded: load them, and run the command again.
        Reject: they are more than `TreeRules.max_whole_rows`.
    """
    tree, most = instance.tree, view.tree_rules.max_whole_rows
    if not tree.in_parts and tree.rows <= most:  # the common case is cheap
        return
    rows = tree.rows + tree.in_parts
    if rows > most:
        raise Reject(
            RejectionCode.INVALID_STATE,
            f"{doing}, but its instance tree has {rows} live elements, and at most {most} are allowed",
        )
    if any(lacks_children(body) for body in paged_bodies(instance, view.state)):
        raise NotLoaded(Need(NeedKind.WHOLE, instance.key))


def paged_bodies(instance: Element, state: State) -> list[Element]:
    """The bodies of paged loops below the instance that are in memory."""
    return [body for body in state.paged.values() if body.tree is instance.tree and _is_below(body, instance)]


def lacks_children(body: Element) -> bool:
    """Whether live children of the body are not in memory."""
    return len(body.children) < body.live


def _is_below(body: Element, instance: Element) -> bool:
    around: Element | None = body
    while around is not None and around is not instance:
        around = around.scope
    return around is instance
