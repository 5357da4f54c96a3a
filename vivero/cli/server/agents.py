"""The command `agents`: AI agents are stopped, shown and run again on the database itself, without a server."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from typing import Any

import click

from vivero.cli.server.agent_reruns import rerun
from vivero.cli.shared.database import change, on_database
from vivero.cli.shared.failures import Failure
from vivero.cli.shared.groups import Group
from vivero.cli.shared.options import KEY, json_option, tell
from vivero.cli.shared.recorded import record
from vivero.cli.shared.rows import print_rows
from vivero.cli.shared.settings import Database, database_in_use
from vivero.core.agents.wires.prices import MILLIONTHS
from vivero.storage.background import agents as storage
from vivero.storage.background.agents import AgentStop
from vivero.storage.postgres.driver import Connection
from vivero.storage.reads import agent_calls
from vivero.storage.reads.agent_calls import AgentCall
from vivero.terminal.terminal_tables import Column
from vivero.terminal.texts import echo

PAGE = 1000
CALLS = (
    Column("ended", lambda item: item["ended_at"][:19]),
    Column("element", lambda item: item["element"]),
    Column("model", lambda item: item["model"]),
    Column("cause", lambda item: item["cause"], spare=3),
    Column("outcome", lambda item: item["outcome"]),
    Column("tools", lambda item: ", ".join(item["called"]), spare=1),
    Column("ms", lambda item: str(item["duration_ms"]), spare=2),
    Column("in", lambda item: _number(item["input"])),
    Column("out", lambda item: _number(item["output"])),
    Column("cost", lambda item: "" if item["cost"] is None else f"{item['cost']:.6f} {item['currency']}"),
)
STOPS = (
    Column("tenant", lambda item: item["tenant"] or "all"),
    Column("process", lambda item: item["process_id"] or "all"),
    Column("model", lambda item: item["model"] or "all"),
)


@click.group(cls=Group)
def agents() -> None:
    """Stop AI agents, let them go on, list what is stopped, show what their calls of models cost, and run them again.

    Stopped agents call no model: running calls are cancelled within some seconds, and their jobs wait without losing a
    retry.

    \b
    Examples:
      vivero agents stop
      vivero agents stop --process support --model 'gpt-5'
      vivero agents resume
    """


agents.add_command(rerun)


def _which(command: Callable[[AgentStop, Database, bool], None]) -> Callable[..., None]:
    """Add the options that name agents, which the command gets as a stop, those of the database, and `--json`."""

    @functools.wraps(command)
    def run(tenant: str, process_id: str, model: str, database: Database, as_json: bool) -> None:
        command(AgentStop(tenant, process_id, model), database, as_json)

    for option in (
        click.option("--model", metavar="NAME", default="", help="Only calls of this model."),
        click.option("--process", "process_id", metavar="ID", default="", help="Only agents of this process."),
        click.option("--tenant", metavar="ID", default="", help="Only agents of this tenant."),
    ):
        run = option(run)
    return json_option(database_in_use(run))


@agents.command("stop")
@_which
def stop(which: AgentStop, database: Database, as_json: bool) -> None:
    """Stop the calls of models, of all agents or of those that the options name."""

    async def work(connection: Connection) -> bool:
        return await storage.stop(connection, which)

    made = change(database, record("agents stop", "RESOURCE", "UPDATE", _name(which)), work, Failure)
    _tell(as_json, which, "are stopped" if made else "were stopped already", "stopped")


@agents.command("resume")
@_which
def resume(which: AgentStop, database: Database, as_json: bool) -> None:
    """End a stop that was made with the same options."""

    async def work(connection: Connection) -> None:
        if not await storage.resume(connection, which):
            raise Failure(f"{_name(which)} were not stopped as such: `vivero agents list` shows what is")

    change(database, record("agents resume", "RESOURCE", "UPDATE", _name(which)), work, Failure)
    _tell(as_json, which, "go on", "resumed")


@agents.command("list")
@json_option
@database_in_use
def list_stops(as_json: bool, database: Database) -> None:
    """List what is stopped."""
    print_rows([each._asdict() for each in on_database(database, storage.stops, Failure)], STOPS, as_json)


@agents.command("show")
@click.argument("key", type=KEY)
@json_option
@database_in_use
def show(key: str, as_json: bool, database: Database) -> None:
    """Show the calls of models of the process instance KEY: outcome, tokens and cost of each, and the sum.

    \b
    Example:
      vivero agents show 2251799813685276
    """

    async def work(connection: Connection) -> list[AgentCall]:
        calls: list[AgentCall] = []
        while True:
            page = await agent_calls.of_instance(connection, int(key), calls[-1].id if calls else None, PAGE)
            calls += page
            if len(page) < PAGE:
                return calls

    calls = on_database(database, work, Failure)
    print_rows([_call(each) for each in calls], CALLS, as_json)
    if not as_json:
        echo(_sum(calls))


def _call(call: AgentCall) -> dict[str, Any]:
    cost = None if call.cost is None else call.cost / MILLIONTHS
    return {**call._asdict(), "ended_at": call.ended_at.isoformat(), "cost": cost}


def _sum(calls: list[AgentCall]) -> str:
    """The calls in a sentence."""
    tokens = sum((call.input or 0) + (call.output or 0) + (call.cached or 0) for call in calls)
    costs = Counter[str]()
    for call in calls:
        if call.cost is not None:
            costs[call.currency] += call.cost
    money = "".join(f", {cost / MILLIONTHS:.6f} {currency}" for currency, cost in sorted(costs.items()))
    return f"{len(calls)} call{'' if len(calls) == 1 else 's'}, {tokens} tokens{money}"


def _name(which: AgentStop) -> str:
    parts = (("tenant", which.tenant), ("process", which.process_id), ("model", which.model))
    named = ", ".join(f"{what} {name}" for what, name in parts if name)
    return f"agents of {named}" if named else "all agents"


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


def _tell(as_json: bool, which: AgentStop, said: str, outcome: str) -> None:
    tell(as_json, f"{_name(which)} {said}", **which._asdict(), outcome=outcome)
