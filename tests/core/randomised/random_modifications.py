"""Random modifications of whatever runs: most of them are possible, some are not."""

from tests.core.engine import raw
from vivero.core.modifications.problems import SUPPORTED
from vivero.core.records.jobs import CompleteJob
from vivero.core.records.modifications import (
    DIRECT,
    INFERRED,
    SOURCE_PARENT,
    ActivateInstruction,
    InstanceModified,
    ModifyInstance,
    MoveInstruction,
    TerminateInstruction,
    VariableInstruction,
)
from vivero.core.records.timers import FireTimer
from vivero.core.state.instance_tree import Instance

LATE = 0.2
"""The chance that a worker or a timer comes for something that a modification may have ended."""


class Modifying:
    """Modifies an instance between two quanta, sometimes. `counts`: accepted, and reasons of refusals."""

    def __init__(self, random, counts, often=0.2) -> None:
        self.random, self.counts, self.often = random, counts, often
        self.sent, self.known = None, []

    def between(self, engine):
        state, random = engine.state, self.random
        if self.sent is not None:
            self._note(engine)
        instances = [one for one in state.elements.values() if isinstance(one, Instance)]
        self.known += [*(CompleteJob(job) for job in state.jobs), *(FireTimer(timer) for timer in state.timers)]
        del self.known[:-20]
        if self.sent is not None or not instances or random.random() > self.often:
            return ()
        self.sent = random_modification(random, random.choice(instances), engine)
        late = [random.choice(self.known)] if self.known and random.random() < LATE else []
        return (*late, self.sent)

    def _note(self, engine):
        """Count what became of the modification that was sent. One that waits for deferred work is sent again."""
        logged = engine.memory.log[-1]
        if not isinstance(logged.command, ModifyInstance):
            return
        handled = logged.handled[0]
        if handled.rejection is not None:
            assert handled.events == [], "a refused modification changes nothing"
            self.counts[reason_of(handled.rejection)] += 1
        elif any(type(event) is InstanceModified for event in handled.events):
            self.counts["accepted" if logged.command.attempt == 0 else "accepted later"] += 1
        else:
            self.counts["put off"] += 1
            return
        self.sent = None


def reason_of(rejection):
    text = rejection.reason.partition(" but ")[2] or rejection.reason
    return "".join(part for number, part in enumerate(text.split("'")) if number % 2 == 0)[:110]


def random_modification(random, instance, engine):
    nodes = engine.memory.processor.view.model(instance.definition_key).nodes
    ids = [id for id, node in nodes.items() if node.type in SUPPORTED] if random.random() < 0.95 else list(nodes)
    inside = [one for one in engine.state.elements.values() if one.instance is instance]
    kinds = [random.choice(("activate", "move", "terminate")) for _ in range(random.choice((1, 1, 1, 2, 3)))]
    made = {kind: [] for kind in ("activate", "move", "terminate")}
    for kind in kinds:
        made[kind].append(_MAKERS[kind](random, ids, inside))
    return ModifyInstance(
        instance.key, **{kind: tuple(given) for kind, given in made.items()}, skip_absent=random.random() < 0.1
    )


def _activate(random, ids, inside):
    return ActivateInstruction(random.choice(ids), _variables(random), _ancestor(random, inside))


def _move(random, ids, inside):
    source = random.choice(inside)
    scope_type = random.choice((DIRECT, INFERRED, SOURCE_PARENT))
    ancestor = _ancestor(random, inside) if scope_type == DIRECT else None
    named = {"source_key": source.key} if random.random() < 0.5 else {"source_id": source.element}
    return MoveInstruction(
        random.choice(ids), scope_type=scope_type, ancestor=ancestor, variables=_variables(random), **named
    )


def _terminate(random, ids, inside):
    one = random.choice(inside)
    return TerminateInstruction(one.key) if random.random() < 0.5 else TerminateInstruction(element_id=one.element)


_MAKERS = {"activate": _activate, "move": _move, "terminate": _terminate}


def _ancestor(random, inside):
    return random.choice(inside).key if random.random() < 0.2 else None


def _variables(random):
    if random.random() < 0.7:
        return ()
    return (VariableInstruction(raw({f"v{random.randrange(3)}": random.randrange(2)})),)
