"""Tables of the command log for the terminal: commands, and what their events did."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.table import Table

from vivero.client.rest import Document
from vivero.terminal.terminal_tables import Column, field
from vivero.terminal.texts import as_markup


def latency_ms(command: Document) -> float | None:
    """Milliseconds from a command's append to its processing; None while it waits."""
    if command["processedAt"] is None:
        return None
    span = datetime.fromisoformat(command["processedAt"]) - datetime.fromisoformat(command["appendedAt"])
    return span.total_seconds() * 1000


def log_table(commands: Iterable[Document], title: str | None = None) -> Table:
    """A table of commands and a summary of their events."""
    names: dict[str, str] = {}
    made = Table(title=title, title_justify="left", box=None, header_style="bold", pad_edge=False)
    made.add_column("position", justify="right", no_wrap=True)
    made.add_column("command", no_wrap=True)
    made.add_column("events", justify="right")
    made.add_column("what happened", overflow="fold")
    for command in commands:
        caused = "; ".join(summary(command["events"], names)) if command["status"] != "REJECTED" else _reason(command)
        made.add_row(command["commandPosition"], command["intent"], str(len(command["events"])), caused)
    return made


def summary(events: Sequence[Document], names: dict[str, str]) -> list[str]:
    """A summary of events. `names` maps keys to elements and lasts from one command to the next."""
    entered: list[str] = []
    left: list[str] = []
    values: list[str] = []
    others: list[str] = []
    for event in events:
        kind = event["type"]
        if kind == "InstanceCreated":
            names[event["key"]] = event["processId"]
        elif kind == "ElementActivating":
            names[event["key"]] = event["element"]
            entered.append(event["element"])
        elif kind == "ElementCompleted":
            left.append(names.get(event["key"]) or event["key"])
        elif kind == "VariableSet":
            values.append(f"{event['name']} = {_short(event['value'])}")
        elif kind not in ("ElementActivated", "ElementCompleting", "JobCreated", "JobCompleted"):
            others.append(_description(event))
    parts = (("", others), ("set ", values), ("completed ", left), ("entered ", entered))
    return [as_markup(f"{verb}{', '.join(found)}") for verb, found in parts if found]


def _fields(event: Document) -> str:
    return as_markup(_pairs({name: value for name, value in event.items() if name not in ("seq", "type", "at")}))


EVENT_COLUMNS = (Column("seq", field("seq")), Column("event", field("type")), Column("fields", _fields, wraps=True))
"""The columns of a table of events, with all their fields."""


def _description(event: Mapping[str, Any]) -> str:
    message = event.get("message")
    return f"{event['type']}: {message}" if message else str(event["type"])


def _pairs(fields: Mapping[str, Any]) -> str:
    empty: tuple[Any, ...] = (None, [], {}, "")
    return "  ".join(f"{name}={_plain(value)}" for name, value in fields.items() if value not in empty)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _short(text: str, max_characters: int = 40) -> str:
    return text if len(text) <= max_characters else f"{text[:max_characters]}…"


def _reason(command: Document) -> str:
    return as_markup(f"{command['rejection']['code']}: {command['rejection']['reason']}")
