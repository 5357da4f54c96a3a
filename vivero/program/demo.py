"""The demonstration: its own server, a real order process, workers, and a live table of the orders.

All data in the table come from the REST API. The demonstration can run again on the same data: an unchanged process
keeps its version, and the table shows only the orders of this run.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import trio
from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from vivero.client.rest import ApiError, Client, ClientError
from vivero.config.sections import Config
from vivero.program import garden, program
from vivero.program.program import Ready
from vivero.terminal import log_tables, terminal_tables
from vivero.worker import Job, JobFailed, Report, Worker

PROCESS = "order"
_FILE = Path("examples", "order", "order.bpmn")

REFRESH_S = 0.1
ORDERS_TIMEOUT_S = 60.0
"""Time for all orders to end."""

ORDERS: tuple[dict[str, Any], ...] = (
    {"customer": "Ada", "card": "4111-1111", "items": [{"sku": "rose", "price": 12, "quantity": 3}]},
    {"customer": "Grace", "card": "4222-2222", "items": [{"sku": "olive tree", "price": 140, "quantity": 1}]},
    {"customer": "Alan", "card": "4333-3333", "items": [{"sku": "mandrake", "price": 66, "quantity": 2}]},
    {"customer": "Edsger", "card": "expired", "items": [{"sku": "lavender", "price": 7, "quantity": 10}]},
    {"customer": "Barbara", "card": "4555-5555", "items": [{"sku": "rose", "price": 12, "quantity": 1}]},
)
OUT_OF_STOCK = {"mandrake"}
NEW_CARD = "4444-4444"


async def run(
    config: Config, console: Console, *, leave: bool, pace_s: float, serving: Callable[[Ready], object]
) -> None:
    """Start the server, play the show, then stay up until stopped, or with `leave` end.

    `pace_s`: seconds that the simulated work of a job takes. `serving` is called once the server serves clients.
    Raises the exceptions of `program.up` and of the client.
    """
    console.print(
        f"[dim]Starting a server with its own PostgreSQL, which keeps its data in {config.database.data_dir} …[/]"
    )
    stop = trio.Event()
    send, receive = trio.open_memory_channel[Ready](1)
    async with trio.open_nursery() as nursery:

        async def serve() -> None:
            await program.up(config, ready=send.send_nowait, stop=stop)
            nursery.cancel_scope.cancel()

        nursery.start_soon(serve)
        ready = await receive.receive()
        serving(ready)
        async with Client(ready.address) as client:
            show = Show(client, console, pace_s)
            async with trio.open_nursery() as workers:
                workers.start_soon(show.work)
                await show.play_or_say(ready, leave)
                if not leave:
                    await show.plant_garden()
                    show.invite(ready)
                    await trio.sleep_forever()
                workers.cancel_scope.cancel()
        stop.set()


# ------------------------------------------------------------------------------------------------------- the work


@dataclass(slots=True)
class Pace:
    """The seconds that the simulated work of a job takes."""

    seconds: float


def functions(pace: Pace) -> dict[str, Callable[..., Any]]:
    """The work of each job type. A real worker would call the systems of a shop."""
    numbers = itertools.count(1)

    async def check_stock(job: Job) -> Mapping[str, Any]:
        await trio.sleep(pace.seconds)
        return {"inStock": not OUT_OF_STOCK & {item.get("sku") for item in job.variables.get("items", ())}}

    async def charge_card(job: Job) -> Mapping[str, Any]:
        await trio.sleep(pace.seconds)
        if job.variables.get("card") == "expired":
            raise JobFailed("the card has expired", retries=0)
        return {"receipt": f"R-{next(numbers):04}"}

    async def pick_items(job: Job) -> Mapping[str, Any]:
        await trio.sleep(pace.seconds)
        return {"pickedIn": job.headers.get("warehouse", "unknown")}

    async def pack_parcel(job: Job) -> Mapping[str, Any]:
        await trio.sleep(pace.seconds)
        return {"parcel": f"P-{next(numbers):04}"}

    async def write(job: Job) -> Mapping[str, Any]:
        await trio.sleep(pace.seconds)
        return {"letter": f"Dear {job.variables.get('customer', 'customer')}, …"}

    return {
        "check-stock": check_stock,
        "charge-card": charge_card,
        "pick-items": pick_items,
        "pack-parcel": pack_parcel,
        "send-confirmation": write,
        "refuse-order": write,
    }


# ------------------------------------------------------------------------------------------------------- the show


@dataclass(slots=True)
class Order:
    """An order of this run: its process instance, and the positions of its commands in the log."""

    variables: Mapping[str, Any]
    key: str
    positions: list[int]
    state: str = "ACTIVE"
    has_incident: bool = False
    at: list[str] = field(default_factory=list)


class Show:
    """The acts of the demonstration: deploy, start, watch, help, explain."""

    def __init__(self, client: Client, console: Console, pace_s: float) -> None:
        self._client = client
        self._console = console
        self._pace = Pace(pace_s)
        self._orders: dict[str, Order] = {}

    async def work(self) -> None:
        """Run the work of all job types, over HTTP like any other worker, until cancelled."""
        worker = Worker(client=self._client, name="demo", concurrency=16, on_report=self._worked)
        for type, function in (functions(self._pace) | garden.FUNCTIONS).items():
            worker.job(type, backoff_s=0, concurrency=4)(function)
        await worker.serve()

    def _worked(self, report: Report) -> None:
        order = self._orders.get(report.job.process_instance_key)
        if order is not None and report.position is not None:
            order.positions.append(report.position)

    async def play_or_say(self, ready: Ready, leave: bool) -> None:
        """Play the show. Others may change its orders, and end it early: then it says so, and goes on without.

        Raises ClientError for a show that ends early if it should `leave`, or if it has no order yet.
        """
        try:
            with trio.fail_after(ORDERS_TIMEOUT_S):
                await self.play(ready)
        except (ClientError, trio.TooSlowError) as error:
            reason = str(error) or f"some orders have not ended within {ORDERS_TIMEOUT_S:g} s"
            if leave or not self._orders:
                raise ClientError(f"the show ended early: {reason}") from error
            self._console.print(self._table())
            self._console.print(f"\n[yellow]The show ends early: {escape(reason)}.[/]")

    async def play(self, ready: Ready) -> None:
        """Play the show, from the deployment to the explanation."""
        self._console.print(f"[bold]Vivero[/] {ready.address}, PostgreSQL {ready.server.version}")
        await self._deploy()
        await self._start()
        with Live(console=self._console, auto_refresh=False, transient=True) as live:
            await self._watch(live)
        self._console.print(self._table())
        await self._explain()

    def _step(self, number: int, text: str) -> None:
        self._console.print(f"\n[bold cyan]{number}[/] [bold]{text}[/]")

    async def _deploy(self) -> None:
        self._step(1, f"Deploy {_FILE}")
        answer = await self._client.deploy([garden.example(_FILE.name)])
        process = answer["deployments"][0]["processDefinition"]
        self._console.print(
            f"  {process['processDefinitionId']} version {process['processDefinitionVersion']},"
            f" key {process['processDefinitionKey']}"
        )

    async def _start(self) -> None:
        self._step(2, f"Start {len(ORDERS)} orders; workers take their jobs over HTTP")
        for variables in ORDERS:
            answer = await self._client.create(PROCESS, variables, tags=["demo"])
            key = answer["processInstanceKey"]
            self._orders[key] = Order(variables, key, [int(answer["commandPosition"])])

    async def _watch(self, live: Live) -> None:
        """Show the state of the orders until all have ended. Repair the orders that have incidents."""
        helped: set[str] = set()
        while True:
            await self._look()
            if self._console.is_terminal:
                live.update(self._table(), refresh=True)
            waiting = [order for order in self._orders.values() if order.state == "ACTIVE"]
            if not waiting:
                return
            if all(order.has_incident for order in waiting):
                for order in waiting:
                    if order.key not in helped:
                        helped.add(order.key)
                        await self._help(live, order)
            await trio.sleep(REFRESH_S)

    async def _look(self) -> None:
        keys = {"$in": list(self._orders)}
        for instance in (await self._client.search("process-instances", {"processInstanceKey": keys})).items:
            order = self._orders[instance["processInstanceKey"]]
            order.state, order.has_incident = instance["state"], instance["hasIncident"]
        for order in self._orders.values():
            if order.state == "ACTIVE":
                filter = {"processInstanceKey": order.key, "state": "ACTIVE", "type": "SERVICE_TASK"}
                order.at = [
                    element["elementName"] or element["elementId"]
                    for element in (await self._client.search("element-instances", filter)).items
                ]

    def _table(self) -> Table:
        made = Table(box=None, header_style="bold", pad_edge=False)
        for name, width in (("  instance", 18), ("customer", 8), ("items", 12), ("state", 15), ("where", 31)):
            made.add_column(name, min_width=width, no_wrap=True)
        for order in self._orders.values():
            items = ", ".join(f"{item['quantity']} {item['sku']}" for item in order.variables["items"])
            where = ", ".join(order.at) if order.state == "ACTIVE" else ""
            shown = terminal_tables.state({"state": order.state, "hasIncident": order.has_incident})
            made.add_row(f"  {order.key}", escape(order.variables["customer"]), escape(items), shown, escape(where))
        return made

    async def _help(self, live: Live, order: Order) -> None:
        """Do a person's part: enter the customer's new card, and resolve the incident."""
        filter = {"processInstanceKey": order.key, "state": "ACTIVE"}
        for incident in (await self._client.search("incidents", filter)).items:
            live.console.print(
                f"  [red]incident[/] {incident['incidentKey']} at {incident['elementId']}:"
                f" {escape(incident['errorMessage'])}; a new card resolves it, and the same job runs again"
            )
            await trio.sleep(self._pace.seconds * 3)
            try:
                order.positions += await self._client.repair(incident["incidentKey"], {"card": NEW_CARD})
            except ApiError as error:
                if error.status not in (404, 409):
                    raise
                live.console.print("  somebody was faster: the incident or its job has ended")

    async def _explain(self) -> None:
        helped = next(order for order in self._orders.values() if order.variables["card"] == "expired")
        self._step(3, f"The command log of {helped.variables['customer']}'s order")
        commands = [await self._client.command(position) for position in sorted(helped.positions)]
        self._console.print(log_tables.log_table(commands))
        self._step(4, "Its final variables")
        found = await self._client.search("variables", {"scopeKey": helped.key})
        self._console.print(terminal_tables.variables(found.items, self._console.width))
        events = sum(len(command["events"]) for command in commands)
        self._console.print(
            f"\n[green]{len(self._orders)} orders have ended.[/] PostgreSQL stored each command durably before its"
            f" answer, and committed the {events} events above together with their changes."
        )

    async def plant_garden(self) -> None:
        """Make instances in every situation, once in this data directory. A garden that fails ends nothing."""
        try:
            if await garden.is_planted(self._client):
                return
            self._pace.seconds = 0.0
            self._step(
                5, "Plant a garden: claims to review, invoices of two versions, a loop, an incident, ended orders"
            )
            with Progress(console=self._console, transient=True, disable=not self._console.is_terminal) as bar:
                task = bar.add_task("  orders", total=garden.ENDED)
                await garden.plant(self._client, lambda ended: bar.update(task, completed=ended))
        except (ClientError, trio.TooSlowError) as error:
            self._console.print(f"[yellow]The garden is not complete: {escape(str(error) or 'it takes too long')}.[/]")

    def invite(self, ready: Ready) -> None:
        """Suggest commands to try next."""
        address = "" if ready.address.endswith(":8080") else f" --address {ready.address}"
        key = next(iter(self._orders))
        self._console.print(
            f"\n[bold]The server stays up, and so do its workers. Open {ready.address} in a browser.[/]"
            " In another terminal:\n"
        )
        for line in (
            f'vivero start order{address} --await --variables \'{{"customer": "You", "card": "4111",'
            ' "items": [{"sku": "rose", "price": 12, "quantity": 2}]}\'',
            f"vivero show {key}{address}",
            f"vivero instances{address}",
            f"curl {ready.address}/v2/topology",
            f"curl {ready.address}/v2/commands/{max(self._orders[key].positions)}",
        ):
            self._console.print(f"  {line}", markup=False, soft_wrap=True)
        self._console.print("\nCtrl-C stops the server; its data stay.")
