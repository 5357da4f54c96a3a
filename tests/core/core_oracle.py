"""What a tree of blocks does, said in another way than the engine says it: by rewriting the tree.

`residual × observation → residual`: a finished task becomes nothing, a choice is decided by the same variable. There
are no flows, tokens, scope counters, stages or expressions here, and no import from the engine (CORE.md section 6.1).

A residual is None (nothing is left) or one of the classes below. Places are paths of scopes and elements: `p/s1/t2`.
"""

from dataclasses import dataclass

from core_blocks import Call, Choice, Edge, Fork, Incl, Loop, Many, Par, Pass, Seq, Sleep, Sub, Task


@dataclass
class Waiting:
    """A job is open; `failed`: its last report left no retries."""

    task: Task
    place: str
    failed: bool = False


@dataclass
class Stuck:
    """A choice without a way out."""

    choice: Choice | Incl
    scope: str

    def ways_out(self):
        """(variable, value) pairs of which each would do."""
        if isinstance(self.choice, Incl):
            return [(variable, value) for variable, value, _ in self.choice.ways]
        return [(self.choice.variable, value) for value in range(len(self.choice.ways))]


@dataclass
class Asleep:
    """A timer is waited for."""

    place: str


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
    """What is left of a sub-process or of a called process, whose scope is `place`."""

    now: object
    block: Sub | Call
    place: str
    scope: str


@dataclass
class Several:
    """What is left of a multi-instance activity: `running` by index, the results of those that have ended."""

    running: dict
    results: list
    next: int
    completed: int
    many: Many
    scope: str


@dataclass
class Edged:
    """An activity with boundary events; `bells`: those of its timers that have not rung."""

    now: object
    edge: Edge
    bells: tuple
    scope: str


class Oracle:
    """One instance of a process whose body is `block`."""

    def __init__(self, block, variables, id="p") -> None:
        self.id = id
        self.scopes = {id: dict(variables)}
        """Variables by scope, in the order in which the scopes were entered; those of ended ones are gone."""
        self.tops = {id}
        """Scopes of processes: no variable is looked for beyond them."""
        self.beside = {id: []}
        """Tasks that run beside the rest, by scope: it ends after them."""
        self.gone = {}
        """The last variables of instances of a loop."""
        self.state = "ACTIVATED"
        self.left = self._begin(block, id)
        self._check_end()

    # ---- what can be seen

    def seen(self):
        """Everything that is compared."""
        leaves = self._leaves()
        failed = [one.place for one in leaves if isinstance(one, Waiting) and one.failed]
        stuck = [f"{one.scope}/{one.choice.id}" for one in leaves if isinstance(one, Stuck)]
        return {
            "state": self.state,
            "jobs": sorted(one.place for one in leaves if isinstance(one, Waiting)),
            "incidents": sorted(failed + stuck),
            "timers": sorted(self.timers()),
            "variables": {scope: values for scope, values in self.scopes.items() if values},
        }

    def open_tasks(self):
        return [one for one in self._leaves() if isinstance(one, Waiting) and not one.failed]

    def failed_tasks(self):
        return [one for one in self._leaves() if isinstance(one, Waiting) and one.failed]

    def stuck(self):
        return [one for one in self._leaves() if isinstance(one, Stuck)]

    def runs_beside(self, place):
        return any(one.place == place for tasks in self.beside.values() for one in tasks)

    def timers(self):
        """(place of the element, the event)."""
        found = [(one.place, one.place.rpartition("/")[2]) for one in self._leaves() if isinstance(one, Asleep)]
        for edged in _edges(self.left):
            place = f"{edged.scope}/{edged.edge.id}"
            found += [(place, id) for id, code, _ in edged.edge.catches if code is None]
            found += [(place, id) for id, _ in edged.bells]
        return found

    def _leaves(self):
        return [*_leaves(self.left), *(task for tasks in self.beside.values() for task in tasks)]

    # ---- observations

    def complete(self, place, variables):
        self._rewrite_task(place, lambda one: self._finish(one, variables))

    def fail(self, place, variables):
        """No retries are left; what the worker sends stays at the task."""

        def failed(one):
            self.scopes.setdefault(place, {}).update(variables)
            return Waiting(one.task, place, True)

        self._rewrite_task(place, failed)

    def throw(self, place, code, variables):
        """The nearest boundary event that catches the code; without any it is an incident, as a failure is."""
        catcher = _catcher(self.left, place, code)
        if catcher is None:
            self.fail(place, variables)
        else:
            (handler,) = (handler for _, caught, handler in catcher.edge.catches if caught == code)
            self._rewrite(lambda one: one is catcher, lambda one: self._interrupt(one, handler))

    def fire(self, place, target):
        """The timer of the element at `place`."""
        for edged in _edges(self.left):
            if f"{edged.scope}/{edged.edge.id}" == place:
                for id, _, handler in edged.edge.catches:
                    if id == target:
                        self._rewrite(lambda one, hit=edged: one is hit, lambda one, h=handler: self._interrupt(one, h))
                        return
                (rung,) = (task for id, task in edged.bells if id == target)
                edged.bells = tuple(bell for bell in edged.bells if bell[0] != target)
                self.beside[edged.scope].append(Waiting(rung, f"{edged.scope}/{rung.id}"))
                return
        self._rewrite(lambda one: isinstance(one, Asleep) and one.place == place, lambda one: None)

    def resolve_job(self, place):
        self._rewrite_task(place, lambda one: Waiting(one.task, place))

    def resolve_choice(self, scope, id):
        self._rewrite(
            lambda one: isinstance(one, Stuck) and (one.scope, one.choice.id) == (scope, id),
            lambda one: self._begin(one.choice, one.scope),
        )

    def set(self, scope, variables, local):
        """Variables from outside, seen from a scope."""
        for name, value in variables.items():
            self.scopes[scope if local else self._owner(name, scope)][name] = value

    def cancel(self):
        self.left, self.state = None, "TERMINATED"
        self.scopes.clear()
        self.beside.clear()

    # ---- rewriting

    def _rewrite_task(self, place, becomes):
        for tasks in self.beside.values():
            for number, one in enumerate(tasks):
                if one.place == place:
                    tasks[number : number + 1] = [left for left in [becomes(one)] if left is not None]
                    self._rewrite(lambda one: False, None)
                    return
        self._rewrite(lambda one: isinstance(one, Waiting) and one.place == place, becomes)

    def _rewrite(self, hit, becomes):
        self.left = self._in(self.left, hit, becomes)
        self._check_end()

    def _check_end(self):
        if self.left is None and self.state == "ACTIVATED" and not self.beside[self.id]:
            self.state = "COMPLETED"
            self.scopes.clear()
            self.beside.clear()

    def _in(self, left, hit, becomes):
        """`left` with what is hit replaced, and everything that follows from it."""
        if left is not None and hit(left):
            return becomes(left)
        match left:
            case None | Waiting() | Stuck() | Asleep():
                return left
            case Chain(now, rest, scope):
                return self._chain(self._in(now, hit, becomes), rest, scope)
            case Beside(all):
                return _beside([self._in(one, hit, becomes) for one in all])
            case Round(now, loop, scope):
                return self._round(self._in(now, hit, becomes), loop, scope)
            case Within(now):
                left.now = self._in(now, hit, becomes)
                return self._within(left)
            case Several(running):
                for index, one in list(running.items()):
                    if index in running:
                        running[index] = self._in(one, hit, becomes)
                        if running[index] is None and self._collect(left, index):
                            return self._end_loop(left)
                return self._several(left)
            case Edged(now):
                left.now = self._in(now, hit, becomes)
                return None if left.now is None else left
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
            case Sleep(id):
                return Asleep(f"{scope}/{id}")
            case Seq(parts):
                return self._chain(None, parts, scope)
            case Choice(_, variable, ways, default):
                value = self._value(variable, scope)
                if value < len(ways):
                    return self._begin(ways[value], scope)
                return Stuck(block, scope) if default is None else self._begin(default, scope)
            case Incl(_, ways, default):
                taken = [way for variable, value, way in ways if self._value(variable, scope) == value]
                if not taken and default is None:
                    return Stuck(block, scope)
                return _beside([self._begin(way, scope) for way in taken or [default]])
            case Par(_, ways):
                return _beside([self._begin(way, scope) for way in ways])
            case Loop(_, body):
                return self._round(self._begin(body, scope), block, scope)
            case Sub(id, body, local):
                place = f"{scope}/{id}"
                own = {local: self._value(local, scope) + 1} if local else {}
                return self._enter(block, body, place, own, scope)
            case Call(id, body):
                place = f"{scope}/{id}/c_{id}"
                self.tops.add(place)
                return self._enter(block, body, place, self._visible(scope), scope)
            case Many(_, items):
                self.scopes[f"{scope}/{block.id}"] = {}
                return self._several(Several({}, [None] * len(items), 0, 0, block, scope))
            case Edge(host, _, bells):
                now = self._begin(host, scope)
                return None if now is None else Edged(now, block, bells, scope)
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

    def _enter(self, block, body, place, own, scope):
        self.scopes[place] = own
        self.beside[place] = []
        return self._within(Within(self._begin(body, place), block, place, scope))

    def _within(self, within):
        """A scope ends when nothing is left in it, and gives what it has to give."""
        place, block, scope = within.place, within.block, within.scope
        if within.now is not None or self.beside[place]:
            return within
        own = self.scopes.pop(place)
        del self.beside[place]
        self.gone[place] = own
        if isinstance(block, Call):
            for name, value in own.items():
                self.scopes[self._owner(name, scope)][name] = value
        elif block.gives:
            self.scopes[self._owner(block.gives, scope)][block.gives] = own[block.local]
        return None

    # ---- loops over items

    def _several(self, several):
        """As many instances as may run; None when the last has ended."""
        many = several.many
        width = 1 if many.sequential else len(many.items)
        while several.next < len(many.items) and len(several.running) < width:
            several.running[several.next] = self._begin_instance(several, several.next)
            several.next += 1
        return several if several.running else self._end_loop(several)

    def _begin_instance(self, several, index):
        inner, body = several.many.inner, f"{several.scope}/{several.many.id}"
        place = f"{body}/{inner.id}[{index}]"
        own = {"loopCounter": index + 1, "item": several.many.items[index]}
        if isinstance(inner, Sub):
            return self._enter(inner, inner.body, place, own, body)
        self.scopes[place] = own
        return Waiting(inner, place)

    def _collect(self, several, index):
        """The result of an instance that has ended; whether that is enough."""
        many, body = several.many, f"{several.scope}/{several.many.id}"
        own = self.gone.pop(f"{body}/{many.id}[{index}]")
        del several.running[index]
        several.results[index] = own["item"] + (own["v0"] if "v0" in own else self._value("v0", body))
        several.completed += 1
        return many.until is not None and several.completed >= many.until

    def _end_loop(self, several):
        name, scope = f"out_{several.many.id}", several.scope
        self._forget(f"{scope}/{several.many.id}")
        self.scopes[self._owner(name, scope)][name] = several.results

    # ---- events

    def _interrupt(self, edged, handler):
        self._forget(f"{edged.scope}/{edged.edge.id}")
        return self._begin(handler, edged.scope)

    def _forget(self, place):
        """Everything at a place and below it has ended."""
        for part in (self.scopes, self.beside):
            for other in [other for other in part if other == place or other.startswith(f"{place}/")]:
                del part[other]

    # ---- variables

    def _finish(self, waiting, variables):
        """A job's result: merged upwards, or kept back but for what the mapping lets out."""
        own = self.scopes.pop(waiting.place, {})
        scope = waiting.place.rpartition("/")[0]
        mapped = waiting.task.mapped
        if mapped:
            own |= variables
            variables = {mapped: (own["x"] + own["y"]) % 3}
        for name, value in variables.items():
            if name in own and not mapped:
                own[name] = value
            else:
                self.scopes[self._owner(name, scope)][name] = value
        self.gone[waiting.place] = own

    def _owner(self, name, scope):
        """The innermost scope that has the variable, else the process."""
        while name not in self.scopes[scope] and scope not in self.tops:
            scope = scope.rpartition("/")[0]
        return scope

    def _value(self, name, scope):
        return self.scopes[self._owner(name, scope)][name]

    def _visible(self, scope):
        """All variables that are seen from a scope."""
        seen = dict(self.scopes[scope])
        while scope not in self.tops:
            scope = scope.rpartition("/")[0]
            seen = self.scopes[scope] | seen
        return seen


def _beside(all):
    left = [one for one in all if one is not None]
    return Beside(left) if left else None


def _parts(left):
    """What is left in what is left."""
    match left:
        case Beside(all):
            return all
        case Several(running):
            return list(running.values())
        case Chain(now) | Round(now) | Within(now) | Edged(now):
            return [now]
    return []


def _leaves(left):
    if isinstance(left, Waiting | Stuck | Asleep):
        yield left
    for part in _parts(left):
        yield from _leaves(part)


def _edges(left):
    """All activities with boundary events, outer ones first."""
    if isinstance(left, Edged):
        yield left
    for part in _parts(left):
        yield from _edges(part)


def _catcher(left, place, code):
    """The innermost activity around the task at `place` with a boundary event for the code."""
    for part in _parts(left):
        if any(one.place == place for one in _leaves(part) if isinstance(one, Waiting)):
            found = _catcher(part, place, code)
            catches = isinstance(left, Edged) and any(caught == code for _, caught, _ in left.edge.catches)
            return left if found is None and catches else found
    return None
