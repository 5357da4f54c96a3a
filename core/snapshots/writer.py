"""The snapshot of an instance tree in memory."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any

from vivero.core.snapshots import compensation_entries, wait_entries
from vivero.core.snapshots import format as entries
from vivero.core.snapshots.format import FORMAT, Snapshot, Values, key_text, raw
from vivero.core.state.ad_hoc import AdHocState
from vivero.core.state.catalogue import Catalogue, Definition
from vivero.core.state.instance_tree import (
    Element,
    Instance,
    LoopPages,
    LoopState,
    Variable,
)
from vivero.core.state.loop_rows import texts_of
from vivero.core.state.message_channels import Message, MessageChannel
from vivero.core.state.registrations import OPEN, Registration
from vivero.core.state.subtrees import descendants

_by_key = attrgetter("key")


ROWS_A_STEP = 500
"""Rows that one step of `snapshot_in_steps` writes: about 5 ms."""


def snapshot_of(root: Instance, catalogue: Catalogue, **more: Any) -> Snapshot:
    """The snapshot of a live tree at once. `more`: as of `snapshot_in_steps`."""
    steps = snapshot_in_steps(root, catalogue, **more)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            snapshot: Snapshot = end.value
            return snapshot


def snapshot_in_steps(
    root: Instance,
    catalogue: Catalogue,
    *,
    version: int,
    at: int,
    next_key: int | None = None,
    channels: Iterable[MessageChannel] = (),
    registrations: Iterable[Registration] = (),
) -> Generator[None, None, Snapshot]:
    """The snapshot of a live tree that is in memory as a whole, with the buffered messages of `channels`.

    It is the value of the generator, which yields after each step, so that others can have a turn.
    `registrations`: the completed activities of the tree that can be compensated.
    `at`: epoch ms. Without `next_key` it follows the largest key of the tree.
    """
    elements = sorted(descendants(root), key=_by_key)
    registrations = sorted(filter(_is_left, registrations), key=_by_key)
    rows = _Rows(elements)
    if next_key is None:
        next_key = max((row.key for row in (*rows, *registrations)), default=root.key) + 1
    tables: dict[str, tuple[Any, ...]] = {}
    for name, entry, of_table in rows.tables():
        made = list[Any]()
        for first in range(0, len(of_table), ROWS_A_STEP):
            made += map(entry, of_table[first : first + ROWS_A_STEP])
            yield
        tables[name] = tuple(made)
    return Snapshot(
        format=FORMAT,
        version=version,
        at=at,
        state="ACTIVE",
        next_key=str(next_key),
        tenant_id=root.tenant,
        definitions=tuple(_definitions(elements, catalogue)),
        **tables,
        messages=tuple(_messages(channels, at)),
        compensations=tuple(map(compensation_entries.registration, registrations)),
    )


def _is_left(row: Registration) -> bool:
    """Whether something may still compensate the activity."""
    return row.state == OPEN and row.instance.ended_at is None


class _Rows:
    """The rows of the elements of a tree, each table in the order of its keys."""

    def __init__(self, elements: list[Element]) -> None:
        self.elements = elements
        self.variables: list[Variable] = _sorted(element.variables for element in elements)
        waits = [element.waits for element in elements]
        self.waits = {table: _sorted(getattr(one, table) for one in waits) for table in wait_entries.TABLES}

    def __iter__(self) -> Iterator[Any]:
        for _, _, rows in self.tables():
            yield from rows

    def tables(self) -> Iterator[tuple[str, Callable[[Any], Any], list[Any]]]:
        """The name of each table in a snapshot, how a row becomes an entry, and the rows."""
        yield "elements", _element, self.elements
        yield "variables", variable_entry, self.variables
        for name, rows in self.waits.items():
            yield name, wait_entries.TABLES[name].entry, rows


def _sorted(tables: Iterable[Mapping[Any, Any]]) -> list[Any]:
    return sorted((row for table in tables for row in table.values()), key=_by_key)


def _definitions(elements: Iterable[Element], catalogue: Catalogue) -> Iterator[entries.DefinitionEntry]:
    keys = {element.definition_key for element in elements if isinstance(element, Instance)}
    return (definition_entry(catalogue.definitions[key]) for key in sorted(keys))


def definition_entry(row: Definition) -> entries.DefinitionEntry:
    return entries.DefinitionEntry(
        key=str(row.key),
        process_id=row.process_id,
        version=row.version,
        sha256=row.sha256,
        resource_name=row.resource,
        name=row.name,
        version_tag=row.version_tag,
    )


def _element(row: Element) -> entries.ElementEntry:
    return entries.ElementEntry(
        key=str(row.key),
        element_id=row.element,
        type=row.type,
        state=str(row.state),
        started_at=row.started_at,
        scope_key=key_text(None if row.scope is None else row.scope.key),
        name=row.label,
        process=_process(row) if isinstance(row, Instance) else None,
        tokens=dict(sorted(row.tokens.items())),
        loop_index=row.index,
        loop=None if row.loop is None or row.ad_hoc is not None else _loop(row, row.loop),
        ad_hoc=None if row.ad_hoc is None else _ad_hoc(row.ad_hoc),
        then=row.then,
        interrupted=row.interrupted,
        occurred=None if row.occurred is None else _values(row.occurred),
        request=key_text(row.request),
        incident_key=key_text(row.incident),
        registered=dict(sorted(row.registered.items())),
        awaiting_reset=dict(sorted(row.awaiting_reset.items())),
        compensation=None if row.compensation is None else compensation_entries.place(row, row.compensation),
        occurrences={target: _values(kept) for target, kept in row.occurrences.items()},
    )


def _process(row: Instance) -> entries.ProcessEntry:
    start = None
    if row.start is not None:
        start = entries.StartEntry(element_id=row.start[0], variables=_values(row.start[1]))
    return entries.ProcessEntry(
        definition_key=str(row.definition_key),
        business_id=row.business_id,
        tags=row.tags,
        created_position=row.created_position,
        start=start,
        start_lock=row.start_lock,
        terminate_after=row.terminate_after,
        work=row.own_tree.work,
        suspended_at=row.suspended_at,
        suspended_reason=row.suspended_reason,
        suspended_work=row.suspended_work,
        due_at=row.due_at,
    )


def _loop(body: Element, loop: LoopState) -> entries.LoopEntry:
    """The items and results of a loop, whether it is paged or not. All of them must be in memory."""
    pages = body.pages
    items = [item.item for item in body.items] if pages is None else _items_of(pages)
    results = {item.key: item.result for item in body.items if item.result is not None}
    if pages is not None:
        results = pages.results
    assert len(items) == loop.size, f"the items of loop {body.key} are not all in memory"
    return entries.LoopEntry(
        items=tuple(map(raw, items)),
        results={str(index): raw(results[index]) for index in sorted(results)},
        next=loop.next,
        completed=loop.completed,
        terminated=loop.terminated,
        collected=loop.collected,
    )


def _ad_hoc(progress: AdHocState) -> entries.AdHocEntry:
    return entries.AdHocEntry(
        pending=tuple(_activation(ids, variables) for ids, variables in progress.pending),
        begun=progress.begun,
        fulfilled=progress.fulfilled,
        approved=progress.approved,
        secret_places=progress.secret_places,
    )


def _activation(ids: tuple[str, ...], variables: Mapping[str, str]) -> entries.ActivationEntry:
    return entries.ActivationEntry(element_ids=ids, variables=_values(variables))


def _items_of(pages: LoopPages) -> list[str]:
    return [item for row in pages.rows for item in texts_of(row)]


def variable_entry(row: Variable) -> entries.VariableEntry:
    return entries.VariableEntry(key=str(row.key), scope_key=str(row.scope.key), name=row.name, value=raw(row.value))


def _messages(channels: Iterable[MessageChannel], at: int) -> Iterator[entries.MessageEntry]:
    found = [message for channel in channels for message in channel.messages.values() if message.deadline > at]
    yield from map(_message, sorted(found, key=_by_key))


def _message(row: Message) -> entries.MessageEntry:
    return entries.MessageEntry(
        key=str(row.key),
        name=row.name,
        correlation_key=row.channel.correlation_key,
        deadline=row.deadline,
        variables=_values(row.variables or {}),
        message_id=row.message_id,
        given=row.given,
        business_id=row.business_id,
    )


def _values(texts: Mapping[str, str]) -> Values:
    return {name: raw(value) for name, value in texts.items()}
