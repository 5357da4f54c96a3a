"""Task: works the jobs of connectors (docs/connectors.md).

It leases jobs as a worker does, but without HTTP, and appends the commands that complete or fail them. Calls run in its
nursery, bounded in number for each connector. A call that is cut off is made again: by this node after a restart of the
task, by any node after the end of the lease. Leases are renewed while calls run, and a call ends when its job is gone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import msgspec
import structlog
import trio

from vivero.core.partitions.keys import partition_of
from vivero.core.records.base import DEFAULT_TENANT, Command
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.core.records.jobs import WithholdJob
from vivero.engine.appender.calls import Append
from vivero.engine.connectors.contents import CONTRACTS, by_type
from vivero.engine.connectors.contract import Contract
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.traces import working
from vivero.engine.connectors.outbound.surroundings import NodeParts
from vivero.engine.connectors.outbound.types import TypeWork
from vivero.engine.connectors.work.calls import answered, failure
from vivero.engine.connectors.work.job_commands import (
    JobCommand,
    asked_lease_s,
    concluded,
    job_command,
    may_be_rejected,
    not_stored,
    rejected,
)
from vivero.engine.connectors.work.jobs import ConnectorJob
from vivero.engine.connectors.work.leases import HeldJob, JobLeases
from vivero.engine.connectors.work.results import Failure
from vivero.engine.connectors.work.secrets import UsedSecrets
from vivero.engine.outcomes.admission import Draining, NotAppended, ValueRejected
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.connected_task import ConnectedTask
from vivero.engine.tracing.tracer import Tracer
from vivero.storage.background import connectors
from vivero.storage.postgres.driver import CALL_TIMEOUT_S, Connection
from vivero.storage.postgres.given_time import patient
from vivero.storage.work.activation import AT_ONCE

log = structlog.get_logger(__name__)

APPEND_S = 5.0
PAUSE_S = 0.5
"""The pause before an append that failed is tried again."""
CLOSE_S = 1.0


@dataclass(slots=True)
class CallFigures:
    """Counts of the dispatcher since the program started."""

    started: int = 0
    completed: int = 0
    failed: int = 0
    """Calls that failed, or threw a BPMN error."""


class ConnectorDispatcher(ConnectedTask):
    """The handle of the task; `run` is the child."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Connection]],
        parts: NodeParts,
        secrets: Mapping[str, str],
        *,
        worker: str = "connectors",
        multi_tenancy: bool = False,
        tracer: Tracer | None = None,
        contracts: Sequence[Contract] = CONTRACTS,
    ) -> None:
        super().__init__(connect)
        self._commands, self._settings, self._secrets = parts.commands, parts.settings, secrets
        self._multi_tenancy, self._tracer, self._compute = multi_tenancy, tracer, parts.compute
        self.leases = JobLeases(worker)
        made = {contract.name: TypeWork(contract, parts) for contract in contracts if contract.is_installed}
        self._types = {type: made[each.name] for type, each in by_type(contracts).items() if each.name in made}
        """By job type. Several types of one connector share its places."""
        self._woken: dict[tuple[str, str], None] = {}
        """The types and tenants that may have jobs, in the order of their turns."""
        self._poll_at = float("-inf")
        self._look_at = float("inf")
        """When to pull what waits until more places are free."""
        self._withholding: set[int] = set()
        """Keys of jobs that are too large, while the log gets the commands that withhold them."""
        self.figures = CallFigures()

    # -- for the node

    def available(self, type: str, tenant: str) -> None:
        """A job became available. Never waits."""
        if type in self._types:
            self._woken[type, tenant] = None
            self._wake.set()

    def wake(self) -> None:
        """The clock was changed, or notifications may be lost."""
        self._poll_at = float("-inf")
        self._wake.set()

    @property
    def running(self) -> int:
        """The calls that run."""
        return sum(each.running for each in self._kinds)

    @property
    def _kinds(self) -> set[TypeWork]:
        return set(self._types.values())

    # -- the child

    async def run(self, beat: Beat) -> None:
        """Work jobs until cancelled or drained. Raises when the connection is lost; the supervisor restarts it."""
        async with self._connection.opened(beat) as connection:
            with beat.waiting(CALL_TIMEOUT_S):
                await self._give_back(connection)
            try:
                async with trio.open_nursery() as nursery:
                    await self._dispatch(connection, beat, nursery)
                    nursery.cancel_scope.cancel()
            finally:
                with trio.CancelScope(shield=True, deadline=trio.current_time() + CLOSE_S):
                    for each in self._kinds:
                        await each.close()
            await self._give_back(connection)

    async def _dispatch(self, connection: Connection, beat: Beat, nursery: trio.Nursery) -> None:
        while not self._draining:
            self._wake.clear()
            with beat.waiting(3 * CALL_TIMEOUT_S):
                await self.leases.renew(connection)
                more = await self.run_once(connection, nursery)
            if not more:
                await self._wake.idle(beat, min(self._poll_at, self._look_at, self.leases.renew_at))
        with trio.move_on_after(self._settings.drain_s) as drain, patient(drain):
            while self.running:
                await self._wake.idle(beat)

    async def run_once(self, connection: Connection, nursery: trio.Nursery) -> bool:
        """Begin calls for the jobs that wait. True if there may be more jobs, and there is capacity for them."""
        if trio.current_time() >= self._poll_at:
            self._woken |= dict.fromkeys(sorted(await connectors.waiting(connection, list(self._types))))
            self._poll_at = trio.current_time() + self._settings.poll_s
        self._look_at, more = float("inf"), False
        for type, tenant in list(self._woken):
            kind = self._types[type]
            if not self._multi_tenancy and tenant != DEFAULT_TENANT:
                del self._woken[type, tenant]
            elif delay_s := kind.delay_s:
                self._look_at = min(self._look_at, trio.current_time() + delay_s)
            elif capacity := kind.capacity:
                more |= await self._pull(connection, nursery, kind, type, tenant, capacity)
        return more

    async def _pull(
        self, connection: Connection, nursery: trio.Nursery, kind: TypeWork, type: str, tenant: str, capacity: int
    ) -> bool:
        """Begin calls for jobs of one type and tenant. True if there may be more, and places for them."""
        del self._woken[type, tenant]  # before the look: a job that becomes available meanwhile wakes it again
        kind.pulled_at = trio.current_time()
        taken = await self.leases.take(connection, type, tenant, kind.contract.fetched, capacity, kind.lease_s)
        if (large := taken.too_large) is not None and large.job_key not in self._withholding:
            command = WithholdJob(large.job_key, large.lease, large.size, taken.most)
            self._withholding.add(command.key)
            nursery.start_soon(self._withhold, command, type, tenant, kind.lease_s)
        for job in taken.jobs:
            await self._start(connection, job, nursery, kind)
        if len(taken.jobs) < min(capacity, AT_ONCE):
            return False
        self._woken[type, tenant] = None  # behind the others: all tenants get places
        return kind.capacity is not None

    async def _withhold(self, command: WithholdJob, type: str, tenant: str, limit_s: float) -> None:
        """Withhold a job, within the time of a lease, and look for those behind it, which it holds back until then.

        Jobs of other types and tenants are worked meanwhile, and leases renewed.
        """
        rejection = None
        try:
            with trio.move_on_after(limit_s) as scope, suppress(Draining):
                rejection = await self._append(command, command.key, tenant, lambda: None)
        finally:
            self._withholding.discard(command.key)
        if scope.cancelled_caught:
            log.warning("a job that is too large could not be withheld", job=str(command.key))
        elif rejection is None:
            self.available(type, tenant)

    async def _give_back(self, connection: Connection) -> None:
        """Give the jobs back that are held. Then look for jobs."""
        await self.leases.give_back(connection)
        self._poll_at = float("-inf")

    # -- calls

    async def _start(self, connection: Connection, job: ConnectorJob, nursery: trio.Nursery, kind: TypeWork) -> None:
        """Begin the call of a job, with the lease that its header asks for."""
        key, refused = int(job.job_key), None
        held = self.leases.held[key]
        try:
            if (asked_s := asked_lease_s(job)) is not None:
                held.lease_s = asked_s
                if not await self.leases.extend(connection, key, held):
                    del self.leases.held[key]
                    return
        except ConnectorError as error:
            refused = failure(error, job.retries)
        kind.running += 1
        self.figures.started += 1
        nursery.start_soon(self._work, job, kind, held, refused)

    async def _work(self, job: ConnectorJob, kind: TypeWork, held: HeldJob, refused: Failure | None) -> None:
        """Make one call and report its outcome, up to the end of the lease."""
        with held.scope, working(self._tracer, job):
            command = await self._worked(job, kind) if refused is None else job_command(job, refused)
            held.renew_at = float("inf")
            await self._report(job, command)
        if held.scope.cancelled_caught:
            self.leases.let_go(int(job.job_key), held)
            if held.is_gone:
                log.info("a call ended, because its job is gone", job=job.job_key, element=job.element_id)
            else:
                log.warning("the outcome of a connector could not be reported", job=job.job_key, element=job.element_id)
        kind.running -= 1
        if kind.capacity is not None or self._draining:
            self._wake.set()

    async def _worked(self, job: ConnectorJob, kind: TypeWork) -> JobCommand:
        """The command that ends the job."""
        try:
            used = UsedSecrets(self._secrets)
            answer = await answered(kind.contract, kind.connector, job, used, kind.limit_s)
            return await concluded(job, answer, self._compute)
        except Exception as error:
            log.error("a connector failed unexpectedly", job=job.job_key, element=job.element_id, exc_info=error)
            failed = Failure(f"INTERNAL_ERROR: {type(error).__name__}; the log of the server has more")
            return job_command(job, failed)

    async def _report(self, job: ConnectorJob, command: JobCommand) -> None:
        key = int(job.job_key)
        let_go = partial(self.leases.let_go, key, self.leases.held.get(key))
        waits = may_be_rejected(job, command)
        try:
            try:
                rejection = await self._append(command, key, job.tenant_id, let_go if waits else None)
            except ValueRejected as error:
                command, rejection = not_stored(job, str(error)), None
                await self._append(command, key, job.tenant_id)
            if rejection is not None and rejection.code != RejectionCode.NOT_FOUND:
                command = rejected(job, rejection.reason)
                await self._append(command, key, job.tenant_id)
        except Draining:
            return  # the lease goes back
        if not waits:
            let_go()
        self._count(job, command)

    async def _append(
        self, command: Command, key: int, tenant: str, then: Callable[[], None] | None = None
    ) -> Rejection | None:
        """Append a command, as often as it takes. Raises Draining, ValueRejected.

        Nobody repeats the report of a call that was made, so that it waits for a held tree however many others wait.
        `then` is called when the command is in the log. The rejection is waited for then; None: there is none so far.
        """
        item = Append(msgspec.structs.replace(command, by_program=True), tenant, key, None, partition_of(key))
        while True:
            try:
                if then is not None:
                    found = await self._commands.attempt(item, then)
                    return None if found is None else found[1].rejection
                await self._commands.appender.append(item, deadline_s=APPEND_S)
            except (Draining, ValueRejected):
                raise
            except NotAppended:
                await trio.sleep(PAUSE_S)
            else:
                return None

    def _count(self, job: ConnectorJob, command: JobCommand) -> None:
        if command.intent == "JOB:COMPLETE":
            self.figures.completed += 1
            return
        self.figures.failed += 1
        log.info("the call of a connector failed", job=job.job_key, element=job.element_id, outcome=command.intent)
