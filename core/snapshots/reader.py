"""An instance tree in memory from its snapshot.

A document of the right shape may still contradict itself. Whatever the engine relies on is checked first.
"""

from __future__ import annotations

from collections.abc import Callable

from vivero.core.bpmn.model import Process
from vivero.core.snapshots import compensation_entries, references, wait_reader
from vivero.core.snapshots import format as entries
from vivero.core.snapshots.codec import InvalidSnapshot
from vivero.core.snapshots.format import Snapshot, key_of, text
from vivero.core.state.ad_hoc import AdHocState
from vivero.core.state.catalogue import Definition
from vivero.core.state.instance_tree import (
    Element,
    ElementState,
    Instance,
    InstanceTree,
    LoopItem,
    LoopState,
    Variable,
    still_to_come,
)
from vivero.core.state.message_channels import ChannelSubscription, Message, MessageChannel
from vivero.core.state.state import State
from vivero.core.state.subtrees import weight_of

FindModel = Callable[[Definition], Process | None]

_STATES = {state.value: state for state in ElementState}
_LIVE = {"ACTIVATING", "ACTIVATED", "COMPLETING", "TERMINATING"}


def add_tree(state: State, snapshot: Snapshot, find_model: FindModel) -> InstanceTree:
    """Add the tree of a snapshot to a state that does not have it. Its definitions must be in the catalogue.

    Raises:
        InvalidSnapshot: the document contradicts itself or a model.
    """
    references.check(snapshot)
    tree: InstanceTree | None = None
    for number, entry in enumerate(snapshot.elements):
        place = f"elements[{number}]"
        tree = _add_element(state, entry, place, snapshot, find_model)
    assert tree is not None, "a snapshot has elements: it was checked"
    _add_variables(state, snapshot)
    wait_reader.add(state, snapshot)
    compensation_entries.add_registrations(state, snapshot)
    _count(state, snapshot, tree)
    return tree


def _add_element(
    state: State, entry: entries.ElementEntry, place: str, snapshot: Snapshot, find_model: FindModel
) -> InstanceTree:
    if entry.state not in _LIVE:
        raise InvalidSnapshot(f"{place}.state: '{entry.state}' is not a state of a live element")
    scope = None if entry.scope_key is None else state.elements[int(entry.scope_key)]
    if entry.process is not None:
        element: Element = _instance(state, entry, entry.process, scope, place, snapshot)
    else:
        if scope is None:
            raise InvalidSnapshot(f"{place}.process: the root is a process instance")
        element = _plain_element(entry, scope)
    _find_node(state, element, place, find_model)
    _set_progress(element, entry, place)
    state.elements[element.key] = element
    if scope is not None:
        scope.children[element.key] = element
        scope.live += 1
    return element.tree


def _instance(
    state: State,
    entry: entries.ElementEntry,
    process: entries.ProcessEntry,
    caller: Element | None,
    place: str,
    snapshot: Snapshot,
) -> Instance:
    definition = state.catalogue.definitions.get(int(process.definition_key))
    if definition is None or all(one.key != process.definition_key for one in snapshot.definitions):
        raise InvalidSnapshot(f"{place}.process.definitionKey: no definition has the key {process.definition_key}")
    key, start = int(entry.key), process.start
    instance = Instance(
        key,
        definition.process_id,
        "PROCESS",
        _STATES[entry.state],
        None,  # type: ignore[arg-type]  # set below
        None,  # type: ignore[arg-type]
        caller,
        (key,),
        entry.started_at,
        definition_key=definition.key,
        process_id=definition.process_id,
        version_number=definition.version,
        version_tag=definition.version_tag,
        name=definition.name,
        tenant=snapshot.tenant_id,
        business_id=process.business_id,
        tags=process.tags,
        depth=1 if caller is None else caller.instance.depth + 1,
        created_position=process.created_position,
        parent_instance=None if caller is None else caller.instance.key,
        start=None if start is None else (start.element_id, _texts(start.variables)),
        start_lock=process.start_lock,
        terminate_after=process.terminate_after,
        suspended_at=process.suspended_at,
        suspended_reason=process.suspended_reason,
        suspended_work=process.suspended_work,
        due_at=process.due_at,
    )
    instance.instance = instance
    if caller is None:
        state.trees[key] = InstanceTree(key, instance, work=process.work, revision=snapshot.version)
    instance.tree = state.trees[key] if caller is None else caller.tree
    return instance


def _plain_element(entry: entries.ElementEntry, scope: Element) -> Element:
    return Element(
        int(entry.key),
        entry.element_id,
        entry.type,
        _STATES[entry.state],
        scope.tree,
        scope.instance,
        scope,
        (int(entry.key), *scope.path),
        entry.started_at,
        index=entry.loop_index,
    )


def _set_progress(element: Element, entry: entries.ElementEntry, place: str) -> None:
    element.label = entry.name
    element.tokens = entry.tokens
    element.then = entry.then
    element.interrupted = entry.interrupted
    element.occurred = None if entry.occurred is None else _texts(entry.occurred)
    element.request = key_of(entry.request)
    element.incident = key_of(entry.incident_key)
    if entry.ad_hoc is not None:
        pending = tuple((one.element_ids, _texts(one.variables)) for one in entry.ad_hoc.pending)
        element.ad_hoc = AdHocState(
            pending,
            entry.ad_hoc.begun,
            entry.ad_hoc.fulfilled,
            secret_places=entry.ad_hoc.secret_places,
            approved=entry.ad_hoc.approved,
        )
    element.registered = entry.registered
    element.occurrences = {target: _texts(kept) for target, kept in entry.occurrences.items()}
    element.awaiting_reset = entry.awaiting_reset
    if entry.compensation is not None:
        compensation_entries.set_place(element, entry.compensation)
    if entry.loop is not None:
        _set_loop(element, entry.loop, f"{place}.loop")


def _set_loop(body: Element, loop: entries.LoopEntry, place: str) -> None:
    size = len(loop.items)
    if not loop.completed + loop.terminated <= loop.next <= size:
        raise InvalidSnapshot(f"{place}.next: of {size} items, {loop.next} cannot have begun")
    if any(not name.isdigit() or int(name) >= loop.next for name in loop.results):
        raise InvalidSnapshot(f"{place}.results: only items that have begun have results")
    body.loop = LoopState(size, loop.next, loop.completed, loop.terminated, collected=loop.collected)
    results = {int(index): text(value) for index, value in loop.results.items()}
    body.items = [LoopItem(index, body, text(item), results.get(index)) for index, item in enumerate(loop.items)]


def _find_node(state: State, element: Element, place: str, find_model: FindModel) -> None:
    definition = state.catalogue.definitions[element.instance.definition_key]
    model = find_model(definition)
    if model is None:
        raise InvalidSnapshot(
            f"{place}: the model of process '{definition.process_id}' with SHA-256 {definition.sha256} is missing"
        )
    if element.element not in model.nodes:
        raise InvalidSnapshot(
            f"{place}.elementId: process '{definition.process_id}' has no element '{element.element}'"
        )
    element.node = model.nodes[element.element]


def _add_variables(state: State, snapshot: Snapshot) -> None:
    for number, entry in enumerate(snapshot.variables):
        scope = state.elements[int(entry.scope_key)]
        if entry.name in scope.variables:
            raise InvalidSnapshot(f"variables[{number}].name: the scope has two variables '{entry.name}'")
        scope.variables[entry.name] = Variable(int(entry.key), scope, entry.name, text(entry.value))


def _count(state: State, snapshot: Snapshot, tree: InstanceTree) -> None:
    """Set the counters that follow from the rows."""
    for entry in snapshot.elements:
        element = state.elements[int(entry.key)]
        tree.rows += 1 + still_to_come(element)
        tree.weight += weight_of(element)
        above: Element | None = element if element.waits.incidents else None
        while above is not None:
            above.incidents += len(element.waits.incidents)
            above = above.scope
    state.weight += tree.weight


def add_channels(state: State, snapshot: Snapshot) -> None:
    """Add the message channels of a tree that is alone in its state: its subscriptions and its buffered messages."""
    for subscription in list(state.subscriptions.values()):
        waits = subscription.state == "CREATED" and not subscription.suspended
        if waits and subscription.correlation_key is not None:
            channel = _channel(state, snapshot.tenant_id, subscription.correlation_key)
            process_id = subscription.element.instance.process_id
            channel.subscriptions[subscription.key] = ChannelSubscription(
                subscription.key,
                channel,
                subscription.name,
                process_id,
                subscription.interrupting,
                business_id=subscription.business_id,
            )
    for entry in snapshot.messages:
        channel = _channel(state, snapshot.tenant_id, entry.correlation_key)
        channel.add_loaded([_message(channel, entry)])


def _channel(state: State, tenant: str, correlation_key: str) -> MessageChannel:
    return state.channels.setdefault((tenant, correlation_key), MessageChannel(tenant, correlation_key))


def _message(channel: MessageChannel, entry: entries.MessageEntry) -> Message:
    return Message(
        int(entry.key),
        channel,
        entry.name,
        entry.message_id,
        entry.deadline,
        _texts(entry.variables),
        entry.given,
        entry.business_id,
    )


def _texts(values: entries.Values) -> dict[str, str]:
    return {name: text(value) for name, value in values.items()}
