"""An import from a Camunda 8: all instances that run there, page by page, in constant memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

import trio

from vivero.client.rest import Client, ClientError, Document
from vivero.importing import state
from vivero.importing.calls import get, page, together
from vivero.importing.definitions import Definition, Definitions
from vivero.importing.ledger import COPYING, RESUMING, STAYS, SUSPENDING, Entry, Ledger
from vivero.importing.plan import TAG, Plan, plan
from vivero.importing.steps import Steps, planned

PAGE = 100
"""Instances that are suspended together. Each page waits once until searches show the suspensions."""
MOST_COUNTED = 10_000
"""Searches count no further."""
ROOTS = {"state": "ACTIVE", "parentProcessInstanceKey": {"$exists": False}}
"""Called instances come along with none: a copy of their caller would call again."""


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """The outcome of an instance, real or planned."""

    instance: Document
    outcome: str
    """`comes` in a dry run, `copied`, or `stays`."""
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    elements: tuple[str, ...] = ()
    copy: str | None = None


Tell = Callable[[ImportOutcome], None]
Now = Callable[[], datetime]
"""The time, with which the ends of leases are compared."""


async def check_servers(source: Client, target: Client) -> str:
    """The identity of the source. Raises ClientError if both are one cluster, which would copy its own copies."""
    there, here = [await get(client, "/v2/topology") for client in (source, target)]
    if source.address == target.address or (there.get("clusterId") and there.get("clusterId") == here.get("clusterId")):
        raise ClientError(f"{source.address} and {target.address} are the same cluster")
    return str(there.get("clusterId") or source.address)


async def count(source: Client) -> int:
    """The number of instances, at most 10,000."""
    total: int = (await page(source, "process-instances", ROOTS, limit=1)).total
    return total


async def dry_run(source: Client, target: Client, tell: Tell, now: Now) -> None:
    """Tell what would become of each instance. Nothing changes on either side. Raises ClientError."""
    await check_servers(source, target)
    definitions = Definitions(source, target, deploys=False)
    after = None
    while True:
        found = await page(source, "process-instances", ROOTS, sort="processInstanceKey", limit=PAGE, after=after)
        made_of: dict[str, Plan] = {}
        await together(partial(_note_plan, source, definitions, now, made_of), found.items)
        for instance in found.items:
            made = made_of[instance["processInstanceKey"]]
            tell(ImportOutcome(instance, "stays" if made.reasons else "comes", made.reasons, made.notes, made.elements))
        after = found.after
        if after is None:
            return


async def _note_plan(
    source: Client, definitions: Definitions, now: Now, made_of: dict[str, Plan], instance: Document
) -> None:
    _, made_of[instance["processInstanceKey"]] = await _plan(source, instance, definitions, now())


async def _plan(source: Client, instance: Document, definitions: Definitions, now: datetime) -> tuple[Definition, Plan]:
    definition = await definitions.of(instance)
    if any(tag.startswith(TAG) for tag in instance.get("tags") or ()):
        return definition, Plan(("it is a copy itself",))
    if definition.process is None or definition.reason is not None:
        return definition, Plan((definition.reason or "its model cannot be read",))
    return definition, plan(await state.read(source, instance, definition.process), definition.process, now)


async def run(
    source: Client, target: Client, ledger: Ledger, tell: Tell, now: Now, *, suspends: bool, settle_s: float
) -> None:
    """Copy all instances that can come along, and cancel them in the source. A later run continues an interrupted one.

    `suspends`: instances are suspended in the source first; otherwise the caller says that no worker works there.
    `settle_s`: the time after which searches of the source show everything that came before a suspension.

    Raises ClientError, LedgerProblem: the ledger knows the rest.
    """
    source_id = await check_servers(source, target)
    steps = Steps(source, target, ledger, source_id)
    definitions = Definitions(source, target, deploys=True)
    one = _Import(source, steps, ledger, definitions, tell, now, suspends, settle_s)
    await one.continue_former()
    after = None
    while True:
        found = await page(source, "process-instances", ROOTS, sort="processInstanceKey", limit=PAGE, after=after)
        await one.copy_page(found.items)
        after = found.after
        if after is None:
            return


@dataclass(frozen=True, slots=True)
class _Import:
    source: Client
    steps: Steps
    ledger: Ledger
    definitions: Definitions
    tell: Tell
    now: Now
    suspends: bool
    settle_s: float

    async def continue_former(self) -> None:
        """Take the remaining steps of what an earlier run has begun."""
        await together(self._continue, self.ledger.under_way())

    async def _continue(self, entry: Entry) -> None:
        if entry.step == SUSPENDING:
            await self._continue_suspension(entry)
        elif entry.step == COPYING and not await self._is_unchanged(entry):
            await (self._copy(entry) if entry.suspended else self._continue_suspension(entry))
        else:
            self._report(_known(entry), await self.steps.finish(entry))

    async def _continue_suspension(self, entry: Entry) -> None:
        if not self.suspends and await self.steps.state(entry.key) != "SUSPENDED":
            entry = replace(entry, suspended=False)
        if self.suspends and not entry.suspended:  # the workers, which were stopped, may work again
            entry = Entry(entry.key, SUSPENDING, suspended=True)
            reason = await self._begin(entry)
        else:
            reason = await self.steps.suspend_again(entry.key) if entry.suspended else None
        if reason is not None:
            self._stays(_known(entry), replace(entry, step=STAYS, reason=reason))
            return
        await self._settled([entry.key] if entry.suspended else [])
        await self._copy(entry)

    async def _is_unchanged(self, entry: Entry) -> bool:
        """Whether the plan of an earlier run still holds: it has become a copy, or nothing can have changed since."""
        if await self.steps.find(entry.key) is not None:
            return True
        return entry.suspended and await self.steps.state(entry.key) == "SUSPENDED"

    async def copy_page(self, instances: Sequence[Document]) -> None:
        """Suspend those that can come along, wait until searches show it, and copy them."""
        ready: list[Entry] = []

        async def begin(instance: Document) -> None:
            _, made = await _plan(self.source, instance, self.definitions, self.now())
            entry = Entry(instance["processInstanceKey"], SUSPENDING, self.suspends)
            if made.reasons:
                self.tell(ImportOutcome(instance, "stays", made.reasons))
            elif (reason := await self._begin(entry)) is not None:
                self._stays(instance, replace(entry, step=STAYS, reason=reason))
            else:
                ready.append(entry)

        await together(begin, instances)
        await self._settled([entry.key for entry in ready if entry.suspended])
        for entry in ready[:1]:  # without the right to cancel in the source, the first one ends the run
            await self._copy(entry)
        await together(self._copy, ready[1:])

    async def _begin(self, entry: Entry) -> str | None:
        self.ledger.write(entry)
        return await self.steps.suspend(entry.key) if entry.suspended else None

    async def _settled(self, keys: Sequence[str]) -> None:
        await self.steps.settle(keys)
        if keys:
            await trio.sleep(self.settle_s)

    async def _copy(self, entry: Entry) -> None:
        """Plan again, now that nothing changes any more, and take all further steps."""
        found = (await page(self.source, "process-instances", {"processInstanceKey": entry.key})).items
        if not found:
            self._stays(_known(entry), replace(entry, step=STAYS, reason="it is not there any more"))
            return
        [instance] = found
        definition, made = await _plan(self.source, instance, self.definitions, self.now())
        reason = "; ".join(made.reasons)
        if entry.suspended and instance["state"] != "SUSPENDED":
            reason = f"somebody else has changed it: it is {instance['state']}"
        if reason or definition.here is None:
            entry = replace(entry, step=RESUMING, plan=None, reason=reason or "its definition is not here")
        else:
            entry = replace(entry, step=COPYING, plan=planned(made, instance, definition.here))
        self.ledger.write(entry)
        self._report(instance, await self.steps.finish(entry), made.notes)

    def _stays(self, instance: Document, entry: Entry) -> None:
        self.ledger.write(entry)
        self._report(instance, entry)

    def _report(self, instance: Document, entry: Entry, notes: tuple[str, ...] = ()) -> None:
        if entry.step == STAYS:
            self.tell(ImportOutcome(instance, "stays", (entry.reason or "",)))
        else:
            self.tell(ImportOutcome(instance, "copied", (), notes, copy=entry.copy))


def _known(entry: Entry) -> Document:
    """The entry of an instance in the ledger."""
    return {"processInstanceKey": entry.key}
