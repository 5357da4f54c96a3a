"""Other trees of blocks that mean the same, and how what is seen of one is told as of the other."""

import re

from tests.core.randomised.blocks import (
    AdHoc,
    Call,
    Choice,
    Edge,
    Final,
    Fork,
    Guard,
    Incl,
    Loop,
    Many,
    Par,
    Pass,
    Race,
    Repeat,
    Seq,
    Sub,
    is_block,
)

CLOSED = (Final, Fork, Guard)
"""Blocks that stand at the end of a scope, or are all of it, and cannot stand within another block."""


def wrapped(block, choose, wrap):
    """The tree with each block for which `choose()` says so within another one: `wrap(block)`."""

    def change(one):
        return wrap(_in_ways(one, change)) if _is_open(one) and choose() else _in_ways(one, change)

    return change(block)


def _in_ways(block, change):
    """The block with each of its ways and bodies changed: what stands for itself, and is no host and no instance."""
    match block:
        case Seq(parts):
            return Seq(tuple(map(change, parts)))
        case Choice(id, variable, ways, default):
            return Choice(id, variable, tuple(map(change, ways)), default and change(default))
        case Incl(id, ways, default):
            return Incl(id, tuple((name, value, change(way)) for name, value, way in ways), default and change(default))
        case Par(id, ways):
            return Par(id, tuple(map(change, ways)))
        case Loop(id, body):
            return Loop(id, change(body))
        case Sub(id, body, local, gives):
            return Sub(id, change(body), local, gives)
        case Call(id, body):
            return Call(id, change(body))
        case Race(id, ways):
            return Race(id, tuple((event, on, receive, change(way)) for event, on, receive, way in ways))
        case Guard(body, handlers):
            return Guard(change(body), handlers)
        case Edge(host, catches, bells):
            return Edge(_in_ways(host, change), tuple((id, on, change(way)) for id, on, way in catches), bells)
        case Many(inner, items, sequential, until):
            return Many(_in_ways(inner, change), items, sequential, until)
        case Repeat(inner, most, test_before):
            return Repeat(_in_ways(inner, change), most, test_before)
        case Fork(task, ways):
            return Fork(task, tuple(map(change, ways)))
    return block


def _is_open(block):
    """Whether the block's tokens all leave it where it ends, and it leaves none beside. Scopes keep theirs."""
    if isinstance(block, CLOSED) or (isinstance(block, Edge) and block.bells):
        return False
    inner = []
    _in_ways(block, inner.append) if not isinstance(block, Sub | Call | Many | Repeat) else None
    return all(map(_is_open, inner))


def in_sub(names):
    return lambda block: Sub(next(names), block)


def in_ad_hoc(names):
    return lambda block: AdHoc(next(names), block)


def in_call(names):
    return lambda block: Call(next(names), block)


def between_gateways(names):
    return lambda block: Seq((Pass(next(names), "parallel"), block, Pass(next(names), "exclusive")))


def renamed(value, names):
    """The tree with other ids: `names` by the old ones."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, tuple):
        return tuple(renamed(part, names) for part in value)
    if is_block(value):
        return type(value)(*(renamed(getattr(value, name), names) for name in value.__dataclass_fields__))
    return value


def without(wrappers):
    """Places without the scopes that were put around blocks."""
    pattern = re.compile(rf"/(?:c_)?(?:{'|'.join(wrappers)})(?:#innerInstance)?(?=/|$)")
    return lambda text: pattern.sub("", text)


def with_names(names):
    """Texts with ids, or with what is named after them, told by other ids."""
    pattern = re.compile(r"(?<![A-Za-z0-9])(" + "|".join(sorted(map(re.escape, names), key=len, reverse=True)) + r")\b")
    return lambda text: pattern.sub(lambda match: names[match[1]], text.replace("_", "_\0")).replace("\0", "")


def retold(value, tell):
    """The observation with each text translated, and lists in their order again."""
    if isinstance(value, str):
        return tell(value)
    if isinstance(value, dict):
        return {tell(name): retold(inner, tell) for name, inner in value.items()}
    if isinstance(value, tuple):
        return tuple(retold(part, tell) for part in value)
    if isinstance(value, list):
        told = [retold(part, tell) for part in value]
        return told if any(part is None or isinstance(part, int) for part in told) else sorted(told)
    return value
