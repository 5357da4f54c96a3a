"""Pairs of a random graph and a random path through it: the engine must show what the token game shows."""

from collections import Counter
from random import Random

from tests.core.engine import Engine, place_of, rebuilt
from tests.core.randomised.graphs import graph_bpmn, random_graph
from tests.core.randomised.pairs import PATHS, difference, limits_of
from tests.core.randomised.petri_net import LONG, GraphRun

SIZES = (4, 7, 10, 14)


def check_graph(seed):
    """All paths through the graph of a seed, the last one with a rebuilt state halfway; the points compared.

    Raises:
        AssertionError: with the graph and the path.
    """
    random = Random(seed)
    graph, engine, points = random_graph(random, random.choice(SIZES)), Engine(limits_of(seed), keeps_rows=False), 0
    engine.deploy(graph_bpmn(graph))
    for path in range(PATHS):
        run = GraphRun(graph, f"{seed}/{path}")
        rebuild = random.randrange(LONG // 3) if path == PATHS - 1 else -1
        points += check_path(run, engine, rebuild, f"seed {seed}")
    return points


def check_path(run, engine, rebuild, name):
    run.begin()
    key = engine.start(**run.variables)
    points = 0
    while True:
        points += 1
        seen, should = observe(engine, key, run.graph), run.oracle.seen()
        assert seen == should, "\n".join(told(name, run, seen, should))
        if points - 1 == rebuild:
            rebuilt(engine)
        action = run.next_action()
        if action is None:
            return points
        run.tell(action)
        perform(engine, key, run.graph.place, action)


def check_actions(graph, variables, actions):
    """One path, given: for the tests that are made of what was found."""
    run, engine = GraphRun(graph, 0), Engine(keeps_rows=False)
    run.variables |= variables
    engine.deploy(graph_bpmn(graph))
    left = list(actions)
    run.next_action = lambda: left.pop(0) if left else None
    return check_path(run, engine, -1, "the given path")


def told(name, run, seen, should):
    yield name
    yield from difference(seen, should)
    yield f"start with {run.variables}"
    yield from map(str, run.actions)
    yield graph_bpmn(run.graph).decode()


def observe(engine, key, graph):
    """The observable state of an instance, in the form of `Marking.seen`."""
    root = engine.state.elements.get(key)
    if root is None:
        return {"state": engine.ended[key][0]}
    scope = next(iter(root.children.values())) if graph.nested else root
    assert place_of(scope) == graph.place
    children = list(scope.children.values())
    return {
        "state": str(root.state),
        "tokens": scope.tokens,
        "jobs": Counter(child.element for child in children for _ in child.waits.jobs),
        "timers": Counter((child.element, timer.target) for child in children for timer in child.waits.timers.values()),
        "incidents": Counter(one.element for one in (scope, *children) for _ in one.waits.incidents),
        "waiting for reset": {gateway: set(flows) for gateway, flows in scope.awaiting_reset.items()},
    }


def perform(engine, key, place, action):
    """Do it in the engine."""
    match action:
        case ("complete", node, variables):
            engine.complete_at(key, f"{place}/{node}", variables)
        case ("fire", node, event):
            engine.fire_at(key, f"{place}/{node}", event)
        case ("unstick", gateway, variable, value):
            engine.set(key, **{variable: value})
            if key in engine.state.elements:
                engine.resolve_at(key, f"{place}/{gateway}")
        case ("set", variable, value):
            engine.set(key, **{variable: value})
        case ("cancel",):
            engine.cancel(key)
