"""Task: works the jobs of connectors (docs/connectors.md).

It leases jobs as a worker does, but without HTTP, and appends the commands that complete or fail them. Calls run in its
nursery, bounded in number. A call that is cut off is made again: by this node after a restart of the task, by any node
after the end of the lease.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID, uuid4

import msgspec
import structlog
import trio

from vivero.core.partitions.keys import partition_of
from vivero.core.records.base import DEFAULT_TENANT, Command
from vivero.core.records.jobs import WithholdJob
from vivero.engine.appender.calls import Append
from vivero.engine.appender.task import Appender
from vivero.engine.connectors.documents import CallDocuments
from vivero.engine.connectors.http_client import HttpClient
from vivero.engine.connectors.http_json import HttpJson
from vivero.engine.connectors.inputs import FETCHED
from vivero.engine.connectors.job_commands import JobCommand, job_command, not_stored
from vivero.engine.connectors.jobs import HTTP_JSON, ConnectorJob
from vivero.engine.connectors.results import Failure, Outcome
from vivero.engine.connectors.secrets import UsedSecrets
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.connectors.traces import working
from vivero.engine.jobs.tracker import RunLimits
from vivero.engine.outcomes.admission import Draining, NotAppended, ValueRejected
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.dedicated_connection import DedicatedConnection
from vivero.engine.supervision.wake_up import WakeUp
from vivero.engine.tracing.tracer import Tracer
from vivero.storage.background import connectors
from vivero.storage.postgres.driver import CALL_TIMEOUT_S, Connection
from vivero.storage.postgres.given_time import patient
from vivero.storage.work import activation
from vivero.storage.work.activation import AT_ONCE, SMALL_BYTES, ActivationRequest, Lease

log = structlog.get_logger(__name__)

MAX_JOB_BYTES = 4 * 1024 * 1024
"""A job whose inputs are larger is withheld, with an incident."""
MARGIN_S = 20.0
"""A lease lasts this much longer than a call, for reporting its outcome."""
APPEND_S = 5.0
PAUSE_S = 0.5
"""The pause before an append that failed is tried again."""
CLOSE_S = 1.0

_decode = msgspec.json.Decoder(ConnectorJob).decode


@dataclass(slots=True)
class CallFigures:
    """Counts of the dispatcher since the program started."""

    started: int = 0
    completed: int = 0
    failed: int = 0
    """Calls that failed, or threw a BPMN error."""


class ConnectorDispatcher:
    """The handle of the task; `run` is the child."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Connection]],
        appender: Appender,
        settings: ConnectorSettings,
        secrets: Mapping[str, str],
        *,
        worker: str = "connectors",
        multi_tenancy: bool = False,
        make_client: Callable[[ConnectorSettings], HttpClient] | None = None,
        tracer: Tracer | None = None,
        documents: CallDocuments | None = None,
    ) -> None:
        self._connection = DedicatedConnection(connect)
        self._appender, self._settings = appender, settings
        self._secrets, self._documents = secrets, documents
        self._worker, self._multi_tenancy = worker, multi_tenancy
        self._make_client, self._tracer = make_client or partial(HttpClient, tracer=tracer), tracer
        self._limits = RunLimits(max(1, settings.max_concurrent // 2), settings.max_concurrent)
        self._running = 0
        self._lease_s = settings.max_call_s + MARGIN_S
        self._held: dict[int, Lease] = {}
        """The jobs whose outcome is not reported."""
        self._lost: list[tuple[str, UUID]] = []
        """Tenants and tokens of activations whose answer was lost."""
        self._woken: set[str] = set()
        """The tenants that may have jobs."""
        self._poll_at = self._pulled_at = float("-inf")
        self._look_at = float("inf")
        """When to pull what waits until more places are free."""
        self._wake = WakeUp()
        self._draining = False
        self.figures = CallFigures()

    # -- for the node

    def available(self, type: str, tenant: str) -> None:
        """A job became available. Never waits."""
        if type == HTTP_JSON:
            self._woken.add(tenant)
            self._wake.set()

    def wake(self) -> None:
        """The clock was changed, or notifications may be lost."""
        self._poll_at = float("-inf")
        self._wake.set()

    def drain(self) -> None:
        """Begin no more calls. `run` returns when all have ended or gone back."""
        self._draining = True
        self._wake.set()

    def close(self) -> None:
        """Shut the socket, so that a call that gets no answer ends."""
        self._connection.close()

    # -- the child

    async def run(self, beat: Beat) -> None:
        """Work jobs until cancelled or drained. Raises when the connection is lost; the supervisor restarts it."""
        async with self._connection.opened(beat) as connection:
            with beat.waiting(CALL_TIMEOUT_S):
                await self._give_back(connection)
            client = self._make_client(self._settings)
            try:
                async with trio.open_nursery() as nursery:
                    await self._dispatch(connection, beat, nursery, HttpJson(client, self._documents))
                    nursery.cancel_scope.cancel()
            finally:
                self._running = 0
                with trio.CancelScope(shield=True, deadline=trio.current_time() + CLOSE_S):
                    await client.aclose()
            await self._give_back(connection)

    async def _dispatch(self, connection: Connection, beat: Beat, nursery: trio.Nursery, connector: HttpJson) -> None:
        while not self._draining:
            self._wake.clear()
            with beat.waiting(3 * CALL_TIMEOUT_S):
                more = await self.run_once(connection, nursery, connector)
            if not more:
                await self._wake.idle(beat, min(self._poll_at, self._look_at))
        with trio.move_on_after(self._settings.drain_s) as drain, patient(drain):
            while self._running:
                await self._wake.idle(beat)

    async def run_once(self, connection: Connection, nursery: trio.Nursery, connector: HttpJson) -> bool:
        """Begin calls for the jobs that wait. True if there may be more jobs, and there is capacity for them."""
        if trio.current_time() >= self._poll_at:
            self._woken |= await self._tenants(connection)
            self._poll_at = trio.current_time() + self._settings.poll_s
        if self._woken and (delay_s := self._limits.delay_s(self._running, trio.current_time() - self._pulled_at)):
            self._look_at = trio.current_time() + delay_s
            return False
        self._look_at = float("inf")
        for tenant in sorted(self._woken):
            capacity = self._limits.next_batch_size(self._running)
            if capacity is None:
                return False
            self._woken.discard(tenant)  # before the look: a job that becomes available meanwhile wakes it again
            limit = min(capacity, AT_ONCE)
            jobs = await self._lease(connection, tenant, limit)
            for job in jobs:
                self._start(job, nursery, connector)
            if len(jobs) == limit:
                self._woken.add(tenant)
        return bool(self._woken) and self._limits.next_batch_size(self._running) is not None

    async def _tenants(self, connection: Connection) -> set[str]:
        return await connectors.tenants(connection, HTTP_JSON) if self._multi_tenancy else {DEFAULT_TENANT}

    # -- leases

    async def _lease(self, connection: Connection, tenant: str, limit: int) -> list[ConnectorJob]:
        """Lease jobs of a tenant. Their leases are held from then on."""
        lease_ms, token = round(self._lease_s * 1000), uuid4()
        self._pulled_at = trio.current_time()
        ask = ActivationRequest(HTTP_JSON, tenant, limit, lease_ms, self._worker, FETCHED, True)
        self._lost.append((tenant, token))
        leases = await self._activate(connection, ask, token)
        self._lost.pop()
        self._held |= {lease.job_key: lease for lease in leases}
        if any(lease.job is None for lease in leases):
            return list(map(_decode, await activation.activated_jobs(connection, leases, FETCHED, True)))
        return [_decode(lease.job) for lease in leases if lease.job is not None]

    async def _activate(self, connection: Connection, ask: ActivationRequest, token: UUID) -> Sequence[Lease]:
        looked = await activation.activate_plainly(connection, ask, SMALL_BYTES, token)
        if not looked.large:
            return looked.leases
        measured = await activation.activate(connection, ask, MAX_JOB_BYTES, token)
        too_large = measured.too_large
        if too_large is not None and not measured.leases:
            most = activation.MAX_VARIABLES if too_large.size is None else MAX_JOB_BYTES
            await self._append(
                WithholdJob(too_large.job_key, too_large.lease, too_large.size, most), too_large.job_key, ask.tenant
            )
        return measured.leases

    async def _give_back(self, connection: Connection) -> None:
        """Make the jobs available again whose calls were cut off, or whose activation was lost. Then look for jobs."""
        held, lost = list(self._held.values()), list(self._lost)
        if held:
            await activation.release(connection, held)
        for tenant, token in lost:
            await activation.take_back(connection, HTTP_JSON, tenant, [token])
        self._held.clear()
        self._lost.clear()
        self._poll_at = float("-inf")

    # -- calls

    def _start(self, job: ConnectorJob, nursery: trio.Nursery, connector: HttpJson) -> None:
        self._running += 1
        self.figures.started += 1
        nursery.start_soon(self._work, job, connector, trio.current_time() + self._lease_s)

    async def _work(self, job: ConnectorJob, connector: HttpJson, until: float) -> None:
        """Make one call and report its outcome, up to the end of the lease."""
        with trio.move_on_at(until) as lease, working(self._tracer, job):
            outcome = await self._outcome(job, connector)
            await self._report(job, job_command(job, outcome))
        if lease.cancelled_caught:
            self._held.pop(int(job.job_key), None)
            log.warning("the outcome of a connector could not be reported", job=job.job_key, element=job.element_id)
        self._running -= 1
        if self._limits.next_batch_size(self._running) is not None or self._draining:
            self._wake.set()

    async def _outcome(self, job: ConnectorJob, connector: HttpJson) -> Outcome:
        try:
            return await connector.work(job, UsedSecrets(self._secrets))
        except Exception as error:
            log.error("a connector failed unexpectedly", job=job.job_key, element=job.element_id, exc_info=error)
            return Failure(f"INTERNAL_ERROR: {type(error).__name__}; the log of the server has more")

    async def _report(self, job: ConnectorJob, command: JobCommand) -> None:
        try:
            try:
                await self._append(command, int(job.job_key), job.tenant_id)
            except ValueRejected as error:
                await self._append(not_stored(job, str(error)), int(job.job_key), job.tenant_id)
        except Draining:
            return  # the lease goes back
        self._held.pop(int(job.job_key), None)
        self._count(job, command)

    async def _append(self, command: Command, key: int, tenant: str) -> None:
        """Append a command, as often as it takes. Raises Draining, ValueRejected.

        Nobody repeats the report of a call that was made, so that it waits for a held tree however many others wait.
        """
        item = Append(msgspec.structs.replace(command, by_program=True), tenant, key, None, partition_of(key))
        while True:
            try:
                await self._appender.append(item, deadline_s=APPEND_S)
            except (Draining, ValueRejected):
                raise
            except NotAppended:
                await trio.sleep(PAUSE_S)
            else:
                return

    def _count(self, job: ConnectorJob, command: JobCommand) -> None:
        if command.intent == "JOB:COMPLETE":
            self.figures.completed += 1
            return
        self.figures.failed += 1
        log.info("the call of a connector failed", job=job.job_key, element=job.element_id, outcome=command.intent)
