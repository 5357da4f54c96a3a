"""Rows of the log, for the routes that tell the history of an instance."""

import pytest

from tests.api.rows import KEY, NOW
from vivero.core.records.codec import encode_command, encode_events


@pytest.fixture
def happened(rows):
    """Puts a row of the event log, and of the command log unless the command is gone."""

    def put(position, *events, seq=0, root=KEY, command=None, version=1):
        event_row = {"seq": seq, "root_key": root, "version": version, "processed_at": NOW}
        at = {"partition_id": 1, "position": position}
        rows.put("event_log", **at, **event_row, events=encode_events(list(events)).decode())
        if command is not None:
            common = {"append_id": "0" * 32, "ord": 0, "at": NOW, "tenant_id": "<default>", "key": KEY}
            rows.put("command_log", **at, **common, intent=command.intent, payload=encode_command(command))

    rows.instance()
    return put
