"""A `MemoryEngine` with the words of the tests: elements by id, variables as Python values, rows as documents."""

import json
from functools import cache, partial
from operator import attrgetter
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints, is_typeddict

import msgspec

from tests.core.parsed_models import read_shared
from vivero.core.execution import worklist
from vivero.core.execution.step import DEFAULT_LIMITS, Processor
from vivero.core.memory import MemoryEngine
from vivero.core.records.codec import decode_events, encode_events
from vivero.core.records.instances import CancelInstance, CreateInstance, ResolveIncident, SetVariables
from vivero.core.records.jobs import CompleteJob, FailJob, ThrowJobError, UpdateJob
from vivero.core.records.messages import PublishMessage
from vivero.core.records.signals import BroadcastSignal
from vivero.core.records.timers import FireTimer
from vivero.core.records.user_tasks import CompleteUserTask
from vivero.core.replay import Recorded, replay
from vivero.core.state.instance_tree import NO_WAITS, Instance
from vivero.core.state.message_channels import MessageChannel
from vivero.core.state.migrations import Migration
from vivero.core.state.rows import Row
from vivero.core.state.state import State
from vivero.core.trace import Trace

NOT_DURABLE = frozenset(
    {
        *("node", "decoded", "canonical", "weight", "rows", "pins", "lease", "leased_until", "available_at"),
        *("past", "commits_under_way", "loaded_work", "paging", "of_pages"),
    }
)
"""Fields of a row: caches, and the job's lease, which is activation's."""
NOT_COMPARED = frozenset({"node", "decoded", "revision", "past", "paging", "of_pages"})
"""Fields of a row: caches, and the revision, which each batch with a change moves."""
_ATOMS = frozenset({int, str, bool, float, type(None)})
"""Types whose values a document holds as they are."""


def raw(variables):
    """Variables as a command takes them."""
    return {name: msgspec.Raw(json.dumps(value).encode()) for name, value in variables.items()}


class Engine:
    """One engine. `rows` holds the last document of every row that was ever written, by (table, key), unless it
    `keeps_rows` not, which is faster; `ended` the last state and variables of root instances."""

    def __init__(self, limits=DEFAULT_LIMITS, keeps_rows=True) -> None:
        self.memory = MemoryEngine(limits, read=read_shared)
        self.memory.now = 1_000
        self.rows, self.ended = {}, {}
        self.files: dict[int, bytes] = {}  # by definition
        self.limits, self.keeps_rows = limits, keeps_rows
        self.key = 0
        """The key of the instance that a test is about, if it says so."""
        self.watch(self.memory.state)

    def watch(self, state):
        """Look at this state from now on."""
        self.state = state
        if self.keeps_rows:
            keep_rows(state, self.rows)
        keep_ended(state, self.ended)

    # ---- commands

    def deploy(self, *models, name="p.bpmn"):
        """Deploy files; the definition keys of the last one."""
        for model in models:
            reply = self.memory.deploy(model, name)
            self.files |= {process.process_definition_key: model for process in reply.processes}
        return [process.process_definition_key for process in reply.processes]

    def run(self, command, tenant="<default>"):
        return self.memory.run(command, tenant)

    def start(self, process_id="p", **variables):
        """A new instance, which must not be rejected; its key."""
        handled = self.run(CreateInstance(process_id, variables=raw(variables)))
        assert handled.rejection is None, handled.rejection
        return handled.response.process_instance_key

    def complete(self, task, **variables):
        """Complete the first open job of an element."""
        return self.run(CompleteJob(self.job(task).key, raw(variables)))

    def fail(self, task, retries=0, backoff_ms=0, message=None, **variables):
        return self.run(FailJob(self.job(task).key, retries, backoff_ms, message, raw(variables)))

    def throw(self, task, code, message=None, **variables):
        return self.run(ThrowJobError(self.job(task).key, code, message, raw(variables)))

    def update(self, task, retries=None, priority=None):
        return self.run(UpdateJob(self.job(task).key, retries, priority))

    def set(self, key, local=False, **variables):
        return self.run(SetVariables(key, raw(variables), local))

    def cancel(self, key):
        return self.run(CancelInstance(key))

    def resolve(self, incident=None):
        """Resolve an incident, by default the only one."""
        if incident is None:
            (incident,) = self.state.incidents
        return self.run(ResolveIncident(incident))

    # ---- commands on one of several instances; places are paths of ids (`p/s1/t2`)

    def at(self, root, place):
        """The live element instance at a place of an instance."""
        name = place.rpartition("/")[2].partition("[")[0]
        mine = (e for e in self.state.elements.values() if e.tree.key == root and e.element == name)
        return next(element for element in mine if place_of(element) == place)

    def _job_at(self, root, place):
        (job,) = self.at(root, place).waits.jobs.values()
        return job.key

    def complete_at(self, root, place, variables):
        self.accepted(CompleteJob(self._job_at(root, place), raw(variables)))

    def finish_at(self, root, place, variables):
        self.accepted(CompleteUserTask(next(iter(self.at(root, place).waits.user_tasks)), raw(variables)))

    def fail_at(self, root, place, variables):
        self.accepted(FailJob(self._job_at(root, place), 0, 0, "boom", raw(variables)))

    def throw_at(self, root, place, code, variables):
        self.accepted(ThrowJobError(self._job_at(root, place), code, "boom", raw(variables)))

    def fire_at(self, root, place, target):
        (timer,) = (timer for timer in self.at(root, place).waits.timers.values() if timer.target == target)
        self.accepted(FireTimer(timer.key))

    def resolve_job_at(self, root, place):
        self.accepted(UpdateJob(self._job_at(root, place), retries=1))
        self.resolve_at(root, place)

    def resolve_at(self, root, place):
        (incident,) = self.at(root, place).waits.incidents
        self.accepted(ResolveIncident(incident))

    def broadcast(self, signal, **variables):
        self.accepted(BroadcastSignal(signal, raw(variables)))

    def publish(self, message, key, ttl_ms=0, **variables):
        self.accepted(PublishMessage(message, key, ttl_ms, None, raw(variables)))

    def accepted(self, command):
        handled = self.run(command)
        assert handled.rejection is None, handled.rejection
        return handled

    # ---- what there is

    def job(self, task):
        """The first open job of an element."""
        return next(job for job in self.state.jobs.values() if job.element.element == task)

    @property
    def jobs(self):
        """The elements that have an open job, sorted."""
        return sorted(job.element.element for job in self.state.jobs.values())

    def element(self, id):
        """The first live element instance of an element."""
        return next(element for element in self.state.elements.values() if element.element == id)

    @property
    def elements(self):
        """The ids of everything live, processes included, sorted."""
        return sorted(element.element for element in self.state.elements.values())

    @property
    def incidents(self):
        """(element id, type, message) of each open incident."""
        return [(i.element.element, str(i.type), i.message) for i in self.state.incidents.values()]

    def variables(self, id):
        """The variables of a live scope, or of the last one that was there."""
        scopes = [row["key"] for (table, _), row in self.rows.items() if table in SCOPES and row["element"] == id]
        assert scopes, f"there never was an element {id}"
        return self.variables_of(max(scopes))

    def variables_of(self, scope):
        """The variables of a scope by its key, ended or not."""
        rows = (row for (table, _), row in self.rows.items() if table == "Variable")
        return {row["name"]: json.loads(row["value"]) for row in rows if row["scope"] == scope}

    def state_of(self, key):
        """The last state of an element or process instance."""
        return next(self.rows[table, key]["state"] for table in SCOPES if (table, key) in self.rows)

    def states_of(self, *ids):
        """The last state of the latest instance of each element."""
        rows = [row for (table, _), row in self.rows.items() if table in SCOPES]
        return [max((row["key"], row["state"]) for row in rows if row["element"] == id)[1] for id in ids]

    @property
    def trace(self):
        """All that happened, as lines."""
        trace, lines = Trace(), []
        for logged in self.memory.log:
            for number, handled in enumerate(logged.handled):
                if number == 0:
                    lines.append(trace.command(logged.command))
                lines += ["  " + line for line in trace.lines(handled.events)]
                if handled.rejection is not None:
                    lines.append("  " + trace.rejection(handled.rejection))
        return lines


def place_of(element):
    """`p/s1/m2/m2[0]`: the path of an element instance by ids, instances of a loop with their index."""
    ids = []
    while element is not None:
        ids.append(element.element if element.index < 0 else f"{element.element}[{element.index}]")
        element = element.scope
    return "/".join(reversed(ids))


SCOPES = ("Instance", "Element")


def keep_rows(state, rows=None):
    """Put the documents of all rows into `rows` when their batch is saved; gives `rows`."""
    rows, saved = {} if rows is None else rows, state.begin_batch

    def keep():
        rows.update(documents(saved_rows(state.dirty)))
        saved()

    state.begin_batch = keep
    return rows


def saved_rows(dirty):
    """The rows of a batch, with those that a migration saves: their owners alone have changed."""
    for row in dirty:
        yield row
        if isinstance(row, Migration):
            yield from (*row.elements, *row.jobs, *row.user_tasks, *row.timers, *row.subscriptions, *row.incidents)


def keep_ended(state, ended):
    """Put root instances into `ended` when they have ended: their state and their variables."""
    saved = state.begin_batch

    def keep():
        roots = (row for row in state.dirty if isinstance(row, Instance) and row.parent_instance is None)
        ended.update((root.key, (str(root.state), values_of(root))) for root in roots if root.ended_at is not None)
        saved()

    state.begin_batch = keep


def values_of(element):
    """The variables of a live scope."""
    return {name: json.loads(variable.value) for name, variable in element.variables.items()}


def recorded_batches(engine):
    """The rows of the event log, if each command was a batch."""
    return [
        [Recorded(logged.position, logged.now, decode_events(encode_events(one.events))) for one in logged.handled]
        for logged in engine.memory.log
    ]


def rebuilt(engine):
    """The engine forgets everything, and goes on with what its events tell."""
    state = State(1, engine.state.next_key)
    replay(state, recorded_batches(engine))
    memory = engine.memory
    memory.state, memory.processor = state, Processor(state, engine.limits, memory.find_model)
    engine.watch(state)


def apply_by(monkeypatch, kind, applier):
    """Let `applier(usual, state, event)` apply events of a type. `usual(state, event)` applies them as ever."""
    usual, follow = worklist._EFFECTS[kind]
    monkeypatch.setitem(worklist._EFFECTS, kind, (partial(applier, usual), follow))


def explode(_usual, _state, _event):
    """An applier with a bug."""
    raise ZeroDivisionError("a bug")


def documents(rows):
    """(table, key) → the durable columns; rows that are referred to are told by their keys."""
    return {(type(row).__name__, identity(row)): document(row) for row in rows}


def identity(row):
    return (row.body.key, row.key) if type(row).__name__ == "LoopItem" else row.key


def document(row):
    return _columns(row, NOT_DURABLE)


def whole(row):
    """All columns of a row but what is cached in it, and the revision, which each batch with a change moves."""
    return _columns(row, NOT_COMPARED)


def _columns(row, left_out):
    names, values = _reader(type(row), left_out)
    return {
        name: value if type(value) in _ATOMS else _plain(value) for name, value in zip(names, values(row), strict=True)
    }


@cache
def _reader(kind, left_out):
    """The names of the columns that are not left out, and what reads their values, all at once."""
    names = [name for name in columns_of(kind) if name not in left_out]
    return names, attrgetter(*names)


@cache
def columns_of(kind):
    """The names of a row's own columns."""
    return [f.name for f in msgspec.structs.fields(kind) if f.name in ("tokens", "registered") or not _is_index(f)]


def _is_index(field):
    """Whether a column holds rows, which are rows themselves."""
    return field.default_factory in (dict, list) or field.default is NO_WAITS


def _plain(value):
    if isinstance(value, MessageChannel):
        return list(value.id)
    return value.key if isinstance(value, Row) else msgspec.to_builtins(value)


def snapshot(state):
    """Everything that a command could change, comparable: rows, links in their order, the key generator, the weight."""
    return {
        "rows": {
            name: [whole(row) for row in getattr(state, name).values()] for name in ("elements", "jobs", "incidents")
        },
        "links": {
            element.key: [
                list(rows) for rows in (element.children, element.variables, *msgspec.structs.astuple(element.waits))
            ]
            for element in state.elements.values()
        },
        "variables": [whole(v) for element in state.elements.values() for v in element.variables.values()],
        "items": [whole(item) for element in state.elements.values() for item in element.items],
        "trees": [whole(tree) for _, tree in sorted(state.trees.items())],
        "ended": sorted(state.ended),
        "catalogue": [whole(row) for row in state.catalogue.definitions.values()]
        + [whole(row) for row in state.catalogue.usage.values()]
        + [whole(row) for row in state.catalogue.forms.values()]
        + [whole(row) for row in state.catalogue.generic_resources.values()]
        + [whole(row) for row in state.catalogue.requirements.values()]
        + [whole(row) for row in state.catalogue.decisions.values()],
        "families": {key: list(family) for key, family in state.catalogue.families.items() if family},
        "registrations": {
            "rows": [whole(row) for row in state.registrations.by_key.values() if row.instance.ended_at is None],
            "places": {
                scope: {element: list(rows) for element, rows in groups.items() if rows}
                for scope, groups in state.registrations.of_scope.items()
                if any(row.instance.ended_at is None for group in groups.values() for row in group.values())
            },
        },
        "dirty": len(state.dirty),
        "fresh": len(state.fresh),
        "next_key": state.next_key,
        "weight": state.weight,
    }


def sample(kind):
    """A record with some value in every field."""
    return kind(**{field.name: _sample(field.type) for field in msgspec.structs.fields(kind)})


def _sample(type_):
    if type_ in _SAMPLES:
        return _SAMPLES[type_]
    origin, members = get_origin(type_), get_args(type_)
    if origin in (Union, UnionType):
        return _sample(members[0])
    if origin is tuple:
        return tuple(_sample(member) for member in members if member is not ...)
    if origin is dict:
        return {_sample(members[0]): _sample(members[1])}
    if origin is list:
        return [_sample(members[0])]
    if is_typeddict(type_):
        return {name: _sample(member) for name, member in get_type_hints(type_).items()}
    return sample(type_)


_SAMPLES = {int: 7, str: "x\ny", bool: True, Any: ["z"], float: 1.5, type(None): None, dict: {"a": 1}}
