"""Resolve incidents: run exactly the failed stage again, or make its job available again."""

from __future__ import annotations

from vivero.core.needs import Need, NeedKind, Needs
from vivero.core.records.codec import decode_command
from vivero.core.records.effects import Effects, Reject, RejectionCode, Send, reject_not_found
from vivero.core.records.instances import COMMAND_STAGE, IncidentResolved, ResolveIncident
from vivero.core.records.jobs import JobReleased, JobUpdated
from vivero.core.view import View


def needs(command: ResolveIncident, tenant: str) -> Needs:
    yield Need(NeedKind.INCIDENT, command.key)


def resolve(command: ResolveIncident, view: View) -> Effects:
    """The worklist runs the failed stage again after `IncidentResolved`."""
    incident = view.incident(command.key)
    if incident is None or not view.enter(incident.element.instance.tenant):
        raise reject_not_found("incident", "resolve", command.key)
    job = None if incident.job is None else view.job(incident.job)
    lacks_retries = job is not None and job.state == "FAILED" and job.retries <= 0
    if job is not None and lacks_retries and not command.retries:
        raise Reject(
            RejectionCode.INVALID_STATE,
            f"Expected to resolve incident with key '{command.key}', but job with key '{job.key}' has no retries "
            "left: update its retries first",
        )
    if job is not None and lacks_retries:
        yield JobUpdated(job.key, command.retries, None)
    yield IncidentResolved(incident.key)
    if job is not None:
        yield JobReleased(job.key)
    if incident.stage == COMMAND_STAGE:
        quarantined = incident.argument
        yield Send(decode_command(quarantined["intent"], quarantined["command"].encode()), later=True)
