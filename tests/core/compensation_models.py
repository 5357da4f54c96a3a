"""Models with compensation in a few words: `done("a")` is a task `a` whose handler is the task `ua`."""

from xml.sax.saxutils import quoteattr

from tests.core.engine import raw
from tests.core.event_models import boundary, error, final, loop, model, on, script, throw
from tests.core.models import end, par, start, sub, task
from vivero.core.records.jobs import CompleteJob, ThrowJobError


def compensation(activity=None, waits=True):
    """The definition; with `activity`, of a throwing event that names it."""
    reference = "" if activity is None else f' activityRef="{activity}"'
    waiting = "" if waits else ' waitForCompletion="false"'
    return f"<compensateEventDefinition{reference}{waiting}/>"


def done(id, handler=None, **mappings):
    return handled(task(id, **mappings), id, handler)


def handled(activity, id, handler=None):
    """An activity with its compensation boundary event `cID` and a handler, by default the task `uID`."""
    handler = task(f"u{id}") if handler is None else handler
    target = handler.partition('id="')[2].partition('"')[0]
    return activity + boundary(f"c{id}", id, compensation()) + association(f"c{id}", target) + as_handler(handler)


def as_handler(activity):
    """The activity with `isForCompensation`."""
    tag, _, rest = activity.partition(" ")
    return f'{tag} isForCompensation="true" {rest}'


def association(source, target):
    return f'<association associationDirection="One" sourceRef="{source}" targetRef="{target}"/>'


CANCEL = "<cancelEventDefinition/>"


def transaction(id, *parts, method=None, inputs=(), outputs=()):
    """A transaction sub-process."""
    content = sub(id, *parts, inputs=inputs, outputs=outputs).removeprefix("<subProcess").removesuffix("</subProcess>")
    return f"<transaction{'' if method is None else f' method={quoteattr(method)}'}{content}</transaction>"


T = throw("t", compensation())
INSIDE = sub("in", start("i"), done("b"), done("c"), end("j"), "i > b > c > j")


def in_line(*parts, id="p"):
    """A process whose parts, each with its id first, follow each other."""
    names = [part.partition('id="')[2].partition('"')[0] for part in parts]
    return model(start("s"), *parts, end("e"), " > ".join(["s", *names, "e"]), id=id)


def compensating(*parts):
    """A sub-process `in` with an event sub-process `esp` that compensates it."""
    esp = on(compensation(), "esp", *parts)
    return sub("in", start("i"), done("b"), done("c"), end("j"), esp, "i > b > c > j")


def item_of_each(into="last"):
    """A sub-process for each item, whose handler reads the item."""
    inner = sub("m", start("i"), done("b", script("ub", "=item", into)), end("j"), "i > b > j")
    return loop(inner, item="item")


def failing(*handler):
    """A sub-process whose job `boom` may throw the error A; an event sub-process compensates then."""
    caught = on(error("A"), "esp", done("w"), *handler)
    return sub("in", start("i"), done("b"), done("c"), task("boom"), end("j"), caught, "i > b > c > boom > j")


THROWS = (throw("te", compensation()), task("after"), "esp-start > w > te > after")
ONLY_B = (throw("tb", compensation("b")), task("w"), end("ee"), "esp-start > w > tb > ee")
SNAPSHOT = sub("in", start("i"), done("b", script("ub", "=x + 100", "x")), end("j"), "i > b > j", inputs=[("=1", "x")])


def rolled_back(*parts, host=transaction):
    """A sub-process with a transaction that is cancelled behind its parts."""
    inside = host("tx", start("ts"), *parts, final("no", CANCEL))
    return sub("q", start("qs"), inside, boundary("bc", "tx", CANCEL), end("qe"), "qs > tx > qe")


def cancelled(*parts, flows="ts > v > w > no", **settings):
    return rolled_back(done("v"), done("w"), *parts, flows, **settings)


def of_each(id, *parts):
    return loop(transaction(id, *parts), item="item")


TWICE = (throw("t1", compensation()), throw("t2", compensation()))
BESIDE = (INSIDE, par("f"), task("n"), "f > no")

MODELS = {
    "line": (done("a"), done("b"), T),
    "nested": (done("a"), handled(INSIDE, "in"), done("d"), T),
    "named": (done("a"), done("b"), throw("t1", compensation("a")), T),
    "replaced": (done("a"), compensating(*ONLY_B), T),
    "all_inside": (compensating(throw("tb", compensation()), end("ee"), "esp-start > tb > ee"), T),
    "snapshot": (SNAPSHOT, task("n"), T, task("z")),
    "items": (item_of_each(), T, task("z")),
    "body": (handled(loop(task("m")), "m"), T),
    "failed": (done("a"), failing(*THROWS), T),
    "beside": (done("a"), done("b"), throw("t", compensation(waits=False)), task("z")),
    "shared": (done("a"), sub("q", start("qs"), INSIDE, par("f"), *TWICE, "qs > in > f > t1", "f > t2"), T),
    "cancelled": (cancelled(*BESIDE, flows="ts > v > w > in > f > n"), task("z")),
    "cancelled_items": (cancelled(host=of_each), task("z")),
    "nobody": (done("a"), INSIDE, task("z")),
}
"""Name → the parts of a process, in line."""


def all_models():
    """A file for each; the process has the name."""
    return [in_line(*parts, id=name) for name, parts in MODELS.items()]


def play(engine):
    """Start each process, and complete all jobs, the oldest first; `boom` throws an error."""
    for name in MODELS:
        engine.start(name, items=["x", "y", "z"], x=5)
    while engine.state.jobs:
        key, job = min(engine.state.jobs.items())
        if job.type == "boom":
            engine.run(ThrowJobError(key, "A"))
        else:
            engine.run(CompleteJob(key, raw({"x": 2} if job.type == "n" else {})))
