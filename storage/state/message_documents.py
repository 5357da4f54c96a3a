"""The documents that save messages, channel subscriptions, start locks and the catalogue."""

from __future__ import annotations

from vivero.core.state.catalogue import Definition, Deployment, FormVersion
from vivero.core.state.message_channels import ChannelSubscription, Message, Start, StartLock
from vivero.core.state.rows import Row
from vivero.storage.state.scope_documents import Document


def changed_message(row: Message) -> Document:
    return {"key": row.key, "given": row.given, "deadline": row.deadline}


def new_message(row: Message) -> Document:
    return changed_message(row) | {
        "tenant": row.channel.tenant,
        "name": row.name,
        "correlation_key": row.channel.correlation_key,
        "message_id": row.message_id,
        "business_id": row.business_id,
        "variables": row.variables,
    }


def state_of(row: ChannelSubscription | StartLock | Start) -> Document:
    return {"key": row.key, "state": row.state}


def new_channel_subscription(row: ChannelSubscription) -> Document:
    return new_start_lock(row) | {"name": row.name, "interrupting": row.interrupting}


def new_start_lock(row: StartLock | ChannelSubscription) -> Document:
    return state_of(row) | {
        "tenant": row.channel.tenant,
        "correlation_key": row.channel.correlation_key,
        "process_id": row.process_id,
    }


def columns(row: Row) -> Document:
    """All fields of a row."""
    return {name: getattr(row, name) for name in row.__struct_fields__}


def deployment(row: Deployment) -> Document:
    return {"key": row.key, "tenant": row.tenant, "deployed_at": row.deployed_at}


def changed_definition(row: Definition | FormVersion) -> Document:
    return {"key": row.key, "state": row.state}
