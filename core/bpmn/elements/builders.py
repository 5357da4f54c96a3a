"""From an element of the file to a node of the executable model: one function for each way to read one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from vivero.core.bpmn.elements import ad_hoc, complex_gateways
from vivero.core.bpmn.elements.activities import called_decision, called_element, script
from vivero.core.bpmn.elements.form_references import start_form
from vivero.core.bpmn.elements.implicit_starts import implicit_starts, process_start
from vivero.core.bpmn.elements.joins import join
from vivero.core.bpmn.elements.linked_resources import linked_resources
from vivero.core.bpmn.elements.listeners import execution_listeners, task_listeners
from vivero.core.bpmn.elements.loops import loop_of
from vivero.core.bpmn.elements.user_tasks import user_task, user_task_job, warn_of_embedded_form
from vivero.core.bpmn.event_definitions import cancel, message
from vivero.core.bpmn.event_definitions.compensate import TAG
from vivero.core.bpmn.events import event_of, is_interrupting, reading_of_task
from vivero.core.bpmn.model import JobDefinition, Node, Transaction
from vivero.core.bpmn.reading.draft import Draft, Member, Place, definition_of
from vivero.core.bpmn.reading.extensions import Extensions, job_definition, mappings, properties
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.values import flag, quantity
from vivero.core.bpmn.reading.xml import line_of

COMPENSATE = "##Compensate"
"""The method of a transaction that is executed."""


def plain(member: Member, extensions: Extensions, draft: Draft, **more: Any) -> Node:
    """A node with what every node has: place, flows, mappings and listeners."""
    assert member.kind is not None
    element = member.element
    inputs, outputs = mappings(element, extensions, draft.report)
    more.setdefault("conditional", member.kind.activity and _has_conditions(member, draft))
    return Node(
        id=member.id,
        type=member.kind.type,
        name=element.get("name"),
        scope=draft.flow_scope(member),
        incoming=tuple(draft.incoming.get(member.id, ())),
        outgoing=tuple(draft.outgoing.get(member.id, ())),
        default=element.get("default"),
        start_quantity=quantity(element, "startQuantity", draft.report) if member.kind.activity else 1,
        completion_quantity=quantity(element, "completionQuantity", draft.report) if member.kind.activity else 1,
        inputs=inputs,
        outputs=outputs,
        boundaries=tuple(id for id in draft.attached.get(member.id, ()) if not _is_compensation(id, draft)),
        listeners=execution_listeners(element, member.kind.type, extensions, draft),
        loop=loop_of(member, draft) if member.kind.activity else None,
        compensated_by=draft.compensations.get(member.id),
        in_compensation=member.id in draft.in_compensation,
        properties=properties(element),
        line=line_of(element),
        **more,
    )


def _has_conditions(member: Member, draft: Draft) -> bool:
    return any(draft.flows[flow].condition is not None for flow in draft.outgoing.get(member.id, ()))


def _is_compensation(event: str, draft: Draft) -> bool:
    """Whether an attached event is a compensation event, for which its activity does not wait."""
    found = definition_of(draft.members[event].element)
    return found is not None and found[0] == TAG


def waiting_event_sub_processes(scope: str, draft: Draft) -> tuple[str, ...]:
    """The event sub-processes of a scope without the one that compensates it, which waits for nothing."""
    of_scope, compensating = draft.event_sub_processes.get(scope, ()), draft.compensations.get(scope)
    return tuple(id for id in of_scope if id != compensating)


# Tasks ----------------------------------------------------------------------------------------------------------------


def job_task(member: Member, extensions: Extensions, draft: Draft) -> Node:
    """A task that a job worker performs. BPMN 2.0.2 §10.3.3."""
    return plain(member, extensions, draft, job=_job(member, extensions, draft))


def service_task(member: Member, extensions: Extensions, draft: Draft) -> Node:
    """A task that a job worker performs, to whom it may link deployed files. §10.3.3."""
    job = _job(member, extensions, draft)
    links = linked_resources(member.element, extensions, draft.report)
    return plain(member, extensions, draft, job=replace(job, links=links) if job is not None and links else job)


def send_task(member: Member, extensions: Extensions, draft: Draft) -> Node:
    """A task that sends a message, by a job or by publishing it. §10.3.3."""
    event = message.thrown(reading_of_task(member, Place.THROW, extensions, draft))
    return plain(member, extensions, draft, event=event, job=_job_if_any(member, extensions, draft))


def receive_task(member: Member, extensions: Extensions, draft: Draft) -> Node:
    """A task that waits for a message. §10.3.3."""
    place = Place.PROCESS_START if draft.starts_process(member) else Place.CATCH
    event = message.awaited(reading_of_task(member, place, extensions, draft))
    return plain(member, extensions, draft, event=event, **process_start(member, draft))


def business_rule_task(member: Member, extensions: Extensions, draft: Draft) -> Node:
    """A decision, or a job. §10.3.3."""
    if "calledDecision" not in extensions:
        return job_task(member, extensions, draft)
    _not_both(member, extensions, "calledDecision", draft)
    return plain(member, extensions, draft, decision=called_decision(member.element, extensions, draft.report))


def script_task(member: Member, extensions: Extensions, draft: Draft) -> Node:
    """A FEEL expression, or a job. §10.3.3."""
    if "script" not in extensions:
        return job_task(member, extensions, draft)
    _not_both(member, extensions, "script", draft)
    return plain(member, extensions, draft, script=script(member.element, extensions, draft.report))


def _not_both(member: Member, extensions: Extensions, name: str, draft: Draft) -> None:
    """A task that the engine or a job worker performs."""
    if "taskDefinition" in extensions:
        text = f"zeebe:{name} and zeebe:taskDefinition: one of them is too much"
        draft.report.add_problem(member.element, text, at=extensions["taskDefinition"])


def user_task_node(member: Member, extensions: Extensions, draft: Draft) -> Node:
    """Work for a person, kept by the engine or as a job. §10.3.4.1."""
    task = user_task(member.element, extensions, draft.report)
    if "userTask" not in extensions:
        return plain(member, extensions, draft, job=user_task_job(task, member.element, extensions, draft))
    warn_of_embedded_form(member.element, extensions, draft.report)
    if "jobPriorityDefinition" in extensions:
        text = "zeebe:jobPriorityDefinition has no effect with zeebe:userTask"
        draft.report.add_problem(member.element, text, at=extensions["jobPriorityDefinition"])
    node = plain(member, extensions, draft, user_task=task)
    of_task = task_listeners(member.element, extensions, draft)
    return replace(node, listeners={**node.listeners, **of_task}) if of_task else node


def _job(member: Member, extensions: Extensions, draft: Draft) -> JobDefinition | None:
    return job_definition(member.element, extensions, draft.job_priority, draft.report)


def _job_if_any(member: Member, extensions: Extensions, draft: Draft) -> JobDefinition | None:
    return _job(member, extensions, draft) if "taskDefinition" in extensions else None


# Scopes ---------------------------------------------------------------------------------------------------------------


def sub_process(member: Member, extensions: Extensions, draft: Draft) -> Node:
    """An embedded sub-process or an event sub-process. §10.3.5."""
    return plain(
        member,
        extensions,
        draft,
        start=draft.start_of(member.id),
        implicit_starts=() if draft.is_event_sub_process(member.id) else implicit_starts(member.id, draft),
        event_sub_processes=waiting_event_sub_processes(member.id, draft),
        joins=tuple(draft.joins.get(member.id, ())),
    )


def transaction(member: Member, extensions: Extensions, draft: Draft) -> Node:
    """A transaction sub-process, which a cancel event cancels. §10.3.5."""
    method = member.element.get("method", COMPENSATE).strip()
    if method != COMPENSATE:
        text = f"method={quote(method)} has no effect: a cancelled transaction is compensated ({COMPENSATE})"
        draft.report.warn(member.element, text)
    if flag(member.element, "triggeredByEvent", draft.report):
        draft.report.add_problem(member.element, "an event sub-process cannot be a transaction")
    settings = Transaction(next(cancel.boundaries(member.id, draft), None))
    return replace(sub_process(member, extensions, draft), transaction=settings)


def ad_hoc_sub_process(member: Member, extensions: Extensions, draft: Draft) -> Node:
    """An ad-hoc sub-process, which decides itself what it activates, or lets a job worker decide. §10.3.5."""
    return plain(
        member,
        extensions,
        draft,
        event_sub_processes=tuple(draft.event_sub_processes.get(member.id, ())),
        ad_hoc=ad_hoc.settings(member, extensions, draft),
        job=_job_if_any(member, extensions, draft),
    )


def call_activity(member: Member, extensions: Extensions, draft: Draft) -> Node:
    """A call activity. §10.3.6."""
    return plain(member, extensions, draft, called=called_element(member.element, extensions, draft.report))


# Gateways and events --------------------------------------------------------------------------------------------------


def inclusive_gateway(member: Member, extensions: Extensions, draft: Draft) -> Node:
    """§10.6.3."""
    bits, reach = join(member, draft)
    return plain(member, extensions, draft, bits=bits, reach=reach)


def complex_gateway(member: Member, extensions: Extensions, draft: Draft) -> Node:
    """§10.6.5."""
    bits, reach = join(member, draft)
    activation = complex_gateways.activation_condition(member, draft)
    return plain(
        member,
        extensions,
        draft,
        bits=bits,
        reach=reach,
        activation=activation,
        event=complex_gateways.watched(activation),
        conditional=_has_conditions(member, draft),
    )


def event_based_gateway(member: Member, extensions: Extensions, draft: Draft) -> Node:
    """§10.6.6."""
    return plain(member, extensions, draft, starts_process=draft.instantiates(member))


def event(member: Member, extensions: Extensions, draft: Draft) -> Node:
    """An event at any place. §10.5."""
    return plain(
        member,
        extensions,
        draft,
        event=event_of(member, extensions, draft),
        job=_job_if_any(member, extensions, draft),
        interrupting=is_interrupting(member, draft),
        host=draft.hosts.get(member.id),
        handler=draft.handlers.get(member.id),
        start_form=start_form(member, extensions, draft),
        **process_start(member, draft),
    )
