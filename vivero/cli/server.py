"""The commands `up`, `migrate` and `database-url`."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

import click
import structlog

from vivero import config, embedded, logs, program, service_manager
from vivero.access import NotProtected
from vivero.api.access.settings import MODES
from vivero.api.http1.listeners import ListenError
from vivero.api.tls.certificate import CertificateProblem
from vivero.cli.failures import Failure, GaveUp, run
from vivero.cli.options import PATH, json_option, tell
from vivero.cli.settings import Database, database_options
from vivero.config import Config
from vivero.engine.runtime.cluster.versions import IncompatibleVersion
from vivero.engine.runtime.supervision.failures import Escalated
from vivero.processes import parent
from vivero.roles import Role, parse
from vivero.storage.postgres.checks import Server
from vivero.storage.postgres.errors import Outage, Retry
from vivero.storage.postgres.migrate import SCHEMA_VERSION, Migration, MigrationError
from vivero.storage.postgres.startup_problems import StartupProblem

log = structlog.get_logger(__name__)

LISTED = 5
"""The most migrations that one message names."""

EXPECTED: Mapping[type[Exception], type[Failure]] = {
    StartupProblem: Failure,
    ListenError: Failure,
    NotProtected: Failure,
    CertificateProblem: Failure,
    embedded.EmbeddedPostgresError: Failure,
    MigrationError: Failure,
    IncompatibleVersion: Failure,
    Outage: Failure,
    Retry: Failure,
    Escalated: GaveUp,
}
"""The expected exceptions of a server, and the failure of the command for each."""


@click.command()
@click.option("--port", type=int, metavar="N", help="Listen on this port; 0 selects a free one.  [8080]")
@click.option("--host", metavar="H", help="Listen on this address; 0.0.0.0 means all.  [127.0.0.1]")
@database_options
@click.option("--processes", type=int, metavar="N", help="Serve with N processes, for machines with more cores.  [1]")
@click.option("--partitions", type=int, metavar="N", help="Partitions of a new database, for several engines.  [1]")
@click.option("--roles", metavar="LIST", help="What this node does: api, engine, jobs, web.  [all of them]")
@click.option("--jobs", metavar="MODULE", help="A file or module with background jobs of your own.")
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
    partitions: int | None,
    roles: str | None,
    jobs: str | None,
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
      vivero up --jobs my_jobs.py
      vivero up --roles api --database-url postgresql://vivero:secret@db/vivero
      vivero up --host 0.0.0.0 --auth required --config vivero.toml
    """
    chosen = database.settings(
        api__port=port,
        api__host=host,
        processes=processes,
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
    for name, suggestion in config.misspelt().items():
        log.warning("an environment variable does not name a setting", variable=name, did_you_mean=suggestion)
    serve = parent.serve if chosen.processes > 1 else program.serve_in_this_process
    run(
        lambda: program.up(chosen, ready=functools.partial(_say_ready, chosen), migrating=say_migration, serve=serve),
        EXPECTED,
    )


@click.command()
@database_options
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 if migrations are pending.")
@json_option
def migrate(database: Database, check: bool, as_json: bool) -> None:
    """Migrate a database's schema, then exit.

    `vivero up` does the same at its start. Use this command to migrate before the start. Several programs may run it
    at the same time: one migrates, and the others wait and then have nothing to do.

    \b
    Examples:
      vivero migrate --database-url postgresql://vivero:secret@db/vivero
      vivero migrate --check
    """
    chosen = database.settings()
    logs.configure(chosen.log_format, "warning")
    todo = run(lambda: _pending(chosen) if check else _migrate(chosen), EXPECTED)
    if check and todo:
        raise Failure(_pending_text(todo))
    text = f"{len(todo)} migrations done; the schema is up to date" if todo else "the schema is up to date"
    tell(as_json, text, migrations=list(map(str, todo)))


def _pending_text(todo: list[Migration]) -> str:
    """Names the migrations; of many only the first and the last one."""
    names = list(map(str, todo))
    listed = ", ".join(names) if len(names) <= LISTED else f"{names[0]} … {names[-1]}"
    return f"{len(names)} migrations are pending: {listed}"


async def _migrate(chosen: Config) -> list[Migration]:
    done: list[Migration] = []

    def progress(migration: Migration, number: int, count: int) -> None:
        say_migration(migration, number, count)
        done.append(migration)

    async with program.database(chosen) as (dsn, _children):
        await program.prepare(dsn, chosen, progress)
    return done


async def _pending(chosen: Config) -> list[Migration]:
    async with program.database(chosen) as (dsn, _children):
        return await program.pending(dsn, chosen)


@click.command("database-url")
@click.option("--data-dir", type=PATH, envvar="VIVERO_DATA_DIR", metavar="DIR", help="The --data-dir of `vivero up`.")
@json_option
def database_url(data_dir: Path | None, as_json: bool) -> None:
    """Print the URL of the embedded PostgreSQL that runs at DIR.

    \b
    Example:
      vivero database-url
      psql "$(vivero database-url)" -c 'SELECT * FROM process_instances'
    """
    url = embedded_url(data_dir)
    tell(as_json, url, url=url)


def embedded_url(data_dir: Path | None) -> str:
    """The URL of the embedded PostgreSQL that runs at a data directory. Raises Failure."""
    try:
        url = embedded.database_url(data_dir)
    except embedded.EmbeddedPostgresError as error:
        raise Failure(str(error)) from error
    if url is None:
        root = data_dir or embedded.default_root()
        raise Failure(f"no embedded PostgreSQL runs at {root}: start it with `vivero up`")
    return url


def say_migration(migration: Migration, number: int, count: int) -> None:
    """Print one line for a migration; a new database gets one for all of them."""
    if count == SCHEMA_VERSION:
        if number == 1:
            click.echo(f"making the tables of a new database: {count} migrations", err=True)
        return
    click.echo(f"migration {number} of {count}: {migration}", err=True)


def _say_ready(chosen: Config, ready: program.Ready) -> None:
    click.echo(banner(chosen, ready))
    service_manager.notify("READY=1")


def banner(chosen: Config, ready: program.Ready) -> str:
    """The lines that `up` prints once it serves clients: address, PostgreSQL, durability."""
    lines = [
        ("API", f"{ready.address}/v2"),
        ("PostgreSQL", where(chosen, ready.server)),
        ("durability", durability(ready.server)),
    ]
    if ready.admin is not None:
        lines.append(("processes", f"{chosen.processes}; admin port {ready.admin}/status"))
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
