"""A broker on loopback that speaks as much AMQP 0-9-1 as the connectors of RabbitMQ need, with queues in memory."""

from collections import deque
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import trio
from pika import frame, spec

from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.rabbitmq.wire import Wire, broken_off

LOGIN, HOSTS = "\0me\0canary-secret", ("/", "a/b")


@dataclass
class AmqpBroker:
    """`script`, if there is one, has the connection behind the handshake instead of the broker."""

    port: int = 0
    queues: dict = field(default_factory=dict)
    dead: list = field(default_factory=list)
    acknowledged: int = 0
    confirm: object = spec.Basic.Ack
    script: object = None
    tls: object = None
    """The context of TLS."""

    def uri(self, host="", password="{{secrets.KEY}}"):
        return f"amqp://me:{password}@127.0.0.1:{self.port}/{host}"

    def put(self, queue, body, **properties):
        self.queues.setdefault(queue, deque()).append((spec.BasicProperties(**properties), body, False))

    async def serve(self, stream):
        await _Client(self, stream).run()


class _Client:
    """A client of the broker."""

    def __init__(self, broker, stream) -> None:
        self._broker, self.wire = broker, Wire(stream)
        self.stream, self._held, self._tag, self._queue, self._confirms = stream, {}, 0, None, 0

    async def run(self):
        try:
            with broken_off():
                header = await self.stream.receive_some(8)
            assert header in (b"AMQP\x00\x00\x09\x01", b"")  # the latter of a client that does not trust it
            if header and await self._begin():
                await (self._broker.script(self) if self._broker.script else self._serve())
        except ConnectorError:
            pass  # the client is gone
        finally:
            for message in reversed(self._held.values()):
                self._broker.queues[self._queue].appendleft((*message[:2], True))
            await self.wire.aclose()

    async def send(self, method, *frames, channel=1):
        await self.wire.send(frame.Method(channel, method), *frames)

    async def method(self):
        while not isinstance(found := await self.wire.receive(), frame.Method):
            pass
        return found.method

    async def _begin(self):
        await self.send(spec.Connection.Start(0, 9, {}, b"PLAIN AMQPLAIN", b"en_US"), channel=0)
        if (await self.method()).response not in (LOGIN, LOGIN.encode()):
            await self.send(spec.Connection.Close(403, "ACCESS_REFUSED - Login was refused", 0, 0), channel=0)
            return False
        await self.send(spec.Connection.Tune(0, 4096, 0), channel=0)
        tuned = await self.method()
        assert (tuned.frame_max, tuned.heartbeat) == (4096, 60)
        if (await self.method()).virtual_host not in HOSTS:
            await self.send(spec.Connection.Close(530, "NOT_ALLOWED - vhost not found", 10, 40), channel=0)
            return False
        await self.send(spec.Connection.OpenOk(), channel=0)
        await self.method()
        await self.send(spec.Channel.OpenOk())
        return True

    async def _serve(self):
        async with trio.open_nursery() as nursery:
            while True:
                method = await self.method()
                name = type(method).__name__
                if name == "Close":
                    await self.send(spec.Connection.CloseOk(), channel=0)
                    break
                await getattr(self, f"_on_{name.lower()}")(method, nursery)
            nursery.cancel_scope.cancel()

    async def _on_select(self, _method, _nursery):
        await self.send(spec.Confirm.SelectOk())

    async def _on_qos(self, _method, _nursery):
        await self.send(spec.Basic.QosOk())

    async def _on_publish(self, method, _nursery):
        header, body = await self.wire.receive(), b""
        while len(body) < header.body_size:
            body += (await self.wire.receive()).fragment
        self._confirms += 1
        if method.exchange not in ("", "orders"):
            await self.send(spec.Channel.Close(404, "NOT_FOUND - no exchange", 60, 40))
        elif method.routing_key not in self._broker.queues:
            back = spec.Basic.Return(312, "NO_ROUTE", method.exchange, method.routing_key)
            await self.send(back, header, *([frame.Body(1, body)] if body else []))
            await self.send(spec.Basic.Ack(self._confirms))
        else:
            if self._broker.confirm is spec.Basic.Ack:
                self._broker.queues[method.routing_key].append((header.properties, body, False))
            await self.send(self._broker.confirm(self._confirms))

    async def _on_consume(self, method, nursery):
        self._queue = method.queue
        if method.queue not in self._broker.queues:
            await self.send(spec.Channel.Close(404, f"NOT_FOUND - no queue '{method.queue}'", 60, 20))
            return
        await self.send(spec.Basic.ConsumeOk(method.consumer_tag or "amq.ctag"))
        nursery.start_soon(self._deliver_all, method.consumer_tag or "amq.ctag")

    async def _deliver_all(self, consumer):
        """Deliver what is in the queue now."""
        while self._broker.queues[self._queue]:
            self._tag += 1
            self._held[self._tag] = message = self._broker.queues[self._queue].popleft()
            await self.deliver(consumer, self._tag, *message)

    async def deliver(self, consumer, tag, properties, body, again):
        parts = (frame.Body(1, body[begin : begin + 4000]) for begin in range(0, len(body), 4000))
        await self.send(
            spec.Basic.Deliver(consumer, tag, again, "", "q"), frame.Header(1, len(body), properties), *parts
        )

    async def _on_ack(self, method, _nursery):
        del self._held[method.delivery_tag]
        self._broker.acknowledged += 1

    async def _on_reject(self, method, _nursery):
        assert not method.requeue
        self._broker.dead.append(self._held.pop(method.delivery_tag)[1])


@asynccontextmanager
async def broking(**given):
    """A broker for the block."""
    broker = AmqpBroker(**given)
    async with trio.open_nursery() as nursery:
        serve = partial(trio.serve_tcp, broker.serve, 0)
        if broker.tls is not None:
            serve = partial(trio.serve_ssl_over_tcp, broker.serve, 0, broker.tls, https_compatible=True)
        [listener] = await nursery.start(partial(serve, host="127.0.0.1"))
        socket = listener.socket if broker.tls is None else listener.transport_listener.socket
        broker.port = socket.getsockname()[1]
        yield broker
        nursery.cancel_scope.cancel()
