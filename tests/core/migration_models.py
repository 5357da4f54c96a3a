"""Migrations in a few words: two versions of a process, and an instance of the first one."""

from tests.core.engine import Engine
from vivero.core.execution.step import DEFAULT_LIMITS
from vivero.core.records.migrations import CalledMigration, MigrateInstance


def pairs(mappings):
    return tuple((before, after or before) for before, _, after in (one.partition(":") for one in mappings))


class Migrating(Engine):
    """An engine with an instance of `source` (`key`), which `go` migrates to `target`."""

    def __init__(self, source, target, limits=DEFAULT_LIMITS, beside=(), process_id="p", **variables) -> None:
        super().__init__(limits)
        self.deploy(*beside) if beside else None
        (self.source,) = self.deploy(source)
        self.key = self.start(process_id, **variables)
        (self.target,) = self.deploy(target)

    def migrate(self, *mappings, key=None, to=None, called=()):
        """`a:b` maps a to b; `a` maps it to itself. `called`: (source, target, mappings) of called instances."""
        of_called = tuple(CalledMigration(source, target, pairs(mapped)) for source, target, mapped in called)
        command = MigrateInstance(key or self.key, to or self.target, pairs(mappings), called=of_called)
        return self.run(command)

    def go(self, *mappings, **given):
        handled = self.migrate(*mappings, **given)
        assert handled.rejection is None, handled.rejection.reason
        return handled

    def refused(self, *mappings, **given):
        """The code and the reason. Nothing has changed."""
        before = {key: dict(row) for key, row in self.rows.items()}
        next_key = self.state.next_key
        handled = self.migrate(*mappings, **given)
        assert handled.rejection is not None, "it was accepted"
        assert handled.events == []
        assert self.rows == before
        assert self.state.next_key == next_key
        return handled.rejection.code.value, handled.rejection.reason

    @property
    def places(self):
        """(element, definition) of everything live, sorted."""
        alive = self.state.elements.values()
        return sorted((element.element, element.instance.definition_key) for element in alive)
