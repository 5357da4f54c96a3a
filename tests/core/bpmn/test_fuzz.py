"""Mutated files: whatever the bytes are, the parser answers with processes or with problems, and raises nothing.

`VIVERO_SEED` repeats a run; `VIVERO_MODEL_FUZZ_COUNT` makes it longer.
"""

from __future__ import annotations

import os
import random

import pytest

from vivero.core.bpmn.model import (
    ConditionalEvent,
    ErrorEvent,
    EscalationEvent,
    LinkEvent,
    MessageEvent,
    MultipleEvent,
    Node,
    Process,
    SignalEvent,
    TerminateEvent,
    TimerEvent,
    parts_of,
)
from vivero.core.bpmn.parser import Parsed, parse

RUNS = int(os.environ.get("VIVERO_MODEL_FUZZ_COUNT", "20"))
PIECES = [
    b"<",
    b">",
    b"/>",
    b'"',
    b"&",
    b"&#0;",
    b"]]>",
    b"<!--",
    b"-->",
    b"<![CDATA[",
    b"<?",
    b"<!DOCTYPE x>",
    b"\x00",
    b"\xff",
    b"\xed\xa0\x80",
    b"=",
    b"=(",
    b"<subProcess>",
    b"</process>",
    b'id="start"',
    b'default="x"',
    b"isExecutable",
    b"xmlns=''",
    b"sequenceFlow",
    b"=1 +",
    b"-1",
    b"",
]


@pytest.fixture
def dice(seed):
    return random.Random(seed)


def check(content: bytes) -> Parsed:
    try:
        parsed = parse(content, "fuzz.bpmn")
    except BaseException:
        print(content)
        raise
    assert bool(parsed.processes) != bool(parsed.problems)
    for process in parsed.processes:
        check_process(process)
    return parsed


EVENTS_OF = {
    "START_EVENT": (ConditionalEvent, MessageEvent, TimerEvent, ErrorEvent, EscalationEvent, SignalEvent),
    "INTERMEDIATE_CATCH_EVENT": (ConditionalEvent, MessageEvent, TimerEvent, SignalEvent, LinkEvent),
    "INTERMEDIATE_THROW_EVENT": (MessageEvent, EscalationEvent, SignalEvent, LinkEvent),
    "BOUNDARY_EVENT": (ConditionalEvent, MessageEvent, TimerEvent, ErrorEvent, EscalationEvent, SignalEvent),
    "END_EVENT": (MessageEvent, ErrorEvent, EscalationEvent, SignalEvent, TerminateEvent),
    "RECEIVE_TASK": (MessageEvent,),
    "SEND_TASK": (MessageEvent,),
}
WAITS = ("INTERMEDIATE_CATCH_EVENT", "BOUNDARY_EVENT", "RECEIVE_TASK")


def check_process(process):
    """The core relies on this: every reference has a target, and every node has what its type needs."""
    for node in process.nodes.values():
        assert node.scope in process.nodes if node is not process.root else node.scope is None
        assert all(process.flows[flow].target == node.id for flow in node.incoming)
        assert all(process.flows[flow].source == node.id for flow in node.outgoing)
        assert node.default is None or node.default in node.outgoing
        check_scope(node, process)
        check_work(node)
        check_event(node, process)
        check_join(node, process)
    for flow in process.flows.values():
        assert process.nodes[flow.source].scope == process.nodes[flow.target].scope
        assert flow.id in process.nodes[flow.source].outgoing
        assert flow.id in process.nodes[flow.target].incoming


def check_scope(node: Node, process: Process) -> None:
    assert node.start is None or process.nodes[node.start].scope == node.id
    if node.type in ("SUB_PROCESS", "TRANSACTION", "EVENT_SUB_PROCESS"):
        assert node.has_none_start
        assert node.start is None or (process.nodes[node.start].event is None) == (node.type != "EVENT_SUB_PROCESS")
    assert all(process.nodes[inner].type == "EVENT_SUB_PROCESS" for inner in node.event_sub_processes)
    assert all(process.nodes[inner].scope == node.id for inner in node.event_sub_processes)
    assert [n.id for n in process.nodes.values() if n.scope == node.id and n.bits] == list(node.joins)
    if node.type == "EVENT_SUB_PROCESS":
        assert (node.incoming, node.outgoing, node.boundaries, node.loop) == ((), (), (), None)


def check_work(node: Node) -> None:
    """The task is worked by a worker, or by the engine."""
    ways = [node.job, node.script, node.user_task, node.called, node.decision]
    if node.type in ("SERVICE_TASK", "SCRIPT_TASK", "USER_TASK", "BUSINESS_RULE_TASK", "CALL_ACTIVITY"):
        assert sum(way is not None for way in ways) == 1
    elif node.type == "SEND_TASK":
        assert (node.job is None) != (node.event is None)
    elif node.type not in ("INTERMEDIATE_THROW_EVENT", "END_EVENT"):
        assert not any(ways)


def check_event(node: Node, process: Process) -> None:
    assert all(isinstance(part, EVENTS_OF[node.type]) for part in parts_of(node.event))
    assert not isinstance(node.event, MultipleEvent) or len(node.event.parts) > 1
    assert node.event is not None or node.type not in WAITS
    assert (node.host is not None) == (node.type == "BOUNDARY_EVENT")
    assert node.host is None or node.id in process.nodes[node.host].boundaries
    assert all(process.nodes[boundary].host == node.id for boundary in node.boundaries)
    if isinstance(node.event, ErrorEvent | EscalationEvent) and "THROW" in node.type + node.type.replace(
        "END", "THROW"
    ):
        assert node.event.code is not None
    if isinstance(node.event, ErrorEvent):
        assert node.interrupting
    if isinstance(node.event, LinkEvent) and node.type == "INTERMEDIATE_THROW_EVENT":
        target = process.nodes[node.event.target]
        assert isinstance(target.event, LinkEvent)
        assert (target.scope, target.type, target.event.name) == (
            node.scope,
            "INTERMEDIATE_CATCH_EVENT",
            node.event.name,
        )


def check_join(node: Node, process: Process) -> None:
    assert bool(node.bits) == (node.type == "INCLUSIVE_GATEWAY" and len(node.incoming) > 1)
    if node.bits:
        assert list(node.bits) == list(node.incoming)
        assert all(node.reach[flow] & bit for flow, bit in node.bits.items())
        assert node.id not in node.reach
        assert set(node.reach) <= process.nodes.keys() | process.flows.keys()


def test_models_hold_together(model_file):
    assert check(model_file.read_bytes()).processes


@pytest.mark.parametrize("name", ["one_task.bpmn", "straight.bpmn"])
def test_a_file_cut_off_at_any_byte_is_refused(models, name):
    content = (models / name).read_bytes().rstrip()
    for end in range(len(content)):
        assert check(content[:end]).processes == ()


def test_a_file_with_any_byte_left_out_never_raises(models):
    content = (models / "one_task.bpmn").read_bytes()
    for at in range(len(content)):
        check(content[:at] + content[at + 1 :])


def test_flipped_bytes_never_raise(model_file, dice):
    content = model_file.read_bytes()
    for _ in range(RUNS):
        mutant = bytearray(content)
        for _ in range(dice.choice((1, 1, 2, 10))):
            mutant[dice.randrange(len(mutant))] = dice.randrange(256)
        check(bytes(mutant))


def test_spliced_pieces_never_raise(model_file, dice):
    content = model_file.read_bytes()
    for _ in range(RUNS):
        start = dice.randrange(len(content))
        end = min(len(content), start + dice.choice((0, 1, 5, 50)))
        check(content[:start] + dice.choice(PIECES) + content[end:])


def test_exchanged_lines_never_raise(model_file, dice):
    """Mutants move, double or drop whole lines. Most are well-formed, and so get past the XML parser."""
    lines = model_file.read_bytes().splitlines(keepends=True)
    for _ in range(RUNS):
        mutant = list(lines)
        at, to = dice.randrange(len(lines)), dice.randrange(len(lines))
        mutant[at] = dice.choice((lines[to], lines[at] * 2, b""))
        check(b"".join(mutant))


@pytest.mark.long
def test_exchanged_words_never_raise(model_file, dice):
    """Attribute values exchanged for each other: well-formed always, so ids, references and expressions go wrong."""
    parts = model_file.read_bytes().split(b'"')
    values = range(1, len(parts) - 1, 2)
    for _ in range(RUNS):
        mutant = list(parts)
        mutant[dice.choice(values)] = parts[dice.choice(values)]
        content = b'"'.join(mutant)
        assert repr(check(content)) == repr(check(content))
