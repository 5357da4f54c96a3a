"""A child: a node that serves on inherited listening sockets, obeys its parent, and ends with it."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

import structlog
import trio

from vivero import logs
from vivero.api.http1.figures import HttpFigures
from vivero.api.serving.certificate import Certificate, certificate_of
from vivero.api.serving.server import Endpoint
from vivero.engine.supervision.failures import Escalated
from vivero.engine.supervision.supervisor import Supervisor
from vivero.node import tree
from vivero.node.metrics import NodeMetrics
from vivero.processes.channel import (
    AskMetrics,
    AskStatus,
    Begin,
    Channel,
    Inflict,
    Inflicted,
    LogEverything,
    Reload,
    Serving,
    ShownMetrics,
    Status,
    Stop,
    ToChild,
    to_child,
)
from vivero.processes.connection_counts import ConnectionCounts
from vivero.program import program
from vivero.program.ends import GAVE_UP, alone
from vivero.storage.postgres.errors import describe

log = structlog.get_logger(__name__)

CHANNEL_FD = 0
"""The channel is the child's standard input."""
ORPHANED = 71
"""The exit code of a child whose parent is gone. Nobody reads it; it is not that of a failure of the child."""


def main() -> None:
    """Run the child. Exit code 70: it gave up after too many failures."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the parent says what to do, also when their terminal closes
    try:
        trio.run(_run)
    except BaseException as error:
        cause = alone(error)
        if isinstance(cause, Escalated):
            log.error("the process gives up", error=describe(cause))
            sys.exit(GAVE_UP)
        raise


async def _run() -> None:
    channel = Channel(socket.socket(fileno=CHANNEL_FD), to_child)
    async with aclosing(channel.messages()) as messages:
        begin = await anext(messages, None)
        if not isinstance(begin, Begin):
            os._exit(ORPHANED)
        program.configure_logs(begin.config, process=begin.name)
        await _serve(begin, channel, messages)


async def _serve(begin: Begin, channel: Channel[ToChild], messages: AsyncIterator[ToChild]) -> None:
    """Serve until told to stop, by the parent or by a signal. Only the parent ends a child at once, by SIGKILL."""
    config, stop = begin.config, trio.Event()
    node = program.node_name(config.api.node_name, begin.name)
    program.allow_files(program.open_files(config))
    program.tune_interpreter()
    turns = ConnectionCounts(begin.counts, config.processes, begin.index)
    certificate = certificate_of(config.tls)
    endpoint = Endpoint(_listeners(begin.listeners), turns, certificate=certificate)
    async with trio.open_nursery() as nursery:

        def started(built: tree.Tree) -> None:
            nursery.start_soon(channel.send, Serving())
            nursery.start_soon(
                _obey,
                channel,
                messages,
                stop,
                _Node(node, built.supervisor, endpoint.figures, built.metrics, begin.siblings, certificate),
            )

        nursery.start_soon(_stop_on_signal, stop)
        nursery.start_soon(program.on_signal, signal.SIGUSR1, program.log_everything)
        await tree.run(config, begin.dsn, node, endpoint, stop, started, siblings_directory=begin.siblings)
        nursery.cancel_scope.cancel()


def _listeners(descriptors: Sequence[int]) -> list[trio.SocketListener]:
    return [trio.SocketListener(trio.socket.from_stdlib_socket(socket.socket(fileno=fd))) for fd in descriptors]


async def _stop_on_signal(stop: trio.Event) -> None:
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            log.info("stopping", signal=signal.Signals(number).name)
            stop.set()


@dataclass(frozen=True, slots=True)
class _Node:
    name: str
    supervisor: Supervisor
    http: HttpFigures
    metrics: NodeMetrics
    siblings: Path
    """The directory of the processes' sockets. Whoever outlives the parent removes it."""
    certificate: Certificate | None = None


async def _obey(channel: Channel[ToChild], messages: AsyncIterator[ToChild], stop: trio.Event, node: _Node) -> None:
    """Do what the parent says. End at once when it is gone: another program may want its port and its database."""
    async for message in messages:
        if isinstance(message, Stop):
            stop.set()
        elif isinstance(message, Reload):
            if node.certificate is not None:
                node.certificate.reload()
        elif isinstance(message, LogEverything):
            logs.LEVELS.set_everything(message.everything)
        elif isinstance(message, AskStatus):
            await channel.send(_status(message.id, node))
        elif isinstance(message, AskMetrics):
            shown = node.metrics.shown
            await channel.send(ShownMetrics(message.id, None if shown is None else await shown()))
        elif isinstance(message, Inflict):
            await channel.send(_inflict(message, node.supervisor))
    log.error("the parent process is gone: ending with it")
    logs.flush()
    rmtree(node.siblings, ignore_errors=True)  # the sibling does the same, perhaps at the same time
    os._exit(ORPHANED)


def _status(number: int, node: _Node) -> Status:
    http, supervisor = node.http, node.supervisor
    return Status(
        number, node.name, supervisor.healthy, http.connections, http.accepted, http.requests, list(supervisor.health())
    )


def _inflict(message: Inflict, supervisor: Supervisor) -> Inflicted:
    try:
        return Inflicted(message.id, True, supervisor.chaos(message.child, message.kind))
    except KeyError:
        return Inflicted(message.id, False, False)
