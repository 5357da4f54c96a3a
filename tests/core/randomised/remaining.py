"""The residual of a block that has been entered, or None if nothing is left. `oracle.py` rewrites them.

Places are paths of scopes and elements: `p/s1/t2`; instances of a loop have an index: `p/m1/m1[0]`.
"""

from dataclasses import dataclass, field
from typing import Any

from tests.core.randomised.blocks import Edge, Loop, Many, Repeat, Task


@dataclass
class Waiting:
    """A task is open; `failed`: its job's last report left no retries."""

    task: Task
    place: str
    failed: bool = False


@dataclass
class Stuck:
    """A choice without a way out."""

    choice: Any
    scope: str

    @property
    def place(self):
        return f"{self.scope}/{self.choice.id}"

    def ways_out(self):
        """(variable, value) pairs of which each would do."""
        if hasattr(self.choice, "variable"):
            return [(self.choice.variable, value) for value in range(len(self.choice.ways))]
        return [(variable, value) for variable, value, _ in self.choice.ways]


@dataclass
class Uncaught:
    """An error end event that nobody catches."""

    place: str


@dataclass
class Asleep:
    """An event is waited for; `scope` is that of the ways when there are several (`Oracle.hooks` knows them)."""

    place: str
    scope: str


@dataclass
class Telling:
    """A message or signal has been thrown, and is on its way to who waits; then the thrower goes on."""

    place: str
    scope: str


@dataclass
class Thrown:
    """An event that has been reached, and happens as soon as the rest of the tree stands: `on` as of blocks."""

    place: str
    on: str
    scope: str
    name: str | None = None
    final: bool = False


@dataclass
class Chain:
    """`now`, and then the rest."""

    now: object
    rest: tuple
    scope: str


@dataclass
class Beside:
    """Several at once."""

    all: list


@dataclass
class Round:
    now: object
    loop: Loop
    scope: str


@dataclass
class Within:
    """The residual of a scope: `beside` runs with the rest, and the scope ends after both."""

    now: object
    block: object
    """A Sub, a Call, or None: of the whole process and of event sub-processes."""
    place: str
    scope: str | None
    beside: list = field(default_factory=list)


@dataclass
class Several:
    """The residual of a multi-instance activity: `running` by index, the results of those that have ended."""

    running: dict
    results: list
    next: int
    completed: int
    many: Many
    scope: str


@dataclass
class Repeated:
    """The residual of a standard loop: the iteration `index`."""

    now: object
    index: int
    block: Repeat
    scope: str


@dataclass
class Edged:
    """An activity with boundary events."""

    now: object
    edge: Edge
    scope: str

    @property
    def place(self):
        return f"{self.scope}/{self.edge.id}"


@dataclass
class Hook:
    """Somebody waits at `place` for an event. `where`: "own", "race", "boundary" or "inside" (an event sub-process)."""

    place: str
    id: str
    on: str
    where: str
    interrupting: bool
    block: object
    serial: int
    key: str | None = None


def parts(left):
    """The residuals within a residual."""
    match left:
        case Within(now, _, _, _, beside):
            return [now, *beside]
        case Beside(all):
            return all
        case Several(running):
            return list(running.values())
        case Chain(now) | Round(now) | Edged(now) | Repeated(now):
            return [now]
    return []


def all_in(left, kind):
    """All residuals of a kind, outer ones first."""
    if isinstance(left, kind):
        yield left
    for part in parts(left):
        yield from all_in(part, kind)


def joined(all):
    """Several residuals as one."""
    left = [one for one in all if one is not None]
    return Beside(left) if left else None
