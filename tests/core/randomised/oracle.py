"""The behaviour of a tree of blocks, defined in another way than the engine's: by rewriting the tree.

`residual × observation → residual`: a finished task becomes nothing, a choice is decided by the same variable. There
are no flows, tokens, scope counters, stages or expressions here, and no import from the
engine (docs/core.md).
"""

from tests.core.randomised.blocks import (
    VALUES,
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
)
from tests.core.randomised.remaining import (
    Asleep,
    Beside,
    Chain,
    Edged,
    Hook,
    Repeated,
    Round,
    Several,
    Stuck,
    Telling,
    Thrown,
    Uncaught,
    Waiting,
    Within,
    all_in,
    joined,
)
from tests.core.randomised.scopes import Scopes

TIMERS = {"timer", "cycle"}


class Oracle:
    """One instance of a process whose body is `block`."""

    def __init__(self, block, variables, id="p") -> None:
        self.id = id
        self.scopes = Scopes(id, variables)
        self.hooks = {}
        """By place, what is waited for there."""
        self.count = 0
        self.gone = {}
        """The last variables of instances of a loop, and of the process."""
        self.broadcasts = []
        """[on, name, key, before, telling] of messages and signals that are on their way: see `_hear`."""
        self.state = "ACTIVATED"
        self.left = self._within(Within(self._open(block, id), None, id, None))
        self._go_on()

    # ---- what can be seen

    def seen(self):
        """Everything that is compared."""
        waiting = list(all_in(self.left, Waiting))
        failed = [one.place for one in waiting if one.failed]
        stuck = [one.place for one in all_in(self.left, Stuck | Uncaught)]
        hooks = [hook for hooks in self.hooks.values() for hook in hooks]
        return {
            "state": self.state,
            "jobs": sorted(one.place for one in waiting if not one.task.person),
            "tasks": sorted(one.place for one in waiting if one.task.person),
            "incidents": sorted(failed + stuck),
            "timers": sorted((hook.place, hook.id) for hook in hooks if hook.on in TIMERS),
            "subscriptions": sorted((h.place, h.id, h.key or "") for h in hooks if h.on in {"message", "signal"}),
            "variables": {place: values for place, values in self.scopes.all.items() if values},
        }

    def open_tasks(self):
        return [one for one in all_in(self.left, Waiting) if not one.failed]

    def failed_tasks(self):
        return [one for one in all_in(self.left, Waiting) if one.failed]

    def stuck(self):
        return list(all_in(self.left, Stuck))

    def uncaught(self):
        return list(all_in(self.left, Uncaught))

    def events(self):
        """The actions that are possible from outside."""
        return [hook for hooks in self.hooks.values() for hook in hooks if hook.on in TIMERS | {"message", "signal"}]

    def is_nameless(self, place):
        """Whether tasks like this one may be there several times: then they have no state of their own."""
        return any(one.place == place for within in all_in(self.left, Within) for one in _tasks(within.beside))

    # ---- observations

    def complete(self, place, variables):
        self._rewrite_task(place, lambda one: self._finish(one, variables))

    def fail(self, place, variables):
        """No retries are left; what the worker sends stays at the task."""

        def failed(one):
            self.scopes.all.setdefault(place, {}).update(variables)
            return Waiting(one.task, place, True)

        self._rewrite_task(place, failed)

    def throw(self, place, code, variables):
        """The nearest catcher of the error takes over; without any it is an incident, as a failure is."""
        hook = self._catcher("error", code, place)
        if hook is None:
            self.fail(place, variables)
        else:
            self._happen(hook, variables)
            self._go_on()

    def fire(self, place, target):
        """The timer of the element at `place`."""
        (hook,) = (hook for hook in self.hooks[place] if hook.id == target)
        self._happen(hook)
        self._go_on()

    def shout(self, on, name, key=None):
        """A signal, or a message with its correlation key."""
        self.broadcasts.append([on, name, key, self.count, None])
        self._go_on()

    def resolve_job(self, place):
        self._rewrite_task(place, lambda one: Waiting(one.task, place))

    def resolve_choice(self, place):
        self._rewrite(
            lambda one: isinstance(one, Stuck) and one.place == place, lambda one: self._begin(one.choice, one.scope)
        )

    def set(self, place, variables, local):
        """Variables from outside, seen from a scope."""
        if local:
            self.scopes.all[place].update(variables)
        else:
            self.scopes.merge(variables, place)

    def cancel(self):
        self._end("TERMINATED")

    def _end(self, state):
        self.gone[self.id] = self.scopes.all.get(self.id) or self.gone[self.id]
        self.left, self.state = None, state
        self.scopes.all.clear()
        self.hooks.clear()
        self.broadcasts.clear()

    # ---- rewriting

    def _rewrite_task(self, place, becomes):
        """The first of those that cannot be told apart."""
        task = next(one for one in all_in(self.left, Waiting) if one.place == place)
        self._rewrite(lambda one: one is task, becomes)

    def _rewrite(self, hit, becomes):
        self.left = self._in(self.left, hit, becomes)
        self._go_on()

    def _go_on(self):
        """Run what has been reached, then what has been broadcast, until all is quiet."""
        while True:
            if self.left is None and self.state == "ACTIVATED":
                self._end("COMPLETED")
            thrown = next(all_in(self.left, Thrown), None)
            if thrown is not None:
                self._throw(thrown)
            elif self.broadcasts:
                self._hear_next()
            else:
                return

    def _hear_next(self):
        """Waits that are open when the rest is quiet get a signal; then its thrower goes on, unless it ended."""
        for shout in self.broadcasts:
            if shout[3] is None:
                shout[3] = self.count
        *shout, telling = self.broadcasts.pop(0)
        self._hear(*shout)
        self.left = self._in(self.left, lambda one: one is telling, lambda one: None)

    def _in(self, left, hit, becomes):
        """`left` with what is hit replaced, and everything that follows from it."""
        if left is not None and hit(left):
            return becomes(left)
        match left:
            case Chain(now, rest, scope):
                return self._chain(self._in(now, hit, becomes), rest, scope)
            case Beside(all):
                return joined([self._in(one, hit, becomes) for one in all])
            case Round(now, loop, scope):
                return self._round(self._in(now, hit, becomes), loop, scope)
            case Within():
                left.now = self._in(left.now, hit, becomes)
                left.beside = [one for one in (self._in(one, hit, becomes) for one in left.beside) if one is not None]
                return self._within(left)
            case Repeated():
                left.now = self._in(left.now, hit, becomes)
                return self._repeated(left)
            case Several():
                return self._in_several(left, hit, becomes)
            case Edged():
                left.now = self._in(left.now, hit, becomes)
                return self._edged(left)
        return left

    def _in_several(self, left, hit, becomes):
        for index, one in list(left.running.items()):
            left.running[index] = self._in(one, hit, becomes)
            if left.running[index] is None and self._collect(left, index):
                return self._end_loop(left)
        return self._several(left)

    def _begin(self, block, scope):
        """The residual of a block that has just been entered."""
        match block:
            case Pass():
                return None
            case Script(id, variable):
                self.scopes.merge({f"r_{id}": self.scopes.value(variable, scope) + 1}, scope)
                return None
            case Task(id, mapped):
                place = f"{scope}/{id}"
                if mapped:
                    self.scopes.all[place] = {"x": self.scopes.value(mapped, scope) + 1}
                return Waiting(block, place)
            case Seq(parts):
                return self._chain(None, parts, scope)
            case Choice(_, variable, ways, default):
                value = self.scopes.value(variable, scope)
                if value < len(ways):
                    return self._begin(ways[value], scope)
                return Stuck(block, scope) if default is None else self._begin(default, scope)
            case Incl(_, ways, default):
                taken = [way for variable, value, way in ways if self.scopes.value(variable, scope) == value]
                if not taken and default is None:
                    return Stuck(block, scope)
                return joined([self._begin(way, scope) for way in taken or [default]])
            case Par(_, ways):
                return joined([self._begin(way, scope) for way in ways])
            case Loop(_, body):
                return self._round(self._begin(body, scope), block, scope)
            case Fork(task, ways):
                return Chain(self._begin(task, scope), (Par("", ways),), scope)
            case Sub() | Call():
                return self._enter(block, f"{scope}/{block.id}", scope)
            case Many(_, items):
                self.scopes.all[f"{scope}/{block.id}"] = {}
                return self._several(Several({}, [None] * len(items), 0, 0, block, scope))
            case Repeat():
                self.scopes.all[f"{scope}/{block.id}"] = {}
                return self._repeated(Repeated(None, -1, block, scope))
        return self._begin_event(block, scope)

    def _begin_event(self, block, scope):
        place = f"{scope}/{block.id}"
        match block:
            case Wait(id, on):
                self._hook(place, id, on, "own", True, None)
                return Asleep(place, scope)
            case Race(_, ways):
                for id, on, _, way in ways:
                    self._hook(place, id, on, "race", True, way)
                return Asleep(place, scope)
            case Edge(host, catches, bells):
                return self._edged(Edged(self._begin_host(host, scope, catches, bells), block, scope))
            case Raise(_, code):
                return Thrown(place, f"escalation:{code}", scope)
            case Shout(_, on, name):
                key = str(self.scopes.value("v0", scope)) if on == "message" else None
                telling = Telling(place, scope)
                self.broadcasts.append([on, name, key, self.count if on == "message" else None, telling])
                return telling
            case Final(_, on):
                return Thrown(place, on, scope, final=True)
        raise TypeError(block)

    def _chain(self, now, rest, scope):
        while now is None and rest:
            now, rest = self._begin(rest[0], scope), rest[1:]
        return None if now is None else Chain(now, rest, scope)

    def _round(self, now, loop, scope):
        if now is None and self.scopes.value(f"again_{loop.id}", scope) == 1:
            now = self._begin(loop.body, scope)
        return None if now is None else Round(now, loop, scope)

    # ---- scopes

    def _enter(self, block, place, scope, own=None):
        """A sub-process gets its local variable, a called process all that are seen."""
        if isinstance(block, Call):
            if own is not None:
                self.scopes.all[place] = own
            inner = f"{place}/c_{block.id}"
            self.scopes.tops.add(inner)
            self.scopes.all[inner] = self.scopes.visible(place)
        else:
            inner, local = place, block.local
            self.scopes.all[inner] = (own or {}) | self._local(local, scope)
        return self._within(Within(self._open(block.body, inner), block, inner, scope))

    def _local(self, name, scope):
        return {name: (self.scopes.value(name, scope) + 1) % VALUES} if name else {}

    def _open(self, body, place):
        """The body of a scope begins, once its event sub-processes wait."""
        if not isinstance(body, Guard):
            return self._begin(body, place)
        for id, on, interrupting, block in body.handlers:
            self._hook(place, id, on, "inside", interrupting, block)
        return self._begin(body.body, place)

    def _within(self, within):
        """A scope ends when nothing is left in it, and gives what it has to give."""
        place, block = within.place, within.block
        if within.now is not None or within.beside:
            return within
        own = self.gone[place] = self.scopes.all.pop(place)
        self._drop(place, "inside")
        self._forget(place)
        if isinstance(block, Call):
            self.scopes.merge(own, place.rpartition("/")[0])
        elif isinstance(block, Sub) and block.gives:
            self.scopes.merge({block.gives: own[block.local]}, within.scope)
        return None

    def _forget(self, place):
        """Everything below a place has ended."""
        self.scopes.forget(place)
        for other in [other for other in self.hooks if other.startswith(f"{place}/")]:
            del self.hooks[other]

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
        if not isinstance(inner, Task):
            return self._enter(inner, place, body, own)
        self.scopes.all[place] = own
        return Waiting(inner, place)

    def _collect(self, several, index):
        """The result of an instance that has ended; whether that is enough."""
        many, body = several.many, f"{several.scope}/{several.many.id}"
        place = f"{body}/{many.id}[{index}]"
        own = self.scopes.all.pop(place) if place in self.scopes.all else self.gone.pop(place)
        del several.running[index]
        several.results[index] = own["item"] + (own["v0"] if "v0" in own else self.scopes.value("v0", body))
        several.completed += 1
        return many.until is not None and several.completed >= many.until

    def _end_loop(self, several):
        place = f"{several.scope}/{several.many.id}"
        self._forget(place)
        del self.scopes.all[place]
        self.scopes.merge({f"out_{several.many.id}": several.results}, several.scope)

    def _repeated(self, repeated):
        """The next iteration, if one is due; None when the loop has ended."""
        block, body = repeated.block, f"{repeated.scope}/{repeated.block.id}"
        while repeated.now is None:
            self.scopes.all.pop(f"{body}/{block.id}[{repeated.index}]", None)
            repeated.index += 1
            decides = repeated.index > 0 or block.test_before
            if repeated.index == block.most or (decides and self.scopes.value(f"again_{block.id}", body) != 1):
                self._forget(body)
                del self.scopes.all[body]
                return None
            repeated.now = self._begin_iteration(block, body, repeated.index)
        return repeated

    def _begin_iteration(self, block, body, index):
        place, own = f"{body}/{block.id}[{index}]", {"loopCounter": index + 1}
        if not isinstance(block.inner, Task):
            return self._enter(block.inner, place, body, own)
        self.scopes.all[place] = own
        return Waiting(block.inner, place)

    # ---- events

    def _begin_host(self, host, scope, catches, bells):
        """An activity whose boundary events wait, longer than anything in it; their key is of what it begins with."""
        own = self._local(host.local, scope) if isinstance(host, Sub) else {}
        place, serial, key = f"{scope}/{host.id}", self.count, str(own.get("v0", self.scopes.value("v0", scope)))
        self.count += len(catches) + len(bells)
        now = self._begin(host, scope)
        if now is not None:
            events = [(*one, True) for one in catches] + [(*one, False) for one in bells]
            for number, (id, on, block, interrupting) in enumerate(events, serial + 1):
                self._hook(place, id, on, "boundary", interrupting, block, number, key)
        return now

    def _edged(self, edged):
        if edged.now is None:
            self._drop(edged.place, "boundary")
            return None
        return edged

    def _hook(self, place, id, on, where, interrupting, block, serial=None, key=None):
        if serial is None:
            self.count += 1
        key = (key or str(self.scopes.value("v0", place))) if on == "message" else None
        hook = Hook(place, id, on, where, interrupting, block, serial or self.count, key)
        self.hooks.setdefault(place, []).append(hook)

    def _drop(self, place, where):
        """Remove the waits there."""
        left = [hook for hook in self.hooks.pop(place, ()) if hook.where != where]
        if left:
            self.hooks[place] = left

    def _catcher(self, kind, code, place):
        """The nearest around a place; there, one for the code before one for all."""
        while place:
            for where in ("inside", "boundary"):
                here = [hook for hook in self.hooks.get(place, ()) if hook.where == where]
                for on in (f"{kind}:{code}", kind):
                    found = next((hook for hook in here if hook.on == on), None)
                    if found is not None:
                        return found
            place = place.rpartition("/")[0]
        return None

    def _throw(self, thrown):
        """Throw an event; the event is over, unless it throws an error."""
        kind, _, code = thrown.on.partition(":")
        if kind == "terminate":
            self.left = self._in(self.left, lambda one: _is_scope(one, thrown.scope), self._terminate)
            return
        catcher = self._catcher(kind, code, thrown.place)
        if catcher is not None and catcher.interrupting:
            self._interrupt(catcher, {})
            return
        if catcher is not None:
            self._ring(catcher)
        left = Uncaught(thrown.place) if kind == "error" else None
        self.left = self._in(self.left, lambda one: one is thrown, lambda one: left)

    def _terminate(self, within):
        within.now, within.beside = None, []
        self._forget(within.place)
        return self._within(within)

    def _hear(self, on, name, key, before):
        """All that waited when the rest was quiet get a signal; the first that waited at the throw gets a message."""
        hooks = [hook for hook in self.events() if (hook.on, hook.id, hook.key) == (on, name, key)]
        hooks = sorted((hook for hook in hooks if hook.serial <= before), key=lambda hook: hook.serial)
        for hook in hooks if on == "signal" else hooks[:1]:
            if hook in self.hooks.get(hook.place, ()):
                self._happen(hook)
                self._settle_thrown()

    def _settle_thrown(self):
        while (thrown := next(all_in(self.left, Thrown), None)) is not None:
            self._throw(thrown)

    def _happen(self, hook, variables=None):
        """An awaited event has happened."""
        if hook.where in {"own", "race"}:
            del self.hooks[hook.place]
            follow = self._follow(hook)
            self.left = self._in(self.left, lambda one: isinstance(one, Asleep) and one.place == hook.place, follow)
        elif hook.interrupting:
            self._interrupt(hook, variables or {})
        else:
            self._ring(hook)

    def _follow(self, hook):
        return lambda asleep: None if hook.block is None else self._begin(hook.block, asleep.scope)

    def _ring(self, hook):
        """A task, or a whole event sub-process, beside the rest of the scope."""
        if hook.on == "timer":
            self.hooks[hook.place].remove(hook)
        if hook.where == "boundary":
            scope = hook.place.rpartition("/")[0]
            left = Waiting(hook.block, f"{scope}/{hook.block.id}")
        else:
            scope = hook.place
            left = self._handler(hook, {})
        (within,) = (one for one in all_in(self.left, Within) if one.place == scope)
        within.beside += [] if left is None else [left]
        self.left = self._in(self.left, lambda one: False, None)

    def _interrupt(self, hook, variables):
        """The handler instead of what the activity or the scope does."""
        if hook.where == "boundary":
            self._forget(hook.place)
            self.scopes.all.pop(hook.place, None)
            del self.hooks[hook.place]
            hit = lambda one: isinstance(one, Edged) and one.place == hook.place  # noqa: E731
            self.left = self._in(self.left, hit, lambda one: self._begin(hook.block, one.scope))
        else:
            self._drop(hook.place, "inside")
            self._forget(hook.place)
            self.scopes.merge(variables, hook.place)
            self.left = self._in(self.left, lambda one: _is_scope(one, hook.place), self._take_over(hook))

    def _take_over(self, hook):
        def become(within):
            within.now, within.beside = self._handler(hook, {}), []
            return self._within(within)

        return become

    def _handler(self, hook, own):
        """An event sub-process begins."""
        place = f"{hook.place}/{hook.id}"
        if isinstance(hook.block, Task) and not hook.interrupting and not hook.block.mapped:
            self.scopes.all.setdefault(place, {})
            self.scopes.shared.add(place)
            return Waiting(hook.block, f"{place}/{hook.block.id}")
        self.scopes.all[place] = own
        return self._within(Within(self._open(hook.block, place), None, place, hook.place))

    # ---- variables

    def _finish(self, waiting, variables):
        """A job's result: merged upwards, or kept back but for what the mapping lets out."""
        own = self.scopes.all.pop(waiting.place, {})
        scope = waiting.place.rpartition("/")[0]
        mapped = waiting.task.mapped
        if mapped:
            own |= variables
            variables = {mapped: (own["x"] + own["y"]) % VALUES}
        else:
            own |= {name: value for name, value in variables.items() if name in own}
        self.scopes.merge({name: value for name, value in variables.items() if mapped or name not in own}, scope)
        self.gone[waiting.place] = own


def _is_scope(left, place):
    return isinstance(left, Within) and left.place == place


def _tasks(beside):
    return [one for one in beside if isinstance(one, Waiting)]
