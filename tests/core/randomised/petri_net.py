"""The behaviour of a graph (`graphs.py`) as a Petri net: a place for each flow and each node, and the token game.

Inclusive joins and resets of complex gateways by the literal text of BPMN 2.0.2 §13.4.3 and §13.4.5, searched anew each
time on the raw graph: slow, and without anything that the engine computes. No import from the engine
(docs/core.md).
"""

from collections import Counter
from random import Random

from tests.core.randomised.graphs import STARTED, VALUES, VARIABLES

LONG = 25
CROWD = 25
"""After so many actions, or with so many tokens, a path is cancelled: graphs can make tokens for ever."""


class Marking:
    """One instance of a graph."""

    def __init__(self, graph, variables) -> None:
        self.graph = graph
        self.variables = dict(variables)
        self.tokens = Counter()
        self.stuck = Counter()
        """Gateways without a way out, with how many tokens."""
        self.consumed = {}
        """The complex gateways that wait for reset, with the flows that gave a token at the start."""
        self.state = "ACTIVATED"
        self._leave("start")
        self._play()

    # ---- what can be seen

    def seen(self):
        if self.state != "ACTIVATED":
            return {"state": self.state}
        kinds, hosts = self.graph.kinds, self.graph.hosts
        here = {node: count for node, count in self.tokens.items() if node in kinds}
        timers = Counter({(node, node): count for node, count in here.items() if kinds[node] == "timer"})
        timers += Counter({(host, event): here[host] for event, host in hosts.items() if host in here})
        incidents = Counter(self.stuck)
        if self.deadlocked:
            incidents[self.graph.place.rpartition("/")[2]] += 1
        return {
            "state": self.state,
            "tokens": dict(self.tokens),
            "jobs": {node: count for node, count in here.items() if kinds[node] == "task"},
            "timers": dict(timers),
            "incidents": dict(incidents),
            "waiting for reset": self.consumed,
        }

    @property
    def deadlocked(self):
        """Tokens wait before joins, and there is nobody who could bring another."""
        nobody = not any(place in self.graph.kinds for place in self.tokens)
        return bool(self.tokens) and nobody and not any(self.waiting_for_variables())

    def waiting_for_variables(self):
        """The conditions of complex gateways that tokens wait at, and that a changed variable might start."""
        for node, (_, condition) in self.graph.enough.items():
            filled = any(self.tokens[flow.id] for flow in self.graph.incoming(node))
            if filled and condition is not None and node not in self.consumed:
                yield condition

    # ---- observations

    def complete(self, node):
        self._take(node)
        self._leave(node)
        self._play()

    def fire(self, node, event):
        """A timer that is waited for, or one at a boundary."""
        if self.graph.kinds[event] != "bell":
            self._take(node)
        self._leave(event)
        self._play()

    def resolve(self, gateway):
        self.stuck = self.stuck - Counter([gateway])
        self._take(gateway)
        self._leave(gateway)
        self._play()

    def set(self, variable, value):
        self.variables[variable] = value
        self._play()

    def cancel(self):
        self._end("TERMINATED")

    def _end(self, state):
        self.state = state
        self.tokens.clear()
        self.stuck.clear()
        self.consumed.clear()

    # ---- the token game

    def _play(self):
        """Until no token can move."""
        while self.state == "ACTIVATED" and (self._move() or self._join()):
            pass
        if self.state == "ACTIVATED" and not self.tokens:
            self._end("COMPLETED")

    def _move(self):
        """A token that need not wait moves on; False when there is none."""
        for name in list(self.tokens):
            flow = self.graph.flows.get(name)
            if flow is None:
                continue
            node, incoming = flow.target, [one.id for one in self.graph.incoming(flow.target)]
            kind = self.graph.kinds[node]
            if (kind == "inclusive" and len(incoming) > 1) or node in self.graph.enough:
                continue
            taken = incoming if kind == "parallel" else [name]
            if node in self.graph.needed:
                tokens = [one for one in incoming for _ in range(self.tokens[one])]
                taken = tokens[: self.graph.needed[node]]
                if len(taken) < self.graph.needed[node]:
                    continue
            if all(self.tokens[one] for one in taken):
                for one in taken:
                    self._take(one)
                self._enter(node)
                return True
        return False

    def _join(self):
        """Joins by paths, in the order of the file; what one has taken is seen by the next."""
        joined, happened = [], False
        for node, kind in self.graph.kinds.items():
            incoming = [flow.id for flow in self.graph.incoming(node)]
            if kind == "inclusive" and len(incoming) > 1 and self._may_join(node, incoming):
                for flow in incoming:
                    if self.tokens[flow]:
                        self._take(flow)
                self.tokens[node] += 1
                joined.append((node, True))
            elif node in self.consumed:
                happened |= self._reset(node, incoming, joined)
            elif node in self.graph.enough:
                self._start(node, incoming, joined)
        for node, starts in joined:
            self._take(node)
            self._leave(node, starts)
        return happened or bool(joined)

    def _start(self, gateway, incoming, joined):
        """A complex gateway starts, if enough tokens wait."""
        tokens, condition = self.graph.enough[gateway]
        filled = [flow for flow in incoming if self.tokens[flow]]
        enough = sum(self.tokens[flow] for flow in filled) >= tokens
        if filled and enough and (condition is None or self._holds(condition)):
            for flow in filled:
                self._take(flow)
            self.consumed[gateway] = set(filled)
            self.tokens[gateway] += 1
            joined.append((gateway, True))

    def _reset(self, gateway, incoming, joined):
        """A complex gateway resets, if nothing more can come. Without conditions nothing leaves it."""
        left = {flow for flow in incoming if self.tokens[flow]} - self.consumed[gateway]
        chooses = any(way.condition for way in self.graph.outgoing(gateway))
        ends = not self.tokens and not chooses
        if ends or self._awaits(gateway, incoming, self.consumed[gateway] | left):
            return False
        for flow in left:
            self._take(flow)
        del self.consumed[gateway]
        if chooses:
            self.tokens[gateway] += 1
            joined.append((gateway, False))
        return True

    def _may_join(self, gateway, incoming):
        filled = {flow for flow in incoming if self.tokens[flow]}
        return bool(filled) and not self._awaits(gateway, incoming, filled)

    def _awaits(self, gateway, incoming, filled):
        """Whether a token elsewhere can come to an empty flow and to no filled one."""
        for place in self.tokens:
            if place not in incoming:
                ends = self._ends(place, gateway) & set(incoming)
                if ends - filled and not ends & filled:
                    return True
        return False

    def _ends(self, place, gateway):
        """The flows with which directed paths from a place end that do not visit the gateway."""
        graph, seen = self.graph, set()
        ahead = [place] if place in graph.flows else self._out_of(place)
        if place == gateway:
            return seen
        while ahead:
            flow = ahead.pop()
            if flow not in seen:
                seen.add(flow)
                node = graph.flows[flow].target
                ahead += [] if node == gateway else self._out_of(node)
        return seen

    def _out_of(self, node):
        """A token in an activity may leave it by its boundary events."""
        sources = [node, *(event for event, host in self.graph.hosts.items() if host == node)]
        return [flow.id for source in sources for flow in self.graph.outgoing(source)]

    def _take(self, place):
        self.tokens[place] -= 1
        if not self.tokens[place]:
            del self.tokens[place]

    def _enter(self, node):
        match self.graph.kinds[node]:
            case "task" | "timer":
                self.tokens[node] += 1
            case "end":
                pass
            case "terminate":
                self._end("COMPLETED")
            case _:
                self._leave(node)

    def _leave(self, node, starts=True):
        """A token on each outgoing flow, or on those that the variables choose. `starts`: of a complex gateway."""
        ways = self.graph.outgoing(node)
        if self.graph.kinds[node] == "complex":
            ways = self._chosen_in_phase(node, ways, starts)
        elif self.graph.kinds[node] in {"exclusive", "inclusive"}:
            ways = self._chosen(node, ways)
        elif self.graph.kinds[node] == "task":
            ways = self._chosen_by_task(node, ways)
        if ways is None:
            self.tokens[node] += 1
            self.stuck[node] += 1
        else:
            self.tokens.update([flow.id for flow in ways] * self.graph.given.get(node, 1))

    def _chosen(self, node, ways):
        default = self.graph.defaults.get(node)
        true = [w for w in ways if w.id != default and (w.condition is None or self._holds(w.condition))]
        if true:
            return true if self.graph.kinds[node] == "inclusive" else true[:1]
        if default is not None:
            return [self.graph.flows[default]]
        return None if ways else []

    def _chosen_in_phase(self, node, ways, starts):
        """Flows without a condition at the start only; the default flow if there is no other."""
        default = self.graph.defaults.get(node)
        taken = [
            way
            for way in ways
            if way.id != default and (starts if way.condition is None else self._holds(way.condition, starts))
        ]
        if taken or default is None:
            return taken if taken or not ways or not starts else None
        return [self.graph.flows[default]]

    def _chosen_by_task(self, node, ways):
        """Flows without condition, and those whose condition holds; the default flow only if none holds."""
        default = self.graph.defaults.get(node)
        true = [way for way in ways if way.condition is not None and self._holds(way.condition)]
        return [way for way in ways if way in true or (way.condition is None and not (way.id == default and true))]

    def _holds(self, condition, starts=None):
        variable, value = condition
        return value == (starts if variable == STARTED else self.variables[variable])


class GraphRun:
    """A path through a graph."""

    def __init__(self, graph, seed) -> None:
        self.graph = graph
        self.random = Random(seed)
        self.variables = {name: self.random.randrange(VALUES) for name in VARIABLES}
        self.actions = []

    def begin(self):
        self.oracle = Marking(self.graph, self.variables)

    def next_action(self):
        oracle, random, kinds = self.oracle, self.random, self.graph.kinds
        if oracle.state != "ACTIVATED":
            return None
        if oracle.deadlocked or len(self.actions) > LONG or oracle.tokens.total() > CROWD:
            return ("cancel",)
        tasks = [node for node in oracle.tokens if kinds.get(node) == "task"]
        ways_out = [(gateway, one) for gateway in sorted(oracle.stuck) for one in self._ways_out(gateway)]
        if ways_out and (not tasks or random.random() < 0.4):
            gateway, condition = random.choice(ways_out)
            return ("unstick", gateway, *condition)
        waiting = [(name, value) for name, value in oracle.waiting_for_variables() if oracle.variables[name] != value]
        if waiting and (not tasks or random.random() < 0.3):
            return ("set", *random.choice(waiting))
        timers = [(node, node) for node in oracle.tokens if kinds.get(node) == "timer"]
        timers += [(host, event) for event, host in self.graph.hosts.items() if oracle.tokens[host]]
        if timers and (not tasks or random.random() < 0.4):
            return ("fire", *random.choice(timers))
        if not tasks:
            return ("cancel",)
        changed = {name: random.randrange(VALUES) for name in VARIABLES if random.random() < 0.4}
        return ("complete", random.choice(tasks), changed)

    def _ways_out(self, gateway):
        conditions = (flow.condition for flow in self.graph.outgoing(gateway))
        return [condition for condition in conditions if condition[0] != STARTED]

    def tell(self, action):
        self.actions.append(action)
        oracle = self.oracle
        match action:
            case ("complete", node, variables):
                oracle.variables |= variables
                oracle.complete(node)
            case ("fire", node, event):
                oracle.fire(node, event)
            case ("unstick", gateway, variable, value):
                oracle.set(variable, value)
                if oracle.state == "ACTIVATED":  # the variable may start a gateway, behind which everything ends
                    oracle.resolve(gateway)
            case ("set", variable, value):
                oracle.set(variable, value)
            case ("cancel",):
                oracle.cancel()
