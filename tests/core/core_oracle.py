"""What a tree of blocks does, said in another way than the engine says it: by rewriting the tree.

`residual × observation → residual`: a finished task becomes nothing, a choice is decided by the same variable. There
are no flows, tokens, scope counters, stages or expressions here, and no import from the engine (CORE.md section 6.1).

A residual is None (nothing is left) or one of the classes below. Places are paths of scopes and elements: `p/s1/t2`.
"""

from dataclasses import dataclass

from core_blocks import Choice, Fork, Loop, Par, Pass, Seq, Sub, Task


@dataclass
class Waiting:
    """A job is open; `failed`: its last report left no retries."""

    task: Task
    place: str
    failed: bool = False


@dataclass
class Stuck:
    """A choice without a way out."""

    choice: Choice
    scope: str


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
    """What is left of a sub-process."""

    now: object
    sub: Sub
    scope: str


class Oracle:
    """One instance of a process whose body is `block`."""

    def __init__(self, block, variables, id="p") -> None:
        self.id = id
        self.scopes = {id: dict(variables)}
        """Variables by scope, in the order in which the scopes were entered; those of ended ones are gone."""
        self.state = "ACTIVATED"
        self.left = self._begin(block, id)
        self._check_end()

    # ---- what can be seen

    def seen(self):
        """Everything that is compared."""
        waiting = list(_leaves(self.left))
        return {
            "state": self.state,
            "jobs": sorted(one.place for one in waiting if isinstance(one, Waiting)),
            "incidents": sorted(_place_of_incident(one) for one in waiting if isinstance(one, Stuck) or one.failed),
            "variables": {scope: values for scope, values in self.scopes.items() if values},
        }

    def open_tasks(self):
        return [one for one in _leaves(self.left) if isinstance(one, Waiting) and not one.failed]

    def failed_tasks(self):
        return [one for one in _leaves(self.left) if isinstance(one, Waiting) and one.failed]

    def stuck(self):
        return [one for one in _leaves(self.left) if isinstance(one, Stuck)]

    # ---- observations

    def complete(self, place, variables):
        self._rewrite(
            lambda one: isinstance(one, Waiting) and one.place == place, lambda one: self._finish(one, variables)
        )

    def fail(self, place, variables):
        """No retries are left; what the worker sends stays at the task."""

        def failed(one):
            self.scopes.setdefault(place, {}).update(variables)
            return Waiting(one.task, place, True)

        self._rewrite(lambda one: isinstance(one, Waiting) and one.place == place, failed)

    def resolve_job(self, place):
        self._rewrite(lambda one: isinstance(one, Waiting) and one.place == place, lambda one: Waiting(one.task, place))

    def resolve_choice(self, id):
        self._rewrite(
            lambda one: isinstance(one, Stuck) and one.choice.id == id, lambda one: self._begin(one.choice, one.scope)
        )

    def set(self, scope, variables, local):
        """Variables from outside, seen from a scope."""
        for name, value in variables.items():
            self.scopes[scope if local else self._owner(name, scope)][name] = value

    def cancel(self):
        self.left, self.state = None, "TERMINATED"
        self.scopes.clear()

    # ---- rewriting

    def _rewrite(self, hit, becomes):
        self.left = self._in(self.left, hit, becomes)
        self._check_end()

    def _check_end(self):
        if self.left is None and self.state == "ACTIVATED":
            self.state = "COMPLETED"
            self.scopes.clear()

    def _in(self, left, hit, becomes):
        """`left` with the leaf that is hit replaced, and everything that follows from it."""
        match left:
            case None:
                return None
            case Waiting() | Stuck():
                return becomes(left) if hit(left) else left
            case Chain(now, rest, scope):
                return self._chain(self._in(now, hit, becomes), rest, scope)
            case Beside(all):
                return _beside([self._in(one, hit, becomes) for one in all])
            case Round(now, loop, scope):
                return self._round(self._in(now, hit, becomes), loop, scope)
            case Within(now, sub, scope):
                return self._within(self._in(now, hit, becomes), sub, scope)
        raise TypeError(left)

    def _begin(self, block, scope):
        """What is left of a block that has just been entered."""
        match block:
            case Pass():
                return None
            case Task(id, mapped):
                place = f"{scope}/{id}"
                if mapped:
                    self.scopes[place] = {"x": self._value(mapped, scope) + 1}
                return Waiting(block, place)
            case Seq(parts):
                return self._chain(None, parts, scope)
            case Choice(_, variable, ways, default):
                value = self._value(variable, scope)
                if value < len(ways):
                    return self._begin(ways[value], scope)
                return Stuck(block, scope) if default is None else self._begin(default, scope)
            case Par(_, ways):
                return _beside([self._begin(way, scope) for way in ways])
            case Loop(_, body):
                return self._round(self._begin(body, scope), block, scope)
            case Sub(id, body, local):
                place = f"{scope}/{id}"
                self.scopes[place] = {local: self._value(local, scope) + 1} if local else {}
                return self._within(self._begin(body, place), block, scope)
            case Fork(task, ways):
                return Chain(self._begin(task, scope), (Par("", ways),), scope)
        raise TypeError(block)

    def _chain(self, now, rest, scope):
        while now is None and rest:
            now, rest = self._begin(rest[0], scope), rest[1:]
        return None if now is None else Chain(now, rest, scope)

    def _round(self, now, loop, scope):
        if now is None and self._value(f"again_{loop.id}", scope) == 1:
            now = self._begin(loop.body, scope)
        return None if now is None else Round(now, loop, scope)

    def _within(self, now, sub, scope):
        if now is not None:
            return Within(now, sub, scope)
        own = self.scopes.pop(f"{scope}/{sub.id}")
        if sub.gives:
            self.scopes[self._owner(sub.gives, scope)][sub.gives] = own[sub.local]
        return None

    def _finish(self, waiting, variables):
        """A job's result: merged upwards, or kept back but for what the mapping lets out."""
        own = self.scopes.pop(waiting.place, {})
        scope = waiting.place.rpartition("/")[0]
        mapped = waiting.task.mapped
        if mapped:
            own |= variables
            variables = {mapped: (own["x"] + own["y"]) % 3}
        for name, value in variables.items():
            if name not in own or mapped:
                self.scopes[self._owner(name, scope)][name] = value

    # ---- variables

    def _owner(self, name, scope):
        """The innermost scope that has the variable, else the process."""
        while name not in self.scopes[scope] and "/" in scope:
            scope = scope.rpartition("/")[0]
        return scope

    def _value(self, name, scope):
        return self.scopes[self._owner(name, scope)][name]


def _beside(all):
    left = [one for one in all if one is not None]
    return Beside(left) if left else None


def _leaves(left):
    match left:
        case Waiting() | Stuck():
            yield left
        case Beside(all):
            for one in all:
                yield from _leaves(one)
        case Chain(now) | Round(now) | Within(now):
            yield from _leaves(now)


def _place_of_incident(one):
    return f"{one.scope}/{one.choice.id}" if isinstance(one, Stuck) else one.place
