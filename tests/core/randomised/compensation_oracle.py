"""The order of compensation handlers, told from what elements begin and end, and from nothing else.

It keeps what has completed in each scope, says which handler must begin next whenever a throw event or a cancelled
transaction asks for one, and compares. It knows neither registrations nor how the engine finds them.
"""

from dataclasses import dataclass, field

from vivero.core.records.instances import (
    ElementActivated,
    ElementActivating,
    ElementCompleted,
    ElementTerminated,
    ElementTerminating,
    InstanceCreated,
)


@dataclass(eq=False)
class Place:
    """An element instance."""

    key: int
    id: str
    type: str
    scope: "Place | None" = None
    live: int = 0
    done: list = field(default_factory=list)
    """The completed activities in it, the latest last."""
    cancelled: bool = False
    run: "Run | None" = None
    """The compensation that it is a handler of, or that a cancelled transaction has begun."""
    is_inner: bool = False

    @property
    def is_handler(self):
        return self.id.startswith("u") and not self.is_inner


@dataclass(eq=False)
class Done:
    """A completed activity."""

    id: str
    handler: str | None
    inside: list
    number: int

    def left(self):
        return self.handler is not None or any(one.left() for one in self.inside)


@dataclass(eq=False)
class Run:
    """One compensation: of what was done in `places` before `number`."""

    thrower: Place
    scope: Place
    places: list
    number: int
    only: str | None = None
    expected: str | None = None
    waits: bool = True


class CompensationOracle:
    """Reads all events of a run. `handlers`: activity → its handler; `named`: throw event → the activity it names."""

    def __init__(self, nodes) -> None:
        self.nodes, self.places, self.number, self.begun = nodes, {}, 0, 0
        self.runs = []

    def read(self, events):
        for event in events:
            self.number += 1
            match event:
                case InstanceCreated():
                    self.places[event.key] = Place(event.key, event.process_id, "PROCESS")
                case ElementActivating():
                    self._begins(event)
                case ElementActivated():
                    self._active(self.places[event.key])
                case ElementCompleted():
                    self._completed(self.places[event.key])
                case ElementTerminating():
                    self._leaving(self.places[event.key], event)
                case ElementTerminated():
                    self._terminated(self.places[event.key])

    def check_end(self):
        waiting = [run.expected for run in self.runs if run.expected is not None]
        assert not waiting, f"{waiting} never began"

    # ---- what happens

    def _begins(self, event):
        scope = self.places[event.scope]
        place = Place(event.key, event.element, event.type, scope, is_inner=event.index >= 0)
        self.places[event.key] = place
        scope.live += 1
        if place.is_handler:
            run = next((run for run in self.runs if run.expected == place.id and run.scope is scope), None)
            wanted = [(run.expected, run.scope.id) for run in self.runs if run.expected is not None]
            assert run is not None, f"{place.id} begins in {scope.id}, but {wanted} should"
            run.expected, place.run = None, run
            self.begun += 1

    def _active(self, place):
        node = self.nodes[place.id]
        if place.id.startswith("w"):
            around = [place.scope]
            if place.scope.type == "EVENT_SUB_PROCESS":
                around.append(place.scope.scope)
            run = Run(place, place.scope, around, self.number, node.event.activity, waits=node.event.waits)
            self._next(run)
        elif place.id.startswith("n"):
            transaction = place.scope
            while transaction.type != "TRANSACTION":
                transaction = transaction.scope
            if transaction.is_inner:
                transaction = transaction.scope
            assert transaction.run is None, f"{place.id} is active in a transaction that is cancelled already"
            transaction.cancelled = True

    def _completed(self, place):
        scope = place.scope
        if scope is None:
            return
        scope.live -= 1
        self._empty(scope)
        if place.run is not None and place.is_handler:
            self._next(place.run)
        elif not self._compensates(place):
            self._keep(place, self._handler_of(place))

    def _terminated(self, place):
        scope = place.scope
        if scope is None:
            return
        scope.live -= 1
        if place.id.startswith("w"):
            self._end(place)
        if place.id.startswith("v"):
            self._stop_before(self.nodes[place.id].handler, scope)
        if place.run is not None and place.is_handler:
            self._stop(place.run)
        if place.run is not None and place.cancelled:
            self._stop(place.run)
        if self._rolled_back(place):
            self._keep(place, None)
        self._empty(scope)

    def _leaving(self, place, event):
        """A cancelled transaction ends by its boundary event when nothing is left to undo, and by another before."""
        if (
            place.cancelled
            and event.then is not None
            and self.nodes[event.then[1]].event.__class__.__name__ == "CancelEvent"
        ):
            if place.run is None:
                self._roll_back(place)
            assert place.run.expected is None, f"{place.id} ends before {place.run.expected}"
            left = [one.id for one in place.done if one.left()]
            assert not left, f"{place.id} ends before {left} is undone"

    # ---- what has completed

    def _handler_of(self, place):
        if place.is_inner:
            return None  # the whole loop has it
        boundary = self.nodes[place.id].compensated_by
        return None if boundary is None else self.nodes[boundary].handler

    def _keep(self, place, handler):
        if handler is not None or any(one.left() for one in place.done):
            place.scope.done.append(Done(place.id, handler, place.done, self.number))

    def _compensates(self, place):
        """Whether it belongs to a handler, or is the event before one."""
        return place.is_handler or place.id.startswith("v")

    def _rolled_back(self, place):
        """Whether it ends with a cancelled transaction around it, with no other transaction between."""
        if place.is_handler:
            return False
        inner, around = place, place.scope
        while around is not None and not inner.is_handler:
            own_loop = inner.is_inner and around.cancelled
            if self.nodes[inner.id].type == "TRANSACTION" and not own_loop:
                return False
            if around.cancelled and around.run is None:
                return True
            inner, around = around, around.scope
        return False

    # ---- compensation

    def _empty(self, scope):
        if scope.cancelled and scope.run is None and not scope.live:
            self._roll_back(scope)

    def _roll_back(self, transaction):
        transaction.run = Run(transaction, transaction, [transaction], self.number + 1)
        self._next(transaction.run)

    def _next(self, run):
        if run not in self.runs:
            self.runs.append(run)
        found = self._latest([one for place in run.places for one in place.done if run.only in (None, one.id)], run)
        if found is None:
            self._stop(run)
        else:
            run.expected, found.handler = found.handler, None

    def _latest(self, done, run):
        left = [one for one in done if one.number < run.number and one.left()]
        if not left:
            return None
        latest = max(left, key=lambda one: one.number)
        return latest if latest.handler is not None else self._latest(latest.inside, run)

    def _end(self, thrower):
        for run in [run for run in self.runs if run.thrower is thrower and run.waits]:
            self._stop(run)

    def _stop_before(self, handler, scope):
        """The boundary event ends before its handler has begun."""
        run = next((run for run in self.runs if run.expected == handler and run.scope is scope), None)
        if run is not None:
            self._stop(run)

    def _stop(self, run):
        run.expected = None
        if run in self.runs:
            self.runs.remove(run)
