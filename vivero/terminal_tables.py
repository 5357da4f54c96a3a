"""Tables of the server's answers for the terminal."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from vivero.client import Document

WIDTH_WITHOUT_TERMINAL = 200
"""Columns of output that does not go to a terminal, so that programs read full lines."""
MAX_VALUE_CHARACTERS = 200

COLOURS = {
    "ACTIVE": "cyan",
    "COMPLETED": "green",
    "TERMINATED": "yellow",
    "CANCELED": "yellow",
    "FAILED": "red",
    "ERROR_THROWN": "red",
    "REJECTED": "red",
    "RESOLVED": "green",
    "PROCESSED": "green",
}


def console(*, stderr: bool = False) -> Console:
    """A console as wide as the terminal, or wide enough for programs."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else WIDTH_WITHOUT_TERMINAL
    return Console(stderr=stderr, width=width, highlight=False)


Column = tuple[str, Callable[[Document], str]]


def table(items: Iterable[Document], columns: Sequence[Column], title: str | None = None) -> Table:
    """A table with a row for each item. The first column holds keys and does not wrap."""
    made = Table(title=title, title_justify="left", box=None, header_style="bold", pad_edge=False)
    for number, (name, _) in enumerate(columns):
        made.add_column(name, no_wrap=number == 0, overflow="fold")
    for item in items:
        made.add_row(*(show(item) for _, show in columns))
    return made


def field(name: str) -> Callable[[Document], str]:
    """A column's text: a field, empty for null."""
    return lambda item: "" if item[name] is None else escape(str(item[name]))


def state(item: Document) -> str:
    """The state in its colour, and a mark for an incident."""
    return coloured(item["state"]) + (" [red]incident[/]" if item.get("hasIncident") else "")


def coloured(word: str) -> str:
    """A state, in its colour."""
    return f"[{COLOURS[word]}]{word}[/]" if word in COLOURS else word


def time(name: str) -> Callable[[Document], str]:
    """A column's text: a time in UTC, to the second."""
    return lambda item: "" if item[name] is None else item[name][:19].replace("T", " ")


def value(text: str) -> str:
    """A variable's value (JSON text), shortened if it is long."""
    shortened = f"{text[:MAX_VALUE_CHARACTERS]}… ({len(text)} characters)"
    return escape(text if len(text) <= MAX_VALUE_CHARACTERS else shortened)


def variables(items: Iterable[Document], title: str | None = None) -> Table:
    """A table of variables and their values."""
    return table(
        sorted(items, key=lambda item: item["name"]),
        (("variable", field("name")), ("value", lambda item: value(item["value"]))),
        title,
    )


# ---------------------------------------------------------------------------------------------- the command log


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
    return [escape(f"{verb}{', '.join(found)}") for verb, found in parts if found]


def event_table(command: Document) -> Table:
    """A table of all events of a command, with all their fields."""
    made = Table(box=None, header_style="bold", pad_edge=False)
    made.add_column("seq", justify="right")
    made.add_column("event", no_wrap=True)
    made.add_column("fields", overflow="fold")
    for event in command["events"]:
        fields = {name: value for name, value in event.items() if name not in ("seq", "type", "at")}
        made.add_row(str(event["seq"]), event["type"], escape(_pairs(fields)))
    return made


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
    return escape(f"{command['rejection']['code']}: {command['rejection']['reason']}")
