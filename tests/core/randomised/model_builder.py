"""Random trees of blocks."""

from tests.core.randomised.blocks import (
    CODES,
    PASSES,
    VALUES,
    VARIABLES,
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
    Raise,
    Repeat,
    Script,
    Seq,
    Shout,
    Sub,
    Task,
    Wait,
    awaited,
    inside,
    waits,
)

INTERRUPTING = ("timer", "message", "signal", "error", "error:A", "error:B", "escalation", "escalation:A")
RINGING = ("timer", "cycle", "message", "signal", "escalation", "escalation:A", "escalation:B")
"""The triggers that an event that interrupts may have, and one that does not."""


class ModelBuilder:
    """Every element has an id of its own. Without `channels` no messages and signals, without `races` no way that
    throws while others, which nothing holds up, are on theirs: how far those come is nobody's to say. `alone`: no two
    ways begin at once, so that what is thrown may happen without a task before it."""

    def __init__(self, random, prefix="", channels=True, races=True, alone=False) -> None:
        self.random = random
        self.races, self.alone = races, alone
        self.prefix = prefix
        self.count = 0
        left_out = () if channels else ("message", "signal")
        self.interrupting = tuple(on for on in INTERRUPTING if on not in left_out)
        self.ringing = tuple(on for on in RINGING if on not in left_out)
        self.awaited = tuple(on for on in ("timer", "message", "signal", "message") if on not in left_out)

    def name(self, kind):
        self.count += 1
        return f"{self.prefix}{kind}{self.count}"

    def chance(self, probability):
        return self.random.random() < probability

    def one(self, *choices):
        return self.random.choice(choices)

    def model(self, size):
        """A body of a process with about `size` blocks."""
        return _addressed(self.body(size), self.random)

    def body(self, size):
        """The body of a scope: it may end in a fork or by an event, and have event sub-processes."""
        block = self.block(size)
        if self.chance(0.15) and not self.alone:
            block = Seq((block, self.fork(size)))
        elif self.chance(0.08):
            block = Seq((block, *self.ending()))
        return self.guarded(block, size) if size > 2 and self.chance(0.25) else block

    def fork(self, size):
        ways = [self.block(size // 3) for _ in range(self.random.randint(2, 3))]
        ways = [Seq((way, *self.ending())) if self.chance(0.2) else way for way in ways]
        if self.races and self.chance(0.3):  # one of them throws at once, while the others are on their way
            ways[0] = Seq((*(self.passing() for _ in range(self.random.randint(0, 3))), self.ending()[-1]))
        return Fork(self.task(), tuple(ways))

    def ending(self):
        """A task, and then an event."""
        final = Final(self.name("f"), self.one("error:A", "escalation:A", "escalation:B", "terminate"))
        return *self.before(), final

    def before(self):
        """The block in front of a thrown event or a script, so that nothing else happens at once."""
        return () if self.alone and self.chance(0.5) else (self.task(),)

    def guarded(self, block, size):
        handlers = []
        for on in self.random.sample(sorted({*self.interrupting, *self.ringing}), self.random.randint(1, 2)):
            interrupting = on in self.interrupting and (on not in self.ringing or self.chance(0.5))
            whole = interrupting or on == "timer"
            handlers.append((self.name("h"), on, interrupting, self.body(size // 3) if whole else self.plain()))
        return Guard(block, tuple(handlers))

    def block(self, size):
        if size <= 1:
            return self.one(self.task, self.task, self.task, self.passing, lambda: Seq(()))()
        kind = self.random.choice(self.KINDS)
        return ALONE.get(kind, kind)(self, size) if self.alone else kind(self, size)

    def parts(self, size, least=2, most=3):
        return tuple(self.block(size // 2) for _ in range(self.random.randint(least, most)))

    # ---- without parts

    def task(self):
        if self.chance(0.15):
            return Task(self.name("u"), person=True)
        return Task(self.name("t"), self.random.choice((None, None, *VARIABLES[:2])))

    def plain(self):
        """A task that may be there several times."""
        return Task(self.name("t"), person=self.chance(0.2))

    def passing(self):
        return Pass(self.name("g"), self.random.choice(PASSES))

    def script(self, size):
        """Behind a task: what begins beside it at once would see its result or not, depending on who comes first."""
        return Seq((*self.before(), Script(self.name("x"), self.random.choice(VARIABLES))))

    def wait(self, size):
        on = self.random.choice(self.awaited)
        return Wait(self.name("w"), on, on == "message" and self.chance(0.5))

    def event(self, size):
        """A task, and an event that is thrown. Whom it is for is chosen when all are known; who begins to wait behind
        it waits for the next one."""
        on = self.one("escalation", *self.awaited)
        if on in {"escalation", "timer"}:
            return Seq((*self.before(), Raise(self.name("e"), self.random.choice(CODES))))
        shout = Seq((*self.before(), Shout(self.name("e"), on, "")))
        return shout if self.chance(0.7) else Seq((*shout.parts, self.task()))

    # ---- with parts

    def seq(self, size):
        return Seq(self.parts(size))

    def choice(self, size):
        default = self.block(size // 2) if self.chance(0.7) else None
        return Choice(self.name("c"), self.random.choice(VARIABLES), self.parts(size, 1), default)

    def par(self, size):
        return Par(self.name("p"), self.parts(size))

    def incl(self, size):
        ways = [
            (variable, self.random.randrange(VALUES), part)
            for variable, part in zip(VARIABLES, self.parts(size), strict=False)
        ]
        default = self.block(size // 2) if self.chance(0.8) else None
        return Incl(self.name("i"), tuple(ways), default)

    def race(self, size):
        ways = []
        for on in self.random.choices(self.awaited, k=self.random.randint(2, 3)):
            ways.append((self.name("w"), on, on == "message" and self.chance(0.5), self.block(size // 2)))
        receives = any(receive for _, _, receive, _ in ways)
        ways = [(id, on, receives and on == "message", way) for id, on, _, way in ways]  # not both beside each other
        return Race(self.name("r"), tuple(ways))

    def loop(self, size):
        body = self.block(size - 1)
        return Loop(self.name("l"), body if waits(body) else Seq((self.task(), body)))

    def sub(self, size):
        """It gives only what took time: what runs at once beside it must not depend on who comes first."""
        id, body = self.name("s"), self.body(size - 1)
        local = self.random.choice((None, *VARIABLES))
        return Sub(id, body, local, f"out_{id}" if local and (self.alone or waits(body)) else None)

    def call(self, size):
        return Call(self.name("a"), self.body(size - 1))

    def many(self, size):
        inner = Task(self.name("m"), person=self.chance(0.2))
        if size > 2 and self.chance(0.6):
            body = self.body(size // 2)
            inner = self.one(Sub, Sub, Call)(inner.id, body if waits(body) else _after(self.task(), body))
        items = tuple(self.random.randrange(10) for _ in range(self.one(1, 2, 2, 3)))
        return Many(inner, items, self.alone or self.chance(0.5), self.one(None, None, 1, 2))

    def repeat(self, size):
        inner = Task(self.name("o"), person=self.chance(0.2))
        if size > 2 and self.chance(0.6):
            body = self.body(size // 2)
            inner = self.one(Sub, Sub, Call)(inner.id, body if waits(body) else _after(self.task(), body))
        return Repeat(inner, self.random.randint(1, 4), self.chance(0.5))

    def edge(self, size):
        hosts = (ModelBuilder.host, ModelBuilder.sub, ModelBuilder.sub, ModelBuilder.call, ModelBuilder.many)
        make = self.one(*hosts, ModelBuilder.repeat)
        host = make(self, size - 2) if size > 2 else self.task()
        interrupting, ringing = self.interrupting, self.ringing
        if isinstance(host.inner if isinstance(host, Many | Repeat) else host, Task):  # no escalation comes from a task
            interrupting, ringing = _not_escalating(interrupting), _not_escalating(ringing)
        ons = self.random.sample(interrupting, self.random.randint(0, 2))
        catches = tuple((self.name("b"), on, self.block(size // 3)) for on in ons)
        rings = self.random.sample(ringing, 1) if not ons or self.chance(0.3) else ()
        bells = tuple((self.name("b"), on, self.plain()) for on in rings if on not in ons or on == "timer")
        return Edge(host, catches, bells)

    def host(self, size):
        return self.task()

    KINDS = (
        seq,
        seq,
        choice,
        par,
        par,
        loop,
        sub,
        incl,
        many,
        repeat,
        call,
        edge,
        edge,
        edge,
        wait,
        race,
        event,
        event,
        script,
    )


ALONE = {ModelBuilder.par: ModelBuilder.seq, ModelBuilder.incl: ModelBuilder.choice}
"""The substitutes for the blocks whose ways begin at once."""


def _not_escalating(events):
    return tuple(on for on in events if not on.startswith("escalation"))


def _after(task, body):
    """The body with a task before it, within its event sub-processes."""
    if isinstance(body, Guard):
        return Guard(_after(task, body.body), body.handlers)
    return Seq((task, body))


def _addressed(block, random):
    """The tree, its messages and signals for somebody who waits in it; without any, escalations instead."""
    names = {on: [id for id, kind in awaited(block) if kind == on] for on in ("message", "signal")}
    if not any(isinstance(one, Shout) for one in inside(block)):
        return block
    return _changed(block, lambda one: _address(one, names, random))


def _address(block, names, random):
    if not isinstance(block, Shout):
        return block
    if not names[block.on]:
        return Raise(block.id, random.choice(CODES))
    return Shout(block.id, block.on, random.choice(names[block.on]))


def _changed(value, change):
    """A tree with each block changed, inner ones first."""
    if isinstance(value, tuple):
        return tuple(_changed(part, change) for part in value)
    if hasattr(value, "__dataclass_fields__"):
        return change(type(value)(*(_changed(getattr(value, name), change) for name in value.__dataclass_fields__)))
    return value
