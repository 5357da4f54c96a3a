"""The commands `nodes` and `drain`."""

from __future__ import annotations

import click
import trio

from vivero.cli.shared.failures import Failure
from vivero.cli.shared.options import Seconds, json_option, say
from vivero.cli.shared.rows import print_rows
from vivero.cli.shared.server_options import address_option, talk
from vivero.client.rest import Client, Document
from vivero.terminal.terminal_tables import Column, field, listed
from vivero.terminal.texts import as_markup, echo

POLL_S = 0.25
COLUMNS = (
    Column("node", lambda node: as_markup(node["nodeId"]) + (" (asked)" if node["asked"] else "")),
    Column("state", field("state")),
    Column("roles", listed("roles"), spare=3),
    Column("version", field("version"), spare=4),
    Column("address", lambda node: as_markup(f"{node['host']}:{node['port']}"), spare=1),
    Column("partitions", listed("partitions")),
    Column("heartbeat", field("heartbeat"), spare=2),
)


@click.command()
@address_option
@json_option
def nodes(address: str | None, as_json: bool) -> None:
    """List the nodes: roles, versions, heartbeats and the partitions that they lead.

    A node is a running program on the database of the server.

    \b
    Examples:
      vivero nodes
      vivero nodes --json
    """

    async def read_nodes(client: Client) -> Document:
        return await client.nodes()

    found = talk(address, read_nodes)
    if as_json:
        for node in found["nodes"]:
            say(node)
    else:
        print_rows([node | {"asked": node["nodeId"] == found["thisNode"]} for node in found["nodes"]], COLUMNS)
        if waiting := found["partitionsWithoutLeader"]:
            echo(f"no node leads {_listed(waiting)}", err=True)


@click.command()
@click.argument("node", required=False)
@click.option("--undo", is_flag=True, help="Take it back: the node gets its share of partitions again.")
@click.option("--timeout", "timeout_s", type=Seconds(), metavar="S", help="Fail if it takes longer than S seconds.")
@address_option
@json_option
def drain(node: str | None, undo: bool, timeout_s: float | None, address: str | None, as_json: bool) -> None:
    """Hand the partitions of a node over to other nodes, and wait until they are gone.

    NODE is the name of a node, or a part of it that no other node has (see `vivero nodes`). Without it, the node that
    answers is drained. It goes on serving clients; stop it afterwards. A request in progress notices nothing.

    \b
    Examples:
      vivero drain
      vivero drain worker-3
      vivero drain worker-3 --undo
    """

    async def work(client: Client) -> None:
        name = chosen(await client.nodes(), node)
        await client.set_draining(name, not undo)
        if not undo and not await _gone(client, name, timeout_s, as_json):
            raise Failure(f"node {name} still leads partitions after {timeout_s:g} s; it goes on handing them over")
        if as_json:
            say({"nodeId": name, "outcome": "taken back" if undo else "drained"})
        elif undo:
            echo(f"node {name} gets partitions again")

    talk(address, work, lambda: "the node goes on handing over: `vivero drain --undo` takes it back")


def chosen(found: Document, part: str | None) -> str:
    """The only node whose name contains `part`; without it the node that was asked. Raises Failure."""
    if part is None:
        return str(found["thisNode"])
    names = [node["nodeId"] for node in found["nodes"]]
    matching = [part] if part in names else [name for name in names if part in name]
    if len(matching) != 1:
        raise Failure(f"'{part}' fits {len(matching)} nodes; the nodes are {', '.join(names)}")
    return str(matching[0])


async def _gone(client: Client, name: str, timeout_s: float | None, as_json: bool) -> bool:
    """Wait until the node leads nothing, and say how it goes on, with JSON on stderr. False if it takes too long."""
    done, said = f"node {name} leads no partition", ""
    progress = progress_of(await client.nodes(), name)  # it is said at least once, however short the timeout
    with trio.move_on_after(float("inf") if timeout_s is None else timeout_s):
        while progress != done:
            if progress != said:
                echo(progress, err=as_json)
                said = progress
            await trio.sleep(POLL_S)
            progress = progress_of(await client.nodes(), name)
    if progress == done:
        echo(done, err=as_json)
    return progress == done


def progress_of(found: Document, name: str) -> str:
    (partitions,) = [node["partitions"] for node in found["nodes"] if node["nodeId"] == name] or [[]]
    if not partitions:
        return f"node {name} leads no partition"
    others = [node for node in found["nodes"] if node["state"] == "LIVE" and "engine" in node["roles"]]
    why = "" if others else ": no other engine node can take over; start one, or take it back with --undo"
    return f"node {name} leads {_listed(partitions)}{why}"


def _listed(partitions: list[int]) -> str:
    return f"partition{'s' * (len(partitions) > 1)} {', '.join(map(str, partitions))}"
