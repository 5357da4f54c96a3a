"""Random runs of random models: what is done is chosen by what is open, so that engine and oracle see the same.

A run is a list of actions `(verb, …)`; `perform` does one on an engine, `Oracle` knows what should come of it.
"""

from random import Random

from tests.core.engine import place_of, values_of
from tests.core.randomised.blocks import CODES, VALUES, VARIABLES, Loop, Repeat, inside
from tests.core.randomised.model_builder import ModelBuilder
from tests.core.randomised.oracle import TIMERS, Oracle

LONG = 40
"""After so many actions nothing loops or fails any more, so that every run ends."""


def observe(engine, key):
    """The observable state of a root instance, in the form of the oracle."""
    root = engine.state.elements.get(key)
    if root is None:
        left = [place_of(element) for element in engine.state.elements.values() if element.tree.key == key]
        state, variables = engine.ended[key]
        return {"state": state, "left": left, "variables": variables}
    all = [(place_of(element), element) for element in tree(root)]
    return {
        "state": str(root.state),
        "jobs": sorted(place for place, element in all for _ in element.waits.jobs),
        "tasks": sorted(place for place, element in all if element.waits.user_tasks),
        "incidents": sorted(place for place, element in all for _ in element.waits.incidents),
        "timers": sorted((place, timer.target) for place, element in all for timer in element.waits.timers.values()),
        "subscriptions": sorted(
            (place, one.target, one.correlation_key or "") for place, e in all for one in e.waits.subscriptions.values()
        ),
        "variables": {place: own for place, element in all if (own := _own(element))},
    }


def _own(element):
    """The variables of an element, without what an ad-hoc sub-process says of itself; called processes get it, too."""
    return {name: value for name, value in values_of(element).items() if name != "adHocSubProcessElements"}


def tree(element):
    """An element and everything live in it."""
    yield element
    for child in element.children.values():
        yield from tree(child)


def expected(oracle):
    """The expected result of `observe`."""
    seen = oracle.seen()
    if oracle.state == "ACTIVATED":
        return seen
    return {"state": oracle.state, "left": [], "variables": oracle.gone[oracle.id]}


def _again(variables):
    return [name for name, value in variables.items() if name.startswith("again_") and value == 1]


def random_block(seed, size=12, id="p", channels=True, races=True, alone=False):
    """The body of a process; `channels`, `races` and `alone` as of a `ModelBuilder`."""
    return ModelBuilder(Random(seed), "" if id == "p" else f"{id}_", channels, races, alone).model(size)


class Run:
    """A path through a model, an instance that takes it, and what the oracle says of it."""

    def __init__(self, block, random, id="p", still=False) -> None:
        """With `still` no action changes a variable that decides anything."""
        self.id, self.still = id, still
        self.model = b""
        self.take(block, random)

    def take(self, block, random):
        """Begin another path through a model."""
        self.block, self.random = block, random
        self.loops = [one.id for one in inside(block) if isinstance(one, Loop | Repeat)]
        self.variables = {name: random.randrange(VALUES) for name in VARIABLES}
        self.variables |= {f"again_{loop}": 0 for loop in self.loops}
        self.actions = []

    def begin(self):
        self.oracle = Oracle(self.block, self.variables, self.id)

    def next_action(self):
        """Something that can be done now; None when the instance has ended."""
        oracle = self.oracle
        if oracle.state != "ACTIVATED":
            return None
        calm = len(self.actions) >= LONG
        if calm and (spinning := [(p, again) for p, own in oracle.scopes.all.items() if (again := _again(own))]):
            place, names = spinning[0]
            return ("set", place, dict.fromkeys(names, 0), True)
        return self._after_trouble(calm) or self._event(calm) or self._from_outside(calm) or self._of_task(calm)

    def _after_trouble(self, calm):
        oracle, random = self.oracle, self.random
        stuck, failed, tasks = oracle.stuck(), oracle.failed_tasks(), oracle.open_tasks()
        if self.still and stuck:
            return ("cancel",)
        if stuck and (random.random() < 0.3 or not tasks):
            one = random.choice(stuck)
            return ("unstick", one.place, *random.choice(one.ways_out()))
        if failed and (random.random() < 0.5 or not tasks):
            return ("resolve", random.choice(failed).place)
        uncaught = oracle.uncaught()
        if uncaught and not calm and random.random() < 0.2:
            return ("retry", random.choice(uncaught).place)
        return None

    def _event(self, calm):
        """Something that is waited for happens; in the end only what somebody waits for alone, or what interrupts."""
        oracle, random = self.oracle, self.random
        events, tasks = oracle.events(), oracle.open_tasks()
        if calm or not tasks:
            ways = [hook for hook in events if hook.where in {"own", "race"}]
            ways = ways or [hook for hook in events if hook.interrupting]
            if not ways and not tasks:
                return ("cancel",)
            events = ways if not tasks else []
        if events and (not tasks or random.random() < 0.3):
            hook = random.choice(events)
            if hook.on in TIMERS:
                return ("fire", hook.place, hook.id)
            wrong = random.random() < 0.1 and bool(tasks) and hook.on == "message"
            return ("shout", hook.on, hook.id, "nobody" if wrong else hook.key)
        return None

    def _from_outside(self, calm):
        oracle, random = self.oracle, self.random
        chance = random.random()
        if not calm and chance > 0.99:
            return ("cancel",)
        if not calm and not self.still and chance > 0.9:
            places = [place for place in oracle.scopes.all if place not in oracle.scopes.shared]
            return ("set", random.choice(places), self._some(), random.random() < 0.3)
        return None

    def _of_task(self, calm):
        random = self.random
        task, chance = random.choice(self.oracle.open_tasks()), random.random()
        jobless = task.task.person or self.oracle.is_nameless(task.place)
        if not calm and not jobless and chance > 0.85:
            return ("fail", task.place, {"note": random.randrange(9)})
        if not calm and not jobless and chance > 0.7:
            return ("throw", task.place, random.choice(CODES), {"note": random.randrange(9)})
        if task.task.mapped:
            return ("complete", task.place, {"y": 2 if self.still else random.randrange(VALUES)})
        again = {f"again_{loop}": 0 if calm else int(random.random() < 0.4) for loop in self.loops}
        verb = "finish" if task.task.person else "complete"
        return (verb, task.place, {} if self.still else self._some() | again)

    def _some(self):
        return {name: self.random.randrange(VALUES) for name in VARIABLES if self.random.random() < 0.5}

    def tell(self, action):
        """Do it in the oracle."""
        self.actions.append(action)
        tell(self.oracle, action)


def tell(oracle, action):
    """Do it in the oracle."""
    match action:
        case ("complete" | "finish", place, variables):
            oracle.complete(place, variables)
        case ("fail", place, variables):
            oracle.fail(place, variables)
        case ("resolve", place):
            oracle.resolve_job(place)
        case ("retry", _):
            pass
        case ("unstick", place, variable, value):
            oracle.set(place.rpartition("/")[0], {variable: value}, False)
            oracle.resolve_choice(place)
        case ("throw", place, code, variables):
            oracle.throw(place, code, variables)
        case ("fire", place, target):
            oracle.fire(place, target)
        case ("shout", on, name, key):
            oracle.shout(on, name, key)
        case ("set", place, variables, local):
            oracle.set(place, variables, local)
        case ("cancel",):
            oracle.cancel()
        case _:
            raise ValueError(action)


def perform(engine, key, action):
    """Do it in the engine."""
    match action:
        case ("complete", place, variables):
            engine.complete_at(key, place, variables)
        case ("finish", place, variables):
            engine.finish_at(key, place, variables)
        case ("fail", place, variables):
            engine.fail_at(key, place, variables)
        case ("resolve", place):
            engine.resolve_job_at(key, place)
        case ("retry", place):
            engine.resolve_at(key, place)
        case ("unstick", place, variable, value):
            engine.set(engine.at(key, place.rpartition("/")[0]).key, **{variable: value})
            engine.resolve_at(key, place)
        case ("set", place, variables, local):
            engine.set(engine.at(key, place).key, local, **variables)
        case ("throw", place, code, variables):
            engine.throw_at(key, place, code, variables)
        case ("fire", place, target):
            engine.fire_at(key, place, target)
        case ("shout", "signal", name, _):
            engine.broadcast(name)
        case ("shout", "message", name, correlation_key):
            engine.publish(name, correlation_key)
        case ("cancel",):
            engine.cancel(key)
        case _:
            raise ValueError(action)
