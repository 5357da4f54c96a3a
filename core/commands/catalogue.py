"""Deployments, and deletions of what they have made. The API checks files before it appends the command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from vivero.core.commands import decisions, forms, generic_resources
from vivero.core.commands.instance import latest
from vivero.core.events import start_timers
from vivero.core.events.behaviour import LatestVersion
from vivero.core.events.starts import starts_of
from vivero.core.events.table import START_KINDS
from vivero.core.needs import Need, NeedKind, Needs
from vivero.core.partitions.routes import CATALOGUE
from vivero.core.records.catalogue import (
    DefinitionAdded,
    DefinitionDeleted,
    DefinitionDraining,
    DeleteResource,
    Deploy,
    DeployedProcess,
    DeploymentCreated,
    DeploymentReply,
    FormDeleted,
    FormMetadata,
    GenericResourceDeleted,
    GenericResourceMetadata,
    ProcessMetadata,
    ResourceReference,
    RetentionSet,
    RetireDefinition,
    StartFormSet,
    StartMetadata,
)
from vivero.core.records.decisions import RequirementsMetadata
from vivero.core.records.effects import Effects, Reject, RejectionCode, Reply, Send
from vivero.core.records.messages import StartClosed
from vivero.core.state.catalogue import Definition, Deployed
from vivero.core.view import View


def needs_deploy(command: Deploy, tenant: str) -> Needs:
    yield Need(NeedKind.STARTS, None)
    for _, process in _processes(command):
        yield Need(NeedKind.FAMILY, (tenant, process.id))
    for _, form in _forms(command):
        yield Need(NeedKind.FORMS, (tenant, form.id))
    for _, generic in _generic_resources(command):
        yield Need(NeedKind.GENERIC_RESOURCES, (tenant, generic.id))
    for _, requirements in _requirements(command):
        yield from decisions.needs(requirements, tenant)


def deploy(command: Deploy, view: View) -> Effects:
    """Deploy all resources or none. If all equal their latest versions, answer these; else all get new versions.

    A resource that binds by deployment, as imports of decisions do, differs if it was deployed together with others
    than now."""
    deployment = view.key()
    processes = [(*one, _unchanged(*one, view)) for one in _processes(command)]
    of_forms = [(*one, forms.unchanged(*one, view)) for one in _forms(command)]
    of_decisions = [(*one, decisions.unchanged(*one, view)) for one in _requirements(command)]
    of_others = [(*one, generic_resources.unchanged(*one, view)) for one in _generic_resources(command)]
    latest_versions: list[Deployed | None] = [*(p[2] for p in processes), *(f[2] for f in of_forms)]
    latest_versions += [*(d[2] for d in of_decisions), *(g[2] for g in of_others)]
    bound = any(process.binds_by_deployment for _, process, _ in processes) or any(
        requirements.imports for _, requirements, _ in of_decisions
    )
    nothing_new = all(latest_versions) and not (bound and _is_another_bundle(latest_versions, view))
    yield DeploymentCreated(deployment, view.tenant)
    deployed = []
    for resource, process, same in processes:
        if same is not None and nothing_new:
            deployed.append(_answer(same.key, same.version, resource, process, view))
            continue
        version = max(view.family(process.id), default=0) + 1
        key = view.key()
        yield DefinitionAdded(
            key,
            deployment,
            view.tenant,
            process.id,
            version,
            process.name,
            process.version_tag,
            resource.name,
            resource.sha256,
        )
        if (shown := process.start_form) is not None:
            yield StartFormSet(key, shown.form_id, shown.binding, shown.version_tag)
        if process.retention_ms is not None:
            yield RetentionSet(key, process.retention_ms)
        yield from _move_starts(key, process.id, process.starts, view)
        deployed.append(_answer(key, version, resource, process, view))
    answers = []
    for resource, form, known in of_forms:
        if known is None or not nothing_new:
            yield (event := forms.added(resource, form, deployment, view))
            answers.append(forms.answer(event, resource, view))
        else:
            answers.append(forms.answer(known, resource, view))
    others = []
    for resource, generic, same_as in of_others:
        new, of_file = generic_resources.deployed(resource, generic, same_as if nothing_new else None, deployment, view)
        yield from new
        others.append(of_file)
    graphs = []
    for resource, requirements, present in of_decisions:
        events, answer = decisions.deployed(resource, requirements, present if nothing_new else None, deployment, view)
        yield from events
        graphs.append(answer)
    yield Reply(
        DeploymentReply(
            deployment,
            view.tenant,
            tuple(deployed),
            tuple(answers),
            tuple(decision for graph in graphs for decision in graph.decisions),
            tuple(graph.requirements for graph in graphs),
            tuple(others),
        )
    )


def _move_starts(
    definition: int, process_id: str, starts: Iterable[StartMetadata], view: View, *, restored: bool = False
) -> Effects:
    """Replace the start subscriptions and timers of a process by those of its latest version."""
    for start in view.starts().of_process(view.tenant, process_id):
        yield StartClosed(start.key)
    yield from start_timers.close_timers(process_id, view)
    for new in starts:
        open_start = START_KINDS[new.kind].open_start
        assert open_start is not None, f"an event definition with start kinds opens them: {new.kind}"
        yield from open_start(new, LatestVersion(definition, process_id, restored), view)


def _processes(command: Deploy) -> Iterator[tuple[ResourceReference, ProcessMetadata]]:
    for resource in command.resources:
        for process in resource.processes:
            yield resource, process


def _forms(command: Deploy) -> Iterator[tuple[ResourceReference, FormMetadata]]:
    return ((resource, resource.form) for resource in command.resources if resource.form is not None)


def _generic_resources(command: Deploy) -> Iterator[tuple[ResourceReference, GenericResourceMetadata]]:
    return ((resource, resource.generic) for resource in command.resources if resource.generic is not None)


def _requirements(command: Deploy) -> Iterator[tuple[ResourceReference, RequirementsMetadata]]:
    return ((resource, resource.requirements) for resource in command.resources if resource.requirements is not None)


def _unchanged(resource: ResourceReference, process: ProcessMetadata, view: View) -> Definition | None:
    newest = latest(process.id, view)
    form_id = None if process.start_form is None else process.start_form.form_id
    same = newest is not None and (newest.sha256, newest.resource, newest.start_form_id) == (
        resource.sha256,
        resource.name,
        form_id,  # which earlier versions of the program did not store
    )
    return newest if same else None


def _is_another_bundle(versions: Sequence[Deployed | None], view: View) -> bool:
    """Whether these versions are not exactly the resources of one deployment."""
    deployments = {version.deployment for version in versions if version is not None}
    return len(deployments) > 1 or len(view.resources_of(deployments.pop())) != len(versions)


def _answer(
    key: int, version: int, resource: ResourceReference, process: ProcessMetadata, view: View
) -> DeployedProcess:
    return DeployedProcess(process.id, version, resource.name, view.tenant, key)


def needs_delete(command: DeleteResource, tenant: str) -> Needs:
    yield Need(NeedKind.STARTS, None)
    yield Need(NeedKind.DEFINITION, command.key)
    yield Need(NeedKind.FORM, command.key)
    yield Need(NeedKind.GENERIC_RESOURCE, command.key)
    yield Need(NeedKind.REQUIREMENTS_KEY, command.key)


def delete(command: DeleteResource, view: View) -> Effects:
    """Delete the definition, or let it drain while instances run. The version before it becomes the latest at once.

    Every other partition is asked to report when it runs no instance any more: the numbers that were read are as old as
    its last commit. A form is deleted at once: tasks that have it keep it. So are a generic resource, and a version of
    decision requirements with its decisions.
    """
    form = view.form(command.key)
    if form is not None and form.state == "ACTIVE" and view.enter(form.tenant):
        yield FormDeleted(form.key)
        return
    generic = view.generic_resource(command.key)
    if generic is not None and generic.state == "ACTIVE" and view.enter(generic.tenant):
        yield GenericResourceDeleted(generic.key)
        return
    requirements = view.requirements(command.key)
    if requirements is not None and requirements.state == "ACTIVE" and view.enter(requirements.tenant):
        yield from decisions.deleted(requirements, view)
        return
    definition = view.definition(command.key)
    if definition is None or not view.enter(definition.tenant) or definition.state == "DELETED":
        raise Reject(
            RejectionCode.NOT_FOUND,
            f"Expected to delete resource but no resource found with key `{command.key}`",
        )
    newest = latest(definition.process_id, view)
    if newest is definition:
        yield from _restore_starts(definition, view)
    if view.running(definition.key) or view.running_elsewhere(definition.key):
        if definition.state == "ACTIVE":
            yield DefinitionDraining(definition.key)
        for partition in view.other_partitions():
            yield Send(RetireDefinition(definition.key, partition))
    else:
        yield DefinitionDeleted(definition.key)


def _restore_starts(deleted: Definition, view: View) -> Effects:
    """Open the start events of the version before again."""
    active = [d for d in view.family(deleted.process_id).values() if d.state == "ACTIVE" and d is not deleted]
    before = max(active, key=lambda d: d.version, default=None)
    starts = starts_of(view.model(before.key)) if before is not None else ()
    yield from _move_starts(0 if before is None else before.key, deleted.process_id, starts, view, restored=True)


def needs_retire(command: RetireDefinition, tenant: str) -> Needs:
    yield Need(NeedKind.DEFINITION, command.key)


def retire(command: RetireDefinition, view: View) -> Effects:
    """Delete a draining definition that has no instance in any partition. Other partitions report to the catalogue."""
    definition = view.definition(command.key)
    if definition is None or definition.state != "DRAINING" or view.running(definition.key):
        return
    if command.partition not in (0, CATALOGUE):
        yield Send(RetireDefinition(definition.key))
    elif not view.running_elsewhere(definition.key):
        yield DefinitionDeleted(definition.key)
