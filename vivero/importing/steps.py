"""The steps of one instance, from its suspension in the source to its cancellation there (`ledger`).

An instance is never alive on both sides: it is suspended in the source, or its workers are stopped, before it is
copied; and it is cancelled there after its copy is committed here. Each step may be taken several times.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from hashlib import sha256

import trio

from vivero.client.rest import ApiError, Client, ClientError, Document, path_part
from vivero.importing.calls import NO_RIGHT, PATIENCE_S, found, get, page, patiently, post
from vivero.importing.ledger import ADJUSTING, CANCELLING, COPYING, DONE, ENDS, RESUMING, STAYS, Entry, Ledger
from vivero.importing.plan import TAG, Plan
from vivero.importing.state import MOST

POLL_S = 0.5
SOURCE_DIGITS = 12
"""Characters of a tag that tell sources apart."""
IN_DOUBT = (408, 422, 429)
"""422: the copy of an earlier run, with another plan, is on its way."""
NO_SUSPENSION = (
    "the source cannot suspend process instances (8.10 can): stop its workers, and say so by --workers-stopped"
)


class Steps:
    """The steps of instances from one source."""

    def __init__(self, source: Client, target: Client, ledger: Ledger, source_id: str) -> None:
        self._source, self._target, self._ledger = source, target, ledger
        self._source_id = source_id

    async def suspend(self, key: str) -> str | None:
        """Suspend an instance in the source. The reason why it stays, or None. Raises ClientError."""
        path = f"/v2/process-instances/{path_part(key)}/suspension"
        repeated = False

        async def once() -> None:
            nonlocal repeated
            try:
                await self._source.request("POST", path, {})
            except ClientError:
                again, repeated = repeated, True
                if again and (await self.state(key)) == "SUSPENDED":
                    return  # by an earlier try, whose answer was lost
                raise

        try:
            await patiently(once)
        except ApiError as error:
            if error.status in (404, 405) and await self.state(key) in ("ACTIVE", "SUSPENDED"):
                raise ClientError(NO_SUSPENSION) from error
            if error.status not in (404, 409):
                raise
            return f"it cannot be suspended: {error}"
        return None

    async def suspend_again(self, key: str) -> str | None:
        """Like `suspend`, for an instance that an earlier run may have suspended."""
        return None if await self.state(key) == "SUSPENDED" else await self.suspend(key)

    async def settle(self, keys: Collection[str]) -> None:
        """Wait until searches of the source show the suspensions of these instances. Raises ClientError."""
        until = trio.current_time() + PATIENCE_S
        waiting = set(keys)
        while waiting:
            shown = await page(
                self._source, "process-instances", {"processInstanceKey": {"$in": sorted(waiting)}}, limit=len(waiting)
            )
            waiting -= {one["processInstanceKey"] for one in shown.items if one["state"] != "ACTIVE"}
            if waiting and trio.current_time() > until:
                late = min(waiting)
                raise ClientError(f"the searches of the source still show {late} as active: are its exporters working?")
            await trio.sleep(POLL_S if waiting else 0)

    async def finish(self, entry: Entry) -> Entry:
        """Take the remaining steps of an entry that has a plan. Raises ClientError, LedgerProblem."""
        taken = {COPYING: self._copy, ADJUSTING: self._adjust, CANCELLING: self._cancel, RESUMING: self._resume}
        while entry.step not in ENDS:
            entry = await taken[entry.step](entry)
            self._ledger.write(entry)
        return entry

    async def _copy(self, entry: Entry) -> Entry:
        try:
            copy = await self.find(entry.key) or await self._create(entry)
        except ApiError as error:
            if error.status >= 500 or error.status in (*NO_RIGHT, *IN_DOUBT):
                raise
            return replace(entry, step=RESUMING, plan=None, reason=f"the copy is refused: {error}")
        return replace(entry, step=ADJUSTING, copy=copy)

    async def find(self, key: str) -> str | None:
        """The copy that an earlier run has made, whenever that was."""
        filter = {"tags": [copy_tag(self._source_id, key)]}
        copies = (await page(self._target, "process-instances", filter, limit=1)).items
        return copies[0]["processInstanceKey"] if copies else None

    async def _create(self, entry: Entry) -> str:
        """Create the copy. A repeated request, also one of an earlier run, has no second effect for a day."""
        assert entry.plan is not None
        kept = json.loads(entry.plan)
        body = creation(Plan.of_document(kept), kept["instance"], copy_tag(self._source_id, entry.key))
        headers = {"idempotency-key": f"import-{self._source_id}-{entry.key}"}
        content, _ = await patiently(
            lambda: self._target.exchange("POST", "/v2/process-instances", body.encode(), headers=headers)
        )
        key: str = json.loads(content)["processInstanceKey"]
        return key

    async def _adjust(self, entry: Entry) -> Entry:
        """Move timers to the due dates of the source, and give user tasks what they had there."""
        assert entry.plan is not None
        assert entry.copy is not None
        plan, key = Plan.of_document(json.loads(entry.plan)), entry.copy
        await self._move_timers(plan, key)
        for change, task in await self._tasks(plan, key):
            path = f"/v2/user-tasks/{path_part(task['userTaskKey'])}"
            if change["changeset"]:
                await self._unless_gone("PATCH", path, {"changeset": change["changeset"]})
            if change["assignee"] != task.get("assignee"):
                await self._assign(path, change["assignee"])
        return replace(entry, step=CANCELLING)

    async def _move_timers(self, plan: Plan, key: str) -> None:
        due = defaultdict(list)
        for element, date in sorted(plan.timers):
            due[element].append(date)
        if due:
            filter = {"processInstanceKey": key, "state": "PENDING"}
            timers, _ = await found(self._target, "timers", filter, MOST)
            for timer in timers:
                if due[timer["elementId"]]:
                    date = due[timer["elementId"]].pop(0)
                    await self._unless_gone("PATCH", f"/v2/timers/{path_part(timer['timerKey'])}", {"dueDate": date})

    async def _tasks(self, plan: Plan, key: str) -> list[tuple[Document, Document]]:
        """The changes with the user tasks of the copy that get them. A task that has ended meanwhile gets none."""
        if not plan.tasks:
            return []
        filter = {"processInstanceKey": key, "state": "CREATED"}
        of_element = defaultdict(list)
        tasks, _ = await found(self._target, "user-tasks", filter, MOST)
        for task in tasks:
            of_element[task["elementId"]].append(task)
        return [(change, of_element[id].pop(0)) for change in plan.tasks if of_element[id := change["elementId"]]]

    async def _assign(self, path: str, assignee: str | None) -> None:
        if assignee is None:
            await self._unless_gone("DELETE", f"{path}/assignee", None)
        else:
            await self._unless_gone("POST", f"{path}/assignment", {"assignee": assignee, "allowOverride": True})

    async def _unless_gone(self, method: str, path: str, body: Document | None) -> None:
        """Change something of the copy, which goes on meanwhile: what has ended needs no change."""
        try:
            await patiently(lambda: self._target.request(method, path, body))
        except ApiError as error:
            if error.status not in (404, 409):
                raise

    async def _cancel(self, entry: Entry) -> Entry:
        path = f"/v2/process-instances/{path_part(entry.key)}/cancellation"
        try:
            await post(self._source, path, {})
        except ApiError as error:
            if error.status in NO_RIGHT:
                raise ClientError(
                    f"{error}: {entry.key} is copied to {entry.copy}, and nobody works at it in the source. Cancel it "
                    "there, or repeat the command with the right to do so"
                ) from error
            if error.status != 404:
                raise
        return replace(entry, step=DONE, plan=None)

    async def _resume(self, entry: Entry) -> Entry:
        if entry.suspended:
            try:
                await post(self._source, f"/v2/process-instances/{path_part(entry.key)}/resumption", {})
            except ApiError as error:
                if error.status not in (404, 409):
                    raise
        return replace(entry, step=STAYS, plan=None)

    async def state(self, key: str) -> str | None:
        """The state of an instance of the source; None if there is no such instance."""
        try:
            state: str = (await get(self._source, f"/v2/process-instances/{path_part(key)}"))["state"]
        except ApiError as error:
            if error.status != 404:
                raise
            return None
        return state


def planned(plan: Plan, instance: Document, here: str) -> str:
    """The plan as the ledger keeps it, with what the creation needs of the instance."""
    kept = {name: instance.get(name) for name in ("businessId", "tags", "tenantId")} | {"processDefinitionKey": here}
    return json.dumps(json.loads(plan.as_json()) | {"instance": kept})


def copy_tag(source_id: str, key: str) -> str:
    """The tag of a copy. Keys of instances are unique in one cluster only: other clusters have the same ones."""
    return f"{TAG}{key}:{sha256(source_id.encode()).hexdigest()[:SOURCE_DIGITS]}"


def creation(plan: Plan, instance: Document, tag: str) -> str:
    """The request that creates the copy. The values of variables stay as they are, digit for digit."""
    body = {
        "processDefinitionKey": instance["processDefinitionKey"],
        "tags": [*(instance.get("tags") or ()), tag],
        "startInstructions": [{"elementId": element} for element in plan.elements],
        "businessId": instance.get("businessId"),
        "tenantId": None if instance["tenantId"] == "<default>" else instance["tenantId"],
    }
    chosen = json.dumps({name: value for name, value in body.items() if value is not None})
    variables = ", ".join(f"{json.dumps(name)}: {value}" for name, value in plan.variables.items())
    return f'{chosen[:-1]}, "variables": {{{variables}}}}}'
