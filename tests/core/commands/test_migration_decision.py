"""A migration that opens many waits decides in pages: nobody sees anything of it before, and it happens as a whole."""

from collections import Counter, deque
from dataclasses import replace

import pytest

from tests.core.commands.test_migration_pages import a_new_term, final
from tests.core.commands.test_suspension import drain, step
from tests.core.engine import raw, rebuilt
from tests.core.event_models import LIMITS, call, loop
from tests.core.event_models import boundary as bound
from tests.core.message_models import boundary, message, model, signal
from tests.core.migration_models import Migrating, pairs
from tests.core.models import end, start, sub, task
from tests.core.undos.test_inverse import undo
from vivero.core.dry_runs.trial import Trial
from vivero.core.expressions.camunda_context import variables_seen
from vivero.core.migration import decision
from vivero.core.records.catalogue import DeleteResource
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CancelInstance, ResolveIncident, SetVariables, WorkDeferred, WorkResumed
from vivero.core.records.jobs import CompleteJob
from vivero.core.records.messages import PublishMessage, SubscriptionOpened
from vivero.core.records.migrations import CHECK_PAGE, CalledMigration, InstanceMigrated, MigrateInstance
from vivero.core.records.suspensions import SuspendInstance
from vivero.core.records.timers import TimerScheduled
from vivero.core.shared.deferred_work import next_page
from vivero.core.state.instance_tree import Instance

ITEMS = [f"k{number}" for number in range(3)]
REFUSED = ["k0", "k1", None]
"""Items of which the last one gives no correlation key."""
CHECKS = 7
"""The pages of the decision: the elements of `file` besides the process, and the page that follows."""
IN_PAGES = replace(LIMITS["whole"], migration_page=2)
HOUR = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"
KEY = "=i + camunda.vars.env.suffix"
"""A correlation key that depends on the item, and on a variable of the cluster."""
MAPPINGS = "m:m9", "n:n9"


def file(suffix, *more, id="p"):
    inner = sub(f"m{suffix}", start("k"), task(f"n{suffix}"), *more, f"k > n{suffix}")
    parts = start(), loop(inner, "=items", item="i"), end(), f"start > m{suffix} > end"
    return model(*parts, id=id, roots=(message(key=KEY), signal()))


PLAIN = file("")
EVENTS = boundary("n9", "told", interrupting=False), bound("late", "n9", HOUR, False)
TOLD = file("9", *EVENTS)
OPENED = sorted(("told", "late") * len(ITEMS))


class Deciding(Migrating):
    """An instance with a loop, in whose inner instances a migration opens a message event and a timer each."""

    def __init__(self, limits=IN_PAGES, items=ITEMS, source=PLAIN, target=TOLD) -> None:
        super().__init__(source, target, limits, items=items)
        self.memory.set_cluster_variables({"suffix": "!"})
        self.on_the_way = deque()

    def begin(self, borders=1, command=None):
        move = command or MigrateInstance(self.key, self.target, pairs(MAPPINGS))
        self.on_the_way.append((move, "<default>", None))
        for _ in range(borders):
            if self.on_the_way:
                step(self, self.on_the_way)
        return self

    def come(self, command):
        """The command is the next one of the log."""
        self.on_the_way.appendleft((command, "<default>", None))

    def end(self):
        drain(self, self.on_the_way)
        return self

    @property
    def waits(self):
        rows = *self.state.timers.values(), *self.state.subscriptions.values()
        return sorted(one.target for one in rows)

    @property
    def is_deciding(self):
        tree = self.state.trees.get(self.key)
        page = None if tree is None else next_page(tree)
        return page is not None and page[1] == CHECK_PAGE

    def told(self):
        """(correlation key, message name) of what waits for a message."""
        return sorted((one.correlation_key, one.name) for one in self.state.subscriptions.values())

    def rows_since(self, position=0):
        return [row for logged in self.memory.log[position:] for row in logged.handled]


@pytest.mark.parametrize("limits", [IN_PAGES, replace(IN_PAGES, quantum_items=1, paged_from=0)], ids=["whole", "paged"])
def test_it_comes_to_the_same_as_in_one_step(limits):
    whole, paged = (Deciding(one).begin().end() for one in (LIMITS["whole"], limits))
    assert paged.waits == whole.waits == OPENED
    assert paged.told() == whole.told() == [(f"{item}!", "hello") for item in ITEMS]
    assert paged.places == whole.places
    assert len(paged.memory.log) > len(whole.memory.log) + 2 * CHECKS
    rebuilt(paged)
    for engine in (whole, paged):
        engine.publish("hello", "k1!")
    assert paged.elements == whole.elements


def test_no_turn_opens_more_than_a_page_may_and_the_last_one_answers():
    engine = Deciding().begin().end()
    turns = [Counter(type(event) for row in one.handled for event in row.events) for one in engine.memory.log]
    assert {each[SubscriptionOpened] for each in turns} == {0, 1}, "the three effects of an element are a page of two"
    assert sum(each[TimerScheduled] for each in turns) == len(ITEMS)
    answered = [one for one in engine.memory.log if any(row.answered and row.seq == 0 for row in one.handled)]
    assert answered[-1] is engine.memory.log[-1]


@pytest.mark.parametrize("borders", range(1, CHECKS + 1))
def test_nothing_is_seen_of_a_decision(borders):
    engine = Deciding()
    before, length = dict(engine.rows), len(engine.memory.log)
    engine.begin(borders)
    assert engine.is_deciding
    assert {kind for (kind, key), row in engine.rows.items() if row != before.get((kind, key))} == {"InstanceTree"}
    events = [event for one in engine.memory.log[length:] for row in one.handled for event in row.events]
    assert {type(event) for event in events} == {WorkDeferred, WorkResumed} - ({WorkResumed} if borders == 1 else set())
    assert not any(row.answered for one in engine.memory.log[length:] for row in one.handled)


# ---- refusals


def refusal_of(engine):
    """The rejection of the migration: of the command itself, or with which the last page answers it."""
    (found,) = (row for row in engine.memory.log[-1].handled if row.rejection is not None)
    assert found.answered != (found.seq == 0)
    return found.rejection


def test_a_refusal_has_all_problems_and_leaves_everything_as_it_was():
    items = ["k0", None, "k2", None]
    whole, paged = (Deciding(limits, items) for limits in (LIMITS["whole"], IN_PAGES))
    before = final(paged)
    expected = refusal_of(whole.begin())
    found = refusal_of(paged.begin().end())
    assert found == expected
    assert len(found.violations) == 2
    assert found.code is RejectionCode.INVALID_STATE
    assert {one.instance for one in found.violations} == {paged.key}
    assert paged.state.trees[paged.key].work == ()
    assert {**final(paged), "next_key": 0} == {**before, "next_key": 0}
    rebuilt(paged)
    paged.memory.set_cluster_variables({"suffix": 1})
    paged.complete("n")
    assert len(paged.jobs) == 3


def test_the_problems_that_each_page_writes_again_are_bounded(monkeypatch):
    monkeypatch.setattr(decision, "PROBLEM_CHARACTERS", 100)
    engine = Deciding(items=[None] * 6).begin().end()
    assert 1 <= len(refusal_of(engine).violations) <= 2
    assert engine.places == sorted((id, engine.source) for id in ("p", "m", *("m", "n") * 6))


def test_too_many_waits(monkeypatch):
    monkeypatch.setattr(decision, "STAGE_CHANGES", 30)
    engine = Deciding().begin()
    assert "it would open and close 30 waits at once, and 30 is the limit" in refusal_of(engine).reason
    assert engine.state.trees[engine.key].work == ()


def test_mappings_that_fit_no_instance_are_refused_at_once():
    engine = Deciding()
    assert engine.refused("m:m9", "nowhere:n9")[0] == "INVALID_ARGUMENT"
    assert "no mapping instruction defined for active element with id 'n'" in engine.refused("m:m9")[1]


def test_a_target_that_is_deleted_meanwhile_is_refused():
    engine = Deciding().begin(2)
    engine.run(DeleteResource(engine.target))
    engine.end()
    assert refusal_of(engine).code is RejectionCode.NOT_FOUND
    assert engine.waits == []


@pytest.mark.parametrize("deleted", ["source", "target"])
def test_a_definition_that_is_deleted_after_the_decision_changes_nothing(deleted):
    engine = Deciding().begin(CHECKS + 1)
    assert not engine.is_deciding
    engine.run(DeleteResource(getattr(engine, deleted)))
    assert engine.end().waits == OPENED
    rebuilt(engine)


# ---- meanwhile


def job(engine):
    return min(engine.state.jobs)


COMMANDS = {
    "a job is completed": lambda engine: CompleteJob(job(engine), raw({"done": True})),
    "a message comes": lambda _: PublishMessage("hello", "k1!", 0),
    "a variable is set": lambda engine: SetVariables(engine.key, raw({"x": 5})),
    "a suspension": lambda engine: SuspendInstance(engine.key),
    "a migration": lambda engine: MigrateInstance(engine.key, engine.target, pairs(("m9", "n9", "told", "late"))),
    "a cancellation": lambda engine: CancelInstance(engine.key),
}
BEFORE_ANYBODY_WAITS = "a message comes"


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("items", [ITEMS, REFUSED], ids=["accepted", "refused"])
def test_what_comes_meanwhile_comes_to_the_same_as_after_it(name, items):
    def refused(engine):
        rows = [row for one in engine.memory.log for row in one.handled]
        return [(row.rejection.code, row.rejection.reason) for row in rows if row.rejection is not None]

    other = Deciding(items=items).begin().end()
    other.run(COMMANDS[name](other))
    for borders in range(1, 2 * CHECKS + 2):
        engine = Deciding(items=items).begin(borders)
        if name == BEFORE_ANYBODY_WAITS and items == ITEMS and not engine.told():
            continue
        engine.come(COMMANDS[name](engine))
        engine.end()
        assert refused(engine) == refused(other), f"after {borders} borders"
        assert (engine.elements, engine.waits, engine.jobs) == (other.elements, other.waits, other.jobs)
        rebuilt(engine)


@pytest.mark.parametrize("items", [ITEMS, REFUSED], ids=["accepted", "refused"])
@pytest.mark.parametrize("borders", range(1, 2 * CHECKS, 2))
def test_a_new_term_goes_on_at_each_border(items, borders):
    engine, other = Deciding(items=items).begin(borders), Deciding(items=items).begin().end()
    engine.come(SetVariables(engine.key, raw({"x": 5})))
    step(engine, engine.on_the_way)
    a_new_term(engine, engine.on_the_way)
    engine.end()
    assert (engine.places, engine.waits, engine.told()) == (other.places, other.waits, other.told())
    assert engine.element("p").variables["x"].value == "5"
    rebuilt(engine)


@pytest.mark.parametrize("borders", range(CHECKS + 1, 2 * CHECKS, 2))
def test_an_expression_that_fails_after_the_decision_is_an_incident(borders):
    """Variables of the cluster may change meanwhile. Renamed elements stay."""
    engine = Deciding().begin(borders)
    engine.memory.set_cluster_variables({"suffix": None})
    engine.end()
    assert [place[1] for place in engine.places] == [engine.target] * len(engine.places)
    told = len(engine.told())
    assert len(engine.state.incidents) == len(ITEMS) - told
    assert [one.stage for one in engine.state.incidents.values()] == ["await again"] * len(engine.state.incidents)
    engine.memory.set_cluster_variables({"suffix": "!"})
    for key in list(engine.state.incidents):
        engine.accepted(ResolveIncident(key, 1))
    assert (engine.waits, len(engine.state.incidents)) == (OPENED, 0)
    rebuilt(engine)


# ---- dry runs, undo


def test_a_dry_run_shows_all_of_it_and_a_forecast_knows_the_decision():
    for items, problems in ((ITEMS, 0), (REFUSED, 1)):
        for to_end in (True, False):
            engine = Deciding(items=items)
            engine.state.catalogue.cluster_variables["<default>"] = variables_seen({"suffix": "!"}, {})
            trial = Trial(engine.memory.processor, 0)
            trial.run(MigrateInstance(engine.key, engine.target, pairs(MAPPINGS)), "<default>", to_end=to_end)
            assert (0 if trial.rejection is None else len(trial.rejection.violations)) == problems
            opened = Counter(map(type, trial.events))[TimerScheduled]
            assert opened == (len(ITEMS) if to_end and not problems else 0)


def test_it_is_undone():
    engine = Deciding()
    before = engine.places
    assert undo(engine, MigrateInstance(engine.key, engine.target, pairs(MAPPINGS))) == "MIGRATE"
    assert (engine.places, engine.waits) == (before, [])
    rebuilt(engine)


# ---- called instances


def callers(suffix):
    child = model(start(), task(f"t{suffix}"), end(), f"start > t{suffix} > end", id="child")
    parts = start(), loop(call(f"c{suffix}", "child"), "=items", item="i"), end(), f"start > c{suffix} > end"
    return child, model(*parts)


def calling(limits=IN_PAGES):
    (child, caller), (other_child, other) = callers(""), callers("9")
    engine = Migrating(caller, other, limits, beside=(child,), items=ITEMS)
    source = engine.element("child").instance.definition_key
    (to,) = engine.deploy(other_child)
    return engine, source, to


def test_called_instances_move_a_few_at_a_time():
    engine, source, to = calling()
    length = len(engine.memory.log)
    engine.go("c:c9", called=[(source, to, ["t:t9"])])
    log = engine.memory.log[length:]
    moved = [
        [event for row in one.handled for event in row.events if isinstance(event, InstanceMigrated)] for one in log
    ]
    assert max(map(len, moved)) == 1
    keys = [event.key for each in moved for event in each]
    assert keys == sorted(one.key for one in engine.state.elements.values() if isinstance(one, Instance))
    assert [row.answered for one in log for row in one.handled if row.seq == 0].index(True) == len(log) - 1
    whole, *_ = calling(LIMITS["whole"])
    whole.go("c:c9", called=[(source, to, ["t:t9"])])
    assert engine.places == whole.places
    rebuilt(engine)
    for _ in ITEMS:
        engine.complete("t9")
    assert engine.elements == []


def test_problems_of_all_called_instances_come_together():
    engine, source, to = calling()
    engine.run(MigrateInstance(engine.key, engine.target, pairs(["c:c9"]), called=(CalledMigration(source, to, ()),)))
    found = refusal_of(engine).violations
    children = [
        one.key for one in engine.state.elements.values() if isinstance(one, Instance) and one.scope is not None
    ]
    assert sorted(one.instance for one in found) == sorted(children)
    assert {one.element for one in found} == {"t"}
    assert engine.state.trees[engine.key].work == ()
    rebuilt(engine)


@pytest.mark.parametrize("borders", range(1, 20, 3))
def test_a_called_instance_that_would_end_meanwhile_ends_afterwards(borders):
    engine, source, to = calling()
    called = (CalledMigration(source, to, pairs(["t:t9"])),)
    on_the_way = deque(
        [(MigrateInstance(engine.key, engine.target, pairs(["c:c9"]), called=called), "<default>", None)]
    )
    for _ in range(borders):
        step(engine, on_the_way) if on_the_way else None
    on_the_way.appendleft((CompleteJob(job(engine)), "<default>", None))
    drain(engine, on_the_way)
    assert engine.jobs == ["t9", "t9"]
    assert {place[1] for place in engine.places} == {engine.target, to}
    rebuilt(engine)
