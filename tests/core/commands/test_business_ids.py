"""Business ids that running process instances get: who gets one, and which rows carry it."""

import pytest

from tests.core.elements.test_user_task import user
from tests.core.engine import Engine, raw, rebuilt
from tests.core.event_models import LIMITS, call, model
from tests.core.message_models import model as message_model
from tests.core.message_models import receive
from tests.core.models import end, process, start, sub, task
from vivero.core.records.business_ids import AssignBusinessId, BusinessIdAssigned
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CreateInstance
from vivero.core.records.jobs import CompleteJob
from vivero.core.records.suspensions import ResumeInstance, SuspendInstance
from vivero.core.snapshots.codec import decode, encode
from vivero.core.snapshots.writer import snapshot_of

REFUSED = RejectionCode.INVALID_STATE
ONE = model(start(), task("work"), end(), "start > work > end")
TWO = model(start(), task("first"), task("second"), end(), "start > first > second > end")


@pytest.fixture(params=LIMITS)
def cut(request):
    """An engine, with whole commands and with commands cut into quanta."""
    return Engine(LIMITS[request.param])


def refused(handled, *texts):
    """The command was refused with these texts, and did nothing."""
    assert handled.rejection.code is REFUSED
    assert all(text in handled.rejection.reason for text in texts), handled.rejection.reason
    assert handled.events == []


# Receivers of one -----------------------------------------------------------------------------------------------------


def test_an_instance_without_one_gets_it_once(cut):
    cut.deploy(ONE)
    key = cut.start()
    assert cut.accepted(AssignBusinessId(key, "order-7")).events == [BusinessIdAssigned(key, "order-7")]
    assert cut.accepted(AssignBusinessId(key, "order-7")).events == [], "the same one again changes nothing"
    refused(cut.run(AssignBusinessId(key, "order-8")), str(key), "it has another business id already")
    assert cut.state.elements[key].business_id == "order-7"
    rebuilt(cut)
    cut.complete("work")
    assert cut.rows["Instance", key]["business_id"] == "order-7"


def test_one_that_began_with_an_id_keeps_it(engine):
    engine.deploy(ONE)
    key = engine.run(CreateInstance("p", business_id="mine")).response.process_instance_key
    refused(engine.run(AssignBusinessId(key, "other")), "another business id")
    assert engine.accepted(AssignBusinessId(key, "mine")).events == []


def test_a_called_instance_is_refused_even_with_the_id_that_it_inherits(engine):
    engine.deploy(
        model(start("cs"), task("inside"), "cs > inside", id="c"), model(start(), call("x", "c"), "start > x")
    )
    root = engine.start()
    child = engine.element("c").key
    refused(engine.run(AssignBusinessId(child, "order-7")), str(child), f"parent process instance with key '{root}'")
    root = engine.run(CreateInstance("p", business_id="mine")).response.process_instance_key
    child = next(one.key for one in engine.state.elements.values() if one.element == "c" and one.tree.key == root)
    refused(engine.run(AssignBusinessId(child, "mine")), "only root process instances")


def test_what_is_no_live_instance_is_not_found(engine):
    engine.deploy(ONE)
    key = engine.start()
    found = [(77, "<default>"), (engine.element("work").key, "<default>"), (key, "other")]
    engine.start()
    for other, tenant in found:
        rejection = engine.run(AssignBusinessId(other, "order-7"), tenant).rejection
        assert (rejection.code, str(other) in rejection.reason) == (RejectionCode.NOT_FOUND, True)
    engine.cancel(key)
    assert engine.run(AssignBusinessId(key, "order-7")).rejection.code is RejectionCode.NOT_FOUND


def test_a_suspended_instance_is_refused(engine):
    engine.deploy(ONE)
    key = engine.start()
    engine.accepted(SuspendInstance(key))
    refused(engine.run(AssignBusinessId(key, "order-7")), str(key), "is suspended: resume it first")
    engine.accepted(ResumeInstance(key))
    engine.accepted(AssignBusinessId(key, "order-7"))


# With a job -----------------------------------------------------------------------------------------------------------


def test_a_completed_job_assigns_it_before_the_next_one_is_created(cut):
    cut.deploy(TWO)
    key = cut.start()
    cut.accepted(CompleteJob(cut.job("first").key, business_id="order-7"))
    assert (cut.job("second").business_id, cut.state.elements[key].business_id) == ("order-7", "order-7")
    cut.accepted(CompleteJob(cut.job("second").key, business_id="order-7"))
    assert cut.state_of(key) == "COMPLETED"
    rebuilt(cut)


def test_a_refused_id_leaves_the_job_open(engine):
    engine.deploy(TWO)
    key = engine.run(CreateInstance("p", business_id="mine")).response.process_instance_key
    job = engine.job("first").key
    refused(engine.run(CompleteJob(job, raw({"x": 1}), business_id="other")), str(key), "another business id")
    assert (engine.jobs, engine.variables("p")) == (["first"], {})
    engine.accepted(CompleteJob(job))


def test_a_job_of_a_called_instance_cannot_assign_one(engine):
    engine.deploy(
        model(start("cs"), task("inside"), "cs > inside", id="c"), model(start(), call("x", "c"), "start > x")
    )
    engine.start()
    refused(engine.run(CompleteJob(engine.job("inside").key, business_id="order-7")), "only root process instances")
    assert engine.jobs == ["inside"]


def test_the_job_of_a_task_listener_assigns_one(engine):
    listener = '<zeebe:taskListeners><zeebe:taskListener eventType="creating" type="t"/></zeebe:taskListeners>'
    engine.deploy(process(start(), user(mapping=listener), end(), "start > decide > end"))
    key = engine.start()
    (job,) = engine.state.jobs
    engine.accepted(CompleteJob(job, business_id="order-7"))
    assert engine.state.elements[key].business_id == "order-7"
    assert [task.business_id for task in engine.state.user_tasks.values()] == [None], "it was there before"


# Rows that carry it ---------------------------------------------------------------------------------------------------


def test_only_rows_made_afterwards_carry_it(cut):
    """Jobs, user tasks, subscriptions, decision instances and called instances, in one batch or in several."""
    child = model(start("cs"), task("inside"), "cs > inside", id="c")
    each = [start(), task("job"), user("decide"), receive("wait"), call("x", "c")]
    flows = "start > job", "start > decide", "start > wait", "start > x"
    twice = sub(
        "again",
        start("s2"),
        task("job2"),
        user("decide2"),
        receive("wait2"),
        call("x2", "c"),
        *(flow.replace("start", "s2") + "2" for flow in flows),
    )
    cut.deploy(child, message_model(*each, twice, task("then"), *flows, "start > then > again"))
    key = cut.start(k="here")
    before = [*cut.state.jobs.values(), *cut.state.user_tasks.values(), *cut.state.subscriptions.values()]
    cut.accepted(AssignBusinessId(key, "order-7"))
    cut.complete("then")
    carried = {}
    for rows in (cut.state.jobs, cut.state.user_tasks, cut.state.subscriptions):
        carried |= {row.key: (row.element.element, row.business_id) for row in rows.values()}
    old = {row.key for row in before if row.element.element != "then"}
    assert {carried[key] for key in old} == {(id, None) for id in ("job", "decide", "wait", "inside")}
    new = {of for key, of in carried.items() if key not in old}
    assert new == {(id, "order-7") for id in ("job2", "decide2", "wait2", "inside")}
    called = [one.business_id for one in cut.state.elements.values() if one.element == "c"]
    assert sorted(called, key=str) == [None, "order-7"]
    assert cut.incidents == []
    rebuilt(cut)


def test_a_snapshot_knows_the_id_of_the_instance_and_of_what_waits(engine):
    engine.deploy(message_model(start(), receive("wait"), receive("later"), end(), "start > wait > later > end"))
    key = engine.start(k="here")
    engine.accepted(AssignBusinessId(key, "order-7"))
    root = engine.state.elements[key]
    for waits_with in (None, "order-7"):
        entry = decode(encode(snapshot_of(root, engine.state.catalogue, version=1, at=1_000)))
        assert entry.elements[0].process.business_id == "order-7"
        assert [one.business_id for one in entry.subscriptions] == [waits_with]
        engine.publish("hello", "here")
