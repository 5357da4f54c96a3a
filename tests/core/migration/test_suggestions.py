"""Suggested mappings: each has its reason, and a migration accepts what is suggested."""

from tests.core import message_models as messages
from tests.core.ad_hoc_models import tools
from tests.core.event_models import boundary, loop, model, on
from tests.core.migration_models import Migrating
from tests.core.models import end, flow, par, start, sub, task, xor
from vivero.core.bpmn.parser import parse
from vivero.core.migration.suggestions import suggest

HOUR = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"


def suggested(source, target):
    """Source id → (target id, reason), and what is unmapped."""
    (one,), (other,) = parse(source, "a.bpmn").processes, parse(target, "b.bpmn").processes
    found = suggest(one, other)
    return {each.source: (each.target, each.reason.value) for each in found.mappings}, found.unmapped


def named(file, **names):
    for id, name in names.items():
        file = file.replace(f'name="Task {id}"'.encode(), f'name="{name}"'.encode())
    return file


def line(*parts):
    names = [part.partition('id="')[2].partition('"')[0] for part in parts]
    return model(start(), *parts, end(), " > ".join(["start", *names, "end"]))


def test_each_reason():
    source = named(
        line(task("a"), task("b", type="x"), task("c", type="y"), task("d", type="z")), b="Pay", c="C", d="D"
    )
    target = named(
        line(task("a"), task("q", type="k"), task("r", type="y"), task("s", type="w")), q="Pay", r="R", s="S"
    )
    found, unmapped = suggested(source, target)
    assert found == {
        "start": ("start", "SAME_ID"),
        "end": ("end", "SAME_ID"),
        "a": ("a", "SAME_ID"),
        "b": ("q", "SAME_NAME"),
        "c": ("r", "SAME_CONTENT"),
        "d": ("s", "SAME_NEIGHBOURS"),
    }
    assert unmapped == []


def test_what_a_migration_would_refuse_is_not_suggested():
    source = line(task("a"), loop(task("b"), "=[1]"), sub("s", start("i"), task("in"), "i > in"))
    target = line(xor("a"), task("b", type="k"), task("in", type="k"), task("s"))
    found, unmapped = suggested(source, target)
    assert found == {id: (id, "SAME_ID") for id in ("start", "end")}
    assert unmapped == ["a", "b", "s", "i", "in"]


def test_features_that_several_share_suggest_nothing():
    source = named(line(task("a", type="x"), task("b", type="x")), a="Same", b="Same")
    target = named(line(task("c", type="x"), task("d", type="x")), c="Same", d="Same")
    assert suggested(source, target)[1] == ["a", "b"]


def test_boundary_events_follow_their_hosts_and_scopes_come_first():
    def inside(id, host, late):
        return line(sub(id, start("i"), task(host), boundary(late, host, HOUR, False), end("j"), f"i > {host} > j"))

    source, target = inside("s", "a", "late"), inside("t", "b", "later")
    found, unmapped = suggested(source, target)
    assert unmapped == ["late"], "nothing tells it from another boundary event"
    assert (found["s"], found["a"]) == (("t", "SAME_NEIGHBOURS"), ("b", "SAME_NEIGHBOURS"))
    assert suggested(hosted("a"), hosted("b"))[1] == ["late"]


def test_a_boundary_event_has_its_host_before_it():
    """A flow behind it tells what it is for, so that its timer keeps its due date."""

    def late(host, event, behind="end", more=()):
        parts = task(host, type="w"), boundary(event, host, HOUR), *more
        return model(start(), *parts, end(), f"start > {host} > end", f"{event} > {behind}")

    source = late("a", "late")
    assert suggested(source, late("b", "later"))[0]["late"] == ("later", "SAME_NEIGHBOURS")
    assert suggested(source, late("b", "later", "x", [task("x")]))[1] == ["late"]
    assert suggested(source, late("b", "later", more=[boundary("too", "b", HOUR), flow("too", "end")]))[1] == ["late"]
    engine = Migrating(source, late("b", "later"))
    ((key, due),) = [(one.key, one.due_at) for one in engine.state.timers.values()]
    engine.memory.now += 1
    engine.go(*(f"{before}:{after}" for before, (after, _) in suggested(source, late("b", "later"))[0].items()))
    assert [(one.key, one.due_at, one.target) for one in engine.state.timers.values()] == [(key, due, "later")]


def hosted(host):
    """The boundary event `late` at one of two tasks."""
    return model(start(), task("a"), task("b"), boundary("late", host, HOUR), end(), "start > a > b > end")


def test_flows_into_a_join_that_have_other_ids():
    def both(prefix):
        flows = [flow("a", "g", id=f"{prefix}1"), flow("b", "g", id=f"{prefix}2")]
        return model(
            start(), par("f"), task("a"), task("b"), par("g"), end(), "start > f > a", "f > b", *flows, "g > end"
        )

    found, _ = suggested(both("x"), both("y"))
    assert (found["x1"], found["x2"]) == (("y1", "SAME_NEIGHBOURS"), ("y2", "SAME_NEIGHBOURS"))
    assert not suggested(both("x"), both("x"))[0].keys() & {"x1", "x2"}


def test_what_is_suggested_is_accepted():
    told = messages.event_sub("t", task("y"), "t-start > y")
    parts = (sub("s", start("i"), task("a"), "i > a"), boundary("late", "s", HOUR, False))
    source = messages.model(start(), *parts, on(HOUR, "e", task("x"), "e-start > x"), told, "start > s")
    target = messages.model(start(), *parts, told, end(), "start > s > end")
    engine = Migrating(source, target, k="one")
    found, _ = suggested(source, target)
    engine.go(*(f"{before}:{after}" for before, (after, _) in found.items()))
    assert engine.elements == ["a", "p", "s"]
    assert [one.target for one in engine.state.timers.values()] == ["late"]


def test_ad_hoc_sub_processes():
    found, unmapped = suggested(tools(), tools(task("D")))
    assert found == {id: (id, "SAME_ID") for id in ("start", "h", "A", "B", "C", "end")}
    assert unmapped == []
