"""The channels of requests: which function opens, sends and receives, and what a reply says."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest
import trio

from vivero.engine.appender.calls import PendingCommand
from vivero.engine.outcomes.admission import Lost
from vivero.engine.outcomes.replies import Reply, received, reply_by, tell
from vivero.storage.log.command_log import Appended, CommandOutcome

ROOT = Path(__file__).parents[2]
ENDS = {
    "api/commands/reply_pool.py": {"opens": {"ReplyPool.take"}},
    "api/commands/outcome_waits.py": {"receives": {"OutcomeWait.receive"}},
    "api/http/deadlines.py": {"sends": {"Deadlines._end"}, "receives": {"Deadlines.receive"}},
    "api/activation/long_polls.py": {
        "opens": {"PollLeases.open"},
        "sends": {"PollLeases._settle"},
    },
    "api/activation/pollers.py": {"receives": {"Poller._receive", "Poller.awake"}},
    "api/commands/submission.py": {"receives": {"_outcome", "_submitted"}},
    "api/routes/process_instances.py": {"opens": {"_end"}, "receives": {"_end", "_next_end"}},
    "engine/outcomes/replies.py": {"sends": {"tell"}, "receives": {"received", "next_reply", "reply_by", "replies_by"}},
    "engine/outcomes/waiters.py": {"sends": {"OutcomeWaiter.tell", "EndWaiter.tell"}},
    "engine/outcomes/completions.py": {},
    "engine/appender/calls.py": {"sends": {"PendingCommand.finish"}},
    "engine/appender/task.py": {
        "opens": {"Appender.__init__", "Appender.append", "Appender.append_all"},
        "sends": {"Appender._queue_here", "Appender._hand_over"},
        "receives": {"Appender.finish_append", "Appender._wait_on", "Appender.append_all"},
    },
    "engine/appender/new_commands.py": {"receives": {"next_work"}},
    "engine/siblings/reception.py": {
        "opens": {"Reception.__init__"},
        "sends": {"Reception._begin"},
        "receives": {"Reception._send", "Reception._answers"},
    },
}
"""The ends of the channels on the way of a command, and of the jobs that its batch leases to polls. The appender's own
channel brings commands to it."""
METHODS = {
    "open_memory_channel": "opens",
    "send": "sends",
    "send_nowait": "sends",
    "receive": "receives",
    "receive_nowait": "receives",
}
FUNCTIONS = {"tell": "sends"} | dict.fromkeys(("received", "next_reply", "reply_by", "replies_by"), "receives")
"""Those of `engine.outcomes.replies`."""
OTHERS = {"frames"}
"""They have such methods and are no channels."""


def functions(tree, path=()):
    """Each function with its name in its class."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from functions(node, (*path, node.name))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield ".".join((*path, node.name)), node


def ends_in(function):
    """The channels that a function uses."""
    for node in ast.walk(ast.Module(function.body, [])):
        if isinstance(node, ast.Name):
            yield FUNCTIONS.get(node.id)
        elif isinstance(node, ast.Call):
            method = node.func.value if isinstance(node.func, ast.Subscript) else node.func
            if isinstance(method, ast.Attribute) and ast.unparse(method.value) not in OTHERS:
                yield METHODS.get(method.attr)


@pytest.mark.parametrize("module", ENDS)
def test_each_function_has_one_end_of_a_channel(module):
    found = defaultdict(set)
    tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))
    for name, function in functions(tree):
        for end in filter(None, ends_in(function)):
            found[end].add(name)
    assert dict(found) == ENDS[module]


@pytest.mark.parametrize("module", ENDS)
def test_no_event_carries_a_result(module):
    assert "trio.Event" not in (ROOT / module).read_text(encoding="utf-8")


def test_a_command_that_waits_has_no_result_and_no_callback():
    assert not {"done", "result", "then"} & set(PendingCommand.__slots__)


async def test_a_receiver_that_has_left_gets_nothing():
    send, receive = trio.open_memory_channel[Reply](1)
    assert tell(send, Reply(0))
    receive.close()
    assert not tell(send, Reply(0))


async def test_a_channel_that_is_too_small_is_a_mistake():
    send, _ = trio.open_memory_channel[Reply](1)
    tell(send, Reply(0))
    with pytest.raises(trio.WouldBlock):
        tell(send, Reply(1))


async def test_a_reply_that_comes_together_with_the_end_of_the_time_counts(autojump_clock):
    send, replies = trio.open_memory_channel[Reply | None](2)
    tell(send, Reply(7))
    assert await reply_by(replies, trio.current_time()) == Reply(7)
    assert await reply_by(replies, trio.current_time() + 1.0) is None
    assert received(replies) is None


async def test_a_closed_channel_brings_what_was_sent_and_then_nothing():
    send, receive = trio.open_memory_channel[int](1)
    tell(send, 1)
    send.close()
    assert (received(receive), received(receive)) == (1, None)


def test_a_reply_has_a_place_or_an_error_and_an_answer_or_an_error():
    place, outcome = Appended(5), CommandOutcome(5)
    both, failed = Reply(0, place, outcome), Reply(0, place, error=Lost("a crash"))
    assert (both.place, both.answer) == (place, outcome)
    for wanted in ("place", "answer"):
        with pytest.raises(Lost):
            getattr(failed, wanted)
        with pytest.raises(ValueError, match="this reply has no"):
            getattr(Reply(0), wanted)
