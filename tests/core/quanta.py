"""A command whose quanta are run one by one, so that a test can let others come in between."""

from vivero.core.records.instances import ContinueWork

ITEM = 4
"""The weight of a work item in a quantum."""


def run_until(engine, command, until):
    """Run a command, and of all deferred work only as many quanta as it takes until `until()`."""
    engine.memory.handle(command, "<default>", None)
    while not until():
        run_next(engine)


def run_next(engine):
    """Run the next command that was put off. Raises IndexError when there is none."""
    following = engine.memory.processor.notices.to_inbox.pop(0)
    engine.memory.handle(following.command, following.tenant, following.request)


def run_first(engine, command):
    """Run a command, then what follows from it, and only then what was put off before; what came of the command."""
    handled, waiting = engine.memory.handle(command, "<default>", None)[0], engine.memory.processor.notices.to_inbox
    while waiting:
        first = next((one for one in waiting if not isinstance(one.command, ContinueWork)), waiting[0])
        waiting.remove(first)
        engine.memory.handle(first.command, first.tenant, first.request)
    return handled


def run_rest(engine):
    """Run all that was put off."""
    while engine.memory.processor.notices.to_inbox:
        run_next(engine)


def set_quantum(engine, items):
    """Quanta hold so many work items from now on."""
    processor = engine.memory.processor
    processor._work.limit = processor._max_cost = items * ITEM
    processor.set_quantum(items)
