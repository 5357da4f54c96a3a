"""Random migrations of whatever runs, to versions of its model with random changes: most are possible, some are not."""

from tests.core.randomised.mutated_models import mutated
from vivero.core.memory import InvalidDeployment
from vivero.core.records.migrations import CalledMigration, MigrateInstance

DROPPED = 0.02
"""The chance that a node gets no mapping."""
SWAPPED = 0.01
"""The chance that it gets the target of another one."""


def random_migration(random, instance, engine):
    """A migration to a mutated version of the instance's model; None if that version cannot be deployed."""
    source = instance.definition_key
    try:
        content, names = mutated(engine.files[source], random)
        keys = engine.deploy(content)
    except InvalidDeployment:
        return None
    definitions = engine.state.catalogue.definitions
    targets = {definitions[key].process_id: key for key in keys}
    target = targets[definitions[source].process_id]
    called = ()
    if random.random() < 0.5:
        below = {one.instance.definition_key for one in engine.state.elements.values() if one.tree is instance.tree}
        same = [key for key in sorted(below - {source}) if engine.files[key] == engine.files[source]]
        called = tuple(
            CalledMigration(key, other, _mappings(random, engine, key, other, names))
            for key in same
            if (other := targets[definitions[key].process_id]) and random.random() < 0.9
        )
    return MigrateInstance(instance.key, target, _mappings(random, engine, source, target, names), called=called)


def _mappings(random, engine, source, target, names):
    """Each node and flow of the source that the target has, too, with a few mistakes."""
    view = engine.memory.processor.view
    one, other = view.model(source), view.model(target)
    pairs = []
    for before, after in names.items():
        if (before in one.nodes and after in other.nodes) or (before in one.flows and after in other.flows):
            if random.random() < DROPPED:
                continue
            if random.random() < SWAPPED and before in one.nodes:
                after = random.choice(list(other.nodes))
            pairs.append((before, after))
    return tuple(pairs)
