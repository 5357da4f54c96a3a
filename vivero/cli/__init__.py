"""The command line. `main` lists every command with one line of help, and imports a command's code when it runs.

Therefore `vivero --help` imports only click, and `vivero feel` starts without the server's libraries.

Entry: `main`.
Imports: nothing of ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
from click.shell_completion import CompletionItem

from vivero.cli.shared.groups import Group, suggested_options
from vivero.cli.shared.loading import load

CLI_COMMANDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "The server": {
        "up": ("server.up:up", "Start the server, with an embedded PostgreSQL or your own."),
        "demo": ("server.demo:demo", "Watch an order process run, from deployment to end."),
        "migrate": ("server.migrate:migrate", "Migrate a database's schema, then exit."),
        "schema": ("server.schema:schema", "Print the schema as SQL."),
        "partitions": ("server.partitions:partitions", "List partitions, pin tenants to them, and raise their number."),
        "log-levels": ("server.log_levels:log_levels", "Show and change what loggers of running nodes log."),
        "drain": ("server.nodes:drain", "Hand a node's partitions over to other nodes, for maintenance."),
        "db": ("server.db:db", "Print the SQL of the second database role, for multi-tenancy."),
        "background": ("server.background:background", "List, run, pause, cancel and retry background jobs."),
        "agents": ("server.agents:agents", "Stop AI agents, let them go on, and list what is stopped."),
        "connectors": ("server.connectors:connectors", "List inbound connectors: states, last events and errors."),
        "outbox": ("server.outbox:outbox", "List, retry and drop deliveries of the outbox webhook."),
        "backup": ("server.backup:backup", "Back up the database into a new directory, while the server works."),
        "restore": ("server.backup:restore", "Restore a backup of `vivero backup` into an empty database."),
        "archive": ("server.archive:archive", "List, show, check, adopt and erase archived process instances."),
        "doctor": (
            "server.doctor:doctor",
            "Check PostgreSQL: settings, vacuum, connections, replication, clocks, disk.",
        ),
        "size": ("server.size:size_", "Compute the machines that a number of instances a second needs."),
        "database-url": ("server.migrate:database_url", "Print the URL of the running server's database, for psql."),
    },
    "Processes": {
        "deploy": ("processes.deploy:deploy", "Deploy BPMN files, forms, decisions and others, all or none."),
        "start": ("processes.start:start", "Start a process; with --await, wait for its result."),
        "check": ("processes.check:check", "Check models against the workers of Python files."),
        "validate": (
            "processes.validate:validate",
            "Check files as a deployment does, without a server.",
        ),
        "message": (
            "processes.messages:message",
            "Publish and correlate messages, list buffered ones and subscriptions.",
        ),
        "signal": ("processes.messages:signal", "Broadcast a signal."),
        "set": ("processes.variables:set_", "Set variables of process instances."),
        "cluster-variables": (
            "processes.cluster_variables:cluster_variables",
            "List, set and delete variables of the cluster and of tenants.",
        ),
        "import": (
            "processes.import_:import_",
            "Copy running process instances of a Camunda 8, and cancel them there.",
        ),
        "alerts": ("processes.alerts:alerts", "List, set, mute, test and delete alert rules."),
        "task": ("processes.tasks:task", "List, show, claim, assign, update and complete user tasks."),
        "activate": ("processes.ad_hoc:activate", "Activate elements of an ad-hoc sub-process, or list them."),
        "cancel": ("processes.changes:cancel", "Cancel process instances: by key, or all that match."),
        "suspend": ("processes.suspension:suspend", "Suspend process instances: by key, or all that match."),
        "resume": ("processes.suspension:resume", "Resume process instances: by key, or all that match."),
        "modify": (
            "processes.modification:modify",
            "Activate, move and terminate elements of a process instance.",
        ),
        "migrate-instance": (
            "processes.migrations:migrate_instance",
            "Migrate running instances to another definition: by key, or all of one.",
        ),
        "assign-business-id": (
            "processes.business_ids:assign_business_id",
            "Give a business id to a running process instance.",
        ),
        "undo": ("processes.undo:undo", "Take the latest operation on process instances back."),
        "resolve": ("processes.changes:resolve", "Resolve incidents: by key, or all that match."),
        "delete": ("processes.deletion:delete", "Delete ended process instances: by key, or all that match."),
        "delete-evaluations": (
            "processes.deletion:delete_evaluations",
            "Delete evaluations of decisions: by key, or all that match.",
        ),
        "erase": ("processes.deletion:erase", "Erase a person's data: ended instances, logs, archive."),
        "batches": ("processes.batches:batches", "List, show, suspend, resume and cancel batch operations."),
        "fire": ("processes.timers:fire", "Fire timers now."),
        "move": ("processes.timers:move", "Move the due date of a timer."),
        "job": ("processes.job:job", "Complete, fail and change jobs by hand."),
        "worker": ("processes.worker:worker", "Work jobs with Python functions or a shell command."),
    },
    "Looking": {
        "nodes": ("server.nodes:nodes", "List the nodes of the cluster and the partitions that they lead."),
        "status": ("looking.status:status", "Show the server's health, nodes, backlog, jobs, incidents, timers, size."),
        "top": ("looking.top:top", "Watch a node: throughput, latency, lag, jobs, incidents, timers, restarts."),
        "instances": ("looking.lists:instances", "List process instances."),
        "variables": ("processes.variables:variables", "List variables and their values."),
        "jobs": ("looking.lists:jobs", "List jobs."),
        "incidents": ("looking.lists:incidents", "List incidents, which wait for a person's help."),
        "timers": ("processes.timers:timers", "List timers and their due dates."),
        "definitions": ("looking.definitions:definitions", "List deployed processes and their versions."),
        "xml": ("looking.definitions:xml", "Print the model of a process."),
        "forms": ("looking.forms:forms", "List the versions of deployed forms."),
        "resources": ("looking.resources:resources", "List the versions of other deployed files."),
        "show": ("looking.show:show", "Show one process instance: elements, variables, incidents."),
        "trace": ("looking.show:trace", "Show the history of a process instance, one line per event."),
        "events": ("looking.show:events", "Show one command of the log and its events."),
        "outcome": ("access.database_roles:outcome", "Show what became of a command of your own transaction."),
    },
    "Access": {
        "user": ("access.identities:user", "Add, list and delete users, set their passwords, end their sessions."),
        "token": ("access.identities:token", "Create, list, rotate and revoke API tokens."),
        "role": ("access.identities:role", "List roles, and give or take them."),
        "tenant": ("access.tenants:tenant", "Create, list and delete tenants, and assign users and others to them."),
        "database-role": (
            "access.database_roles:database_role",
            "Let roles of PostgreSQL queue commands in their own transactions.",
        ),
    },
    "Tools": {
        "psql": ("tools.psql:psql", "Run psql on the database."),
        "completion": ("tools.completion:completion", "Print the script for completion in bash, zsh or fish."),
        "feel": ("tools.feel:feel", "Evaluate a FEEL expression."),
        "convert": ("tools.convert:convert_", "Convert models of Camunda 7, and list what is left to do."),
        "test": ("tools.test:test", "Run tests of processes, and draw what they reach."),
        "evaluate": ("tools.evaluate:evaluate_", "Evaluate a decision of a DMN file, without a server."),
    },
}
"""Section → command → (`module:function` in this package, one line of help)."""

HELP = """
Vivero: a BPMN 2.0 workflow engine on PostgreSQL that speaks the Camunda 8 REST API.

\b
Begin with:
  vivero demo          a demonstration with a server of its own
  vivero up            a server at http://localhost:8080
\b
and then, in another terminal:
  vivero deploy greet.bpmn
  vivero worker my_workers.py --reload
  vivero start greet --variables '{"name": "Ada"}' --await
  vivero instances --state ACTIVE
  vivero incidents
\b
Several keys at once, `-` for keys from a pipe, --json for programs:
  vivero incidents --all --keys | vivero resolve -
"""

ENVIRONMENT = """
\b
Environment:
  VIVERO_ADDRESS       the server's address; the default is
                       CAMUNDA_REST_ADDRESS, and then http://localhost:8080
  VIVERO_TOKEN         an API token, for a server with authentication; or
  VIVERO_USERNAME      a user's name, with VIVERO_PASSWORD
  VIVERO_DATABASE_URL  your own PostgreSQL (15 or later)
  VIVERO_DATA_DIR      the data directory of the embedded PostgreSQL
  VIVERO_CONFIG        a TOML file with settings
  VIVERO_SECTION_NAME  any setting, such as VIVERO_API_PORT
                       (docs/reference/settings.md lists them)
"""


class Commands(Group):
    """The group of all commands. Imports a command when it is requested."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for section in CLI_COMMANDS.values() for name in section]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for section in CLI_COMMANDS.values():
            if cmd_name in section:
                module, _, function = section[cmd_name][0].partition(":")
                command: click.Command = getattr(load(f"vivero.cli.{module}"), function)
                return command
        return None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that begin so, without importing them: a person waits for it."""
        found = [
            CompletionItem(name, help=text)
            for section in CLI_COMMANDS.values()
            for name, (_, text) in section.items()
            if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def __call__(self, *args: Any, **extra: Any) -> Any:
        """The program `vivero`, which calls this without arguments, has streams of its own. Others get `main`."""
        if args or extra:
            return self.main(*args, **extra)
        from vivero.cli.shared.guard import guarded

        guarded(self.main)
        return None

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        with suggested_options():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with suggested_options():
                return super().invoke(ctx)
        except (click.Abort, KeyboardInterrupt) as error:
            if isinstance(error, click.Abort) and not isinstance(error.__context__, KeyboardInterrupt):
                raise  # the answer was no, or there is nobody to ask
            from vivero.cli.shared.failures import Interrupted

            raise Interrupted("nothing was changed" if isinstance(error, click.Abort) else "") from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self.list_commands(ctx)))
        for title, section in CLI_COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, (_, text) in section.items()])


def _version(ctx: click.Context, _parameter: click.Parameter, requested: bool) -> None:
    if requested and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"vivero {version('vivero')}")
        ctx.exit()


@click.command(
    cls=Commands,
    help=HELP,
    epilog=ENVIRONMENT,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
def main(**_nothing: Any) -> None:
    """The entry point of `vivero`."""
