"""What the tests of storage share: an empty database, and a TCP proxy that misbehaves on request."""

import itertools

import psycopg
import pytest
import trio
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

_numbers = itertools.count(1)


@pytest.fixture
def empty_database(postgres_dsn):
    """The DSN of a database of this test alone, without our schema."""
    name = sql.Identifier(f"empty_{next(_numbers)}")
    with psycopg.connect(postgres_dsn, autocommit=True) as administrator:
        administrator.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(name))
        yield make_conninfo(postgres_dsn, dbname=name.as_string().strip('"'))
        administrator.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


class Proxy:
    """Passes bytes between its clients and the server of a DSN; each flag is one way in which networks fail.

    - `swallow`: reads and acknowledges at TCP level, and passes nothing on (a black hole that TCP does not notice);
    - `stall`: does not even read, so that buffers fill up;
    - `drop_answers`: passes requests on; at the first answer closes the client's connection instead (a lost COMMIT).
    """

    def __init__(self) -> None:
        self.swallow = self.stall = self.drop_answers = False
        self.port = 0
        self.connections = 0
        self._target = {}
        self._released = trio.Event()

    def dsn(self, database):
        """The DSN of `database`, by way of this proxy."""
        self._target = conninfo_to_dict(database)
        parameters = {key: value for key, value in self._target.items() if key not in {"host", "hostaddr", "port"}}
        return make_conninfo("", **parameters, host="127.0.0.1", port=self.port)

    async def serve(self, task_status):
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        self.port = listeners[0].socket.getsockname()[1]
        await trio.serve_listeners(self._handle, listeners, task_status=task_status)

    async def _handle(self, client):
        self.connections += 1
        async with client, trio.open_nursery() as nursery:
            server = await self._connect() if self._target and not self.swallow else None
            if server is None:
                await self._swallow(client)
                return
            async with server:
                nursery.start_soon(self._pass, client, server, nursery.cancel_scope, False)
                await self._pass(server, client, nursery.cancel_scope, True)

    async def _connect(self):
        host, port = self._target.get("host", ""), self._target.get("port", "5432")
        if host.startswith("/"):
            return await trio.open_unix_socket(f"{host}/.s.PGSQL.{port}")
        return await trio.open_tcp_stream(host, int(port))

    async def _swallow(self, stream):
        try:
            while await stream.receive_some():
                pass
        except trio.BrokenResourceError:
            pass

    async def _pass(self, source, sink, scope, answers):
        try:
            while True:
                if self.stall:
                    await trio.sleep_forever()
                data = await source.receive_some(65536)
                if not data or (answers and self.drop_answers):
                    break
                if not self.swallow:
                    await sink.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        scope.cancel()


@pytest.fixture
async def proxy(nursery):
    """A `Proxy`; `proxy.dsn(database)` leads through it."""
    proxy = Proxy()
    await nursery.start(proxy.serve)
    return proxy
