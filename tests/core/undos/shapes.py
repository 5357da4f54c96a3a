"""The live part of an instance tree, to compare before an operation and after its undo."""

import json

from tests.core.dry_runs.trials import text_of
from vivero.core.snapshots.codec import decode
from vivero.core.undos.inverse import Surroundings, instances_of


def around(engine, before):
    """The surroundings, as the database would show them. `before`: the number of positions before the operation."""
    concerned = instances_of(events_from(engine, before))
    earlier = [event for one in engine.memory.log[:before] for handled in one.handled for event in handled.events]
    jobs = (job.key for job in engine.state.jobs.values() if job.element.instance.key in concerned)
    return Surroundings(tuple(jobs), earlier)


def events_from(engine, position):
    """The events of trees since the log had so many positions."""
    rows = [row for one in engine.memory.log[position:] for row in one.handled if row.root is not None]
    return [event for row in rows for event in row.events]


def shape(engine, key):
    """The live part as nested rows without keys: restored elements, jobs and waits have new ones."""
    channels = sorted(
        (one.name, one.process_id, str(one.state), one.interrupting, place)
        for place, channel in engine.state.channels.items()
        for one in channel.subscriptions.values()
    )
    return shape_of(text_of(engine, key)), channels


def shape_of(snapshot):
    """The rows of a snapshot (JSON), each element with what belongs to it, and with what is in it."""
    document = json.loads(snapshot)
    targets = {one["key"]: one["elementId"] for one in document.get("subscriptions", ())}
    owned = {}
    for table in TABLES:
        for row in document.get(table, ()):
            owner = row.get("elementKey") or row["scopeKey"]
            owned.setdefault(owner, []).append((table, described(row, targets)))

    def tree(one):
        inside = [tree(child) for child in document["elements"] if child.get("scopeKey") == one["key"]]
        return described(one, targets), sorted(owned.get(one["key"], ())), sorted(inside, key=repr)

    (root,) = (one for one in document["elements"] if "scopeKey" not in one)
    return tree(root)


def described(row, targets):
    """The row as text, without keys and times."""
    told = {name: value for name, value in row.items() if name not in UNLIKE}
    if told.get("stage") == "check":
        told["argument"] = targets[str(told["argument"])]
    for name in ("incidentKey", "jobKey"):
        if name in told:
            told[name] = "set"
    return json.dumps(told, sort_keys=True)


TABLES = ("variables", "jobs", "userTasks", "timers", "subscriptions", "incidents")
UNLIKE = {
    *("key", "scopeKey", "elementKey", "startedAt", "createdAt", "updatedAt", "headers"),
}
"""Keys and times, and headers, which have the key of a user task."""


def revision(engine, key):
    return engine.state.elements[key].tree.revision


def alive(engine, key):
    """The tree without its version, the times of changes and the next key."""
    document = decode(text_of(engine, key))
    fields = {name: getattr(document, name) for name in document.__struct_fields__}
    jobs = [(job.key, job.type, job.state, job.element_key, job.retries) for job in fields.pop("jobs")]
    subscriptions = [(one.key, one.element_key, one.element_id) for one in fields.pop("subscriptions")]
    return {**fields, "version": 0, "at": 0, "next_key": "", "jobs": jobs, "subscriptions": subscriptions}
