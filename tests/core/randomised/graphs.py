"""Random graphs of one scope, without any structure: ways that never meet, joins that wait for ever, surplus tokens.

No import from the engine. What a graph does is the business of `petri_net.py`. Only tasks and timers are come back
to, so that nothing spins. Variables decide gateways: a flow's condition is that a variable has a value.
"""

from dataclasses import dataclass, field

from tests.core.event_models import complex_gateway, inc
from tests.core.models import chain, end, flow, par, process, start, sub, task, xor
from tests.core.randomised.blocks_bpmn import boundary, waiting

VARIABLES = ("v0", "v1", "v2")
VALUES = 3
INNER = (
    *("task", "task", "task", "timer", "pass", "exclusive", "parallel", "parallel", "inclusive", "inclusive"),
    *("complex", "complex"),
)
GATEWAYS = {"exclusive", "parallel", "inclusive", "complex"}
STARTED = "started"
"""In place of a value: the condition is whether a complex gateway starts (True) or resets (False)."""
WAITING = {"task", "timer"}


@dataclass(frozen=True)
class Flow:
    id: str
    source: str
    target: str
    condition: tuple | None = None
    """(variable, value); behind a complex gateway also (STARTED, boolean)."""


@dataclass
class Graph:
    """`kinds` by node, in the order of the file; boundary events ("catch" interrupts, "bell" does not) have a host."""

    kinds: dict = field(default_factory=dict)
    flows: dict = field(default_factory=dict)
    hosts: dict = field(default_factory=dict)
    defaults: dict = field(default_factory=dict)
    """The default flow by gateway."""
    needed: dict = field(default_factory=dict)
    """The number of tokens that a task needs, if it is not one."""
    enough: dict = field(default_factory=dict)
    """(number of tokens, condition or None) with which a complex gateway starts. Those without one only fork."""
    given: dict = field(default_factory=dict)
    """The number of tokens that a task puts on each flow, if it is not one."""
    nested: bool = False
    """The graph is that of a sub-process."""

    @property
    def place(self):
        """The scope of the graph."""
        return "p/s" if self.nested else "p"

    def outgoing(self, node):
        return [flow for flow in self.flows.values() if flow.source == node]

    def incoming(self, node):
        return [flow for flow in self.flows.values() if flow.target == node]

    def connect(self, source, target):
        name = f"{source}-{target}-{len(self.flows)}"
        self.flows[name] = Flow(name, source, target)


def random_graph(random, size):
    graph = Graph(nested=random.random() < 0.3)
    ranked = ["start", *(f"n{number}" for number in range(random.randint(3, size)))]
    graph.kinds = {"start": "start"} | {node: random.choice(INNER) for node in ranked[1:]}
    ends = [f"e{number}" for number in range(random.randint(1, 2))]
    graph.kinds |= {node: "terminate" if random.random() < 0.15 else "end" for node in ends}
    for rank, node in enumerate(ranked):
        for _ in range(_ways(graph.kinds[node], random)):
            graph.connect(node, _target(graph, ranked, ends, rank, random))
        if graph.kinds[node] == "task" and random.random() < 0.3:
            _attach(graph, node, _target(graph, ranked, ends, rank, random), random)
    for rank, node in enumerate([*ranked, *ends]):
        if rank and not graph.incoming(node):
            graph.connect(random.choice(ranked[: min(rank, len(ranked))]), node)
    for node, kind in graph.kinds.items():
        if kind in {"exclusive", "inclusive"}:
            _decide(graph, node, random)
        elif kind == "complex":
            _decide_in_phases(graph, node, random)
        elif kind == "task" and random.random() < 0.5:
            _decide_for_task(graph, node, random)
        if kind == "task" and len(graph.incoming(node)) == 1 and random.random() < 0.15:
            graph.needed[node] = random.randint(2, 3)  # of several flows, nobody says whose tokens are consumed
        if kind == "task" and random.random() < 0.1:
            graph.given[node] = random.randint(2, 3)
    return graph


def _ways(kind, random):
    return random.randint(1, 3) if kind in GATEWAYS else random.choice((1, 1, 1, 2, 3))


def _target(graph, ranked, ends, rank, random):
    """Something behind the node, most often soon, or a task or timer that was there before."""
    back = [node for node in ranked[1 : rank + 1] if graph.kinds[node] in WAITING]
    if back and random.random() < 0.2:
        return random.choice(back)
    ahead = ranked[rank + 1 : rank + 5]
    return random.choice(ahead if ahead and random.random() < 0.9 else ends)


def _attach(graph, host, target, random):
    name = f"b{len(graph.hosts)}"
    graph.kinds[name] = random.choice(("catch", "bell"))
    graph.hosts[name] = host
    graph.connect(name, target)


def _decide(graph, node, random):
    """Conditions on the flows of a gateway with several, but one that may be the default."""
    ways = graph.outgoing(node)
    if len(ways) < 2:
        return
    default = random.choice(ways) if random.random() < 0.75 else None
    if default is not None:
        graph.defaults[node] = default.id
    for way in ways:
        if way is not default:
            condition = (random.choice(VARIABLES), random.randrange(VALUES))
            graph.flows[way.id] = Flow(way.id, way.source, way.target, condition)


def _decide_in_phases(graph, node, random):
    """An activation condition, and conditions on some flows."""
    incoming, ways = len(graph.incoming(node)), graph.outgoing(node)
    if incoming > 1 or random.random() < 0.3:
        most = incoming + (random.random() < 0.2)
        variable = random.choice((None, None, None, _random_condition(random)))
        graph.enough[node] = (min(random.randint(1, most) for _ in range(2)), variable)
    for way in ways:
        if random.random() < 0.6:
            phase = (STARTED, random.random() < 0.5)
            condition = random.choice((phase, _random_condition(random)))
            graph.flows[way.id] = Flow(way.id, way.source, way.target, condition)
    if len(ways) > 1 and random.random() < 0.6:
        default = random.choice(ways)
        graph.defaults[node] = default.id
        graph.flows[default.id] = Flow(default.id, default.source, default.target)


def _random_condition(random):
    return random.choice(VARIABLES), random.randrange(VALUES)


def _decide_for_task(graph, node, random):
    """Conditions on some flows of a task. One has none, or is the default flow, so that no task is stuck."""
    last, *others = random.sample(ways := graph.outgoing(node), len(ways))
    if others and random.random() < 0.5:
        graph.defaults[node] = last.id
    for way in others:
        if random.random() < 0.7:
            condition = (random.choice(VARIABLES), random.randrange(VALUES))
            graph.flows[way.id] = Flow(way.id, way.source, way.target, condition)


# ---- BPMN


def graph_bpmn(graph):
    parts = [_element(graph, node, kind) for node, kind in graph.kinds.items()]
    parts += [
        flow(one.source, one.target, one.condition and f"={_holds(one.condition)}", one.id)
        for one in graph.flows.values()
    ]
    if graph.nested:
        return process(start("outer"), sub("s", *parts), end("outer_end"), chain("outer > s > outer_end"))
    return process(*parts)


def _holds(condition):
    name, value = condition
    return f"waitingForStart = {str(value).lower()}" if name == STARTED else f"{name} = {value}"


def _activation(graph, node):
    if node not in graph.enough:
        return None
    tokens, condition = graph.enough[node]
    return f"=activationCount >= {tokens}" + ("" if condition is None else f" and {_holds(condition)}")


def _attributes(graph, node):
    """The attributes of a task: its default flow and quantities."""
    given = (("default", graph.defaults), ("startQuantity", graph.needed), ("completionQuantity", graph.given))
    return "".join(f' {name}="{values[node]}"' for name, values in given if node in values)


def _element(graph, node, kind):
    match kind:
        case "start":
            return start(node)
        case "task":
            return task(node).replace("<serviceTask", f"<serviceTask{_attributes(graph, node)}")
        case "timer":
            return waiting(node, "timer", False)
        case "pass":
            return f'<manualTask id="{node}"/>'
        case "exclusive":
            return xor(node, graph.defaults.get(node))
        case "inclusive":
            return inc(node, graph.defaults.get(node))
        case "complex":
            return complex_gateway(node, _activation(graph, node), graph.defaults.get(node))
        case "parallel":
            return par(node)
        case "catch":
            return boundary(node, graph.hosts[node], "timer", True)
        case "bell":
            return boundary(node, graph.hosts[node], "cycle", False)
        case "terminate":
            return f'<endEvent id="{node}"><terminateEventDefinition/></endEvent>'
    return end(node)
