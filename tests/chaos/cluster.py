"""Programs on one PostgreSQL of their own: each is a node, which reaches the database by way of a proxy if wanted."""

from contextlib import asynccontextmanager

import psycopg
import trio

from tests.eventually import eventually
from tests.fault_proxy import FaultProxy
from tests.process.http_client import Caller, Unanswered
from tests.process.load import deploy
from tests.process.program import Program
from tests.replicas import Replica

MODEL, PROCESS = "three_waits.bpmn", "three-waits"
CONNECTIONS = 300
RECOVERS_S = 60.0


class Cluster:
    """Nodes, their proxies, and the server. `partitions` is what the database was created with."""

    def __init__(self, server, programs, proxies, partitions) -> None:
        self.server, self.programs, self.proxies, self.partitions = server, programs, proxies, partitions

    @property
    def dsn(self):
        return self.server.dsn

    @property
    def ports(self):
        return [program.port for program in self.programs]

    def proxy(self, program):
        """The proxy of a node."""
        return self.proxies[self.programs.index(program)]

    def others(self, program):
        return [other for other in self.programs if other is not program]

    async def rows(self, query):
        """A query past all proxies, which pass bytes on meanwhile."""
        return await trio.to_thread.run_sync(self._rows, query)

    def _rows(self, query):
        with psycopg.connect(self.dsn, autocommit=True, application_name="chaos") as connection:
            cursor = connection.execute(query)
            return cursor.fetchall() if cursor.description else []

    @asynccontextmanager
    async def session(self, *statements):
        """Somebody's open transaction that has done `statements`."""
        connection = await trio.to_thread.run_sync(self._open, statements)
        try:
            yield
        finally:
            connection.close()

    def _open(self, statements):
        connection = psycopg.connect(self.dsn, application_name="somebody")
        for statement in statements:
            connection.execute(statement)
        return connection

    async def leader(self):
        """The node that leads the first partition, once there is one."""

        async def leads():
            return next(iter([one for one in self.programs if one.running and await _leads(one)]), None)

        return await eventually(leads, "a node leads", within_s=RECOVERS_S)

    async def ready(self):
        for program in self.programs:
            await program.ready(RECOVERS_S)

    async def epoch(self):
        """The sum of all partitions."""
        return int((await self.rows("SELECT sum(epoch) FROM partitions"))[0][0])


async def _leads(program):
    async with Caller(program.port) as caller:
        try:
            topology = (await caller.call("GET", "/v2/topology", within_s=5)).json
        except Unanswered:
            return False
    return topology["brokers"][0]["partitions"][0]["role"] == "leader"


@asynccontextmanager
async def running(directory, logs, *, nodes=2, partitions=1, proxied=False, name="chaos"):
    """A cluster that is ready, with the model of the load; `directory` must be reachable for the server's user."""
    server, programs = Replica(directory, name), []
    arguments = () if partitions == 1 else ("--partitions", str(partitions))
    try:
        await server.initialise()
        await server.stop()
        await server.start(max_connections=str(CONNECTIONS))
        async with trio.open_nursery() as nursery:
            proxies = [FaultProxy(server.dsn) for _ in range(nodes)]
            for number, proxy in enumerate(proxies):
                await nursery.start(proxy.serve)
                url = proxy.dsn if proxied else server.dsn
                programs.append(Program(logs, f"{name}-{'abcdefgh'[number]}", ("--database-url", url, *arguments), {}))
            for program in programs:
                program.start()
            cluster = Cluster(server, programs, proxies, partitions)
            await cluster.ready()
            await deploy(programs[0].port, MODEL)
            yield cluster
            nursery.cancel_scope.cancel()
    finally:
        for program in programs:
            program.end()
        server.end()
