"""Slack's API: `io.camunda:slack:1`. Channels and people are ids, for messages a channel may be its name, too."""

from __future__ import annotations

from vivero.engine.connectors.contract import Contract, Input, Kind

POST, CREATE, INVITE = "chat.postMessage", "conversations.create", "conversations.invite"
REACT, PIN, UNPIN = "reactions.add", "pins.add", "pins.remove"

SLACK = Contract(
    name="Slack",
    types=("io.camunda:slack:1",),
    inputs=(
        Input("token", required=True),
        Input("method", default=POST, choices=(POST, CREATE, INVITE, REACT, PIN, UNPIN)),
        Input("data.channel"),
        Input("data.text"),
        Input("data.messageType", default="plainText", choices=("plainText", "messageBlock")),
        Input("data.blockContent", Kind.ANY),
        Input("data.thread"),
        Input("data.documents", Kind.LIST),
        Input("data.newChannelName"),
        Input("data.visibility", default="PUBLIC", choices=("PUBLIC", "PRIVATE")),
        Input("data.channelName"),
        Input("data.users", Kind.TEXTS),
        Input("data.timestamp"),
        Input("data.emoji"),
    ),
    result="the fields of Slack's answer",
    handler="vivero.engine.connectors.outbound.slack:Slack",
    secrets=("token",),
    errors=("SLACK_ERROR",),
)
