"""Random runs of random models: what is done is chosen by what is open, so that engine and oracle see the same.

A run is a list of actions `(verb, …)`; `perform` does one on a bench, `Oracle` knows what should come of it.
"""

from random import Random

from core_bench import place_of
from core_blocks import VALUES, VARIABLES, Loop, Maker, inside, to_bpmn
from core_events import CODES
from core_oracle import Oracle

LONG = 40
"""After so many actions nothing loops or fails any more, so that every run ends."""


def observe(bench, key):
    """What can be seen of an instance, as the oracle tells it."""
    state = bench.state
    mine = [element for element in state.elements.values() if element.root.key == key]
    jobs = [job for job in state.jobs.values() if job.element.root.key == key]
    timers = [timer for timer in state.timers.values() if timer.element.root.key == key]
    incidents = [incident for incident in state.incidents.values() if incident.element.root.key == key]
    return {
        "state": str(bench.state_of(key)),
        "jobs": sorted(place_of(job.element) for job in jobs),
        "incidents": sorted(place_of(incident.element) for incident in incidents),
        "timers": sorted((place_of(timer.element), timer.target) for timer in timers),
        "variables": {place_of(e): bench.variables_of(e.key) for e in mine if e.variables},
    }


def _again(variables):
    return [name for name, value in variables.items() if name.startswith("again_") and value == 1]


class Run:
    """A model, an instance of it, and what the oracle says of it."""

    def __init__(self, seed, size=12, id="p") -> None:
        self.random = Random(seed)
        self.id = id
        self.block = Maker(self.random, "" if id == "p" else f"{id}_").model(size)
        self.model = to_bpmn(self.block, id)
        self.loops = [block.id for block in inside(self.block) if isinstance(block, Loop)]
        self.variables = {name: self.random.randrange(VALUES) for name in VARIABLES}
        self.variables |= {f"again_{loop}": 0 for loop in self.loops}
        self.actions = []

    def begin(self):
        self.oracle = Oracle(self.block, self.variables, self.id)

    def next_action(self):
        """Something that can be done now; None when the instance has ended."""
        oracle, random = self.oracle, self.random
        if oracle.state != "ACTIVATED":
            return None
        calm = len(self.actions) >= LONG
        spinning = [(scope, again) for scope, own in oracle.scopes.items() if (again := _again(own))]
        if calm and spinning:
            scope, names = spinning[0]
            return ("set", scope, dict.fromkeys(names, 0), True)
        stuck, failed, tasks = oracle.stuck(), oracle.failed_tasks(), oracle.open_tasks()
        chance = random.random()
        if stuck and (chance < 0.3 or not tasks):
            one = random.choice(stuck)
            return ("unstick", one.scope, one.choice.id, *random.choice(one.ways_out()))
        if failed and (chance < 0.5 or not tasks) and not (chance < 0.1 and oracle.timers()):
            return ("resolve", random.choice(failed).place)
        if not calm and chance > 0.99:
            return ("cancel",)
        if not calm and chance > 0.9:
            return ("set", random.choice(list(oracle.scopes)), self._some(), random.random() < 0.3)
        timers = oracle.timers()
        if timers and (chance < 0.15 or not tasks):
            return ("fire", *random.choice(timers))
        task = random.choice(tasks)
        beside = oracle.runs_beside(task.place)
        if not calm and not beside and chance > 0.85:
            return ("fail", task.place, {"note": random.randrange(9)})
        if not calm and not beside and chance > 0.7:
            return ("throw", task.place, random.choice(CODES), {"note": random.randrange(9)})
        if task.task.mapped:
            return ("complete", task.place, {"y": random.randrange(VALUES)})
        again = {f"again_{loop}": 0 if calm else int(random.random() < 0.4) for loop in self.loops}
        return ("complete", task.place, self._some() | again)

    def _some(self):
        return {name: self.random.randrange(VALUES) for name in VARIABLES if self.random.random() < 0.5}

    def tell(self, action):
        """Do it in the oracle."""
        self.actions.append(action)
        match action:
            case ("complete", place, variables):
                self.oracle.complete(place, variables)
            case ("fail", place, variables):
                self.oracle.fail(place, variables)
            case ("resolve", place):
                self.oracle.resolve_job(place)
            case ("unstick", scope, id, variable, value):
                self.oracle.set(scope, {variable: value}, False)
                self.oracle.resolve_choice(scope, id)
            case ("throw", place, code, variables):
                self.oracle.throw(place, code, variables)
            case ("fire", place, target):
                self.oracle.fire(place, target)
            case ("set", scope, variables, local):
                self.oracle.set(scope, variables, local)
            case ("cancel",):
                self.oracle.cancel()


def perform(bench, key, action):
    """Do it in the engine."""
    match action:
        case ("complete", place, variables):
            bench.complete_at(key, place, variables)
        case ("fail", place, variables):
            bench.fail_at(key, place, variables)
        case ("resolve", place):
            bench.resolve_job_at(key, place)
        case ("unstick", scope, id, variable, value):
            bench.set(bench.at(key, scope).key, **{variable: value})
            bench.resolve_at(key, f"{scope}/{id}")
        case ("set", scope, variables, local):
            bench.set(bench.at(key, scope).key, local, **variables)
        case ("throw", place, code, variables):
            bench.throw_at(key, place, code, variables)
        case ("fire", place, target):
            bench.fire_at(key, place, target)
        case ("cancel",):
            bench.cancel(key)
        case _:
            raise ValueError(action)
