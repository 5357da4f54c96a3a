"""A command with a key of another tenant costs the engine the same statements as one with an unknown key.

Otherwise the time of the answer would tell that the key exists. It holds for rows in memory and for rows that are not.
"""

from collections import Counter
from typing import Any

import pytest

from tests.api.access.test_foreign_keys import MODEL
from tests.core.decision_models import one
from tests.core.engine import raw
from tests.engine.whole_engine import WholeEngine
from tests.sent_statements import record_statements
from vivero.core.commands.conditional_change import conditional
from vivero.core.partitions.keys import partition_of
from vivero.core.records.ad_hoc import ActivateAdHocElements, ElementToActivate
from vivero.core.records.base import Command, Sender
from vivero.core.records.business_ids import AssignBusinessId
from vivero.core.records.catalogue import DeleteResource, Deploy
from vivero.core.records.codec import INTENTS
from vivero.core.records.conditional_changes import ChangeIfMatch
from vivero.core.records.conditionals import EvaluateConditionals
from vivero.core.records.decision_evaluations import EvaluateDecision
from vivero.core.records.instances import CancelInstance, CreateInstance, ResolveIncident, SetVariables
from vivero.core.records.jobs import CompleteJob, FailJob, ThrowJobError, UpdateJob, WithholdJob
from vivero.core.records.messages import CorrelateMessage, ExpireMessage, PublishMessage
from vivero.core.records.migrations import MigrateInstance
from vivero.core.records.modifications import ModifyInstance, TerminateInstruction
from vivero.core.records.signals import BroadcastSignal
from vivero.core.records.slots import MoveSlots
from vivero.core.records.suspensions import ResumeInstance, SuspendInstance
from vivero.core.records.timers import FireTimer, MoveTimer
from vivero.core.records.user_tasks import (
    AssignUserTask,
    ClaimUserTask,
    CompleteUserTask,
    UpdateUserTask,
    UserTaskChanges,
)
from vivero.engine.appender.calls import Append

SENDERS = ("b", "b,c", "")
"""The tenants of senders. The rows belong to `<default>`."""
UNKNOWN = 1_000_000
"""The distance of an unknown key from one that exists."""

BY_KEY: dict[type[Command], tuple[str, Any]] = {
    CancelInstance: ("instance", CancelInstance),
    SuspendInstance: ("instance", lambda key: SuspendInstance(key)),
    ResumeInstance: ("instance", lambda key: ResumeInstance(key)),
    AssignBusinessId: ("instance", lambda key: AssignBusinessId(key, "b")),
    ModifyInstance: ("instance", lambda key: ModifyInstance(key, terminate=(TerminateInstruction(key),))),
    MigrateInstance: ("instance", lambda key: MigrateInstance(key, 5, (("work", "work"),))),
    SetVariables: ("element", lambda key: SetVariables(key, raw({"a": 1}))),
    ActivateAdHocElements: ("element", lambda key: ActivateAdHocElements(key, (ElementToActivate("a"),))),
    ChangeIfMatch: ("job", lambda key: conditional(CompleteJob(key), key, (1,))),
    ResolveIncident: ("incident", ResolveIncident),
    CompleteJob: ("job", CompleteJob),
    FailJob: ("job", lambda key: FailJob(key, 0)),
    ThrowJobError: ("job", lambda key: ThrowJobError(key, "e")),
    UpdateJob: ("job", lambda key: UpdateJob(key, retries=5)),
    WithholdJob: ("job", lambda key: WithholdJob(key, None, 1, 1)),
    FireTimer: ("timer", FireTimer),
    MoveTimer: ("timer", lambda key: MoveTimer(key, 5)),
    AssignUserTask: ("task", lambda key: AssignUserTask(key, "ann")),
    ClaimUserTask: ("task", lambda key: ClaimUserTask(key, "ann")),
    UpdateUserTask: ("task", lambda key: UpdateUserTask(key, UserTaskChanges(priority=1))),
    CompleteUserTask: ("task", CompleteUserTask),
    DeleteResource: ("definition", DeleteResource),
}
"""The commands by key of clients: what the key is of, and the command."""
IN_BODIES = {
    CreateInstance: ("definition", lambda key: CreateInstance(definition_key=key)),
    EvaluateDecision: ("decision", lambda key: EvaluateDecision(decision_key=key)),
    EvaluateConditionals: ("definition", lambda key: EvaluateConditionals(raw({"a": 1}), key)),
}
"""Commands of one tenant that may name the key of a definition."""
WITHOUT_KEYS = {PublishMessage, CorrelateMessage, BroadcastSignal, Deploy, MoveSlots}
OF_ERASURES = {ExpireMessage}
"""Commands of an operator who may use all tenants."""

KEYS = """
    SELECT 'instance', process_instance_key FROM process_instances
    UNION SELECT 'element', element_instance_key FROM element_instances WHERE element_id = 'work'
    UNION SELECT 'job', job_key FROM jobs WHERE type = 'work'
    UNION SELECT 'incident', incident_key FROM incidents UNION SELECT 'timer', timer_key FROM timers
    UNION SELECT 'task', user_task_key FROM user_tasks
    UNION SELECT 'definition', process_definition_key FROM process_definitions
    UNION SELECT 'decision', decision_definition_key FROM decision_definitions
"""

OF_COMMANDS = ("command_log.append", "load.", "message_channels.", "definitions.", "save.", "attempts.", "audit_log.")


def test_every_command_of_clients_is_tried():
    assert {*BY_KEY, *IN_BODIES, *WITHOUT_KEYS, *OF_ERASURES} == {
        command for command in INTENTS.values() if command.sent_by is Sender.CLIENT
    }


@pytest.fixture
def statements(monkeypatch):
    """The statements that any connection has sent."""
    return record_statements(monkeypatch)


class Asked:
    def __init__(self, engine, statements) -> None:
        self.engine, self.statements = engine, statements

    async def cost(self, command, tenants):
        """The statements of a command that is rejected, without those that tasks repeat by themselves."""
        self.statements.clear()
        appended = await self.engine.appender.append(Append(command, tenants), deadline_s=10)
        await self.engine.until(lambda: appended.position in self.engine.answers)
        assert self.engine.answers[appended.position].rejection is not None
        return Counter(name for name in self.statements if name.startswith(OF_COMMANDS))


@pytest.mark.long
async def test_a_foreign_key_costs_what_an_unknown_one_does(migrated, statements):
    async with WholeEngine(migrated).running() as engine:
        await engine.deploy(MODEL)
        await engine.deploy_together({"d.dmn": one("D", "1")})
        await engine.create()
        (job,) = [key for (key,) in await engine.rows("SELECT job_key FROM jobs WHERE type = 'fails'")]
        await engine.run(FailJob(job, 0))
        keys = dict(await engine.rows(KEYS))
        in_memory = await costs(Asked(engine, statements), keys)
    async with WholeEngine(migrated).running() as engine:
        not_in_memory = await costs(Asked(engine, statements), keys)
    for found in (in_memory, not_in_memory):
        assert {what: foreign for what, (foreign, _) in found.items()} == {
            what: unknown for what, (_, unknown) in found.items()
        }


async def costs(asked, keys):
    """By command and sender: the statements for a foreign key, and for an unknown one."""
    await asked.cost(DeleteResource(keys["definition"] + UNKNOWN), "b")  # loads what every batch needs once
    found = {}
    for tenants in SENDERS:
        for kind, (what, command) in (BY_KEY | (IN_BODIES if tenants == "b" else {})).items():
            assert partition_of(keys[what]) == 1
            found[kind.__name__, tenants] = [
                await asked.cost(command(keys[what] + distance), tenants) for distance in (0, UNKNOWN)
            ]
    return found
