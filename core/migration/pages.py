"""The pages of a large migration: its decision, its instances, and the elements of a large one (docs/adr/0088).

An item of deferred work has the progress, and holds the whole tree. Nothing is seen of a migration before all of it is
decided. The last page answers the request.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import msgspec

from vivero.core.migration import catching, checks
from vivero.core.migration.decision import (
    CHANGES_OF_INSTANCE,
    MAPPINGS_PER_CHANGE,
    Decided,
    check,
    elements_per_page,
    is_full,
    problems_of,
    refuse,
    violations_inside,
)
from vivero.core.migration.moves import Move, moves_of
from vivero.core.migration.plan import Plan
from vivero.core.needs import Need, NeedKind, NotLoaded
from vivero.core.records.effects import Effect, Effects, Reject, RejectionCode, Reply
from vivero.core.records.instances import WorkDeferred
from vivero.core.records.migrations import (
    CHECK_PAGE,
    MOVE_PAGE,
    RENAME_PAGE,
    Deciding,
    ElementsRenamed,
    InstanceMigrated,
    Renaming,
)
from vivero.core.records.timers import TimerScheduled
from vivero.core.shared.deferred_work import next_page
from vivero.core.shared.whole_trees import lacks_children, paged_bodies
from vivero.core.state.instance_tree import NO_PAGES, Instance
from vivero.core.state.migrations import last_of_page, page_of, preceding_pages
from vivero.core.view import View

MOST_OF_PAGE = 2
"""A page checks so many times as many waits as a page has elements: the second half of the cost is their opening."""


def follows(stage: str, instance: Instance, rest: Deciding | Renaming) -> WorkDeferred:
    """A page follows. The item holds the whole tree until the last one."""
    return WorkDeferred(instance.tree.key, ((instance.key, stage, msgspec.to_builtins(rest)),))


# ---- the decision


def check_page(instance: Instance, argument: Any, view: View, size: int) -> Effects:
    """Check the next instances or elements, and let the migration begin, or refuse it, after the last ones.

    Raises:
        NotLoaded: elements, models or completed activities are not in memory.
    """
    deciding = _resumed(instance, argument, view)
    try:
        moves = moves_of(deciding.command, instance, view)
        most = MOST_OF_PAGE * min(size, view.tree_rules.migration_page)
        deciding, _, is_done = check(deciding, moves, view, most, is_trial=True)
        if is_done or is_full(deciding):
            refuse(RejectionCode.INVALID_STATE, problems_of(deciding))
    except Reject as refusal:
        instance.tree.of_pages = NO_PAGES  # the tree changes from now on
        yield Reply(to=deciding.request, rejection=refusal.rejection)
        return
    if is_done:
        yield follows(MOVE_PAGE, instance, Deciding(deciding.command, deciding.request))
    else:
        yield follows(CHECK_PAGE, instance, deciding)


def _resumed(instance: Instance, argument: Any, view: View) -> Deciding:
    """The progress, when the whole tree and the targets are in memory."""
    _require_elements(instance, view)
    deciding = msgspec.convert(argument, Deciding)
    command = deciding.command
    for key in (command.definition_key, *(one.definition_key for one in command.called)):
        if view.definition(key) is None:
            raise NotLoaded(Need(NeedKind.DEFINITION, key))
    view.enter(instance.tenant)
    return deciding


def _require_elements(instance: Instance, view: View) -> None:
    """Have the whole tree in memory. It may have paged loops."""
    if any(lacks_children(body) for body in paged_bodies(instance, view.state)):
        raise NotLoaded(Need(NeedKind.WHOLE, instance.key))


# ---- the instances


def move_page(instance: Instance, argument: Any, view: View, size: int) -> Effects:
    """Give the next instances their definitions. The last page of all answers the request."""
    deciding = _resumed(instance, argument, view)
    moves = moves_of(deciding.command, instance, view, is_decided=True)
    is_last = yield from move(deciding, instance, moves, view, min(size, view.tree_rules.migration_page))
    if is_last and next_page(instance.tree) is None:
        yield Reply(to=deciding.request)


def move(
    deciding: Deciding,
    root: Instance,
    moves: Sequence[Move],
    view: View,
    size: int,
    known: Sequence[Decided] = (),
    first_key: int | None = None,
) -> Generator[Effect, None, bool]:
    """Move instances until about `size` elements have their ids. Returns whether no page of this migration follows.

    `known`: the instances that the same command has decided. The waits that it opens have keys from `first_key` on.
    """
    by_key = {one.plan.instance.key: one for one in known}
    left, is_last = size, True
    for one in moves:
        key = one.instance.key
        if key < deciding.instance:
            continue
        if left <= 0:
            yield follows(MOVE_PAGE, root, msgspec.structs.replace(deciding, instance=key))
            return False
        keys_from = view.state.next_key if first_key is None else first_key
        plan, changes = by_key.get(key) or _decided(one, view)
        in_pages = len(plan.elements) > view.tree_rules.migration_page or not changes.is_complete
        migrated = migrated_by(plan, changes, in_pages=in_pages, is_held=True)
        yield migrated
        effects = changes.effects
        if in_pages:
            is_last = False
            later = not (changes.is_complete and _can_open_now(plan, changes))
            if later:
                first = one.plan(view, preceding_pages(view.state, one.instance))
                effects = catching.changes(first, view, is_decided=True).effects
            rest = _rest(migrated, plan, keys_from, deciding.request, max(1, changes.waits) if later else 0)
            yield follows(RENAME_PAGE, plan.instance, rest)
        yield from effects
        elements = 0 if in_pages else len(plan.elements)
        left -= CHANGES_OF_INSTANCE + elements + len(effects) + len(one.mappings) // MAPPINGS_PER_CHANGE
    return is_last


def _decided(one: Move, view: View) -> Decided:
    """An instance of which all has been checked. Its flows get their targets by the checks."""
    plan = one.plan(view)
    wrong = [*checks.violations(plan), *violations_inside(plan, view)]
    assert not wrong, "nothing changes in a held tree"
    most = MOST_OF_PAGE * view.tree_rules.migration_page
    return Decided(plan, catching.changes(plan, view, most, is_decided=True))


def _can_open_now(plan: Plan, changes: catching.Changes) -> bool:
    """Whether no timer that is not renamed yet has the target of one that is opened now."""
    opened = (effect.target for effect in changes.effects if isinstance(effect, TimerScheduled))
    return all(plan.ids.get(target, target) == target for target in opened)


def migrated_by(plan: Plan, changes: catching.Changes, *, in_pages: bool, is_held: bool) -> InstanceMigrated:
    """The event that gives an instance its definition."""
    definition, nodes = plan.definition, plan.target.nodes
    live = dict.fromkeys(plan.ids[same[0].element] for same in plan.kinds)
    return InstanceMigrated(
        plan.instance.key,
        definition.key,
        definition.process_id,
        definition.version,
        definition.version_tag,
        definition.name,
        plan.ids,
        {id: name for id in live if (name := nodes[id].name) is not None},
        changes.interrupting,
        (plan.instance.definition_key, plan.source.id),
        in_pages,
        is_held,
    )


def _rest(event: InstanceMigrated, plan: Plan, first_key: int, request: int | None, waits: int) -> Renaming:
    """The facts that the pages need. Pages that open waits need all mappings."""
    ids = event.ids if waits else {before: after for before, after in event.ids.items() if before != after}
    named = ids, event.labels, event.interrupting
    return Renaming(plan.instance.definition_key, *named, first_key, request, 0, waits, plan.instance.process_id)


# ---- the elements of a large instance


def rename_page(instance: Instance, argument: Any, view: View, size: int) -> Effects:
    """Rename the next page, of at most `size` elements, and close and open their waits. The last page of all instances
    answers the request.

    Raises:
        NotLoaded: elements or models are not in memory.
    """
    _require_elements(instance, view)
    rest = msgspec.convert(argument, Renaming)
    page = min(size, view.tree_rules.migration_page)
    last = last_of_page(instance, rest.after, elements_per_page(rest.waits, page))
    effects = _changes_of_page(instance, rest, last, view) if rest.waits else ()
    named = rest.ids, rest.labels, rest.interrupting
    yield ElementsRenamed(instance.key, rest.former, rest.after, last, *named, rest.first_key)
    if last is not None:
        yield follows(RENAME_PAGE, instance, msgspec.structs.replace(rest, after=last))
    yield from effects
    if last is None and next_page(instance.tree) is None:
        yield Reply(to=rest.request)


def _changes_of_page(instance: Instance, rest: Renaming, last: int | None, view: View) -> Sequence[Effect]:
    """The waits that close and open, before the elements have their ids."""
    source, target = view.model(rest.former), view.model(instance.definition_key)
    definition = view.state.catalogue.definitions[instance.definition_key]
    elements = page_of(view.state, instance, rest.after, last)
    plan = Plan(instance, source, target, definition, rest.ids, elements, rest.former_process, rest.after)
    return catching.changes(plan, view, is_decided=True).effects
