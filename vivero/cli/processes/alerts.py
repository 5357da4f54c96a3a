"""The commands `alerts …`."""

from __future__ import annotations

from typing import Any

import click

from vivero.cli.looking.lists import ListView, list_page, paged
from vivero.cli.shared.each import keys_argument, try_each
from vivero.cli.shared.groups import Group
from vivero.cli.shared.options import json_option, tell
from vivero.cli.shared.server_options import address_option, talk
from vivero.client.rest import Client, Document, path_part
from vivero.terminal.terminal_tables import Column, field, time

PATH = "/v2/alert-rules"
METRICS = ("RUNNING", "INCIDENTS", "NEW_INCIDENTS", "OPEN_TASKS", "OLDEST_SECONDS")


def _state(rule: Document) -> str:
    return rule["error"] or ("raised" if rule["isRaised"] else "ok")


def _delivery(rule: Document) -> str:
    known = (rule["deliveryKind"], rule["deliveryState"], rule["deliveryError"])
    return " ".join(each for each in known if each) or "-"


COLUMNS = (
    Column("key", field("alertRuleKey")),
    Column("name", field("name"), wraps=True),
    Column("process", field("processDefinitionId")),
    Column("metric", field("metric")),
    Column("above", field("threshold")),
    Column("value", field("value")),
    Column("state", _state, wraps=True),
    Column("muted until", time("mutedUntil"), spare=2),
    Column("delivery", _delivery, wraps=True, spare=1),
    Column("made by", field("madeBy"), wraps=True, spare=3),
)


@click.group(cls=Group)
def alerts() -> None:
    """List, set, mute, test and delete alert rules.

    A rule watches a figure, and calls a URL when it rises above a threshold and when it has fallen again.

    \b
    Examples:
      vivero alerts set stuck INCIDENTS 10 https://example.org/hook
      vivero alerts test 7
      vivero alerts mute 7 --until 2030-01-01T08:00:00Z
      vivero alerts list --raised
    """


@alerts.command("list")
@click.option("--raised", is_flag=True, default=None, help="Only rules that are raised.")
@click.option("--tenant", metavar="ID", help="Only rules of this tenant.  [any]")
@paged
def list_(raised: bool | None, tenant: str | None, **page: Any) -> None:
    """List alert rules with their values and newest deliveries, by name."""
    filter = {"isRaised": raised or None, "tenantId": tenant}
    list_page("alert-rules", filter, "alertRuleKey", COLUMNS, True, ListView(**page), sort="name")


@alerts.command("set")
@click.argument("name")
@click.argument("metric", type=click.Choice(METRICS, case_sensitive=False))
@click.argument("above", type=click.IntRange(0))
@click.argument("url", required=False)
@click.option("--outbox", is_flag=True, help="Tell the receiver of the outbox, instead of a URL or beside it.")
@click.option("--process", metavar="ID", help="The process that counts.  [all]")
@click.option("--clears-at", type=click.IntRange(0), metavar="N", help="The alert ends here or below.  [the threshold]")
@click.option("--interval", metavar="DURATION", default="PT5M", show_default=True, help="PT1M to P1D.")
@click.option("--secret", metavar="NAME", help="Sign notices with this secret of connectors.")
@click.option("--tenant", metavar="ID", help="The tenant of the rule.")
@address_option
@json_option
def set_(name: str, metric: str, above: int, url: str | None, address: str | None, as_json: bool, **more: Any) -> None:
    """Save a rule that is raised when METRIC is above ABOVE. One with this name is replaced."""
    if url is None and not more["outbox"]:
        raise click.UsageError("name a URL, or use --outbox")
    given = {
        "processDefinitionId": more["process"],
        "clearsAt": more["clears_at"],
        "interval": more["interval"],
        "secret": more["secret"],
        "tenantId": more["tenant"],
        "url": url,
        "toOutbox": more["outbox"] or None,
    }
    body = {"name": name, "metric": metric.upper(), "threshold": above}
    body |= {key: value for key, value in given.items() if value is not None}

    async def work(client: Client) -> None:
        key = (await client.request("POST", PATH, body)).document["alertRuleKey"]
        tell(as_json, f"saved {key}", alertRuleKey=key)

    talk(address, work)


@alerts.command()
@keys_argument("KEY")
@click.option("--until", metavar="TIME", required=True, help="A time such as 2030-01-01T08:00:00Z.")
@address_option
@json_option
def mute(keys: tuple[str, ...], until: str, address: str | None, as_json: bool) -> None:
    """Hold the notices of rules back. What has changed by then is told afterwards."""
    _mute(keys, until, "muted", address, as_json)


@alerts.command()
@keys_argument("KEY")
@address_option
@json_option
def unmute(keys: tuple[str, ...], address: str | None, as_json: bool) -> None:
    """Hold the notices of rules back no longer."""
    _mute(keys, None, "unmuted", address, as_json)


def _mute(keys: tuple[str, ...], until: str | None, done: str, address: str | None, as_json: bool) -> None:
    async def work(client: Client, key: str) -> None:
        await client.request("PATCH", _path(key), {"mutedUntil": until})

    try_each(address, keys, work, done, as_json=as_json)


@alerts.command()
@keys_argument("KEY")
@address_option
@json_option
def test(keys: tuple[str, ...], address: str | None, as_json: bool) -> None:
    """Deliver a test to the URLs of rules. `vivero alerts list` shows the outcome."""

    async def work(client: Client, key: str) -> None:
        await client.request("POST", f"{_path(key)}/test")

    try_each(address, keys, work, "tested", as_json=as_json)


@alerts.command()
@keys_argument("KEY")
@address_option
@json_option
def delete(keys: tuple[str, ...], address: str | None, as_json: bool) -> None:
    """Delete alert rules. Notices that wait are dropped."""

    async def work(client: Client, key: str) -> None:
        await client.request("DELETE", _path(key))

    try_each(address, keys, work, "deleted", as_json=as_json)


def _path(key: str) -> str:
    return f"{PATH}/{path_part(key)}"
