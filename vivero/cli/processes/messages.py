"""The commands `message …` and `signal`: tell process instances something, and see what waits to be told."""

from __future__ import annotations

from typing import Any

import click

from vivero.cli.looking.lists import ListView, list_page, oldest_or_newest, paged
from vivero.cli.shared.groups import Group
from vivero.cli.shared.options import VARIABLES, Seconds, json_option
from vivero.cli.shared.server_options import address_option, post
from vivero.terminal.terminal_tables import Column, field, time

CORRELATION = click.option(
    "--correlation-key", metavar="KEY", help="Which instance is meant. Needed unless the message starts one."
)
BUSINESS_ID = click.option("--business-id", metavar="ID", help="Only instances with this business id may get it.")
TENANT = click.option("--tenant", metavar="ID", help="The tenant, with multi-tenancy.")


@click.group(cls=Group)
def message() -> None:
    """Publish and correlate messages, list buffered ones and subscriptions.

    \b
    Examples:
      vivero message publish paid --correlation-key ORDER-7 --ttl 3600
      vivero message correlate paid --correlation-key ORDER-7
      vivero message subscriptions --name paid
    """


@message.command()
@click.argument("name")
@CORRELATION
@VARIABLES
@click.option(
    "--ttl",
    "ttl_s",
    type=Seconds(),
    metavar="SECONDS",
    default=0.0,
    show_default=True,
    help="Seconds for which the message waits for an instance.",
)
@click.option("--id", "message_id", metavar="ID", help="While a message with this id waits, an equal one is rejected.")
@BUSINESS_ID
@TENANT
@address_option
@json_option
def publish(
    name: str,
    correlation_key: str | None,
    variables: dict[str, Any],
    ttl_s: float,
    message_id: str | None,
    business_id: str | None,
    tenant: str | None,
    address: str | None,
    as_json: bool,
) -> None:
    """Publish the message NAME, and print its key. It may wait for an instance, as long as --ttl says.

    \b
    Example:
      vivero message publish paid --correlation-key ORDER-7 --ttl 3600
    """
    body = {
        "name": name,
        "correlationKey": correlation_key or "",
        "variables": variables,
        "timeToLive": round(ttl_s * 1000),
        "messageId": message_id,
        "businessId": business_id,
        "tenantId": tenant,
    }
    post(address, "/v2/messages/publication", body, "messageKey", as_json)


@message.command()
@click.argument("name")
@CORRELATION
@VARIABLES
@BUSINESS_ID
@TENANT
@address_option
@json_option
def correlate(
    name: str,
    correlation_key: str | None,
    variables: dict[str, Any],
    business_id: str | None,
    tenant: str | None,
    address: str | None,
    as_json: bool,
) -> None:
    """Give the message NAME to an instance that waits for it, and print the key of the instance.

    The exit code is 1 if no instance waits for it.

    \b
    Example:
      vivero message correlate paid --correlation-key ORDER-7
    """
    body = {
        "name": name,
        "correlationKey": correlation_key or "",
        "variables": variables,
        "businessId": business_id,
        "tenantId": tenant,
    }
    post(address, "/v2/messages/correlation", body, "processInstanceKey", as_json)


BUFFERED = (
    Column("key", field("messageKey")),
    Column("name", field("messageName")),
    Column("correlation key", field("correlationKey")),
    Column("until", time("expirationDate"), spare=1),
    Column("id", field("messageId"), spare=2),
)
SUBSCRIPTIONS = (
    Column("key", field("messageSubscriptionKey")),
    Column("message", field("messageName")),
    Column("correlation key", field("correlationKey")),
    Column("state", field("messageSubscriptionState"), spare=3),
    Column("process", field("processDefinitionId"), spare=4),
    Column("instance", field("processInstanceKey"), spare=1),
    Column("element", field("elementId"), spare=2),
)


@message.command("list")
@click.option("--name", metavar="NAME", help="Only messages with this name.")
@oldest_or_newest
@paged
def list_(name: str | None, oldest: bool, **page: Any) -> None:
    """List the messages that wait for an instance.

    \b
    Example:
      vivero message list --name paid
    """
    list_page("messages", {"messageName": name}, "messageKey", BUFFERED, oldest, ListView(**page))


@message.command()
@click.option("--name", metavar="NAME", help="Only subscriptions to this message.")
@click.option("--instance", metavar="KEY", help="Only subscriptions of this process instance.")
@click.option(
    "--state",
    "state_",
    type=click.Choice(["CREATED", "CORRELATED", "DELETED", "ANY"], case_sensitive=False),
    default="CREATED",
    show_default=True,
    help="Only subscriptions in this state. CREATED ones wait.",
)
@oldest_or_newest
@paged
def subscriptions(name: str | None, instance: str | None, state_: str, oldest: bool, **page: Any) -> None:
    """List the messages that instances and processes wait for.

    \b
    Example:
      vivero message subscriptions --instance 2251799813685251
    """
    filter = {
        "messageName": name,
        "processInstanceKey": instance,
        "messageSubscriptionState": None if state_ == "ANY" else state_,
    }
    list_page("message-subscriptions", filter, "messageSubscriptionKey", SUBSCRIPTIONS, oldest, ListView(**page))


@click.command()
@click.argument("name")
@VARIABLES
@TENANT
@address_option
@json_option
def signal(name: str, variables: dict[str, Any], tenant: str | None, address: str | None, as_json: bool) -> None:
    """Broadcast the signal NAME to everything that waits for it, and print its key.

    \b
    Example:
      vivero signal stock-arrived --variables '{"sku": "A-1"}'
    """
    body = {"signalName": name, "variables": variables, "tenantId": tenant}
    post(address, "/v2/signals/broadcast", body, "signalKey", as_json)
