"""A document that cannot be a snapshot is refused, with the name of the field at fault."""

import json

import pytest

from tests.core.engine import Engine
from tests.core.event_models import catch, loop, model
from tests.core.golden.recording import ROOTS
from tests.core.models import end, start, task
from tests.core.snapshots.test_snapshots import text_of
from vivero.core.snapshots import codec
from vivero.core.snapshots.codec import InvalidSnapshot, decode
from vivero.core.snapshots.reader import add_tree
from vivero.core.state.eviction import evict_trees

MISSING_KEY = "9000000000000000001"


@pytest.fixture
def document():
    """A tree with a loop whose job failed, beside a message that is awaited."""
    engine = Engine()
    waits = catch("wait", '<messageEventDefinition messageRef="hello"/>')
    engine.deploy(
        model(start(), loop(task("t"), "=[1, 2]"), waits, end(), "start > t > end", "start > wait", beside=(ROOTS,))
    )
    key = engine.start(a=1)
    engine.fail("t", message="boom")
    text = text_of(engine, engine.state.trees[key])
    evict_trees(engine.state, [engine.state.trees[key]])
    return engine, json.loads(text)


def without(name):
    return lambda document: document.pop(name)


def put(value, *path):
    def change(document):
        *above, last = path
        for step in above:
            document = document[step]
        document[last] = value

    return change


def twice(table):
    return lambda document: document[table].append(document[table][-1])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (without("version"), "required field `version`"),
        (put("x", "at"), "`int`, got `str` - at `$.at`"),
        (put(1, "surplus"), "unknown field `surplus`"),
        (put("7a", "elements", 0, "key"), r"matching regex .* at `$.elements[0].key`"),
        (put([], "elements"), "elements: a snapshot has at least its root"),
        (put("COMPLETED", "elements", 1, "state"), "elements[1].state: 'COMPLETED' is not a state of a live element"),
        (put(MISSING_KEY, "elements", 1, "scopeKey"), "elements[1].scopeKey: no element before this one"),
        (lambda document: document["elements"][1].pop("scopeKey"), "elements[1].scopeKey: only the first element"),
        (
            lambda document: document["elements"][0].pop("process"),
            "elements[0].process: the root is a process instance",
        ),
        (put("nothing", "elements", 1, "elementId"), "elements[1].elementId: process 'p' has no element 'nothing'"),
        (
            put(MISSING_KEY, "elements", 0, "process", "definitionKey"),
            "elements[0].process.definitionKey: no definition",
        ),
        (put(9, "elements", 1, "loop", "next"), "elements[1].loop.next: of 2 items, 9 cannot have begun"),
        (put({"7": 1}, "elements", 1, "loop", "results"), "elements[1].loop.results: only items that have begun"),
        (put(MISSING_KEY, "variables", 0, "scopeKey"), "variables[0].scopeKey: no element has the key"),
        (put(MISSING_KEY, "jobs", 0, "elementKey"), "jobs[0].elementKey: no element has the key"),
        (put(MISSING_KEY, "subscriptions", 0, "elementKey"), "subscriptions[0].elementKey: no element"),
        (without("nextKey"), "required field `nextKey`"),
        (put("5", "nextKey"), "nextKey: it must be above all keys"),
        (put(MISSING_KEY, "incidents", 0, "jobKey"), "incidents[0].jobKey: no job has the key"),
        (twice("jobs"), "jobs[2].key: the key"),
        (lambda document: document["jobs"].reverse(), "jobs[1].key: the rows are not in the order of their keys"),
        (put(2, "format"), "has format 2, which a newer version of Vivero wrote: this one reads formats up to 1"),
        (put(0, "format"), "has format 0, which this version of Vivero no longer reads"),
    ],
)
def test_the_error_names_the_field(document, change, says):
    engine, content = document
    change(content)
    with pytest.raises(InvalidSnapshot) as refused:
        add_tree(engine.state, decode(json.dumps(content)), engine.memory.find_model)
    if ".*" in says:
        begin, _, finish = says.partition(".*")
        assert begin in str(refused.value)
        assert finish in str(refused.value)
    else:
        assert says in str(refused.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"format": 1}', b"\xff"])
def test_what_is_no_document_is_refused(text):
    with pytest.raises(InvalidSnapshot, match="The snapshot is damaged"):
        decode(text)


def test_the_model_of_a_definition_must_be_there(document):
    engine, content = document
    with pytest.raises(InvalidSnapshot, match=r"the model of process 'p' with SHA-256 [0-9a-f]{64} is missing"):
        add_tree(engine.state, decode(json.dumps(content)), lambda _definition: None)


def test_an_older_format_is_migrated(document, monkeypatch):
    _, content = document

    def renamed(old):
        return old | {"format": 2, "at": old.pop("time")}

    monkeypatch.setattr(codec, "FORMAT", 2)
    monkeypatch.setattr(codec, "MIGRATIONS", {1: renamed})
    old = {("time" if name == "at" else name): value for name, value in content.items()}
    assert decode(json.dumps(old)).at == content["at"]


def test_every_byte_that_is_lost_is_noticed_or_does_no_harm(document):
    """Any missing part gives a state or an `InvalidSnapshot`."""
    engine, content = document
    text = json.dumps(content, separators=(",", ":"))
    refused = 0
    for at in range(len(text)):
        try:
            tree = add_tree(engine.state, decode(text[:at] + text[at + 1 :]), engine.memory.find_model)
        except InvalidSnapshot:
            refused += 1
            clear(engine.state)
        else:
            evict_trees(engine.state, [tree])
    assert refused > len(text) // 2


def clear(state):
    """Forget what an unfinished tree left."""
    for table in (state.trees, state.elements, state.jobs, state.timers, state.subscriptions, state.incidents):
        table.clear()
    for index in state.waiting.values():
        index.clear()
