"""The golden trace of each element in each of its surroundings.

The rows are computed from the tables of the parser: what can be deployed needs a row, and a row that is new and has no
golden trace fails the test. What a variant shows is read from its model, and from its trace.
"""

import re
from functools import cache
from pathlib import Path

from tests.core.golden.recording import in_process
from tests.core.golden.variants import VARIANTS as PLAIN
from tests.core.golden.variants_loops import PARALLEL
from tests.core.golden.variants_timers import VARIANTS as TIMERS
from tests.core.golden.variants_waits import VARIANTS as WAITS
from vivero.core.bpmn.elements.contents import ELEMENTS
from vivero.core.bpmn.event_definitions.kind import CAUGHT
from vivero.core.bpmn.events import EVENT_KINDS
from vivero.core.bpmn.reading.draft import Place
from vivero.core.resources.kinds import read_resource

GOLDEN = Path(__file__).parent
FILES = {"element": PLAIN, "waits": WAITS, "timers": TIMERS, "looped": PARALLEL}
STARTS = {
    "START_EVENT message": ["waits_message_start"],
    "START_EVENT signal": ["waits_signal_start"],
    "START_EVENT conditional": ["waits_conditional_start"],
    "START_EVENT timer": ["timers_date_start", "timers_cycle_start"],
}
"""Elements that start a process, and therefore is not the content of a scope."""

COLUMNS = (
    "in_process",
    "in_sub_process",
    "in_loop",
    "in_called_process",
    "with_an_incident",
    "cancelled",
    "with_listeners",
    "as a loop",
)
WAYS = {
    "SEND_TASK": ("job", "published"),
    "SCRIPT_TASK": ("job", "feel"),
    "USER_TASK": ("job", "native", "listened"),
    "SERVICE_TASK": ("job",),
    "BUSINESS_RULE_TASK": ("job", "decision"),
    "AD_HOC_SUB_PROCESS": ("", "job"),
}
"""The ways in which the same element may be done; what is published or thrown is added below."""

LISTENER = "kind=EXECUTION_LISTENER"
EVIDENCE = {"with_an_incident": "IncidentResolved", "cancelled": "> CancelInstance", "with_listeners": LISTENER}
"""The line that the trace of a start event shows; the end of an element otherwise."""

NO_SCOPE = "starts a process, and stands in no other scope"
NO_CALL = "a call begins at the none start event"
NOT_ACTIVE = "has done its work before a command can come"
NO_ACTIVITY = "only activities repeat"
HANDLER_LISTENS = "its handler can have listeners"


def needed():
    """Every element that can be deployed: `TYPE`, `TYPE event`, and how it interrupts or is done."""
    rows = set()
    for kind in ELEMENTS.values():
        if kind.place is None:
            rows |= {f"{kind.type} {way}".strip() for way in WAYS.get(kind.type, ())} or {kind.type}
    rows |= {"START_EVENT", "END_EVENT", "INTERMEDIATE_THROW_EVENT"}
    for tag, event in EVENT_KINDS.items():
        for place in event.places:
            rows |= set(_rows_of_event(tag.removesuffix("EventDefinition"), place))
    for place in TYPES.keys() - {Place.PROCESS_START}:
        rows |= set(_rows_of_event("multiple", place))
        rows |= set(_rows_of_event("parallel multiple", place)) if place in CAUGHT else set()
    return rows


def _rows_of_event(event, place):
    row = f"{TYPES[place]} {event}"
    if place in (Place.BOUNDARY, Place.EVENT_SUB_PROCESS_START):
        yield row
        if event not in ("error", "compensate", "cancel"):
            yield f"{row} beside"
    elif event == "message" and place in (Place.THROW, Place.END):
        yield from (f"{row} job", f"{row} published")
    else:
        yield row


TYPES = {
    Place.PROCESS_START: "START_EVENT",
    Place.EVENT_SUB_PROCESS_START: "EVENT_SUB_PROCESS",
    Place.CATCH: "INTERMEDIATE_CATCH_EVENT",
    Place.BOUNDARY: "BOUNDARY_EVENT",
    Place.THROW: "INTERMEDIATE_THROW_EVENT",
    Place.END: "END_EVENT",
}


def row_of(node, nodes):
    """The row that a node of a model belongs to."""
    start = nodes[node.start] if node.type == "EVENT_SUB_PROCESS" else node
    parts = [node.type]
    if start.event is not None and node.type not in WAYS and node.type != "RECEIVE_TASK":
        parts += ["parallel"] if start.awaits_all else []
        parts.append(type(start.event).__name__.removesuffix("Event").lower())
    elif node.job is not None and node.type in ("END_EVENT", "INTERMEDIATE_THROW_EVENT"):
        parts.append("message")  # a worker throws it; the model does not say which
    if not start.interrupting:
        parts.append("beside")
    return " ".join(filter(None, [*parts, _way(node)]))


def _way(node):
    if node.job is not None:
        return "job"
    if node.script is not None:
        return "feel"
    if node.decision is not None:
        return "decision"
    if node.user_task is not None:
        return "listened" if "CREATING" in node.listeners else "native"
    thrown = node.type in ("SEND_TASK", "END_EVENT", "INTERMEDIATE_THROW_EVENT")
    return "published" if thrown and type(node.event).__name__ == "MessageEvent" else ""


@cache
def shown():
    """Row → the (file, node id) that are about it."""
    found = {}
    for prefix, variants in FILES.items():
        for name, content in variants.items():
            parsed = read_resource("p.bpmn", in_process(content(())))
            (process,) = (one for one in parsed.processes if one.id == "p")
            for id in ("x", "t"):
                node = process.nodes.get(id)
                if node is not None and (id == "x" or node.type not in HELPERS):
                    found.setdefault(row_of(node, process.nodes), []).append((f"{prefix}_{name}", id))
    return found


HELPERS = {"SERVICE_TASK"}
"""`t` is a throwing link event; as a job it is only inside of what a variant is about."""


def cell(row, column):
    """The files whose traces show it, or the reason why there can be none; None if it is missing."""
    if row in STARTS:
        return _cell_of_start(row, column)
    files = shown().get(row, [])
    if column == "as a loop":
        names = [file for file, _ in files if file.startswith("looped_")]
        return names or (None if row.split()[0] in ACTIVITIES else NO_ACTIVITY)
    if row == "BOUNDARY_EVENT compensate" and column == "with_listeners":
        return HANDLER_LISTENS
    names = [file for file, id in files if _shows(file, id, column)]
    if not names and column == "cancelled" and not any(_is_ever_active(file, id) for file, id in files):
        return NOT_ACTIVE
    return names or None


ACTIVITIES = {kind.type for kind in ELEMENTS.values() if kind.activity}


def _cell_of_start(row, column):
    if column in ("in_sub_process", "in_loop"):
        return NO_SCOPE
    if column == "in_called_process":
        return NO_CALL
    if column == "as a loop":
        return NO_ACTIVITY
    evidence = EVIDENCE.get(column, "ElementCompleted")
    return [file for file in STARTS[row] if evidence in (GOLDEN / f"{file}.txt").read_text()] or None


def _shows(file, id, column):
    lines = section(file, column)
    if column == "with_an_incident":
        return "IncidentRaised" in lines and "IncidentResolved" in lines and f"ElementActivating  {id} " in lines
    if column == "with_listeners":
        return LISTENER in lines and "JobCompleted       listener(" in lines
    if column == "cancelled":
        behind = lines.partition("> CancelInstance p\n")[2]
        return any(re.search(rf"ElementTerminated  {one}(~\d+)?\n", behind) for one in (id, *HOSTS))
    entered = f"ElementActivating  {id} "
    again = re.search(rf"ElementActivating  {id}~\d+ ", lines) is not None
    return entered in lines and (column != "in_loop" or again)


HOSTS = ("h", "host")
"""The hosts of boundary events."""


def section(file, name):
    """The lines of a section of a golden file."""
    text = (GOLDEN / f"{file}.txt").read_text()
    _, _, behind = text.partition(f"# {name}\n")
    return behind.partition("\n# ")[0]


def _is_ever_active(file, id):
    """Whether the trace has a command while the element, or what it stands at, has begun and not ended."""
    standing = set()
    for line in section(file, "in_process").splitlines():
        if line.startswith(">") and standing:
            return True
        event, _, about = line.strip().partition(" ")
        name = about.split()[0].partition("~")[0] if about.split() else ""
        if name in (id, *HOSTS) and event == "ElementActivating":
            standing.add(about.split()[0])
        elif event in ("ElementCompleted", "ElementTerminated"):
            standing.discard(about.split()[0])
    return False


def table():
    """The matrix as text."""
    lines = []
    for row in sorted(needed()):
        lines.append(row)
        for column in COLUMNS:
            found = cell(row, column)
            lines.append(f"  {column:<18}{found if isinstance(found, str) else ', '.join(found or ['MISSING'])}")
    return "\n".join(lines) + "\n"
