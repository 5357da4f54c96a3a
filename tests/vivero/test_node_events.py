"""What a node does when others tell it that callers may have changed."""

from types import SimpleNamespace
from typing import Any

import pytest

from vivero.node.node_events import NodeEvents
from vivero.storage.access.identities import CHANNEL, SESSIONS_ENDED
from vivero.storage.work.batch_operations import BATCHES_CHANNEL


@pytest.mark.parametrize(("payload", "done"), [("", ["forget", "end_waits"]), (SESSIONS_ENDED, ["forget_sessions"])])
def test_only_a_change_of_rights_ends_long_polls(payload, done):
    called = []
    parts = SimpleNamespace(
        forget=lambda: called.append("forget"),
        forget_sessions=lambda: called.append("forget_sessions"),
        end_waits=lambda: called.append("end_waits"),
    )
    absent = SimpleNamespace()
    events = NodeEvents(absent, parts, absent, absent, absent, {}, absent, absent, absent, parts)
    events.heard(CHANNEL, payload)
    assert called == done


def test_a_changed_batch_operation_and_a_new_term_wake_their_task():
    called: list[object] = []
    task = SimpleNamespace(look=lambda: called.append("look"), term=called.append)
    absent = SimpleNamespace()
    quiet = SimpleNamespace(term_began=lambda: None, term=lambda _epoch: None)
    timers: Any = {1: quiet, 2: quiet}
    events = NodeEvents(
        quiet,
        absent,
        absent,
        absent,
        absent,
        timers,
        absent,
        absent,
        absent,
        batch_operations=task,
    )
    events.heard(BATCHES_CHANNEL, "")
    events.leads(2, 5)
    events.leads(1, 6)
    assert called == ["look", 6], "only the owner of partition 1 works on them"
