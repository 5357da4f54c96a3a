"""The command `doctor`."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from time import time_ns

import click
import trio

from vivero.cli.shared.database import EXPECTED, need_database
from vivero.cli.shared.failures import run
from vivero.cli.shared.options import json_option, say
from vivero.cli.shared.settings import Database, database_in_use
from vivero.config.sections import Config
from vivero.embedded.layout import default_root
from vivero.engine.retention.archive.opening import open_store
from vivero.operations import document_stores
from vivero.operations.doctor import judge, worst
from vivero.operations.findings import Finding, Level
from vivero.program.database import leased
from vivero.storage.postgres import driver
from vivero.storage.postgres.startup_problems import StartupProblem
from vivero.storage.reads import diagnosis
from vivero.storage.retention.archives import ArchiveProblem
from vivero.storage.schema import checks
from vivero.terminal.terminal_tables import console
from vivero.terminal.texts import as_markup

COLOURS = {Level.OK: "green", Level.WARNING: "yellow", Level.PROBLEM: "red"}
LITTLE_SPACE = 2_000_000_000
"""Bytes."""
DOCUMENT_STORES = 87
"""The version of the schema since which documents have stores."""


@click.command()
@json_option
@database_in_use
@click.pass_context
def doctor(context: click.Context, as_json: bool, database: Database) -> None:
    """Check PostgreSQL: settings, schema, vacuum, transactions, connections, indexes, replication, clocks and disk;
    what retention waits for, the archive, and the stores of documents.

    Nothing is changed: a probe is written to each store of documents, read and deleted. Run it as the user of the
    server. Each finding says what to do. The exit code is 1 if there is a problem, 0 otherwise; a warning is none.

    \b
    Examples:
      vivero doctor --database-url postgresql://vivero@db/vivero
      vivero doctor --json > findings.jsonl
    """
    chosen = database.settings()
    need_database(chosen)
    findings = run(lambda: _examine(chosen), EXPECTED)
    for one in findings:
        if as_json:
            say(asdict(one))
        else:
            _print(one)
    context.exit(1 if worst(findings) is Level.PROBLEM else 0)


async def _examine(chosen: Config) -> list[Finding]:
    async with leased(chosen) as (dsn, _children):
        findings = []
        try:
            await checks.check(dsn, allow_unsafe_commits=chosen.database.allow_unsafe_commits)
        except StartupProblem as problem:
            findings.append(Finding(Level.PROBLEM, "start", str(problem)))
        connection = await driver.connect(dsn, name="vivero:doctor")
        try:
            facts = await diagnosis.read(connection, time_ns() / 1e9)
            of_documents = await document_stores.examine(
                chosen.documents, connection, facts.schema is not None and facts.schema >= DOCUMENT_STORES
            )
        finally:
            connection.close()
    return [*findings, *judge(facts), await archive(chosen, facts.has_archived), *of_documents, disk(chosen)]


async def archive(chosen: Config, known: bool) -> Finding:
    """Whether the archive can be reached from here. `known`: the database knows files of it."""
    store = open_store(chosen.retention)
    if store is None:
        return Finding(Level.OK, "archive", "there is none: retention.archive names one")
    try:
        return Finding(Level.OK, "archive", f"{await trio.to_thread.run_sync(store.check, known)} can be reached")
    except ArchiveProblem as problem:
        return Finding(Level.PROBLEM, "archive", str(problem), "Nothing is deleted meanwhile")


def disk(chosen: Config) -> Finding:
    """The free space for the embedded server. Nothing tells the space of another machine."""
    if chosen.database.url is not None:
        return Finding(Level.OK, "disk", "not known from here: look at the server's machine")
    directory = chosen.database.data_dir or default_root()
    free = shutil.disk_usage(directory).free
    text = f"{free / 1e9:,.1f} GB are free for {directory}"
    if free < LITTLE_SPACE:
        return Finding(Level.PROBLEM, "disk", text, "When it is full, PostgreSQL accepts no writes. Make space")
    return Finding(Level.OK, "disk", text)


def _print(finding: Finding) -> None:
    colour = COLOURS[finding.level]
    console().print(f"[{colour}]{finding.level:8}[/] {finding.subject:13} {as_markup(finding.text)}", soft_wrap=True)
    if finding.advice:
        console().print(f"{'':22} {as_markup(finding.advice)}", soft_wrap=True)
