"""The command `status`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from math import inf
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import click
import msgspec

from vivero.cli.shared.admin_port import admin_address, processes_options, talk_to_admin
from vivero.cli.shared.options import say
from vivero.cli.shared.rows import print_pairs, print_rows
from vivero.cli.shared.server_options import address_option, talk
from vivero.client.answers import UNAUTHORIZED
from vivero.client.rest import ApiError, Client, ClientError, Document, credentials_from
from vivero.terminal.terminal_tables import Column
from vivero.terminal.texts import as_markup, echo

LATE_S = 3600.0
"""A clock of retention that is later is worth a word."""
LOG_KEEPERS = {"consumer": "a consumer of events that stands still", "instance": "an old instance that still runs"}


class _Partition(TypedDict):
    partitionId: int
    role: str
    health: str


class _Broker(TypedDict):
    brokerId: str
    host: str
    port: int
    version: str
    partitions: list[_Partition]


class _Topology(TypedDict):
    brokers: list[_Broker]
    gatewayVersion: str
    clusterId: str | None


class _Node(TypedDict):
    nodeId: str
    host: str
    port: int
    state: str
    version: str
    started: datetime
    heartbeat: datetime


class _Nodes(TypedDict):
    nodes: list[_Node]


class _Machine(TypedDict):
    slow: bool
    withheldShare: float


class _NodeStatus(TypedDict):
    machine: NotRequired[_Machine]


class _Backlog(TypedDict):
    partitionId: int
    hasLeader: bool
    commands: int
    seconds: float


class _Timers(TypedDict):
    pending: int
    overdueSeconds: float


class _Waiting(TypedDict):
    userTasks: int
    messages: int


class _Retention(TypedDict):
    partitionId: int
    deleted: int
    deletedByLastRun: int
    secondsSinceRun: float
    archiveAwaySeconds: float
    behindSeconds: float
    overdueSeconds: float
    overdueKey: str | None
    overdueBecauseOf: str | None
    logsKeptBy: str | None


class _Figures(TypedDict, total=False):
    maxCount: int
    partitions: list[_Backlog] | None
    instances: dict[str, int] | None
    jobs: dict[str, int] | None
    incidents: dict[str, int] | None
    timers: _Timers | None
    waiting: _Waiting | None
    retention: list[_Retention] | None
    server: dict[str, int] | None


class _Child(TypedDict):
    name: str
    healthy: bool


class _Process(TypedDict):
    name: str
    healthy: bool
    problem: NotRequired[str]
    children: NotRequired[list[_Child]]


class _Processes(TypedDict):
    healthy: bool
    connections: int
    requests: int
    processes: list[_Process]
    children: list[_Child]


@click.command()
@address_option
@processes_options("Show each process of `vivero up --processes N` instead.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def status(
    context: click.Context, address: str | None, processes: bool, admin: str | None, file: Path | None, as_json: bool
) -> None:
    """Show the server's health, its nodes, and what runs and waits. The exit code is 1 if it is not healthy.

    A server with authentication tells its health to everybody, and more to callers with credentials. Nodes with their
    uptimes, and the figures (backlog, instances, jobs, incidents, timers, size of the database), need the permission to
    read the system.

    With --processes, show the health, connections and requests of each process. Only the admin port knows them. Its
    address is that of the settings `admin.host` and `admin.port`: give the same --config as to the server.

    \b
    Examples:
      vivero status
      vivero status --processes
    """
    of_processes = processes or admin is not None
    found = talk_to_admin(admin or admin_address(file), _ask_processes) if of_processes else talk(address, _ask)
    if as_json:
        say(found)
    elif "processes" in found:
        print_rows(found["processes"], PROCESS_COLUMNS)
        echo(_sums(found), err=True)
        for problem in _problems(found):
            echo(problem, err=True)
    else:
        print_pairs(_pairs(found))
    context.exit(0 if found["healthy"] else 1)


def _checked(path: str, answer: Document, shape: Any) -> Document:
    """The answer, if it has the members that are shown. Raises ClientError."""
    try:
        msgspec.convert(answer, shape)
    except msgspec.ValidationError as error:
        raise ClientError(f"the answer of {path} is not as expected: {error}: is it a Vivero server?") from error
    return answer


async def _ask_processes(client: Client) -> Document:
    return _checked("/status", await client.processes(), _Processes)


async def _ask(client: Client) -> Document:
    healthy = await client.healthy()
    try:
        found = {"healthy": healthy, **_checked("/v2/topology", await client.topology(), _Topology)}
    except ApiError as error:
        if error.status != UNAUTHORIZED or credentials_from() is not None:
            raise
        return {"healthy": healthy, "authentication": "required"}
    nodes = (await _if_permitted("/cluster/nodes", client.nodes, _Nodes)).get("nodes", [])
    machine = (await _if_permitted("/cluster/status", client.node_status, _NodeStatus)).get("machine", {})
    figures = await _if_permitted("/cluster/figures", client.figures, _Figures)
    return found | {"nodes": nodes, "machine": machine, "figures": figures}


async def _if_permitted(path: str, ask: Callable[[], Awaitable[Document]], shape: Any) -> Document:
    """The answer; empty if the caller may not ask, or the server is of an earlier version."""
    try:
        return _checked(path, await ask(), shape)
    except ApiError as error:
        if error.status not in (403, 404):
            raise
        return {}


def _pairs(found: Document) -> Iterator[tuple[str, str]]:
    """The shown lines: a name, and a text in rich's markup."""
    yield "health", "[green]healthy[/]" if found["healthy"] else "[red]a part of the server makes no progress[/]"
    if found.get("machine", {}).get("slow"):
        share = found["machine"]["withheldShare"]
        yield "machine", f"[yellow]too slow: it withholds {share:.0%} of the time from the server that answers[/]"
    if "authentication" in found:
        yield "more", "with credentials: set VIVERO_TOKEN, or VIVERO_USERNAME and VIVERO_PASSWORD"
        return
    yield "version", ", ".join(sorted({broker["version"] for broker in found["brokers"]}))
    yield "REST API", f"Camunda {found['gatewayVersion']}"
    yield "cluster", found["clusterId"] or ""
    for node in found["nodes"]:
        up = duration(_seconds_between(node["started"], node["heartbeat"]))
        yield (
            "node",
            f"{as_markup(node['nodeId'])} at {as_markup(node['host'])}:{node['port']}: {_node_state(node)}, up {up}",
        )
    if not found["nodes"]:
        for broker in found["brokers"]:
            yield "node", f"{as_markup(broker['brokerId'])} at {as_markup(broker['host'])}:{broker['port']}"
    for broker in found["brokers"]:
        for partition in broker["partitions"]:
            if partition["role"] == "leader":
                yield "partition", f"{partition['partitionId']}: {partition['health']}, led by {broker['brokerId']}"
    yield from figure_texts(found["figures"])


def figure_texts(figures: Document) -> Iterator[tuple[str, str]]:
    """The figures that the server had time for."""
    if (partitions := figures.get("partitions")) is not None:
        commands, behind_s = sum(each["commands"] for each in partitions), max(each["seconds"] for each in partitions)
        more = "+" if any(each["commands"] >= figures.get("maxCount", inf) for each in partitions) else ""
        yield "backlog", f"{commands:,}{more} commands" + (f", the oldest {behind_s:,.1f} s old" if commands else "")
        for each in partitions:
            if not each["hasLeader"]:
                yield "partition", f"[red]{each['partitionId']}: no node leads it[/]"
    if (instances := figures.get("instances")) is not None:
        yield "instances", f"{instances['running']:,} running"
    most = figures.get("maxCount")
    if (jobs := figures.get("jobs")) is not None:
        states = ", ".join(f"{count:,} {state}" for state, count in jobs.items() if count)
        more = f"{most:,}+; of the first: " if most is not None and sum(jobs.values()) >= most else ""
        yield "jobs", f"{more}{states}" or "none"
    if (incidents := figures.get("incidents")) is not None:
        yield "incidents", f"[red]{_count(incidents['active'], most)}[/]" if incidents["active"] else "none"
    if (timers := figures.get("timers")) is not None:
        late = f", [yellow]overdue by {timers['overdueSeconds']:,.1f} s[/]" if timers["overdueSeconds"] >= 1 else ""
        yield "timers", f"{_count(timers['pending'], most)} pending{late}"
    if (waiting := figures.get("waiting")) is not None:
        tasks, messages = (_count(waiting[name], most) for name in ("userTasks", "messages"))
        yield "waiting", f"{tasks} user tasks, {messages} messages"
    for each in figures.get("retention") or ():
        yield "retention", _retention(each)
    if (server := figures.get("server")) is not None:
        yield "database", f"{server['databaseBytes'] / 1e6:,.0f} MB"


def _count(count: int, most: int | None) -> str:
    """A count, which ends at `most`: then there may be more."""
    return f"{count:,}+" if most is not None and count >= most else f"{count:,}"


def _retention(found: Document) -> str:
    """The work of retention in a partition, and the reason for its waiting."""
    ago = duration(found["secondsSinceRun"])
    texts = [f"{found['deleted']:,} deleted, {found['deletedByLastRun']:,} by the last run {ago} ago"]
    if found["archiveAwaySeconds"]:
        texts.append(f"[red]the archive has been away for {duration(found['archiveAwaySeconds'])}[/]")
    if found["behindSeconds"] >= LATE_S:
        texts.append(f"[yellow]{duration(found['behindSeconds'])} behind the clock[/]")
    if found["overdueKey"] is not None:
        late = duration(found["overdueSeconds"])
        texts.append(f"[yellow]{found['overdueKey']} stays {late} too long: {as_markup(found['overdueBecauseOf'])}[/]")
    if found["logsKeptBy"] is not None:
        texts.append(f"[yellow]old logs stay because of {LOG_KEEPERS[found['logsKeptBy']]}[/]")
    return f"partition {found['partitionId']}: {', '.join(texts)}"


def _node_state(node: Document) -> str:
    colour = {"LIVE": "green", "DRAINING": "yellow"}.get(node["state"], "red")
    return f"[{colour}]{node['state'].lower()}[/], {node['version']}"


def _seconds_between(first: str, last: str) -> float:
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()


def duration(seconds: float) -> str:
    """A time span in its two largest units."""
    left = int(max(seconds, 0))
    parts: list[str] = []
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count or parts:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"


def _health(process: Document) -> str:
    return "[green]healthy[/]" if process["healthy"] else "[red]unhealthy[/]"


def _text(name: str) -> Column:
    """A column of a field that a process without an answer lacks."""
    return Column(name, lambda process: as_markup(str(process.get(name) or "-")))


PROCESS_COLUMNS: tuple[Column, ...] = (
    Column("process", lambda process: process["name"]),
    Column("health", _health),
    *map(_text, ("pid", "node", "connections", "requests")),
)


def _sums(found: Document) -> str:
    """The sums of all processes."""
    return f"{len(found['processes'])} processes: {found['connections']:,} connections, {found['requests']:,} requests"


def _problems(found: Document) -> Iterator[str]:
    """The problems: processes that do not answer, and tasks that make no progress."""
    for process in found["processes"]:
        if "problem" in process:
            yield process["problem"]
        for child in process.get("children", ()):
            if not child["healthy"]:
                yield f"process {process['name']}: {child['name']} makes no progress"
    for child in found["children"]:
        if not child["healthy"]:
            yield f"{child['name']} makes no progress"
