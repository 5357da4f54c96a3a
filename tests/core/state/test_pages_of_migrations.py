"""The pages of a migration come from one walk, whatever is evicted between them."""

from collections import deque
from copy import copy
from dataclasses import replace

from tests.core.commands.test_migration import THERE, everything
from tests.core.commands.test_suspension import drain, step
from tests.core.event_models import LIMITS
from tests.core.migration_models import pairs
from vivero.core.records.migrations import MigrateInstance
from vivero.core.state import subtrees
from vivero.core.state.instance_tree import NO_PAGES

IN_PAGES = replace(LIMITS["whole"], migration_page=1)


def begun(engine, borders):
    on_the_way = deque([(MigrateInstance(engine.key, engine.target, pairs(THERE)), "<default>", None)])
    for _ in range(borders):
        step(engine, on_the_way)
    return on_the_way


def test_all_pages_together_walk_the_instance_once(monkeypatch):
    engine, walks = everything(IN_PAGES), []

    def walked(instance):
        walks.append(instance)
        return subtrees.of_instance(instance)

    monkeypatch.setattr("vivero.core.state.migrations.of_instance", walked)
    drain(engine, begun(engine, 1))
    assert len(walks) == 1
    assert all(one.element.endswith("9") for one in engine.state.elements.values() if one.element != "p")
    assert engine.state.trees[engine.key].of_pages is NO_PAGES, "no memory is kept"


def test_elements_that_were_evicted_and_loaded_again_are_found():
    engine = everything(IN_PAGES)
    on_the_way = begun(engine, 3)
    tree = engine.state.trees[engine.key]
    instance, elements = tree.of_pages
    tree.of_pages = instance, [copy(element) for element in elements]
    drain(engine, on_the_way)
    assert all(one.element.endswith("9") for one in engine.state.elements.values() if one.element != "p")
