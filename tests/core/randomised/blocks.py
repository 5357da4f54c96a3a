"""Block-structured models: a tree of blocks. No import from the engine.

`blocks_bpmn.py` writes a tree as BPMN, `oracle.py` says what it means, and `model_builder.py` makes random ones:
a new element is a class here, a rule in each of the first two, and a line in `ModelBuilder.KINDS`. Variables are whole
numbers: `v0` … `v3` decide choices, `again_x` whether the loop x goes round.

What an event is about (`on`): "timer", "cycle" (a timer that rings for ever), "message", "signal", "error",
"error:A", "escalation", "escalation:A"; without a code whatever code. Each message and each signal has the name of the
element that waits for it, a message the value of `v0` as its correlation key.
"""

from dataclasses import dataclass, fields
from typing import Any

VARIABLES = ("v0", "v1", "v2", "v3")
VALUES = 3
"""`v0` … `v3` are below it, everywhere: a mapped task can give a variable each of its values, the old one as well."""
CODES = ("A", "B", "C")


@dataclass(frozen=True)
class Task:
    """A job, or work for a `person`. Unmapped, its result is merged upwards; `mapped`: x = variable + 1 goes in,
    modulo(x + y, VALUES) comes out."""

    id: str
    mapped: str | None = None
    person: bool = False


@dataclass(frozen=True)
class Script:
    """`r_<id>` becomes the variable + 1, at once."""

    id: str
    variable: str


@dataclass(frozen=True)
class Seq:
    """One after the other; may be empty."""

    parts: tuple


@dataclass(frozen=True)
class Pass:
    """Elements that a token passes at once: a gateway with one way in and one way out, a manual task, … (`PASSES`)."""

    id: str
    kind: str


PASSES = ("parallel", "exclusive", "inclusive", "manual", "task", "throw", "link")


@dataclass(frozen=True)
class Choice:
    """The way whose number is the variable's value, else the default; with neither, an incident."""

    id: str
    variable: str
    ways: tuple
    default: object = None


@dataclass(frozen=True)
class Par:
    id: str
    ways: tuple


@dataclass(frozen=True)
class Incl:
    """Every way whose variable has its value, else the default; with neither, an incident. Joined when all are done."""

    id: str
    ways: tuple
    """(variable, value, block)."""
    default: object = None


@dataclass(frozen=True)
class Loop:
    """The body, and again as long as `again_<id>` is 1. The body waits on every way, so that nothing spins."""

    id: str
    body: object


@dataclass(frozen=True)
class Sub:
    """`local`: its own variable, modulo(outer value + 1, VALUES); `gives`: its value leaves under this name."""

    id: str
    body: object
    local: str | None = None
    gives: str | None = None


@dataclass(frozen=True)
class Call:
    """Another process, `c_<id>`, with copies of all variables that are seen; all of its own come back."""

    id: str
    body: object


@dataclass(frozen=True)
class AdHoc:
    """An ad-hoc sub-process that activates its body. The oracle does not know it: it stands for a `Sub`."""

    id: str
    body: object


@dataclass(frozen=True)
class Many:
    """Multi-instance: a task, sub-process or call for each of `items`; `until` so many have completed.

    What the instances give, item + v0, is collected in `out_<id>`.
    """

    inner: Any
    items: tuple
    sequential: bool
    until: int | None = None

    @property
    def id(self):
        return self.inner.id


@dataclass(frozen=True)
class Repeat:
    """The standard loop: a task, sub-process or call, again as long as `again_<id>` is 1, `most` times at most."""

    inner: Any
    most: int
    test_before: bool

    @property
    def id(self):
        return self.inner.id


@dataclass(frozen=True)
class Wait:
    """An event that is waited for; `receive`: a message, by a task."""

    id: str
    on: str
    receive: bool = False


@dataclass(frozen=True)
class Race:
    """An event-based gateway: the first of its events decides the way. `ways`: (event id, on, receive, block)."""

    id: str
    ways: tuple


@dataclass(frozen=True)
class Edge:
    """An activity with boundary events.

    `catches`: (id, on, handler); interrupting, and after the handler it goes on as if the activity had completed.
    `bells`: (id, on, task); they interrupt nothing and begin a task beside, each time, which ends by itself.
    """

    host: Any
    catches: tuple = ()
    bells: tuple = ()

    @property
    def id(self):
        return self.host.id


@dataclass(frozen=True)
class Guard:
    """The body of a scope, with event sub-processes: (id, on, interrupting, block).

    One that does not interrupt runs a single task if it may begin again while it runs.
    """

    body: object
    handlers: tuple


@dataclass(frozen=True)
class Raise:
    """An escalation is thrown on the way. Stands behind a task of its own, so that nothing else happens at once."""

    id: str
    code: str


@dataclass(frozen=True)
class Shout:
    """A signal or a message (`on`) is thrown on the way, natively, for the element `name`. Stands as `Raise` does."""

    id: str
    on: str
    name: str


@dataclass(frozen=True)
class Fork:
    """The end of a scope: a task with several flows, each to a way that ends by itself."""

    task: Task
    ways: tuple


@dataclass(frozen=True)
class Final:
    """The end of a way of a scope, by an event: "error:A", "escalation:A", "terminate". Stands as `Raise` does."""

    id: str
    on: str


def waits(block):
    """Whether a token cannot get through the block at once, whatever the variables."""
    match block:
        case Task() | Fork() | Wait() | Race():
            return True
        case Edge(host, catches):
            return waits(host) and all(waits(handler) for _, _, handler in catches)
        case Guard(body):
            return waits(body)
        case Many(inner, items):
            return bool(items) and waits(inner)
        case Repeat(inner, _, test_before):
            return not test_before and waits(inner)
        case Incl(_, ways, default):
            return all(waits(way) for _, _, way in ways) and default is not None and waits(default)
        case Seq(parts):
            return any(map(waits, parts))
        case Choice(_, _, ways, default):
            return all(map(waits, ways)) and default is not None and waits(default)
        case Par(_, ways):
            return any(map(waits, ways))
        case Loop(_, body) | Sub(_, body) | Call(_, body):
            return waits(body)
    return False


def is_block(value):
    return hasattr(value, "__dataclass_fields__")


def inside(block):
    """The block and all blocks in it."""
    yield block
    for field in fields(block):
        for part in _flat(getattr(block, field.name)):
            if is_block(part):
                yield from inside(part)


def _flat(value):
    if isinstance(value, tuple):
        for part in value:
            yield from _flat(part)
    else:
        yield value


def awaited(block):
    """(element, on) of everything in the block that waits for messages and signals."""
    for one in inside(block):
        match one:
            case Wait(id, on):
                found = [(id, on)]
            case Race(_, ways):
                found = [(id, on) for id, on, _, _ in ways]
            case Edge(_, catches, bells):
                found = [(id, on) for id, on, _ in (*catches, *bells)]
            case Guard(_, handlers):
                found = [(id, on) for id, on, _, _ in handlers]
            case _:
                continue
        yield from ((id, on) for id, on in found if on in {"message", "signal"})
