"""The check that the event log is the state holds for instances of every kind, and sees each difference."""

import psycopg
import pytest

from tests.chaos import replayed
from tests.storage.schemas import running_instances

DIFFERENCES = {
    "variables": ("UPDATE variables SET value = value || ' '", "UPDATE variables SET value = rtrim(value)"),
    "jobs": ("UPDATE jobs SET retries = retries + 1", "UPDATE jobs SET retries = retries - 1"),
    "timers": ("UPDATE timers SET due_at_ms = due_at_ms + 1", "UPDATE timers SET due_at_ms = due_at_ms - 1"),
    "channel_subscriptions": ("DELETE FROM channel_subscriptions", "SELECT"),
}
"""Table → a change that no command has made, and its opposite."""


async def test_replay_gives_the_rows_of_every_kind_of_instance_and_each_difference_is_seen(database):
    await running_instances.make(database)
    replay = await replayed.replay_into_copy(database)
    print(f"{replayed.compare(database, replay)} rows")
    with psycopg.connect(database, autocommit=True) as connection:
        for table, (change, opposite) in DIFFERENCES.items():
            connection.execute(change)
            with pytest.raises(AssertionError, match=f"^{table}: "):
                replayed.compare(database, replay)
            connection.execute(opposite)
