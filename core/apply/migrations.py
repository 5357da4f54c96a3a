"""Migration of process instances: other ids and another definition for live rows. Keys and everything else stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from copy import copy
from typing import Any

import msgspec

from vivero.core.apply.elements import count_instances
from vivero.core.records.instances import COMMAND_STAGE
from vivero.core.records.migrations import ChannelSubscriptionMoved, ElementsRenamed, InstanceMigrated
from vivero.core.state import registrations
from vivero.core.state.decision_instances import DecisionInstance
from vivero.core.state.instance_tree import (
    MISSING,
    NO_PAGES,
    NO_WAITS,
    Element,
    Incident,
    Instance,
    Job,
    Subscription,
    UserTask,
)
from vivero.core.state.message_channels import CORRELATING
from vivero.core.state.migrations import Migration, page_of, preceding_pages
from vivero.core.state.rows import Row
from vivero.core.state.state import State
from vivero.core.state.subtrees import of_instance

Ids = Mapping[str, str]
Renames = InstanceMigrated | ElementsRenamed

CHARACTERS_OF_ELEMENT = 200
"""The characters that count as written for an element, with its job or timer. They end the batch of a large migration.
"""


def instance_migrated(state: State, event: InstanceMigrated) -> Migration:
    instance = state.instance(event.key)
    elements = preceding_pages(state, instance) if event.paged else of_instance(instance)
    row = Migration(event.key, instance, instance.definition_key, elements, last=not event.paged)
    if instance.tree in state.dirty and not event.held:
        _keep_ended(state, instance)
    _count(state, row, event.definition_key, event.ids)
    _rename_instance(state, instance, event)
    _rename(state, row, event)
    return row


def elements_renamed(state: State, event: ElementsRenamed) -> Migration:
    """A page of a migration that has renamed the instance itself."""
    instance = state.instance(event.key)
    page = page_of(state, instance, event.after, event.last)
    row = Migration(event.key, instance, event.former, page, last=event.last is None)
    _count(state, row, instance.definition_key, event.ids)
    _rename(state, row, event)
    if event.last is None:
        instance.tree.of_pages = NO_PAGES
    return row


def _rename(state: State, row: Migration, event: Renames) -> None:
    state.add(row)
    state.written += CHARACTERS_OF_ELEMENT * len(row.elements)
    for element in row.elements:
        _rename_element(state, element, event)
        if element.waits is not NO_WAITS:
            _rename_waits(state, element, event, row)


def _keep_ended(state: State, instance: Instance) -> None:
    """Let what has ended in this batch, and is not saved yet, keep the definition by which it ran."""
    former = copy(instance)
    elements: dict[int, Element] = {}
    for row in list(state.dirty):
        if isinstance(row, Element):
            if row.instance is instance and row.ended_at is not None:
                state.edit(row)
                row.instance = former
        elif isinstance(row, _HISTORY) and row in state.fresh and _has_ended(row):
            element = row.element
            if element is not None and element.instance is instance:
                if element.key not in elements:
                    elements[element.key] = copy(element)
                    elements[element.key].instance = former
                state.edit(row)
                row.element = elements[element.key]


_HISTORY = (Job, UserTask, Subscription, Incident, DecisionInstance)


def _has_ended(row: Job | UserTask | Subscription | Incident | DecisionInstance) -> bool:
    if isinstance(row, Incident):
        return row.resolved_at is not None
    return isinstance(row, DecisionInstance) or row.ended_at is not None


def _count(state: State, row: Migration, definition_key: int, ids: Ids) -> None:
    """Count the elements that the database has counted before and after. It counts new rows in their last state."""
    fresh, instance = state.fresh, row.instance
    counted = Counter((one.element, one.type) for one in row.elements if one not in fresh and one is not instance)
    for (id, type), number in counted.items():
        row.left[row.former, id, type] = number
        after = definition_key, ids.get(id, id), type
        row.joined[after] = row.joined.get(after, 0) + number
    if instance not in fresh and instance in row.elements[:1]:
        row.left[row.former, "", instance.type] = row.joined[definition_key, "", instance.type] = 1


def _rename_instance(state: State, instance: Instance, event: InstanceMigrated) -> None:
    state.edit(instance)
    count_instances(state, instance.definition_key, -1)
    count_instances(state, event.definition_key, 1)
    caller, ids = instance.scope, {instance.process_id: event.process_id}
    if caller is not None and event.process_id != instance.process_id:
        state.edit(caller)
        caller.tokens = _renamed_numbers(caller.tokens, ids)
    instance.definition_key, instance.process_id = event.definition_key, event.process_id
    instance.version_number, instance.version_tag, instance.name = event.version, event.version_tag, event.name
    instance.terminate_after = tuple(event.ids.get(id, id) for id in instance.terminate_after)
    if instance.start is not None:
        element, variables = instance.start
        instance.start = event.ids.get(element, element), variables


def _rename_element(state: State, element: Element, event: Renames) -> None:
    ids, id = event.ids, element.element
    after = ids.get(id, id)
    if element.tokens or element.registered or element.occurrences or element.ad_hoc is not None:
        _rename_inside(state, element, ids)
    element.node = MISSING
    if after != id:
        state.rename(element, "element", after)
    if element is not element.instance and element.label != (label := event.labels.get(after)):
        state.rename(element, "label", label)
    if element.compensation is not None and element.compensation.only is not None:
        only = ids.get(element.compensation.only, element.compensation.only)
        state.rename(element, "compensation", msgspec.structs.replace(element.compensation, only=only))


def _rename_inside(state: State, element: Element, ids: Ids) -> None:
    """Rename what a scope has of its elements."""
    state.edit(element)
    if element.registered:
        _rename_registrations(state, element.key, element.registered, ids)
        element.registered = _renamed_numbers(element.registered, ids)
    if not any(isinstance(child, Instance) for child in element.children.values()):  # its tokens have process ids
        element.tokens = _renamed_numbers(element.tokens, ids)
    if element.occurrences:
        before = element.weight_of_occurrences()
        element.occurrences = {ids[id]: kept for id, kept in element.occurrences.items() if id in ids}
        state.add_weight(element.tree, element.weight_of_occurrences() - before)
    if element.ad_hoc is not None and element.ad_hoc.pending:
        pending = tuple((_each(of_one, ids), variables) for of_one, variables in element.ad_hoc.pending)
        element.ad_hoc = msgspec.structs.replace(element.ad_hoc, pending=pending)


def _renamed_numbers(numbers: Mapping[str, int], ids: Ids) -> dict[str, int]:
    """The numbers under other names. Those of names that become one are added."""
    renamed: dict[str, int] = {}
    for name, number in numbers.items():
        now = ids.get(name, name)
        renamed[now] = renamed.get(now, 0) + number
    return renamed


def _each(names: tuple[str, ...], ids: Ids) -> tuple[str, ...]:
    return tuple(ids.get(name, name) for name in names)


def _rename_waits(state: State, element: Element, event: Renames, row: Migration) -> None:
    ids, waits, instance = event.ids, element.waits, row.instance
    before = event.first_key if isinstance(event, ElementsRenamed) else None
    row.jobs += waits.jobs.values()
    row.user_tasks += waits.user_tasks.values()
    if not (waits.timers or waits.subscriptions or waits.incidents):  # a job alone is the common case
        return
    for timer in waits.timers.values():
        if before is not None and timer.key >= before:
            continue
        state.rename(timer, "target", ids.get(timer.target, timer.target))
        state.rename(timer, "definition", instance.definition_key)
        state.rename(timer, "process_id", instance.process_id)
    for subscription in waits.subscriptions.values():
        if before is not None and subscription.key >= before:
            continue
        state.rename(subscription, "target", ids.get(subscription.target, subscription.target))
        interrupting = event.interrupting.get(subscription.target, subscription.interrupting)
        state.rename(subscription, "interrupting", interrupting)
    for incident in waits.incidents.values():
        state.rename(incident, "argument", _renamed_argument(incident.stage, incident.argument, ids))
    row.timers += waits.timers.values()
    row.subscriptions += waits.subscriptions.values()
    row.incidents += waits.incidents.values()


def _renamed_argument(stage: str, argument: Any, ids: Ids) -> Any:
    """The argument of a failed stage: an id, ids, or an id with variables. That of a command has its own names."""
    if stage == COMMAND_STAGE:
        return argument
    if isinstance(argument, str):
        return ids.get(argument, argument)
    if isinstance(argument, list | tuple):
        renamed = [ids.get(one, one) if isinstance(one, str) else one for one in argument]
        return tuple(renamed) if isinstance(argument, tuple) else renamed
    return argument


def _rename_registrations(state: State, scope: int, registered: Mapping[str, int], ids: Ids) -> None:
    """Rename the completed activities of a scope, and those that are registered inside of them.

    The handler has loaded all of them.
    """
    groups = state.registrations.of_scope.get(scope, {})
    for row in [row for name in registered for row in groups.get(name, {}).values()]:
        _rename_registrations(state, row.activity, row.registered, ids)
        state.edit(row)
        state.unlink(groups[row.element], row.key)
        row.element = ids.get(row.element, row.element)
        row.handler = None if row.handler is None else ids.get(row.handler, row.handler)
        row.registered = _renamed_numbers(row.registered, ids)
        registrations.link(state, row)


def channel_subscription_moved(state: State, event: ChannelSubscriptionMoved) -> Row:
    """A message that is on its way, and those that the process has had, are not for the new process again."""
    channel = state.channels.get((event.tenant, event.correlation_key))
    subscription = None if channel is None else channel.subscriptions.get(event.key)
    if channel is None or subscription is None:  # an erasure has taken away its beginning, which only a replay sees
        return Row(event.key)
    if not event.interrupting or subscription.state == CORRELATING:
        for message in channel.messages.values():
            had = subscription.process_id in message.given and event.process_id not in message.given
            if message.name == subscription.name and had:
                state.edit(message)
                message.given = (*message.given, event.process_id)
    state.edit(subscription)
    subscription.process_id, subscription.interrupting = event.process_id, event.interrupting
    return subscription
