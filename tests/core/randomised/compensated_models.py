"""Random models with compensation and transactions: sequences, forks, sub-processes, loops, handlers of several kinds,
throw events, error event sub-processes, and transactions that succeed, are cancelled, or end by an error.

The first letter of an id says what it is: t task, s sub-process, x transaction, u handler, w throw event, n cancel end
event, q event sub-process. `compensation_oracle.py` reads them.
"""

from itertools import pairwise

from tests.core.compensation_models import CANCEL, as_handler, association, compensation, transaction
from tests.core.event_models import boundary, error, final, loop, model, on, throw
from tests.core.models import chain, end, par, start, sub, task, xor

MARKER = "<standardLoopCharacteristics loopMaximum='2'/>"


class CompensatedModels:
    """Makes one model from random numbers."""

    def __init__(self, random, depth) -> None:
        self.random, self.count, self.depth = random, 0, depth

    def file(self):
        parts, first, last = self.sequence(self.depth, throws=True)
        return model(start("b0"), *parts, throw("w0", compensation()), end("e0"), f"b0 > {first}", f"{last} > w0 > e0")

    def id(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    def sequence(self, depth, throws):
        """Parts of a scope, with the first and the last node. `named`: activities that a throw event may name."""
        parts, ids, named = [], [], []
        for _ in range(self.random.randint(1, 4)):
            made, first, last = self.block(depth, throws, named)
            parts += made
            ids += [(first, last)]
        flows = [chain(f"{one[1]} > {other[0]}") for one, other in pairwise(ids)]
        return parts + flows, ids[0][0], ids[-1][1]

    def block(self, depth, throws, named):
        kinds = ["task"] * 3 + (["throw"] if throws else []) + (["fork", "sub", "sub", "transaction"] if depth else [])
        return getattr(self, self.random.choice(kinds))(depth, throws, named)

    def task(self, _depth, _throws, named):
        id = self.id("t")
        activity = self.looped(task(id)) if self.random.random() < 0.2 else task(id)
        return self.handled(activity, id, named, 0.8), id, id

    def throw(self, _depth, _throws, named):
        id, random = self.id("w"), self.random
        only = random.choice(named) if named and random.random() < 0.4 else None
        return [throw(id, compensation(only, waits=random.random() < 0.7))], id, id

    def fork(self, depth, throws, _named):
        split, join = self.id("f"), self.id("j")
        ways = [self.sequence(depth - 1, throws) for _ in range(2)]
        flows = [chain(f"{split} > {first}") + chain(f"{last} > {join}") for _, first, last in ways]
        return [par(split), par(join), *(part for parts, _, _ in ways for part in parts), *flows], split, join

    def sub(self, depth, throws, named):
        id = self.id("s")
        content = [*self.inside(depth - 1, throws), *self.caught(depth)]
        return self.handled(self.maybe_looped(sub(id, *content)), id, named, 0.3, is_scope=True), id, id

    def inside(self, depth, throws):
        parts, first, last = self.sequence(depth, throws)
        begin, done = self.id("b"), self.id("e")
        return [start(begin), *parts, end(done), f"{begin} > {first}", f"{last} > {done}"]

    def caught(self, depth):
        """An event sub-process that may compensate the scope around it."""
        if self.random.random() < 0.6:
            return []
        id = self.id("q")
        parts, first, last = self.sequence(depth - 1, throws=True)
        return [on(error("A"), id, *parts, f"{id}-start > {first}", end(f"{id}-end"), f"{last} > {id}-end")]

    def transaction(self, depth, throws, named):
        id, cancelled, join, random = self.id("x"), self.id("c"), self.id("j"), self.random
        content = self.inside(depth - 1, throws) if random.random() < 0.4 else self.cancelling(depth - 1, throws)
        activity = self.maybe_looped(transaction(id, *content, *self.caught(depth)))
        edges = [boundary(cancelled, id, CANCEL), chain(f"{cancelled} > {join}")]
        if random.random() < 0.4:
            hazard = self.id("c")
            edges += [boundary(hazard, id, error("A")), chain(f"{hazard} > {join}")]
        return (
            [*self.handled(activity, id, named, 0.2, is_scope=True), *edges, xor(join), chain(f"{id} > {join}")],
            id,
            join,
        )

    def cancelling(self, depth, throws):
        """Parts with a cancel end event: behind all others, beside them, or in a sub-process."""
        parts, first, last = self.sequence(depth, throws)
        begin, no = self.id("b"), self.id("n")
        how = self.random.choice(("behind", "beside", "inside"))
        if how == "behind":
            return [start(begin), *parts, final(no, CANCEL), f"{begin} > {first}", f"{last} > {no}"]
        if how == "beside":
            split, before = self.id("f"), self.id("t")
            ways = f"{begin} > {split} > {first}", f"{split} > {before} > {no}"
            return [start(begin), par(split), *parts, task(before), final(no, CANCEL), *ways]
        inner, opening, before = self.id("s"), self.id("b"), self.id("t")
        deep = sub(
            inner,
            start(opening),
            *self.handled(task(before), before, [], 1),
            final(no, CANCEL),
            f"{opening} > {before} > {no}",
        )
        return [start(begin), *parts, deep, f"{begin} > {first}", f"{last} > {inner}"]

    def maybe_looped(self, activity):
        return self.looped(activity) if self.random.random() < 0.3 else activity

    def looped(self, activity):
        if self.random.random() < 0.3:
            head, closing, tail = activity.rpartition("</")
            return f"{head}{MARKER}{closing}{tail}"
        return loop(activity, collection="=[1, 2, 3]", item="item", sequential=self.random.random() < 0.5)

    def handled(self, activity, id, named, share, is_scope=False):
        """The activity, mostly with a handler."""
        if self.random.random() > share:
            named += [id] if is_scope else []
            return [activity]
        named.append(id)
        handler, undo = self.handler()
        return [activity, boundary(f"v{id}", id, compensation()), association(f"v{id}", undo), as_handler(handler)]

    def handler(self):
        undo, kind = self.id("u"), self.random.choice(("task", "task", "manual", "several", "loop"))
        if kind == "manual":
            return f'<manualTask id="{undo}"/>', undo
        if kind == "loop":
            return loop(task(undo), collection="=[1, 2]"), undo
        if kind == "several":
            begin, inner = self.id("b"), self.id("t")
            parts = [start(begin), *self.handled(task(inner), inner, [], 0.5), chain(f"{begin} > {inner}")]
            return sub(undo, *parts), undo
        return task(undo), undo
