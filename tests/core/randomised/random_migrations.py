"""Random migrations of whatever runs, to versions of its model with random changes: most are possible, some are not."""

from tests.core.randomised.mutated_models import mutated
from vivero.core.memory import InvalidDeployment
from vivero.core.records.migrations import CalledMigration, MigrateInstance

NEW = 0.3
"""The chance of a version that has not been deployed yet."""
DROPPED = 0.02
"""The chance that a node gets no mapping."""
SWAPPED = 0.01
"""The chance that it gets the target of another one."""


class RandomMigrations:
    """Makes the migrations of a run, to versions that are known. Sometimes it deploys a new one, which is slow."""

    def __init__(self) -> None:
        self.versions: dict[bytes, list[tuple[dict[str, int], dict[str, str]]]] = {}

    def command_of(self, random, instance, engine):
        """A migration to a mutated version of the instance's model; None if that version cannot be deployed."""
        source, content = instance.definition_key, engine.files[instance.definition_key]
        known = self.versions.setdefault(content, [])
        if not known or random.random() < NEW:
            version = _deployed(content, random, engine)
            if version is None:
                return None
            known.append(version)
            self._note_way_back(content, version, engine)
        targets, names = random.choice(known)
        definitions = engine.state.catalogue.definitions
        target, called = targets[definitions[source].process_id], ()
        if random.random() < 0.5:
            below = {one.instance.definition_key for one in engine.state.elements.values() if one.tree is instance.tree}
            same = [key for key in sorted(below - {source}) if engine.files[key] == content]
            to = {key: targets[definitions[key].process_id] for key in same if random.random() < 0.9}
            called = tuple(
                CalledMigration(key, other, _mappings(random, engine, key, other, names)) for key, other in to.items()
            )
        return MigrateInstance(instance.key, target, _mappings(random, engine, source, target, names), called=called)

    def _note_way_back(self, content, version, engine):
        """Know the former version as a target of the new one. A deployment takes as long as ten migrations."""
        targets, names = version
        (changed,) = {engine.files[key] for key in targets.values()}
        definitions = engine.state.catalogue.definitions
        former = {definitions[key].process_id: key for key, file in engine.files.items() if file == content}
        back = {after: before for before, after in names.items()}
        self.versions.setdefault(changed, []).append((former, back))


def _deployed(content, random, engine):
    """Process id → definition of a mutated version, and what its nodes and flows are named."""
    try:
        changed, names = mutated(content, random)
        keys = engine.deploy(changed)
    except InvalidDeployment:
        return None
    return {engine.state.catalogue.definitions[key].process_id: key for key in keys}, names


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
