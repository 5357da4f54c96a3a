"""Tenants: nothing of one reaches another, and a command by key takes the tenant of what the key belongs to."""

import msgspec
import pytest

from tests.core.engine import Engine, raw
from tests.core.event_models import call
from tests.core.message_models import catch, message, model, receive, starts, throw
from tests.core.models import ONE_TASK, end, process, start, task
from vivero.core.commands.conditional_change import conditional
from vivero.core.partitions.tenants import EVERY_TENANT, covers, joined
from vivero.core.records.catalogue import DeleteResource
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CancelInstance, CreateInstance, ResolveIncident, SetVariables
from vivero.core.records.jobs import CompleteJob, FailJob, ThrowJobError, UpdateJob, WithholdJob
from vivero.core.records.messages import CorrelateMessage, PublishMessage
from vivero.core.records.signals import BroadcastSignal

A, B = "alpha", "beta"
BOTH = joined({A, B})


@pytest.fixture
def engine():
    return Engine()


def deploy(engine, model, *tenants):
    for tenant in tenants:
        engine.memory.deploy(model, tenant=tenant)


def create(engine, tenant, process_id="p", **variables):
    handled = engine.run(CreateInstance(process_id, variables=raw(variables)), tenant)
    assert handled.rejection is None, handled.rejection
    return handled.response.process_instance_key


def tenants_of(engine):
    """The tenants of all live elements, by id."""
    return sorted((element.element, element.instance.tenant) for element in engine.state.elements.values())


def test_a_list_of_tenants_covers_its_members():
    assert covers(A, A)
    assert not covers(A, "alph")
    assert covers(BOTH, A)
    assert covers(BOTH, B)
    assert not covers(BOTH, "alpha,beta,c")
    assert not covers("", A)
    assert covers(joined(None), A)
    assert not covers(joined(()), A)


# ---- definitions


def test_a_process_has_its_own_versions_in_each_tenant(engine):
    deploy(engine, process(start(), task("one"), end(), "start > one > end"), A)
    deploy(engine, ONE_TASK, A, B)
    versions = {(d.tenant, d.version) for d in engine.state.catalogue.definitions.values()}
    assert versions == {(A, 1), (A, 2), (B, 1)}


def test_a_process_of_another_tenant_is_unknown(engine):
    reply = engine.memory.deploy(ONE_TASK, tenant=A)
    (deployed,) = reply.processes
    missing = engine.run(CreateInstance("p"), B).rejection
    by_key = engine.run(CreateInstance(None, deployed.process_definition_key), B).rejection
    assert missing.code is by_key.code is RejectionCode.NOT_FOUND


def test_a_called_process_is_of_the_callers_tenant(engine):
    caller = process(start(), call("call", "q"), end(), "start > call > end")
    deploy(engine, caller, A)
    deploy(engine, process(start(), task("wrong"), end(), "start > wrong > end", id="q"), B)
    create(engine, A)
    (incident,) = engine.state.incidents.values()
    assert incident.type == "CALLED_ELEMENT_ERROR"
    deploy(engine, process(start(), task("right"), end(), "start > right > end", id="q"), A)
    assert engine.run(ResolveIncident(incident.key), BOTH).rejection is None
    assert ("right", A) in tenants_of(engine)


# ---- messages and signals


def test_messages_stay_in_their_tenant(engine):
    deploy(engine, model(start(), receive(), end(), "start > receive > end"), A, B)
    create(engine, A, k="x")
    create(engine, B, k="x")
    assert engine.run(CorrelateMessage("hello", "x"), A).rejection is None
    assert {tenant for _, tenant in tenants_of(engine)} == {B}
    assert engine.run(CorrelateMessage("hello", "x"), A).rejection.code is RejectionCode.NOT_FOUND


def test_buffered_messages_and_their_ids_stay_in_their_tenant(engine):
    deploy(engine, model(start(), receive(), end(), "start > receive > end"), A, B)
    published = PublishMessage("hello", "x", 60_000, "id")
    assert engine.run(published, A).rejection is None
    create(engine, B, k="x")
    assert tenants_of(engine) == [("p", B), ("receive", B)]
    create(engine, A, k="x")
    assert tenants_of(engine) == [("p", B), ("receive", B)], "the message was for the instance of its tenant"
    assert engine.run(published, A).rejection.code is RejectionCode.ALREADY_EXISTS
    assert engine.run(published, B).rejection is None
    assert tenants_of(engine) == []


def test_a_message_starts_the_process_of_its_tenant(engine):
    deploy(engine, model(starts(), task("work"), end(), "start > work > end", roots=(message(key=None),)), A, B)
    for _ in range(2):  # the second one waits for the lock of the first instance
        engine.run(PublishMessage("hello", "x", 60_000), B)
    assert tenants_of(engine) == [("p", B), ("work", B)]
    engine.run(PublishMessage("hello", "x", 60_000), A)
    assert tenants_of(engine) == [("p", A), ("p", B), ("work", A), ("work", B)]


def test_signals_stay_in_their_tenant(engine):
    deploy(engine, model(start(), catch(on="signal"), end(), "start > catch > end"), A, B)
    create(engine, A)
    create(engine, B)
    engine.run(BroadcastSignal("alarm"), B)
    assert {tenant for _, tenant in tenants_of(engine)} == {A}


def test_a_signal_that_is_thrown_after_a_command_by_key_is_of_the_instances_tenant(engine):
    hears = model(start(), catch(on="signal"), end(), "start > catch > end", id="hears")
    throws = model(start(), task("work"), throw(on="signal"), end(), "start > work > throw > end")
    deploy(engine, hears, A, B)
    deploy(engine, throws, A)
    create(engine, A, "hears")
    create(engine, B, "hears")
    create(engine, A)
    assert engine.run(CompleteJob(engine.job("work").key), BOTH).rejection is None
    assert tenants_of(engine) == [("catch", B), ("hears", B)]


# ---- commands by key


def by_key(engine):
    """A command of each kind by the key of a row of the only instance."""
    (instance,) = engine.state.trees
    job, (incident,) = engine.job("work").key, engine.state.incidents
    return [
        SetVariables(instance, raw({"a": 1})),
        UpdateJob(job, retries=2),
        ResolveIncident(incident),
        ThrowJobError(job, "code"),
        FailJob(job, 1),
        CompleteJob(job),
        WithholdJob(job, None, 1, 1),
        CancelInstance(instance),
        *(DeleteResource(key) for key in engine.state.catalogue.definitions),
    ]


@pytest.fixture
def with_incident(engine):
    """An instance of tenant A with a job and an incident."""
    deploy(engine, process(start(), task("work"), end(), "start > work > end"), A)
    create(engine, A)
    engine.run(FailJob(engine.job("work").key, 0), A)
    return engine


def shifted(command):
    """The same command with an unknown key of the same partition."""
    return msgspec.structs.replace(command, key=command.key + 1_000_000)


@pytest.mark.parametrize("sender", [B, "", joined({B, "gamma"})])
def test_a_foreign_key_is_rejected_like_an_unknown_one(with_incident, sender):
    before = dict(with_incident.rows)
    for command in by_key(with_incident):
        unknown = shifted(command)
        foreign, missing = with_incident.run(command, sender), with_incident.run(unknown, sender)
        assert foreign.rejection.code is missing.rejection.code is RejectionCode.NOT_FOUND, command
        assert foreign.rejection.reason == missing.rejection.reason.replace(str(unknown.key), str(command.key))
        assert foreign.events == missing.events == []
        assert foreign.root is missing.root is None
    assert with_incident.rows == before


def test_a_condition_on_a_foreign_tree_is_not_compared(with_incident):
    (instance,) = with_incident.state.trees
    command = conditional(CancelInstance(instance), instance, (99,))
    assert with_incident.run(command, A).rejection.code is RejectionCode.PRECONDITION_FAILED
    assert with_incident.run(command, B).rejection.code is RejectionCode.NOT_FOUND


@pytest.mark.parametrize("sender", [A, BOTH, EVERY_TENANT])
def test_whoever_has_the_tenant_may_use_the_key(engine, sender):
    deploy(engine, ONE_TASK, A)
    key = create(engine, A)
    assert engine.run(SetVariables(key, raw({"a": 1})), sender).rejection is None
    assert engine.run(CancelInstance(key), sender).rejection is None
    assert engine.state_of(key) == "TERMINATED"
    for definition in list(engine.state.catalogue.definitions):
        assert engine.run(DeleteResource(definition), sender).rejection is None


def test_what_follows_a_command_by_key_is_of_one_tenant(engine):
    """Work that is deferred to the inbox carries the instance's tenant and not the sender's list."""
    engine.memory.processor.set_inline(False)
    deploy(engine, model(start(), task("work"), receive(), end(), "start > work > receive > end"), A)
    create(engine, A, k="x")
    (handled,) = engine.memory.handle(CompleteJob(engine.job("work").key), BOTH, None)
    assert handled.rejection is None
    assert {one.tenant for one in engine.memory.processor.notices.to_inbox} == {A}
