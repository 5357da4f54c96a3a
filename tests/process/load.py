"""Load that keeps a ledger: who was answered what.

Each creation has a number, which its instance carries as a tag. Every second one has an Idempotency-Key and is repeated
until it is answered; the others are tried once. With `tellers`, each instance waits for a message with its number, too;
some instances are never told anything, and are canceled.
"""

import itertools
from pathlib import Path

import trio

from tests.eventually import eventually
from tests.process.http_client import Caller, Unanswered
from tests.process.ledger import Ledger
from vivero.core.partitions.routes import slot_of, spread

MODELS = Path(__file__).resolve().parents[1] / "models"
PAUSE_S = 0.02
LEASE_MS = 2_000
"""The lease of a job. A worker that takes longer to complete it may be told 404 or 409: another one has it."""
TTL_MS = 4 * 3_600_000
"""Longer than any run: no message expires."""
EXPECTED = {
    "process-instances": (200, 503, 504),
    "completion": (204, 404, 409, 503, 504),
    "cancellation": (204, 404, 503, 504),
    "publication": (200, 409, 503, 504),
}
"""The end of a command's path → the statuses that its answers may have."""


class Load:
    """Creators and workers against one or more programs."""

    def __init__(
        self, ports, *, process="one-task", creators=6, workers=3, tellers=0, pause_s=0.03, first=1, lease_ms=LEASE_MS
    ) -> None:
        self.ledger = Ledger()
        self._lease_ms = lease_ms
        self._ports, self._process, self._tellers = ports, process, tellers
        self._to_tell, self._told = trio.open_memory_channel(float("inf"))
        self._creators, self._workers, self._pause_s = creators, workers, pause_s
        self._numbers, self._commands = itertools.count(first), itertools.count(1)
        self._stop_creating = False
        self._finished = trio.Event()
        self._open = creators
        self._moved = trio.Event()

    async def run(self, task_status=trio.TASK_STATUS_IGNORED):
        """Create and work until cancelled."""
        async with trio.open_nursery() as nursery:
            for number in range(self._creators):
                nursery.start_soon(self._create_all, *self._two_ports(number))
            for number in range(self._workers):
                nursery.start_soon(self._work_all, self._ports[number % len(self._ports)], number)
            for number in range(self._tellers):
                nursery.start_soon(self._tell_all, self._ports[number % len(self._ports)])
            task_status.started()

    async def stop_creating(self, within_s=60.0):
        """No new creations; wait until what is to be repeated was answered. The workers go on."""
        self._stop_creating = True
        with trio.fail_after(within_s):
            await self._finished.wait()

    async def progress(self, answers, within_s=60.0):
        """Wait for so many more answers to commands."""
        goal = len(self.ledger.moments) + answers
        with trio.fail_after(within_s):
            while len(self.ledger.moments) < goal:
                await self._moved.wait()

    async def busy(self, within_s=60.0):
        """Wait until a command is in flight."""
        await eventually(lambda: self.ledger.in_flight, within_s=within_s, every_s=0.001)

    # ---- creators

    def _two_ports(self, number):
        """The ports to write to and to read from: that of another program, if there is one."""
        return self._ports[number % len(self._ports)], self._ports[(number + 1) % len(self._ports)]

    async def _create_all(self, port, other):
        async with Caller(port) as caller, Caller(other) as reader:
            while not self._stop_creating:
                number = next(self._numbers)
                await self._live(caller, number)
                if number % 3 == 0 and number in self.ledger.started:
                    await self._read(reader, self.ledger.started[number])
                await trio.sleep(self._pause_s)
        self._open -= 1
        if not self._open:
            self._finished.set()

    async def first_command(self, port):
        """Create an instance, and repeat it until it is answered. Returns when it is, on Trio's clock."""
        number = next(number for number in self._numbers if number % 16 == 2)
        async with Caller(port) as caller:
            await self._live(caller, number)
        return trio.current_time()

    async def first_commands(self, port, partitions):
        """Do a new command in each partition: publish a message that nobody waits for. Returns when all are done."""
        owners = spread(partitions)
        async with trio.open_nursery() as nursery:
            for partition in range(1, partitions + 1):
                key = next(key for key in map(str, itertools.count()) if owners[slot_of("<default>", key)] == partition)
                nursery.start_soon(self._publish, port, key)
        return trio.current_time()

    async def _publish(self, port, key):
        async with Caller(port) as caller:
            body = {"name": "nobody-waits", "correlationKey": key, "timeToLive": 0}
            await self._until_settled(caller, "/v2/messages/publication", body, (200,))

    async def _live(self, caller, number):
        """Create an instance; it is told what it waits for, or canceled."""
        to_cancel = self._tellers and number % 16 in (9, 14)
        if self._tellers and not to_cancel:
            self._to_tell.send_nowait(number)
        await self._create(caller, number)
        if to_cancel and number in self.ledger.started:
            await self._cancel(caller, number)
        elif to_cancel:
            self._to_tell.send_nowait(number)  # nobody knows its key, if it exists

    async def _cancel(self, caller, number):
        """Ask until it is certain. 404: an earlier request has canceled it, for it cannot end otherwise."""
        self.ledger.canceled.add(number)
        path = f"/v2/process-instances/{self.ledger.started[number]}/cancellation"
        await self._until_settled(caller, path, {}, (204, 404))

    async def _create(self, caller, number):
        """One creation. Those with a key are repeated until there is an answer that settles it."""
        ledger, keyed = self.ledger, number % 2 == 0
        body = {"processDefinitionId": self._process, "tags": [f"n{number}"], "variables": {"number": number}}
        if number % 8 in (4, 5):
            body |= {"awaitCompletion": True, "requestTimeout": 30_000}
        headers = [("Idempotency-Key", f"creation-{number}")] if keyed else []
        while True:
            began = trio.current_time()
            answer, sent = await self._command(caller, "/v2/process-instances", body, headers)
            key = self._key(answer)
            if key is not None and "awaitCompletion" not in body:
                ledger.seconds[caller.port].append(trio.current_time() - began)
            if key is not None:
                ledger.unknown.discard(number)
                assert ledger.started.setdefault(number, key) == key, f"creation {number} was answered with two keys"
                ledger.replayed[number] += 1
                if answer.status == 200 and "awaitCompletion" in body:
                    ledger.awaited[number] = answer.json["variables"]
                return
            if sent and (answer is None or answer.status != 503):
                ledger.unknown.add(number)
            elif number not in ledger.unknown:
                ledger.certainly_not.add(number)
            if not keyed:
                return
            ledger.certainly_not.discard(number)
            await trio.sleep(PAUSE_S)

    async def _read(self, caller, key):
        """An answered write can be read."""
        try:
            answer = await caller.call("GET", f"/v2/process-instances/{key}")
        except Unanswered:
            return
        self._note("read", answer, (200, 503, 504))

    def _key(self, answer):
        """The instance, if the answer names one: a created one, or one that was created and is late."""
        if answer is None or answer.status not in (200, 504):
            return None
        return answer.json.get("processInstanceKey")

    # ---- workers

    async def _work_all(self, port, number):
        ask = {
            "type": "work", "worker": f"worker-{number}", "timeout": self._lease_ms, "maxJobsToActivate": 5,
            "requestTimeout": 1_000, "withLease": number % 2 == 0,
        }  # fmt: skip
        async with Caller(port) as caller:
            while True:
                try:
                    answer = await caller.call("POST", "/v2/jobs/activation", ask)
                except Unanswered:
                    await trio.sleep(PAUSE_S)
                    continue
                if answer.status != 200:
                    self._note("activation", answer, (503, 504))
                    await trio.sleep(PAUSE_S)
                    continue
                for job in answer.json["jobs"]:
                    await self._complete(caller, job)

    async def _complete(self, caller, job):
        body = {"variables": {"done": job["variables"]["number"]}}
        if job.get("jobLeaseToken"):
            body["jobLeaseToken"] = job["jobLeaseToken"]
        answer, _ = await self._command(caller, f"/v2/jobs/{job['jobKey']}/completion", body, [])
        if answer is not None and answer.status == 204:
            self.ledger.completed[job["jobKey"]] += 1

    # ---- tellers

    async def _tell_all(self, port):
        async with Caller(port) as caller:
            async for number in self._told:
                await self._tell(caller, number)

    async def _tell(self, caller, number):
        """Publish until it is certain. 409: an earlier request has published it."""
        body = {"name": "told", "correlationKey": str(number), "messageId": f"m{number}", "timeToLive": TTL_MS}
        await self._until_settled(caller, "/v2/messages/publication", body, (200, 409))
        self.ledger.told.add(number)

    # ---- all

    async def _until_settled(self, caller, path, body, settled):
        while True:
            answer, _ = await self._command(caller, path, body, [])
            if answer is not None and answer.status in settled:
                return
            await trio.sleep(PAUSE_S)

    async def _command(self, caller, path, body, headers):
        """The answer, or None; and whether anything was sent."""
        ledger, number = self.ledger, next(self._commands)
        ledger.open[number] = path
        try:
            answer = await caller.call("POST", path, body, headers=headers)
        except Unanswered as unanswered:
            if unanswered.sent:
                ledger.unanswered.add(number)
            else:
                await trio.sleep(PAUSE_S)
            return None, unanswered.sent
        finally:
            del ledger.open[number]
        what = path.rpartition("/")[2]
        self._note(what, answer, EXPECTED[what])
        ledger.moments.append(trio.current_time())
        self._moved.set()
        self._moved = trio.Event()
        return answer, True

    def _note(self, what, answer, expected):
        self.ledger.statuses[f"{what} {answer.status}"] += 1
        assert answer.status in expected, f"{what} was answered with {answer.status}: {answer.body[:1000]}"


async def deploy(port, *models, headers=()):
    """Deploy models of tests/models."""
    async with Caller(port) as caller:
        answer = await send_files(caller, {name: (MODELS / name).read_text() for name in models}, headers)
    assert answer.status == 200, answer
    return answer.json


async def send_files(caller, files, headers=()):
    """Deploy files: name → text. The answer."""
    boundary = "----vivero-test"
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="resources"; filename="{name}"\r\n'
        f"Content-Type: application/xml\r\n\r\n{text}\r\n"
        for name, text in files.items()
    ]
    body = ("".join(parts) + f"--{boundary}--\r\n").encode()
    return await caller.send("POST", "/v2/deployments", body, f"multipart/form-data; boundary={boundary}", headers)
