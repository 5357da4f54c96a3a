"""BPMN files: bytes in, executable processes or all problems out.

`parse` never raises, whatever the bytes are. It gives either all executable processes of the file, or problems and no
process: a file is deployed as a whole or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import regex

from vivero.core.bpmn.checks.calls import check_calls
from vivero.core.bpmn.checks.camunda7 import report_camunda7
from vivero.core.bpmn.checks.content import check_definitions
from vivero.core.bpmn.checks.flows import link_flows
from vivero.core.bpmn.checks.ids import warn_of_repeated_ids
from vivero.core.bpmn.checks.references import warn_of_references
from vivero.core.bpmn.checks.structure import connect
from vivero.core.bpmn.checks.validate import validate
from vivero.core.bpmn.elements.ad_hoc import add_inner_instances
from vivero.core.bpmn.elements.approvals import add_approvals
from vivero.core.bpmn.elements.contents import ACCEPTED_IN_FILES
from vivero.core.bpmn.elements.due_times import due_time, report_misplaced_due_time
from vivero.core.bpmn.elements.implicit_starts import implicit_starts
from vivero.core.bpmn.elements.joins import takes_joins
from vivero.core.bpmn.elements.listeners import execution_listeners
from vivero.core.bpmn.elements.retention import PROPERTY, retention_ms
from vivero.core.bpmn.events import allowed_extensions
from vivero.core.bpmn.footprint import memory_of
from vivero.core.bpmn.model import DecisionFile, Form, GenericResource, Node, NodeId, Problem, Process
from vivero.core.bpmn.outline import Ids, check_children, outline, take_id
from vivero.core.bpmn.reading.draft import Draft
from vivero.core.bpmn.reading.extensions import Extensions, job_priority, properties, read_extensions, version_tag
from vivero.core.bpmn.reading.global_tasks import make_processes
from vivero.core.bpmn.reading.references import Roots, read_roots
from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.bpmn.reading.shared_definitions import copy_shared_definitions
from vivero.core.bpmn.reading.values import flag
from vivero.core.bpmn.reading.xml import (
    BPMN,
    LIMITS,
    Element,
    Unreadable,
    XmlLimits,
    bpmn_children,
    line_of,
    read_document,
    split,
)

PROCESS_ID = regex.compile(r"[\p{L}_][\p{L}\p{N}_\-.]*")
"""The process ids that the REST API allows. Its clients check answers against this pattern, too."""

_PROCESS_EXTENSIONS = frozenset({"versionTag", "jobPriorityDefinition", "executionListeners"})


@dataclass(frozen=True, slots=True)
class Parsed:
    """The result of reading one resource."""

    resource: str
    processes: tuple[Process, ...] = ()
    """The executable processes in document order; empty if there are problems."""
    problems: tuple[Problem, ...] = ()
    skipped: tuple[str, ...] = ()
    """The ids of processes that are not marked executable. They were not checked."""
    objections: tuple[Problem, ...] = ()
    """Problems of a new deployment. A file that an earlier version of the program deployed stays readable with them."""
    warnings: tuple[Problem, ...] = ()
    """Oddities of processes that are executable all the same."""
    form: Form | None = None
    """The form, if the resource is one and has no problems."""
    generic: GenericResource | None = None
    """The resource, if it is a file of any other kind and has no problems."""
    decisions: DecisionFile | None = None
    """The decisions, if the resource is a file of decisions and has no problems."""
    memory: int = 0
    """Bytes of memory that the processes take, as an estimate (`footprint`)."""

    @property
    def deployment_problems(self) -> tuple[Problem, ...]:
        """The reasons why the file cannot be deployed."""
        return self.problems + self.objections


def parse(content: bytes, resource: str, limits: XmlLimits = LIMITS) -> Parsed:
    """Read a BPMN file. `resource` is its name, for the problems."""
    report = Report(resource, limits)
    try:
        root = read_document(content, limits)
    except Unreadable as unreadable:
        report.add_file_problem(unreadable.message, unreadable.line)
        return Parsed(resource, problems=report.problems())
    return _read_definitions(root, report)


def _read_definitions(root: Element, report: Report) -> Parsed:
    if split(root) != (BPMN, "definitions"):
        namespace, tag = split(root)
        found = f"{quote(tag)} of namespace {quote(namespace)}"
        report.add_file_problem(
            f"not a BPMN 2.0 file: its root is {found}, not 'definitions' of '{BPMN}'", line_of(root)
        )
        return Parsed(report.resource, problems=report.problems())
    _check_definitions(root, report)
    copy_shared_definitions(root, report)
    make_processes(root)
    add_approvals(root, report)
    executable, skipped = _sort_out(root, report)
    processes = _read_processes(executable, read_roots(root, report), report)
    check_calls(processes, report)
    for id in skipped if executable else ():
        report.warn_of_file(f"the process {quote(id)} is not marked executable (isExecutable), so it is not deployed")
    report_camunda7(root, report)
    problems = report.problems()
    if problems:
        return Parsed(report.resource, (), problems, skipped, report.objections())
    objections, warnings = report.objections(), report.warnings()
    return Parsed(report.resource, processes, (), skipped, objections, warnings, memory=memory_of(processes))


def _check_definitions(root: Element, report: Report) -> None:
    for child in root:
        namespace, tag = split(child)
        if not namespace or (namespace == BPMN and tag not in ACCEPTED_IN_FILES):
            report.add_problem(child, f"the element {quote(tag)} has no place at the top of a file")
    check_definitions(root, report)
    warn_of_repeated_ids(root, report)
    warn_of_references(root, report)


def _sort_out(root: Element, report: Report) -> tuple[list[Element], tuple[str, ...]]:
    executable: list[Element] = []
    skipped: list[str] = []
    for process in bpmn_children(root, "process"):
        if flag(process, "isExecutable", report):
            executable.append(process)
        else:
            skipped.append(process.get("id", ""))
    if not executable:
        text = 'no process in it is executable (isExecutable="true")' if skipped else "there is no process in it"
        report.add_file_problem(text, line_of(root))
    return executable, tuple(skipped)


def _read_processes(elements: list[Element], roots: Roots, report: Report) -> tuple[Process, ...]:
    ids: Ids = {}
    processes = (_read_process(element, roots, ids, report) for element in elements)
    return tuple(process for process in processes if process is not None)


def _read_process(element: Element, roots: Roots, ids: Ids, report: Report) -> Process | None:
    if not report.takes_node() or not take_id(element, ids, report):
        return None
    process_id = element.get("id", "")
    if not PROCESS_ID.fullmatch(process_id):
        report.add_problem(element, f"the process id {quote(process_id)} does not match {PROCESS_ID.pattern}")
    draft = Draft(process_id, element, report, roots)
    if not outline(draft, ids):
        return None
    link_flows(draft)
    connect(draft)
    if not takes_joins(draft):
        return None
    validate(draft)
    return _build(draft)


def _build(draft: Draft) -> Process:
    extensions = read_extensions(draft.process, _PROCESS_EXTENSIONS, draft.report)
    draft.job_priority = job_priority(draft.process, extensions, draft.report)
    for flow in draft.flow_elements:
        read_extensions(flow, frozenset(), draft.report)
    return Process(
        id=draft.id,
        name=draft.process.get("name"),
        version_tag=version_tag(draft.process, extensions, draft.report),
        nodes=_nodes(draft, extensions),
        flows=draft.flows,
        retention_ms=retention_ms(draft.process, properties(draft.process).get(PROPERTY), draft.report),
        due=due_time(draft.process, draft.report),
    )


def _nodes(draft: Draft, of_process: Extensions) -> dict[NodeId, Node]:
    nodes = {draft.id: _process_node(draft, of_process)}
    for member in draft.members.values():
        check_children(member, draft.report)
        if member.kind is not None:
            allowed, remnants = allowed_extensions(member, draft), member.kind.remnants
            extensions = read_extensions(member.element, allowed, draft.report, remnants=remnants)
            nodes[member.id] = member.kind.build(member, extensions, draft)
            if nodes[member.id].user_task is None:
                report_misplaced_due_time(member.element, draft.report)
    add_inner_instances(nodes, draft)
    return nodes


def _process_node(draft: Draft, extensions: Extensions) -> Node:
    return Node(
        id=draft.id,
        type="PROCESS",
        name=draft.process.get("name"),
        start=draft.start_of(draft.id),
        implicit_starts=implicit_starts(draft.id, draft),
        event_sub_processes=tuple(draft.event_sub_processes.get(draft.id, ())),
        joins=tuple(draft.joins.get(draft.id, ())),
        listeners=execution_listeners(draft.process, "PROCESS", extensions, draft),
        properties=properties(draft.process),
        line=line_of(draft.process),
    )
