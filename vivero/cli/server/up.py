"""The command `up`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import click
import structlog

from vivero import embedded, logs
from vivero.api.access.settings import MODES
from vivero.api.http1.listeners import ListenError
from vivero.api.serving.certificate import CertificateProblem
from vivero.cli.shared.database import EXPECTED as OF_DATABASES
from vivero.cli.shared.database import say_migration
from vivero.cli.shared.failures import Failure, GaveUp, run
from vivero.cli.shared.options import PATH
from vivero.cli.shared.running_servers import published
from vivero.cli.shared.settings import Database, database_options
from vivero.cli.shared.streams import OutputFailed
from vivero.config import sources
from vivero.config.processes import CORES_OF_ONE
from vivero.config.roles import Role, parse
from vivero.config.sections import Config
from vivero.engine.compute.settings import processors
from vivero.engine.supervision.failures import Escalated
from vivero.processes import parent
from vivero.program import program, service_manager
from vivero.program.access import NotProtected
from vivero.storage.schema.checks import Server

log = structlog.get_logger(__name__)

EXPECTED: Mapping[type[Exception], type[Failure]] = {
    **OF_DATABASES,
    ListenError: Failure,
    NotProtected: Failure,
    CertificateProblem: Failure,
    Escalated: GaveUp,
}
"""The expected exceptions of a server, and the failure of the command for each."""


@click.command()
@click.option("--port", type=int, metavar="N", help="Listen on this port; 0 selects a free one.  [8080]")
@click.option("--host", metavar="H", help="Listen on this address; 0.0.0.0 means all.  [127.0.0.1]")
@database_options
@click.option("--processes", type=int, metavar="N", help="Run N processes; 0: as many as suit the cores.  [1]")
@click.option("--engine-processes", type=int, metavar="N", help="Let N of them lead partitions, the others serve.  [0]")
@click.option("--partitions", type=int, metavar="N", help="Partitions of a new database, for several engines.  [1]")
@click.option("--roles", metavar="LIST", help="What this node does: api, engine, jobs, web.  [all of them]")
@click.option("--jobs", metavar="MODULE", help="A file or module with background jobs of your own.")
@click.option("--reload", is_flag=True, help="With --jobs: start again when a Python file beside MODULE changes.")
@click.option("--tls-cert", type=PATH, metavar="FILE", help="Serve HTTPS with this certificate chain, in PEM.")
@click.option("--tls-key", type=PATH, metavar="FILE", help="The private key of --tls-cert, without a password.")
@click.option("--auth", type=click.Choice(MODES), help="Whether requests need credentials.  [none]")
@click.option(
    "--insecure", is_flag=True, default=None, help="Listen on any address without authentication. Not for production."
)
@click.option("--chaos", is_flag=True, default=None, help="Serve POST /chaos/children/{name}, for tests.")
@click.option("--control-clock", is_flag=True, default=None, help="Allow clients to set the clock, for tests.")
@click.option("--log-format", type=click.Choice(["console", "json"]), help="Format of the log on stderr.  [console]")
def up(
    port: int | None,
    host: str | None,
    database: Database,
    processes: int | None,
    engine_processes: int | None,
    partitions: int | None,
    roles: str | None,
    jobs: str | None,
    reload: bool,
    tls_cert: Path | None,
    tls_key: Path | None,
    auth: str | None,
    insecure: bool | None,
    chaos: bool | None,
    control_clock: bool | None,
    log_format: str | None,
) -> None:
    """Start the server.

    Without --database-url, the server starts an embedded PostgreSQL, which needs no installation. It keeps its data
    (see --data-dir) and stops with the last program that uses it. SIGTERM and Ctrl-C finish open requests and then stop
    the server; a second signal stops it at once.

    Several servers may share one database, each with some of the roles: `api` serves clients, `engine` runs process
    instances, `jobs` keeps the tables small, `web` serves the console.

    \b
    Examples:
      vivero up
      vivero up --port 9090 --data-dir ./data
      vivero up --jobs my_jobs.py --reload
      vivero up --roles api --database-url postgresql://vivero:secret@db/vivero
      vivero up --processes 0
      vivero up --host 0.0.0.0 --auth required --config vivero.toml
    """
    if reload:
        _run_again(jobs)
        return
    chosen = database.settings(
        api__port=port,
        api__host=host,
        processes=processes,
        engine_processes=engine_processes,
        partitions=partitions,
        roles=roles,
        jobs__module=jobs,
        tls__certificate=tls_cert,
        tls__key=tls_key,
        auth__mode=auth,
        auth__insecure=insecure,
        chaos=chaos,
        control_clock=control_clock,
        log_format=log_format,
    )
    program.configure_logs(chosen)
    for name, suggestion in sources.misspelt().items():
        log.warning("an environment variable does not name a setting", variable=name, did_you_mean=suggestion)
    start = parent.up if chosen.processes > 1 else program.up
    running = ExitStack()

    def ready(server: program.Ready) -> None:
        running.enter_context(published(server.address, database.file, chosen))
        _say_ready(chosen, server)

    try:
        with running:
            run(lambda: start(chosen, ready=ready, migrating=say_migration), EXPECTED)
    finally:
        logs.flush()  # the reason of the end is the last line


def _run_again(jobs: str | None) -> None:
    """Run the same command without --reload, and again after each change."""
    from vivero.cli.shared.reloading import reloading
    from vivero.cli.shared.worker_modules import folder_of

    if jobs is None:
        raise click.UsageError("--reload needs --jobs: it looks at the files beside that module")
    arguments = [each for each in sys.argv[1:] if each != "--reload"]
    run(lambda: reloading([sys.executable, "-m", "vivero", *arguments], folder_of(jobs)), {})


def _say_ready(chosen: Config, ready: program.Ready) -> None:
    try:
        click.echo(banner(chosen, ready))
    except OutputFailed as error:
        log.warning("the server is ready, but cannot print so", detail=str(error), address=ready.address)
    service_manager.notify("READY=1")


def banner(chosen: Config, ready: program.Ready) -> str:
    """The lines that `up` prints once it serves clients: address, PostgreSQL, durability."""
    lines = [
        ("API", f"{ready.address}/v2"),
        ("PostgreSQL", where(chosen, ready.server)),
        ("durability", durability(ready.server)),
    ]
    if ready.admin is not None:
        lines.append(("processes", f"{division(chosen)}; admin port {ready.admin}/status"))
    elif (cores := processors()) > CORES_OF_ONE:
        lines.append(("processes", f"1, of {cores} cores; --processes 0 uses more of them"))
    if set(parse(chosen.roles)) != set(Role):
        lines.append(("roles", chosen.roles))
    if chosen.auth.mode == "none" and chosen.auth.insecure:
        lines.append(("security", "none: every client that can reach the server may do everything"))
    if chosen.control_clock:
        lines.append(("clock", "clients may set it with PUT /v2/clock"))
    if chosen.chaos:
        lines.append(("chaos", "on: every client may inject faults with POST /chaos/children/{name}"))
    table = "\n".join(f"  {name:<12} {text}" for name, text in lines)
    return f"{click.style('Vivero is ready', bold=True)}\n{table}"


def division(chosen: Config) -> str:
    """The number of processes, and the work of each, for the banner."""
    processes, engines = chosen.processes, chosen.engine_processes
    return f"{processes}: {engines} for the engine, {processes - engines} for clients" if engines else f"{processes}"


def where(chosen: Config, server: Server) -> str:
    """The version and place of PostgreSQL, for the banner."""
    if chosen.database.url is not None:
        return f"{server.version} at {server.address}"
    return f"{server.version}, embedded, data in {chosen.database.data_dir or embedded.default_root()}"


def durability(server: Server) -> str:
    """The settings that decide whether acknowledged commands survive a crash of the machine, for the banner."""
    text = f"fsync {'on' if server.fsync else 'off'}, synchronous_commit {server.synchronous_commit}"
    if server.fsync and server.synchronous_commit not in ("off", "local"):
        return text
    return click.style(f"{text}: a crash may lose acknowledged commands", fg="yellow")
