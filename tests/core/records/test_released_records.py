"""Commands and events that a released version wrote are read by this one, with the same values.

`released/VERSION.jsonl` has samples of each kind (`python -m tests.core.records.samples` makes it).
"""

import json
from pathlib import Path

import msgspec
import pytest

from tests.core.records import samples
from vivero.core.records.codec import (
    EVENT_FORMAT,
    EVENTS,
    INTENTS,
    UnknownFormat,
    decode_command,
    decode_events,
    encode_command,
    encode_events,
)
from vivero.core.records.instances import CreateInstance
from vivero.core.records.jobs import CompleteJob

RELEASED = sorted((Path(__file__).parent / "released").glob("*.jsonl"))
ROWS = [json.loads(line) for path in RELEASED for line in path.read_text().splitlines()]
COMMANDS = [row for row in ROWS if "command" in row]
OF_EVENTS = [row for row in ROWS if "event" in row]


def test_the_released_samples_are_of_every_kind():
    """A kind that was released is never removed: a log may have it. Kinds that are newer come with the next release."""
    assert {row["command"] for row in COMMANDS} <= set(INTENTS)
    assert {row["event"] for row in OF_EVENTS} <= {event.__name__ for event in EVENTS}
    assert len(COMMANDS) >= 2 * 40
    assert len(OF_EVENTS) >= 2 * 60


@pytest.mark.parametrize("row", COMMANDS, ids=lambda row: row["command"])
def test_a_released_command_is_read(row):
    """Each field that was written has its value still: none was renamed, dropped or given another type."""
    command = decode_command(row["command"], row["text"].encode())
    again = json.loads(encode_command(command))
    assert {name: again.get(name) for name in json.loads(row["text"])} == json.loads(row["text"])


@pytest.mark.parametrize("row", OF_EVENTS, ids=lambda row: row["event"])
def test_a_released_event_is_read(row):
    """An event is a JSON array: what is new comes behind."""
    (event,) = decode_events(row["text"], row["format"])
    (again,), (written,) = json.loads(encode_events([event])), json.loads(row["text"])
    assert type(event).__name__ == row["event"]
    assert again[: len(written)] == written


def test_samples_can_be_made_of_what_there_is_now():
    """For the next release."""
    made = list(samples.rows())
    assert len(made) == 2 * (len(INTENTS) + len(EVENTS))
    for row in made:
        if "command" in row:
            assert encode_command(decode_command(row["command"], row["text"].encode())).decode() == row["text"]
        else:
            assert encode_events(list(decode_events(row["text"]))).decode() == row["text"]


# ---- what a newer version wrote


def test_events_of_an_unknown_format_are_refused():
    with pytest.raises(UnknownFormat, match=f"the events have format {EVENT_FORMAT + 1}, and this program knows"):
        decode_events("[]", EVENT_FORMAT + 1)
    with pytest.raises(msgspec.ValidationError, match="Invalid value"):
        decode_events('[["FromTheFuture",1]]')


def test_a_command_of_an_unknown_format_is_refused(monkeypatch):
    monkeypatch.setattr(CompleteJob, "format", 2)
    second = encode_command(CompleteJob(7))
    assert second == b'{"v":2,"key":7}'
    assert decode_command(CompleteJob.intent, second) == CompleteJob(7)
    monkeypatch.undo()
    with pytest.raises(UnknownFormat, match="the command has format 2, and this program knows 1"):
        decode_command(CompleteJob.intent, second)
    with pytest.raises(KeyError, match="FROM:THE_FUTURE"):
        decode_command("FROM:THE_FUTURE", second)


def test_a_later_format_of_a_command_without_fields(monkeypatch):
    monkeypatch.setattr(CreateInstance, "format", 3)
    assert encode_command(CreateInstance()) == b'{"v":3}'
    assert decode_command(CreateInstance.intent, b'{"v":3}') == CreateInstance()
    with pytest.raises(UnknownFormat, match="format 4, and this program knows 3"):
        decode_command(CreateInstance.intent, b'{"v":4}')
