"""Random block-structured models: a tree of blocks, and its BPMN. No import from the engine.

What a tree means is the oracle's business (`core_oracle.py`). A new element is a new class here, a rule there, and a
line in `Maker.KINDS`. Variables are whole numbers: `v0` … `v3` decide choices, `again_x` whether the loop x goes round.
"""

from dataclasses import dataclass, fields

from core_events import CODES, boundary, call, catch, error, inc, loop, model
from core_models import end, flow, par, process_element, start, sub, task, xor

VARIABLES = ("v0", "v1", "v2", "v3")
VALUES = 3


@dataclass(frozen=True)
class Task:
    """A job. Unmapped, its result is merged upwards; `mapped`: x = variable + 1 goes in, modulo(x + y, 3) comes out."""

    id: str
    mapped: str | None = None


@dataclass(frozen=True)
class Seq:
    """One after the other; may be empty."""

    parts: tuple


@dataclass(frozen=True)
class Pass:
    """A gateway with one way in and one way out."""

    id: str
    parallel: bool


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
class Loop:
    """The body, and again as long as `again_<id>` is 1. The body waits on every way, so that nothing spins."""

    id: str
    body: object


@dataclass(frozen=True)
class Sub:
    """`local`: a variable that it gets as its own, one higher; `gives`: that one's value leaves under this name."""

    id: str
    body: object
    local: str | None = None
    gives: str | None = None


@dataclass(frozen=True)
class Fork:
    """The end of a scope: a task with several flows, each to a way that ends by itself."""

    task: Task
    ways: tuple


@dataclass(frozen=True)
class Incl:
    """Every way whose variable has its value, else the default; with neither, an incident. Joined when all are done."""

    id: str
    ways: tuple
    """(variable, value, block)."""
    default: object = None


@dataclass(frozen=True)
class Many:
    """Multi-instance: a task or sub-process for each of `items`; `until` so many have completed.

    What the instances give, item + v0, is collected in `out_<id>`.
    """

    inner: object
    items: tuple
    sequential: bool
    until: int | None = None

    @property
    def id(self):
        return self.inner.id


@dataclass(frozen=True)
class Call:
    """Another process, `c_<id>`, with copies of all variables that are seen; all of its own come back."""

    id: str
    body: object


@dataclass(frozen=True)
class Sleep:
    """A timer that is waited for."""

    id: str


@dataclass(frozen=True)
class Edge:
    """An activity with boundary events.

    `catches`: (id, error code, handler); without a code a timer. After the handler it goes on as if the activity had
    completed. `bells`: (id, task); timers that interrupt nothing and begin a task beside, which ends by itself.
    """

    host: object
    catches: tuple = ()
    bells: tuple = ()

    @property
    def id(self):
        return self.host.id


def waits(block):
    """Whether a token cannot get through the block at once, whatever the variables."""
    match block:
        case Task() | Fork() | Sleep():
            return True
        case Edge(host, catches):
            return waits(host) and all(waits(handler) for _, _, handler in catches)
        case Many(inner, items):
            return bool(items) and waits(inner)
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


def inside(block):
    """The block and all blocks in it."""
    yield block
    for field in fields(block):
        value = getattr(block, field.name)
        for part in _flat(value):
            if hasattr(part, "__dataclass_fields__"):
                yield from inside(part)


def _flat(value):
    if isinstance(value, tuple):
        for part in value:
            yield from _flat(part)
    else:
        yield value


# ---- BPMN


class Writer:
    """The elements and flows of one scope."""

    def __init__(self, called) -> None:
        self.parts = []
        self.called = called
        """Processes that are called, of the whole file."""
        self.count = 0

    def join(self, source, target, condition=None):
        """A flow. `source` may carry a condition that was left open: (node, condition)."""
        if isinstance(source, tuple):
            source, condition = source
        self.count += 1
        name = f"{source}-{target}-{self.count}"
        self.parts.append(flow(source, target, condition, name))
        return name

    def put(self, block, source):
        """Write the block behind `source`; what the next one stands behind."""
        match block:
            case Task(id, mapped):
                mappings = {}
                if mapped:
                    mappings = {"inputs": [(f"={mapped} + 1", "x")], "outputs": [("=modulo(x + y, 3)", mapped)]}
                self.parts.append(task(id, **mappings))
                self.join(source, id)
                return id
            case Pass(id, parallel):
                self.parts.append(par(id) if parallel else xor(id))
                self.join(source, id)
                return id
            case Seq(parts):
                for part in parts:
                    source = self.put(part, source)
                return source
            case Choice(id, variable, ways, default):
                self.join(source, id)
                name = None if default is None else self.way(default, id, f"{id}_end")
                self.parts.append(xor(id, default=name))
                for value, way in enumerate(ways):
                    self.way(way, (id, f"={variable} = {value}"), f"{id}_end")
                self.parts.append(xor(f"{id}_end"))
                return f"{id}_end"
            case Par(id, ways):
                self.parts += [par(id), par(f"{id}_end")]
                self.join(source, id)
                for way in ways:
                    self.way(way, id, f"{id}_end")
                return f"{id}_end"
            case Loop(id, body):
                self.parts.append(xor(id))
                self.join(source, id)
                last = self.put(body, id)
                self.join(last, f"{id}_end")
                self.join(f"{id}_end", id, f"=again_{id} = 1")
                name = self.join(f"{id}_end", f"{id}_out")
                self.parts += [xor(f"{id}_end", default=name), xor(f"{id}_out")]
                return f"{id}_out"
            case Sub() | Call() | Many() | Sleep():
                self.parts.append(self.activity(block))
                self.join(source, block.id)
                return block.id
            case Incl(id, ways, default):
                self.join(source, id)
                name = None if default is None else self.way(default, id, f"{id}_end")
                self.parts.append(inc(id, name))
                for variable, value, way in ways:
                    self.way(way, (id, f"={variable} = {value}"), f"{id}_end")
                self.parts.append(inc(f"{id}_end"))
                return f"{id}_end"
            case Edge(host, catches, bells):
                last = self.put(host, source)
                for id, beside in bells:
                    self.parts.append(boundary(id, host.id, TIMER, interrupting=False))
                    self.put(beside, id)
                return self.around(host.id, last, catches)
            case Fork(first, ways):
                self.put(first, source)
                for number, way in enumerate(ways):
                    last = self.put(way, first.id)
                    if number or last == first.id:
                        self.parts.append(end(f"{first.id}_end{number}"))
                        self.join(last, f"{first.id}_end{number}")
                return None
        raise TypeError(block)

    def activity(self, block):
        """The element of an activity that is not a task."""
        match block:
            case Sub(id, body, local, gives):
                mappings = {"inputs": [(f"={local} + 1", local)] if local else []}
                mappings["outputs"] = [(f"={local}", gives)] if gives else []
                return sub(id, *scope(body, id, self.called), **mappings)
            case Call(id, body):
                self.called.append(process_element(*scope(body, f"c_{id}", self.called), id=f"c_{id}"))
                return call(id, f"c_{id}")
            case Sleep(id):
                return catch(id, TIMER)
            case Many(inner, items, sequential, until):
                element = task(inner.id) if isinstance(inner, Task) else self.activity(inner)
                condition = None if until is None else f"=numberOfCompletedInstances >= {until}"
                collection, gives = f"=[{', '.join(map(str, items))}]", f"out_{inner.id}"
                return loop(element, collection, "item", "=item + v0", gives, condition, sequential)
        raise TypeError(block)

    def around(self, host, last, catches):
        """Boundary events with their handlers; all ways meet again."""
        self.parts.append(xor(f"{host}_out"))
        self.join(last, f"{host}_out")
        for id, code, handler in catches:
            self.parts.append(boundary(id, host, TIMER if code is None else error(code)))
            self.join(self.put(handler, id), f"{host}_out")
        return f"{host}_out"

    def way(self, block, source, target):
        """A way from a split to its join; the name of its first flow."""
        before = len(self.parts)
        last = self.put(block, source)
        self.join(last, target)
        first = next(part for part in self.parts[before:] if part.startswith("<sequenceFlow"))
        return first.split('id="')[1].split('"')[0]


TIMER = '<timerEventDefinition><timeDuration>=duration("PT1H")</timeDuration></timerEventDefinition>'


def scope(body, name, called):
    """The parts of a process or sub-process with this body."""
    writer = Writer(called)
    writer.parts.append(start(f"{name}_start"))
    last = writer.put(body, f"{name}_start")
    if last is not None:
        writer.parts.append(end(f"{name}_end"))
        writer.join(last, f"{name}_end")
    return writer.parts


def to_bpmn(block, id="p"):
    called = []
    return model(*scope(block, id, called), id=id, beside=called)


# ---- chance


class Maker:
    """Makes random trees; every element has an id of its own."""

    def __init__(self, random, prefix="") -> None:
        self.random = random
        self.prefix = prefix
        self.count = 0

    def name(self, kind):
        self.count += 1
        return f"{self.prefix}{kind}{self.count}"

    def task(self):
        return Task(self.name("t"), self.random.choice((None, None, *VARIABLES[:2])))

    def model(self, size):
        """A body of a process with about `size` blocks."""
        return self.body(size)

    def body(self, size):
        """Of a scope: it may end in a fork."""
        block = self.block(size)
        if self.random.random() < 0.15:
            fork = Fork(self.task(), tuple(self.block(size // 3) for _ in range(self.random.randint(2, 3))))
            block = Seq((block, fork))
        return block

    def block(self, size):
        if size <= 1:
            return self.random.choice((self.task, self.task, self.task, self.passing, lambda: Seq(())))()
        return self.random.choice(self.KINDS)(self, size)

    def parts(self, size, least=2, most=3):
        return tuple(self.block(size // 2) for _ in range(self.random.randint(least, most)))

    def passing(self):
        return Pass(self.name("g"), self.random.random() < 0.5)

    def seq(self, size):
        return Seq(self.parts(size))

    def choice(self, size):
        default = self.block(size // 2) if self.random.random() < 0.7 else None
        return Choice(self.name("c"), self.random.choice(VARIABLES), self.parts(size, 1), default)

    def par(self, size):
        return Par(self.name("p"), self.parts(size))

    def loop(self, size):
        body = self.block(size - 1)
        return Loop(self.name("l"), body if waits(body) else Seq((self.task(), body)))

    def sub(self, size):
        """It gives only what took time: what runs at once beside it must not depend on who comes first."""
        id, body = self.name("s"), self.body(size - 1)
        local = self.random.choice((None, *VARIABLES))
        return Sub(id, body, local, f"out_{id}" if local and waits(body) else None)

    def incl(self, size):
        ways = [
            (variable, self.random.randrange(VALUES), part)
            for variable, part in zip(VARIABLES, self.parts(size), strict=False)
        ]
        default = self.block(size // 2) if self.random.random() < 0.8 else None
        return Incl(self.name("i"), tuple(ways), default)

    def many(self, size):
        inner = Task(self.name("m"))
        if size > 2 and self.random.random() < 0.5:
            body = self.block(size // 2)
            inner = Sub(inner.id, body if waits(body) else Seq((self.task(), body)))
        items = tuple(self.random.randrange(10) for _ in range(self.random.choice((1, 2, 2, 3))))
        until = self.random.choice((None, None, 1, 2))
        return Many(inner, items, self.random.random() < 0.5, until)

    def call(self, size):
        return Call(self.name("a"), self.body(size - 1))

    def plain(self, size):
        return self.task()

    def edge(self, size):
        make = self.random.choice((Maker.plain, Maker.sub, Maker.call, Maker.many))
        host = make(self, size - 2) if size > 2 else self.task()
        codes = self.random.sample((None, *CODES[:2]), self.random.randint(0, 2))
        catches = tuple((self.name("b"), code, self.block(size // 3)) for code in codes)
        bells = ((self.name("b"), Task(self.name("t"))),) if not codes or self.random.random() < 0.3 else ()
        return Edge(host, catches, bells)

    def sleep(self, size):
        return Sleep(self.name("z"))

    KINDS = (seq, seq, choice, par, par, loop, sub, incl, many, call, edge, edge, sleep)
