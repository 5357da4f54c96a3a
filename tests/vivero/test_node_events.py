"""What a node does when others tell it that callers may have changed."""

from types import SimpleNamespace

import pytest

from vivero.node_events import NodeEvents
from vivero.storage.identities import CHANNEL, SESSIONS_ENDED


@pytest.mark.parametrize(("payload", "done"), [("", ["forget", "end_waits"]), (SESSIONS_ENDED, ["forget_sessions"])])
def test_only_a_change_of_rights_ends_long_polls(payload, done):
    called = []
    parts = SimpleNamespace(
        forget=lambda: called.append("forget"),
        forget_sessions=lambda: called.append("forget_sessions"),
        end_waits=lambda: called.append("end_waits"),
    )
    absent = SimpleNamespace()
    events = NodeEvents(absent, absent, parts, absent, absent, absent, {}, absent, absent, absent, parts)
    events.heard(CHANNEL, payload)
    assert called == done
