"""A network that is cut for seconds, and delivers what was said when the program has long said it again elsewhere.

The proxy stands between the program and PostgreSQL. Sessions are told apart by their names.
"""

import contextlib
import threading
from functools import partial

import pytest
import trio

from tests.fault_proxy import FaultProxy
from tests.process.http_client import Caller, Unanswered

CUT_S = 6.0
"""Longer than the deadline of any call."""
UNAVAILABLE = (0, 404, 503, 504)
"""404: a job whose completion was answered to nobody."""
NAMES = ["appender", "consumer-writer", "timers", "leasing", "api", "completions", "chores", ""]
TIMER = """<bpmn:process id="{id}" isExecutable="true">
  <bpmn:startEvent id="start"/><bpmn:sequenceFlow id="f" sourceRef="start" targetRef="wait"/>
  <bpmn:intermediateCatchEvent id="wait"><bpmn:timerEventDefinition>
    <bpmn:timeDuration xsi:type="bpmn:tFormalExpression">PT1S</bpmn:timeDuration>
  </bpmn:timerEventDefinition></bpmn:intermediateCatchEvent>
</bpmn:process>"""


class LateProxy:
    """A `FaultProxy` in a thread of its own, because the module's program outlives the event loops of its tests."""

    def __init__(self, dsn) -> None:
        self._proxy = FaultProxy(dsn)
        self._ready = threading.Event()
        self._token: trio.lowlevel.TrioToken | None = None
        self._scope: trio.CancelScope | None = None
        self._thread = threading.Thread(target=trio.run, args=(self._serve,), daemon=True)
        self._thread.start()
        self._ready.wait(30)
        self.dsn = self._proxy.dsn

    async def _serve(self):
        with trio.CancelScope() as self._scope:
            self._token = trio.lowlevel.current_trio_token()
            async with trio.open_nursery() as nursery:
                await nursery.start(self._proxy.serve)
                self._ready.set()

    def end(self):
        self._token.run_sync_soon(self._scope.cancel)
        self._thread.join(30)

    async def hold(self, name):
        """Keep what the sessions whose names begin with this say from now on: how many they are."""
        run_sync = partial(trio.from_thread.run_sync, trio_token=self._token)
        return await trio.to_thread.run_sync(run_sync, self._proxy.hold, name)

    async def deliver(self):
        """Pass on all that was kept: how many bytes."""
        run = partial(trio.from_thread.run, self._proxy.deliver, trio_token=self._token)
        return await trio.to_thread.run_sync(run)


@pytest.fixture(scope="module")
def proxies():
    """The one in front of the module's database."""
    return []


@pytest.fixture(scope="module")
def module_database(module_database, proxies):
    """By way of the proxy."""
    proxy = LateProxy(module_database)
    proxies.append(proxy)
    yield proxy.dsn
    proxy.end()


@pytest.fixture
def late(target, proxies):
    """The proxy."""
    return proxies[0]


class Ledger:
    """Creations with a number each, tried once: what was answered, and what nobody knows."""

    def __init__(self, target, id) -> None:
        self.target, self.id = target, id
        self.answered, self.unknown = {}, set()

    async def create(self, first, step, until):
        async with Caller(self.target.port) as caller:
            for number in range(first, 1_000_000, step):
                if until.is_set():
                    return
                body = {"processDefinitionId": self.id, "variables": {"number": number}}
                try:
                    answer = await caller.call("POST", "/v2/process-instances", body)
                except Unanswered:
                    self.unknown.add(number)
                    continue
                if answer.status == 200:
                    self.answered[number] = answer.json["processInstanceKey"]
                elif answer.status == 504:
                    self.unknown.add(number)
                else:
                    assert answer.status == 503, answer
                await trio.sleep(0.01)

    async def look(self, until):
        """Searches, which nobody counts."""
        async with Caller(self.target.port) as caller:
            while not until.is_set():
                with contextlib.suppress(Unanswered):
                    answer = await caller.call("POST", "/v2/process-instances/search", {"page": {"limit": 1}})
                    assert answer.status in (200, 503, 504), answer
                await trio.sleep(0.05)

    def audit(self):
        rows = self.target.sql(
            "SELECT v.value::text, i.process_instance_key::text FROM variables v"
            " JOIN process_instances i ON i.process_instance_key = v.scope_key"
            " WHERE v.name = 'number' AND i.process_id = %s",
            (self.id,),
        )
        found = [(int(number), key) for number, key in rows]
        assert len({number for number, _ in found}) == len(found), "a creation was made twice"
        assert dict(found).items() >= self.answered.items(), "what was answered is not there"
        assert dict(found).keys() <= self.answered.keys() | self.unknown, "what was refused is there"


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name or "everything")
async def test_what_a_cut_network_delivers_late(target, late, name):
    """Each creation was made once, and each job can be done, though whoever asked for it has long left."""
    id = f"late-{name or 'all'}"
    await target.deployed(TIMER.format(id=id))
    ledger, over = Ledger(target, id), trio.Event()
    async with target.attacked(tolerated=UNAVAILABLE, terms=6) as others, trio.open_nursery() as nursery:
        for number in range(3):
            nursery.start_soon(ledger.create, number, 3, over)
        nursery.start_soon(ledger.look, over)
        await others.rounds_done(3, 60)
        assert await late.hold(f"vivero:{name}"), "there is no such session"
        await trio.sleep(CUT_S)
        await others.rounds_done(5, 60)
        delivered = await late.deliver()
        await others.rounds_done(5, 60)
        over.set()
    print(f"{name}: {delivered} bytes came late; {len(ledger.answered)} answered, {len(ledger.unknown)} unknown")
    assert delivered, "nothing came late: the test did not bite"
    assert ledger.answered
    ledger.audit()
    for key in list(ledger.answered.values())[-5:]:
        assert await target.ended(key) == "COMPLETED"
    triggered = (
        "SELECT count(*), count(DISTINCT process_instance_key) FROM timers"
        " WHERE process_id = %s AND state = 'TRIGGERED'"
    )
    ((timers, instances),) = target.sql(triggered, (id,))
    assert timers == instances, "a timer fired twice"
