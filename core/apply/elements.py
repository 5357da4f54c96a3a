"""Lifecycle events of elements and process instances."""

from __future__ import annotations

from functools import partial

import msgspec

from vivero.core.apply.suspensions import end_suspension
from vivero.core.apply.work_items import append_work, remove_suspended, remove_work, take_page, take_work
from vivero.core.records.business_ids import BusinessIdAssigned
from vivero.core.records.instances import (
    DueDateSet,
    ElementActivated,
    ElementActivating,
    ElementCompleted,
    ElementCompleting,
    ElementTerminated,
    ElementTerminating,
    EventDefinitionOccurred,
    EventTriggered,
    InstanceCreated,
    ScopeEmptied,
    ScopeInterrupted,
    ScopeResumed,
    WorkDeferred,
    WorkResumed,
)
from vivero.core.records.modifications import PAGES, ElementRestored, InstanceModified, LoopProgress
from vivero.core.state.catalogue import Usage
from vivero.core.state.instance_tree import (
    ACTIVATED,
    ACTIVATING,
    COMPLETED,
    COMPLETING,
    ELEMENT_WEIGHT,
    INSTANCE_WEIGHT,
    LOOP_TEXT_WEIGHT,
    TERMINATED,
    TERMINATING,
    Element,
    ElementState,
    Instance,
    InstanceTree,
    LoopItem,
    LoopState,
    Part,
    Variable,
    still_to_come,
)
from vivero.core.state.state import State


def instance_created(state: State, event: InstanceCreated) -> Instance:
    caller = None if event.parent is None else state.elements[event.parent]
    instance = Instance(
        event.key,
        event.process_id,
        "PROCESS",
        ACTIVATING,
        None,  # type: ignore[arg-type]  # set below
        None,  # type: ignore[arg-type]
        caller,
        (event.key,),
        state.now,
        definition_key=event.definition_key,
        process_id=event.process_id,
        version_number=event.version,
        version_tag=event.version_tag,
        name=event.name,
        tenant=event.tenant,
        business_id=event.business_id,
        tags=event.tags,
        depth=1 if caller is None else caller.instance.depth + 1,
        created_position=state.position,
        parent_instance=None if caller is None else caller.instance.key,
        start=event.start,
        start_lock=event.start_lock,
        terminate_after=event.terminate_after,
    )
    instance.instance = instance
    if caller is None:
        instance.tree = InstanceTree(event.key, instance, state.context)
        state.add(instance.tree)
        state.trees[event.key] = instance.tree
    else:
        instance.tree = caller.tree
        instance.part = caller.part
        _enter_scope(state, caller, instance)
    state.add(instance)
    state.elements[event.key] = instance
    if caller is not None:
        caller.children[event.key] = instance
    count_instances(state, event.definition_key, 1)
    state.add_size(instance, INSTANCE_WEIGHT, 1)
    return instance


def instance_modified(state: State, event: InstanceModified) -> Element:
    """It is for the history: other events have the effects."""
    instance = state.elements[event.key]
    state.edit(instance)
    return instance


def business_id_assigned(state: State, event: BusinessIdAssigned) -> Instance:
    instance = state.instance(event.key)
    state.edit(instance)
    instance.business_id = event.business_id
    return instance


def due_date_set(state: State, event: DueDateSet) -> Instance:
    instance = state.instance(event.key)
    state.edit(instance)
    instance.due_at = event.due_at
    return instance


def element_activating(state: State, event: ElementActivating) -> Element:
    scope = state.elements[event.scope]
    element = Element(
        event.key,
        event.element,
        event.type,
        ACTIVATING,
        scope.tree,
        scope.instance,
        scope,
        (event.key, *scope.path),
        state.now,
        index=event.index,
        label=event.name,
        occurred=event.occurred,
        part=scope.part,
    )
    if scope.pages is not None:
        element.part = Part(event.key, element)
        state.link(state.parts, event.key, element.part)
    if event.index >= 0 and scope.loop is not None:
        state.edit(scope)
        scope.loop = msgspec.structs.replace(scope.loop, next=event.index + 1)
    _enter_scope(state, scope, element, event.consumed)
    state.add(element)
    state.elements[event.key] = scope.children[event.key] = element
    counted = event.index >= 0 and scope.loop is not None and not scope.loop.paged  # when the loop started
    state.add_size(element, ELEMENT_WEIGHT, 0 if counted else 1)
    return element


def element_restored(state: State, event: ElementRestored) -> Element:
    """Begin an element in the state of a former one. Conditions do not see its variables as changes."""
    scope = state.elements[event.scope]
    element = Element(
        event.key,
        event.element,
        event.type,
        ElementState(event.state),
        scope.tree,
        scope.instance,
        scope,
        (event.key, *scope.path),
        state.now,
        index=event.index,
        label=event.name,
        tokens=event.tokens,
        interrupted=event.interrupted,
        awaiting_reset=event.awaiting_reset,
        occurred=event.occurred,
        occurrences=event.occurrences,
    )
    _enter_scope(state, scope, element)
    if event.counted and scope.loop is not None:
        scope.loop = msgspec.structs.replace(scope.loop, terminated=scope.loop.terminated - 1)
    state.add(element)
    state.elements[event.key] = scope.children[event.key] = element
    if event.loop is not None:
        _restore_loop(state, element, event.loop)
    weight = ELEMENT_WEIGHT + element.weight_of_occurrences()
    for key, name, value in event.variables:
        variable = Variable(key, element, name, value)
        state.add(variable)
        element.variables[name] = variable
        state.written += len(value)
        weight += variable.weight()
    state.add_size(element, weight, 1 + still_to_come(element))
    return element


def _restore_loop(state: State, body: Element, progress: LoopProgress) -> None:
    next, completed, terminated, collected, items = msgspec.structs.astuple(progress)
    body.loop = LoopState(len(items), next, completed, terminated, collected=collected)
    body.items = [LoopItem(index, body, item, result) for index, (item, result) in enumerate(items)]
    for item in body.items:
        state.add(item)
        state.written += len(item.item) + len(item.result or "")


def element_activated(state: State, event: ElementActivated) -> Element:
    element = state.elements[event.key]
    if element not in state.images:
        state.edit(element)
    element.state = ACTIVATED
    if element.index >= 0:
        _drop_item(state, element)
    return element


def _drop_item(state: State, inner: Element) -> None:
    """Drop the item of a paged loop: the inner instance has it as a variable now, if it has an input element."""
    pages = None if inner.scope is None else inner.scope.pages
    if pages is not None and inner.index in pages.items:
        state.add_weight(inner.tree, -LOOP_TEXT_WEIGHT - len(pages.items[inner.index]))
        state.unlink(pages.items, inner.index)


def element_completing(state: State, event: ElementCompleting) -> Element:
    element = state.elements[event.key]
    if element not in state.images:
        state.edit(element)
    element.state = COMPLETING
    return element


def element_terminating(state: State, event: ElementTerminating) -> Element:
    element = state.elements[event.key]
    state.edit(element)
    element.state = TERMINATING
    element.then = event.then
    element.request = event.request
    if isinstance(element, Instance) and element.suspended_at is not None:
        end_suspension(state, element)
    return element


def element_completed(state: State, event: ElementCompleted) -> Element:
    element = _end(state, event.key, COMPLETED, event.flows)
    element.flows = event.flows
    scope = element.scope
    if scope is not None and scope.loop is not None and element.is_inner:
        scope.loop = msgspec.structs.replace(scope.loop, completed=scope.loop.completed + 1)
    return element


def element_terminated(state: State, event: ElementTerminated) -> Element:
    element = _end(state, event.key, TERMINATED)
    scope = element.scope
    if scope is not None and scope.loop is not None and element.is_inner:
        scope.loop = msgspec.structs.replace(scope.loop, terminated=scope.loop.terminated + 1)
    return element


def scope_interrupted(state: State, event: ScopeInterrupted) -> Element:
    """Remove the tokens on flows. The tokens of live children go when the children end."""
    scope = state.elements[event.scope]
    state.edit(scope)
    scope.then = event.then
    scope.awaiting_reset = {}
    _drop_arrivals(state, scope.tree)
    remove_suspended(state, scope.instance, partial(_is_lost_arrival, state))
    if scope.pages is None:  # a loop body has no flows, and not all children of a paged one are loaded
        scope.tokens = new_marking({}, (), tuple(child.element for child in scope.children.values()))
    return scope


def _drop_arrivals(state: State, tree: InstanceTree) -> None:
    """Remove deferred tokens that are on their way in interrupted scopes."""
    if remove_work(state, tree, partial(_is_lost_arrival, state)):
        _forget_loaded_work(tree)


def _is_lost_arrival(state: State, key: int, stage: str) -> bool:
    scope = state.elements.get(key)
    return stage in ("arrive", "enter") and scope is not None and scope.then is not None


def scope_emptied(state: State, event: ScopeEmptied) -> Element:
    scope = state.elements[event.scope]
    state.edit(scope)
    scope.then = None
    scope.interrupted = True
    return scope


def scope_resumed(state: State, event: ScopeResumed) -> Element:
    scope = state.elements[event.scope]
    state.edit(scope)
    scope.then = None
    return scope


def event_triggered(state: State, event: EventTriggered) -> Element:
    """Drop what was kept of the event. Besides, it is for the history: other events have the effects."""
    element = state.elements[event.element]
    if event.target in element.occurrences:
        _keep(state, element, {target: kept for target, kept in element.occurrences.items() if target != event.target})
    return element


def event_definition_occurred(state: State, event: EventDefinitionOccurred) -> Element:
    element = state.elements[event.element]
    kept = {**element.occurrences.get(event.target, {}), **event.variables}
    _keep(state, element, {**element.occurrences, event.target: kept})
    state.written += sum(map(len, event.variables.values()))
    return element


def _keep(state: State, element: Element, occurrences: dict[str, dict[str, str]]) -> None:
    state.edit(element)
    before = element.weight_of_occurrences()
    element.occurrences = occurrences
    state.add_weight(element.tree, element.weight_of_occurrences() - before)


def work_deferred(state: State, event: WorkDeferred) -> InstanceTree:
    tree = state.trees[event.root]
    append_work(state, tree, event.items)
    _drop_arrivals(state, tree)
    return tree


def work_resumed(state: State, event: WorkResumed) -> InstanceTree:
    tree = state.trees[event.root]
    if event.items and event.items[0][1] in PAGES:
        take_page(state, tree, *event.items[0][:2])
    else:
        take_work(state, tree, len(event.items))
    _forget_loaded_work(tree)
    return tree


def _forget_loaded_work(tree: InstanceTree) -> None:
    """Whether the parts of the items that are now the last ones were loaded is unknown."""
    tree.loaded_work = 0 if tree.work and tree.loaded_work is not None else None


def new_marking(tokens: dict[str, int], taken: tuple[str, ...], put: tuple[str, ...]) -> dict[str, int]:
    """A new marking with one token fewer on each of `taken` and one more on each of `put`."""
    tokens = tokens.copy()
    for place in taken:
        if tokens[place] > 1:
            tokens[place] -= 1
        else:
            del tokens[place]
    for place in put:
        tokens[place] = tokens.get(place, 0) + 1
    return tokens


def _enter_scope(state: State, scope: Element, child: Element, consumed: tuple[str, ...] = ()) -> None:
    if scope not in state.images:
        state.edit(scope)
    scope.tokens = new_marking(scope.tokens, consumed, (child.element,))
    scope.live += 1


def _end(state: State, key: int, to: ElementState, flows: tuple[str, ...] = ()) -> Element:
    element = state.elements[key]
    if element not in state.images:
        state.edit(element)
    element.state = to
    element.ended_at = state.now
    state.removed.append(element)
    del state.elements[key]
    scope = element.scope
    if scope is not None:
        if scope not in state.images:  # thousands of elements of a scope may end at once
            state.edit(scope)
        put = flows if scope.then is None else ()  # an interrupted scope takes no more tokens
        scope.tokens = new_marking(scope.tokens, (element.element,), put)
        scope.live -= 1
        del scope.children[key]
    if element.occurrences:
        _keep(state, element, {})
    weight = ELEMENT_WEIGHT
    if type(element) is Instance:
        count_instances(state, element.definition_key, -1)
        if element.parent_instance is None:
            del state.trees[key]
            state.add_weight(element.tree, -element.tree.weight)
            return element
        weight = INSTANCE_WEIGHT
    if element.part is not None:
        _end_part(state, element)
    if element.pages is not None:
        state.unlink(state.paged, key)
        weight += element.pages.weight()
    if element.variables:
        for variable in element.variables.values():
            weight += variable.weight()
    state.add_size(element, -weight, -1 if element.loop is None else -1 - still_to_come(element))
    return element


def _end_part(state: State, element: Element) -> None:
    part = element.part
    assert part is not None, "only elements of parts get here"
    if part.head is element:
        state.unlink(state.parts, part.key)
        state.link(state.ended_parts, part.key, part)


def count_instances(state: State, definition_key: int, by: int) -> None:
    """Change the number of running instances of a definition."""
    usage = state.catalogue.usage.get(definition_key)
    if usage is None:
        usage = Usage(definition_key, by)
        state.link(state.catalogue.usage, definition_key, usage)
        state.add(usage)
    else:
        state.edit(usage)
        usage.running += by
