"""From where an inclusive join can be reached: the bits of each place, compared with a search over the graph."""

from __future__ import annotations

import itertools
import random

import pytest

from vivero.core.bpmn.parser import parse
from vivero.core.bpmn.reading.xml import BPMN, XmlLimits

S = '<startEvent id="s" />'
ERROR = "<errorEventDefinition />"


def only(parsed):
    assert [str(problem) for problem in parsed.problems] == []
    return parsed.processes[0]


def flow(source, target):
    return f"<sequenceFlow id='{source}-{target}' sourceRef='{source}' targetRef='{target}' />"


def chain(text):
    names = text.split()
    return "".join(flow(*pair) for pair in itertools.pairwise(names))


def task(*names):
    return "".join(f"<task id='{name}' />" for name in names)


def test_only_a_gateway_with_several_incoming_flows_joins(process):
    found = only(
        process(
            f"{S}<inclusiveGateway id='one' /><inclusiveGateway id='two' />{task('a')}"
            + chain("s one a two")
            + flow("s", "two")
        )
    ).nodes
    assert (found["p"].joins, found["one"].bits, found["one"].reach) == (("two",), {}, {})
    assert found["two"].bits == {"a-two": 1, "s-two": 2}


def test_every_place_before_the_join_reaches_its_flows(process):
    found = only(
        process(
            f"{S}{task('a', 'b', 'c', 'after')}<inclusiveGateway id='j' />" + chain("s a j after c") + chain("s b j")
        )
    ).nodes
    assert found["j"].bits == {"a-j": 1, "b-j": 2}
    assert found["j"].reach == {"s": 3, "s-a": 1, "s-b": 2, "a": 1, "b": 2, "a-j": 1, "b-j": 2}


def test_a_loop_around_the_join_does_not_reach_it_through_itself(process):
    model = f"{S}{task('a', 'b')}<inclusiveGateway id='j' default='j-b' />" + chain("s a j b a") + flow("s", "j")
    found = only(process(model)).nodes
    assert found["j"].reach == {"s": 3, "s-a": 1, "a": 1, "a-j": 1, "j-b": 1, "b": 1, "b-a": 1, "s-j": 2}
    assert "j" not in found["j"].reach


def test_boundary_events_and_links_lead_on(process):
    model = (
        f"{S}{task('a', 'h')}<inclusiveGateway id='j' /><boundaryEvent id='e' attachedToRef='h'>{ERROR}</boundaryEvent>"
        "<intermediateThrowEvent id='t'><linkEventDefinition name='L' /></intermediateThrowEvent>"
        "<intermediateCatchEvent id='c'><linkEventDefinition name='L' /></intermediateCatchEvent>"
        + chain("s a j")
        + chain("s h")
        + chain("e t")
        + chain("c j")
    )
    reach = only(process(model)).nodes["j"].reach
    assert {place: bits for place, bits in reach.items() if bits & 2} == {
        "s": 3, "s-h": 2, "h": 2, "e": 2, "e-t": 2, "t": 2, "c": 2, "c-j": 2
    }  # fmt: skip


def test_a_sub_process_counts_as_its_node_and_an_event_sub_process_reaches_nothing(process):
    inner = f"<subProcess id='b'><startEvent id='bs' /><endEvent id='be' />{flow('bs', 'be')}</subProcess>"
    event = f"<subProcess id='v' triggeredByEvent='true'><startEvent id='vs'>{ERROR}</startEvent></subProcess>"
    model = f"{S}{inner}{event}<inclusiveGateway id='j' />" + chain("s b j") + flow("s", "j")
    found = only(process(model)).nodes
    assert found["j"].reach == {"s": 3, "s-b": 1, "b": 1, "b-j": 1, "s-j": 2}
    assert (found["b"].joins, found["v"].joins, found["p"].joins) == ((), (), ("j",))


@pytest.fixture
def dice(seed):
    return random.Random(seed)


def reachable(start, process, gateway):
    """The incoming flows of the gateway to which a token at `start` has a path that does not visit it."""
    found, seen, places = set(), set(), [start]
    while places:
        place = places.pop()
        if place in seen or place == gateway.id:
            continue
        seen.add(place)
        if place in process.flows:
            if process.flows[place].target == gateway.id:
                found.add(place)
            places.append(process.flows[place].target)
        else:
            places += [*process.nodes[place].outgoing, *process.nodes[place].boundaries]
    return found


@pytest.mark.parametrize("run", range(60))
def test_reach_is_what_a_search_finds(process, dice, run):
    names = [f"n{number}" for number in range(dice.randrange(2, 9))]
    kinds = {name: dice.choice(("task", "inclusiveGateway", "parallelGateway")) for name in names}
    parts = [f"<{kind} id='{name}' />" for name, kind in kinds.items()]
    hosts = [name for name, kind in kinds.items() if kind == "task"]
    edges = [f"e{host}" for host in hosts if dice.random() < 0.5]
    parts += [f"<boundaryEvent id='{edge}' attachedToRef='{edge[1:]}'>{ERROR}</boundaryEvent>" for edge in edges]
    for number in range(dice.randrange(3, 25)):
        source, target = dice.choice(["s", *names, *edges]), dice.choice(names)
        condition = (
            "<conditionExpression>=true</conditionExpression>" if kinds.get(source) == "inclusiveGateway" else ""
        )
        parts.append(
            f"<sequenceFlow id='f{number}' sourceRef='{source}' targetRef='{target}'>{condition}</sequenceFlow>"
        )
    found = only(process(S + "".join(parts)))
    for name in found.root.joins:
        gateway = found.nodes[name]
        for place in [*found.nodes, *found.flows]:
            if place not in ("p", name):
                flows = reachable(place, found, gateway)
                assert gateway.reach.get(place, 0) == sum(gateway.bits[flow] for flow in flows), (name, place)


def test_joins_are_bounded():
    joins = "".join(f"<inclusiveGateway id='j{n}' />" for n in range(3))
    flows = "".join(f"{flow('s', f'j{n}')}<sequenceFlow id='g{n}' sourceRef='s' targetRef='j{n}' />" for n in range(3))
    content = (
        f'<definitions xmlns="{BPMN}"><process id="p" isExecutable="true">{S}{joins}{flows}</process></definitions>'
    )
    places = 3 * 2 * (4 + 6)
    assert parse(content.encode(), "x", XmlLimits(join_places=places)).problems == ()
    (problem,) = parse(content.encode(), "x", XmlLimits(join_places=places - 1)).problems
    assert "the inclusive gateways that join are too many for the size of their scopes" in problem.message
