"""The commands `task …`: work of people."""

from __future__ import annotations

from typing import Any

import click

from vivero.cli.looking.lists import ListView, list_page, oldest_or_newest, paged
from vivero.cli.shared.each import keys_argument, try_each
from vivero.cli.shared.failures import Failure
from vivero.cli.shared.filters import Selected, of_process_or_instance
from vivero.cli.shared.groups import Group
from vivero.cli.shared.options import KEY, VARIABLES, json_option, say
from vivero.cli.shared.rows import print_fields, print_rows
from vivero.cli.shared.server_options import address_option, talk
from vivero.client.rest import Client, Document, path_part
from vivero.terminal.terminal_tables import VARIABLES as VARIABLE_COLUMNS
from vivero.terminal.terminal_tables import Column, field, state, time
from vivero.terminal.texts import as_markup, echo

NOBODY = "anonymous"
"""The caller of a server without authentication."""
STATES = ("CREATED", "COMPLETED", "CANCELED", "ANY")
COLUMNS = (
    Column("key", field("userTaskKey")),
    Column("task", lambda task: as_markup(task["name"] or task["elementId"]), wraps=True),
    Column("state", state, spare=5),
    Column("assignee", field("assignee")),
    Column(
        "candidates",
        lambda task: as_markup(", ".join([*task["candidateGroups"], *task["candidateUsers"]])),
        spare=2,
        wraps=True,
    ),
    Column("due", time("dueDate"), spare=1),
    Column("priority", field("priority"), spare=6),
    Column("process", field("processDefinitionId"), spare=3),
    Column("instance", field("processInstanceKey"), spare=4),
    Column("created", time("creationDate"), spare=7),
)


def path_of(key: str) -> str:
    return f"/v2/user-tasks/{path_part(key)}"


@click.group(cls=Group)
def task() -> None:
    """List, show, claim, assign, update and complete user tasks.

    \b
    Examples:
      vivero task list --group adjusters
      vivero task claim 2251799813685276 --user ann
      vivero task complete 2251799813685276 --variables '{"approved": true}'
    """


@task.command("list")
@click.option("--assignee", metavar="USER", help="Only tasks of this user.")
@click.option("--group", metavar="GROUP", help="Only tasks for this candidate group.")
@click.option("--user", metavar="USER", help="Only tasks for this candidate user.")
@of_process_or_instance("tasks")
@click.option(
    "--state",
    "state_",
    type=click.Choice(STATES, case_sensitive=False),
    default="CREATED",
    show_default=True,
    help="Only tasks in this state.",
)
@oldest_or_newest
@paged
def list_(
    assignee: str | None,
    group: str | None,
    user: str | None,
    selected: Selected,
    state_: str,
    oldest: bool,
    **page: Any,
) -> None:
    """List user tasks, open ones by default.

    \b
    Examples:
      vivero task list --group adjusters
      vivero task list --assignee ann --json
    """
    filter = {
        "assignee": assignee,
        "candidateGroup": group,
        "candidateUser": user,
        **selected,
        "state": None if state_ == "ANY" else state_,
    }
    list_page("user-tasks", filter, "userTaskKey", COLUMNS, oldest, ListView(**page), sort="creationDate")


@task.command()
@click.argument("key", metavar="KEY", type=KEY)
@address_option
@json_option
def show(key: str, address: str | None, as_json: bool) -> None:
    """Show the user task KEY, and the variables that it sees.

    \b
    Example:
      vivero task show 2251799813685276
    """

    async def read(client: Client) -> Document:
        found = (await client.request("GET", path_of(key))).document
        seen = await client.request("POST", f"{path_of(key)}/effective-variables/search", {})
        return found | {"variables": seen.document["items"]}

    found = talk(address, read)
    if as_json:
        say(found)
        return
    print_fields({name: value for name, value in found.items() if name != "variables"})
    if found["variables"]:
        echo()
        print_rows(found["variables"], VARIABLE_COLUMNS)


def _change(
    address: str | None, keys: tuple[str, ...], as_json: bool, done: str, method: str, path: str, body: Document | None
) -> None:
    async def work(client: Client, key: str) -> None:
        await client.request(method, f"{path_of(key)}{path}", body)

    try_each(address, keys, work, done, as_json=as_json, explain=_how_it_ended)


async def _how_it_ended(client: Client, key: str) -> str | None:
    found = (await client.request("GET", path_of(key))).document
    if found["completionDate"] is not None:
        return f"user task {key} ended already: {found['state']} at {found['completionDate']}"
    return None if found["assignee"] is None else f"user task {key} is assigned to {found['assignee']}"


@task.command()
@keys_argument()
@click.option("--user", metavar="USER", help="Who claims it.  [the caller]")
@address_option
@json_option
def claim(keys: tuple[str, ...], user: str | None, address: str | None, as_json: bool) -> None:
    """Claim user tasks that nobody has.

    \b
    Example:
      vivero task claim 2251799813685276 --user ann
    """
    body = {"assignee": user or _caller(address), "allowOverride": False}
    _change(address, keys, as_json, "claimed", "POST", "/assignment", body)


def _caller(address: str | None) -> str:
    """The user of the credentials. Raises Failure."""
    username = str(talk(address, lambda client: client.request("GET", "/v2/authentication/me")).document["username"])
    if username == NOBODY:
        raise Failure("the server knows no users, because it has no authentication: name one with --user")
    return username


@task.command()
@click.argument("user")
@keys_argument()
@address_option
@json_option
def assign(user: str, keys: tuple[str, ...], address: str | None, as_json: bool) -> None:
    """Assign user tasks to USER, whoever has them.

    \b
    Example:
      vivero task assign ann 2251799813685276
    """
    _change(address, keys, as_json, "assigned", "POST", "/assignment", {"assignee": user, "allowOverride": True})


@task.command()
@keys_argument()
@address_option
@json_option
def unassign(keys: tuple[str, ...], address: str | None, as_json: bool) -> None:
    """Take user tasks from their assignees.

    \b
    Example:
      vivero task unassign 2251799813685276
    """
    _change(address, keys, as_json, "unassigned", "DELETE", "/assignee", None)


@task.command()
@keys_argument()
@VARIABLES
@address_option
@json_option
def complete(keys: tuple[str, ...], variables: dict[str, Any], address: str | None, as_json: bool) -> None:
    """Complete user tasks, with variables for the process.

    \b
    Example:
      vivero task complete 2251799813685276 --variables '{"approved": true}'
    """
    _change(address, keys, as_json, "completed", "POST", "/completion", {"variables": variables})


@task.command()
@keys_argument()
@click.option("--due", metavar="DATE", help="A date such as 2027-01-31T12:00:00Z; empty: none.")
@click.option("--follow-up", metavar="DATE", help="A date such as 2027-01-31T12:00:00Z; empty: none.")
@click.option("--group", "groups", multiple=True, help="The candidate groups; may be repeated. Empty: none.")
@click.option("--user", "users", multiple=True, help="The candidate users; may be repeated. Empty: none.")
@click.option("--priority", type=click.IntRange(0, 100), metavar="N", help="0 to 100.")
@address_option
@json_option
def update(
    keys: tuple[str, ...],
    due: str | None,
    follow_up: str | None,
    groups: tuple[str, ...],
    users: tuple[str, ...],
    priority: int | None,
    address: str | None,
    as_json: bool,
) -> None:
    """Change due date, follow-up date, candidates or priority of user tasks.

    \b
    Example:
      vivero task update 2251799813685276 --due 2027-01-31T12:00:00Z --priority 80
    """
    changes = {
        "dueDate": due,
        "followUpDate": follow_up,
        "candidateGroups": [each for each in groups if each] if groups else None,
        "candidateUsers": [each for each in users if each] if users else None,
        "priority": priority,
    }
    chosen = {name: value for name, value in changes.items() if value is not None}
    if not chosen:
        raise click.UsageError("say what to change: --due, --follow-up, --group, --user or --priority")
    _change(address, keys, as_json, "updated", "PATCH", "", {"changeset": chosen})
