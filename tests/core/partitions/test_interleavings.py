"""Instances, messages and signals of several partitions at once, while commands cross between them in any order.

At the end each message has one receiver in each process or is still stored, each request has its answer, and the
channels know of exactly those subscriptions that elements still have.
"""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from tests.core.cluster import ClusterEngine
from tests.core.engine import raw
from tests.core.message_models import (
    boundary,
    catch,
    event_sub,
    message,
    model,
    publish,
    receive,
    signal,
    starts,
    throw,
)
from tests.core.models import end, start, task
from tests.rounds import drawn, few_and_many
from vivero.core.commands import slots
from vivero.core.partitions.routes import slot_of
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CancelInstance, CreateInstance
from vivero.core.records.jobs import CompleteJob
from vivero.core.records.messages import ConfirmStart, CorrelateMessage, MessageReceived, PublishMessage
from vivero.core.records.signals import BroadcastSignal
from vivero.core.records.slots import HeldCommandsSent, MoveSlots
from vivero.core.rules import HELD_AT_ONCE

ROOTS = (message("hello"), message("go", None, "b"), signal())
KEYS = ("a", "b", "c", "d")
TTL_MS = 1_000_000
MODELS = (
    model(start(), receive(), end(), "start > receive > end", id="waits", roots=ROOTS),
    model(
        *(start(), task("work"), boundary("work", on="message", interrupting=False), end(), end("out")),
        *("start > work > end", "boundary > out"),
        id="beside",
        roots=ROOTS,
    ),
    model(
        *(start(), task("work"), boundary("work", on="message"), end(), end("out")),
        *("start > work > end", "boundary > out"),
        id="interrupts",
        roots=ROOTS,
    ),
    model(
        *(start(), task("work"), end(), event_sub("inner", end("done"), "inner-start > done"), "start > work > end"),
        id="inside",
        roots=ROOTS,
    ),
    model(start(), throw(on="message", extensions=publish()), end(), "start > throw > end", id="throws", roots=ROOTS),
    model(
        *(start(), throw(on="message", extensions=publish(ttl="PT1H")), end(), "start > throw > end"),
        id="stores",
        roots=ROOTS,
    ),
    model(start(), catch(on="signal"), end(), "start > catch > end", id="hears", roots=ROOTS),
    model(start(), throw(on="signal"), end(), "start > throw > end", id="shouts", roots=ROOTS),
    model(starts(on="b"), task("work"), end(), "start > work > end", id="begun", roots=ROOTS),
)
CREATED = ("waits", "waits", "beside", "interrupts", "inside", "throws", "stores", "hears", "shouts")


class Traffic:
    """Random commands of clients, which do not wait for each other."""

    def __init__(self, seed, causal=False) -> None:
        self.random = Random(seed)
        self.engine = ClusterEngine(self.random.randint(2, 5), seed, causal=causal)
        self.cluster = self.engine.cluster
        self.pin()
        self.engine.deploy(*MODELS)
        self.requests = {}
        self.moves = 0

    def pin(self):
        """Let each second tenant begin its instances in some partitions only."""
        partitions = self.cluster.routes.all
        pinned = tuple(one for one in partitions if self.random.random() < 0.5) if self.random.random() < 0.5 else ()
        self.cluster.routes = replace(self.cluster.routes, pins={"<default>": pinned} if pinned else {})
        for member in self.cluster.engines:
            member.refresh()

    def send(self, command):
        """In its home or, as a client with old routes does, in any other partition."""
        home = command.home("<default>", self.cluster.routes)
        anywhere = self.random.choice(self.cluster.routes.all)
        at = anywhere if home is None or self.random.random() < 0.3 else home
        self.requests[self.cluster.send(command, at=at)] = command

    def step(self):
        for _ in range(self.random.randint(0, 2)):
            self.cluster.deliver()
        self.cluster.now += 10
        key, variables = self.random.choice(KEYS), raw({"x": 1})
        draw = self.random.random()
        if draw < 0.45:
            self.send(CreateInstance(self.random.choice(CREATED), variables=raw({"k": key})))
        elif draw < 0.7:
            name = self.random.choice(("hello", "hello", "go"))
            self.send(PublishMessage(name, key, self.random.choice((0, TTL_MS)), None, variables))
        elif draw < 0.78:
            self.send(CorrelateMessage("hello", key, variables))
        elif draw < 0.83:
            self.send(BroadcastSignal("alarm", variables))
        elif draw < 0.92:
            self.end_something(lambda state: [CompleteJob(key) for key in state.jobs])
        else:
            self.end_something(lambda state: [CancelInstance(key) for key in state.trees])

    def move(self):
        """Move some slots of a partition to one with a higher number, unless a move is under way."""
        routes = self.cluster.routes
        if self.cluster.detours or routes.partitions < 2:
            return
        to = self.random.randint(2, routes.partitions)
        of_keys = [slot_of("<default>", key) for key in KEYS]
        owner = routes.owner_of(self.random.choice(of_keys))
        if owner < to:
            moving = tuple(sorted({slot for slot in of_keys if routes.owner_of(slot) == owner}))
            self.cluster.send(MoveSlots(moving, to))
            self.moves += 1

    def end_something(self, commands_of):
        commands = commands_of(self.random.choice(self.cluster.engines).state)
        if commands:
            self.send(self.random.choice(commands))


def events(cluster, kind):
    return [e for logged in cluster.log for row in logged.handled for e in row.events if isinstance(e, kind)]


def check_answers(traffic):
    """Each request has an answer, and no bug was found."""
    for position, command in traffic.requests.items():
        assert position in traffic.cluster.answers, f"{command} has no answer"
    for logged in traffic.cluster.log:
        for row in logged.handled:
            assert row.rejection is None or row.rejection.code is not RejectionCode.PROCESSING_ERROR, row.rejection


def check_messages(engine):
    """A process gets a message once, and none waits while a message that it could take is stored."""
    processes = {key: row["process_id"] for (table, key), row in engine.rows.items() if table == "Instance"}
    received = Counter((e.message, processes[e.instance]) for e in events(engine.cluster, MessageReceived))
    assert not received or max(received.values()) == 1, "a process got a message twice"
    for member in engine.cluster.engines:
        for channel in member.state.channels.values():
            for subscription in channel.subscriptions.values():
                waiting = engine.cluster[subscription.key >> 51].state.subscriptions[subscription.key]
                assert waiting.state != "CREATED" or subscription.state == "OPEN", "a message is for ever on its way"
                if subscription.state == "OPEN":
                    stored = [m for m in channel.messages.values() if m.name == subscription.name]
                    assert all(subscription.process_id in m.given for m in stored), "a stored message found nobody"


def check_subscriptions(cluster):
    """The channels have the subscriptions that elements wait with, each in its own partition, and no others."""
    known, open_ = set(), set()
    for member in cluster.engines:
        for place, channel in member.state.channels.items():
            assert not channel.subscriptions or cluster.routes.of_channel(*place) == member.state.partition
            known |= channel.subscriptions.keys()
        open_ |= {key for key, one in member.state.subscriptions.items() if one.kind == "MESSAGE"}
    assert known == open_


def check_starts(cluster):
    """Messages start instances where their tenant may begin. The channels have the locks of those that run."""
    locks = {
        lock.key for member in cluster.engines for one in member.state.channels.values() for lock in one.locks.values()
    }
    started = {root for member in cluster.engines for root, tree in member.state.trees.items() if tree.root.start_lock}
    assert locks == started
    pinned = "<default>" in cluster.routes.pins
    assert not pinned or {root >> 51 for root in started} <= set(cluster.routes.of_tenant("<default>"))


@pytest.mark.long
@few_and_many(12, 600)
@pytest.mark.parametrize("at_once", [1, HELD_AT_ONCE])
def test_slots_move_meanwhile(seed, count, at_once, monkeypatch):
    """Held commands are released at once, or one by one."""
    monkeypatch.setattr(slots, "HELD_AT_ONCE", at_once)
    seen = Counter()
    for one in drawn(seed, count, lambda: seen["moves"] > count and bool(seen["portions"]) == (at_once == 1)):
        traffic = Traffic(one, causal=True)
        for _ in range(60):
            traffic.step()
            if traffic.random.random() < 0.2:
                traffic.move()
        traffic.cluster.settle()
        assert not traffic.cluster.detours, "a move did not end"
        assert not any(traffic.cluster.inboxes.values()), "commands are held for ever"
        check_answers(traffic)
        check_messages(traffic.engine)
        check_subscriptions(traffic.cluster)
        check_starts(traffic.cluster)
        traffic.cluster.check_order()
        seen["moves"] += traffic.moves
        seen["portions"] += len(events(traffic.cluster, HeldCommandsSent))
    assert seen["moves"] > count
    assert bool(seen["portions"]) == (at_once == 1)


@few_and_many(12, 600)
def test_each_message_has_one_receiver_and_nothing_stays_open(seed, count):
    found = Counter()

    def enough():
        return found["received"] > 5 * count and found["crossed"] > 50 * count and found["confirmed"] > count / 6

    for one in drawn(seed, count, enough):
        traffic = Traffic(one)
        for _ in range(60):
            traffic.step()
        traffic.cluster.settle()
        check_answers(traffic)
        check_messages(traffic.engine)
        check_subscriptions(traffic.cluster)
        check_starts(traffic.cluster)
        found["confirmed"] += len([one for one in traffic.cluster.log if isinstance(one.command, ConfirmStart)])
        found["received"] += len(events(traffic.cluster, MessageReceived))
        found["crossed"] += traffic.cluster.delivered
        for member in traffic.cluster.engines:
            for root in list(member.state.trees):
                traffic.send(CancelInstance(root))
        traffic.cluster.settle()
        # a message that is given back or a lock that is released may begin a new instance
        while any(member.state.trees for member in traffic.cluster.engines):
            for member in traffic.cluster.engines:
                for root in list(member.state.trees):
                    traffic.send(CancelInstance(root))
            traffic.cluster.settle()
        assert not traffic.engine.open(), f"seed {one}"
    assert enough(), found
