"""Smaller trees of blocks that fail as well."""

from tests.core.randomised.blocks import Seq, is_block

MOST_TRIALS = 300


def smaller(block, found, fails):
    """(the smallest tree that was met, what `fails` gave for it). `fails` gives None for a tree that does not fail."""
    trials = MOST_TRIALS
    progress = True
    while progress:
        progress = False
        for candidate in reductions(block):
            trials -= 1
            if trials < 0:
                return block, found
            failure = fails(candidate)
            if failure is not None:
                block, found, progress = candidate, failure, True
                break
    return block, found


def reductions(value):
    """Trees with one block left out, or replaced by one of those in it; bigger steps first."""
    if isinstance(value, Seq):
        yield from (Seq(value.parts[:n] + value.parts[n + 1 :]) for n in range(len(value.parts)))
        if len(value.parts) == 1:
            yield value.parts[0]
    elif is_block(value):
        yield from _children(value)
        yield Seq(())
    for name in getattr(value, "__dataclass_fields__", ()):
        for smaller_ in _in_field(getattr(value, name)):
            yield type(value)(
                **{other: getattr(value, other) for other in value.__dataclass_fields__} | {name: smaller_}
            )


def _children(block):
    for name in block.__dataclass_fields__:
        yield from _blocks(getattr(block, name))


def _blocks(value):
    if is_block(value):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _blocks(part)


def _in_field(value):
    if is_block(value):
        yield from reductions(value)
    elif isinstance(value, tuple):
        several = all(isinstance(part, tuple) or is_block(part) for part in value)
        for number, part in enumerate(value):
            if several:
                yield value[:number] + value[number + 1 :]
            yield from ((*value[:number], one, *value[number + 1 :]) for one in _in_field(part))
