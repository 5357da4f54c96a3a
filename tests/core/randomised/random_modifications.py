"""Random modifications of whatever runs: most of them are possible, some are not."""

from tests.core.engine import raw
from vivero.core.modifications.problems import SUPPORTED
from vivero.core.records.modifications import (
    DIRECT,
    INFERRED,
    SOURCE_PARENT,
    ActivateInstruction,
    ModifyInstance,
    MoveInstruction,
    TerminateInstruction,
    VariableInstruction,
)


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
