"""Process instances: create, cancel, continue deferred work."""

from __future__ import annotations

from typing import Any

from vivero.core.commands import start_instructions
from vivero.core.needs import Need, NeedKind, Needs, NotLoaded
from vivero.core.records.effects import Effects, Reject, RejectionCode, Reply, ReplyLater, reject_not_found
from vivero.core.records.instances import (
    CancelInstance,
    ContinueWork,
    CreateInstance,
    ElementTerminating,
    InstanceCreated,
    InstanceReply,
    VariableSet,
    WorkResumed,
)
from vivero.core.shared.deferred_work import next_work
from vivero.core.state.catalogue import Definition
from vivero.core.state.instance_tree import TERMINATING, InstanceTree
from vivero.core.view import View


def needs_create(command: CreateInstance, tenant: str) -> Needs:
    if command.definition_key is not None:
        yield Need(NeedKind.DEFINITION, command.definition_key)
    else:
        yield Need(NeedKind.FAMILY, (tenant, command.process_id))


def create(command: CreateInstance, view: View) -> Effects:
    definition = _definition(command, view)
    model = view.model(definition.key)
    if command.start_elements or command.terminate_after:
        start_instructions.check(model, command.start_elements)
        start_instructions.check_end(model, command.terminate_after)
    if not model.root.has_none_start and not command.start_elements:
        raise Reject(
            RejectionCode.INVALID_STATE,
            "Expected to create instance of process with none start event, but there is no such event",
        )
    key = view.key()
    yield InstanceCreated(
        key,
        definition.key,
        definition.process_id,
        definition.version,
        definition.version_tag,
        definition.name,
        view.tenant,
        command.business_id,
        command.tags,
        begin=command.start_elements,
        terminate_after=command.terminate_after,
    )
    for name, value in command.variables.items():
        yield VariableSet(view.key(), key, name, str(value, "utf-8"))
    yield Reply(
        InstanceReply(
            key,
            definition.key,
            definition.process_id,
            definition.version,
            view.tenant,
            command.tags,
            command.business_id,
        )
    )


def _definition(command: CreateInstance, view: View) -> Definition:
    if command.definition_key is not None:
        definition = view.definition(command.definition_key)
        description = f"key '{command.definition_key}'"
        if definition is not None and definition.tenant != view.tenant:
            definition = None
    elif command.version >= 0:
        definition = view.family(command.process_id or "").get(command.version)
        description = f"process ID '{command.process_id}' and version '{command.version}'"
    else:
        definition = latest(command.process_id or "", view, command.version_tag)
        description = f"process ID '{command.process_id}'"
        if command.version_tag is not None:
            description += f" and version tag '{command.version_tag}'"
    if definition is None or (definition.state != "ACTIVE" and not _by_version(command, definition)):
        raise Reject(RejectionCode.NOT_FOUND, f"Expected to find process definition with {description}, but none found")
    return definition


def _by_version(command: CreateInstance, definition: Definition) -> bool:
    """A draining version can still be started by its number."""
    return command.definition_key is None and command.version >= 0 and definition.state == "DRAINING"


def latest(process_id: str, view: View, tag: str | None = None) -> Definition | None:
    """The highest active version; with `tag`, the highest of those with this version tag."""
    for _, definition in sorted(view.family(process_id).items(), reverse=True):
        if definition.state == "ACTIVE" and tag in (None, definition.version_tag):
            return definition
    return None


def needs_cancel(command: CancelInstance, tenant: str) -> Needs:
    yield Need(NeedKind.INSTANCE, command.key, to_end=True)


def cancel(command: CancelInstance, view: View) -> Effects:
    """Terminate the instance. The answer follows after its end, so that later reads see the end."""
    instance = view.instance(command.key)
    if instance is None or not view.enter(instance.tenant):
        raise Reject(
            RejectionCode.NOT_FOUND,
            f"Expected to cancel a process instance with key '{command.key}', but no such process was found",
        )
    if instance.parent_instance is not None:
        raise Reject(
            RejectionCode.INVALID_STATE,
            f"Expected to cancel a process instance with key '{command.key}', but it is created by a parent "
            f"process instance. Cancel the root process instance '{instance.tree.key}' instead.",
        )
    if instance.state is not TERMINATING:
        yield ElementTerminating(instance.key, None, view.request)
        yield ReplyLater()


def needs_continue(command: ContinueWork, tenant: str) -> Needs:
    yield Need(NeedKind.INSTANCE, command.key)
    yield Need(NeedKind.WORK, command.key)


def continue_work(command: ContinueWork, view: View) -> Effects:
    tree = view.state.trees.get(command.key)
    if tree is None:
        raise reject_not_found("process instance", "continue", command.key)
    if tree.work:
        yield WorkResumed(tree.key, _loaded_work(tree))


def _loaded_work(tree: InstanceTree) -> tuple[tuple[int, str, Any], ...]:
    """Raises NotLoaded if the parts of the next deferred items are not in memory."""
    items = next_work(tree)
    if not items:
        raise NotLoaded(Need(NeedKind.WORK, tree.key))
    return items
