"""Jobs: complete, fail, throw an error, update; what is rejected, and what the engine says about the lease."""

import pytest

from tests.core.engine import Engine
from tests.core.models import ONE_TASK, process, start, task
from vivero.core.execution.outcomes import CommandRecord
from vivero.core.execution.step import StepLimits
from vivero.core.needs import Lease, NotLoaded
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.core.records.instances import CancelInstance
from vivero.core.records.jobs import CompleteJob, FailJob, JobUpdated, ThrowJobError, UpdateJob, WithholdJob
from vivero.core.state.instance_tree import LEASED

TOKEN = "0b5bd8a5-6a9d-4b1b-b2d4-8b0f6a4c9f11"


@pytest.fixture
def working(engine):
    engine.deploy(ONE_TASK)
    engine.key = engine.start()
    return engine


def last(engine, table="Job"):
    return [row for (name, _), row in engine.rows.items() if name == table][-1]


def test_a_failed_job_with_retries_may_be_worked_again(working):
    working.memory.now = 5_000
    working.fail("work", retries=2, message="boom", seen=1)
    job = working.job("work")
    assert (job.state, job.retries, job.error_message, job.updated_at) == ("FAILED", 2, "boom", 5_000)
    assert working.incidents == []
    assert working.variables("work") == {"seen": 1}
    working.complete("work")
    assert working.state_of(working.key) == "COMPLETED"


def test_failing_without_backoff_offers_the_job_at_once(working):
    working.fail("work", retries=1)
    assert working.memory.processor.notices.available == {("work", "<default>"): 2}


def test_failing_with_backoff_says_when_the_job_is_due(working):
    leases = []
    working.state.begin_batch = lambda: leases.append(
        [(job.lease, job.available_at) for job in working.state.jobs.values()]
    )
    working.memory.now = 5_000
    working.fail("work", retries=1, backoff_ms=250)
    assert leases == [[("backoff", 5_250)]]


REPORTS = {
    "completed": lambda job, lease: CompleteJob(job, lease=lease),
    "failed": lambda job, lease: FailJob(job, 1, lease=lease),
    "error thrown": lambda job, lease: ThrowJobError(job, "E", lease=lease),
}


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_a_job_that_waits_for_its_backoff_is_not_reported_on(working, report):
    """Until its time has come: then it is open as one that nobody has been given."""
    working.memory.now = 5_000
    working.fail("work", retries=1, backoff_ms=250)
    job = working.job("work")
    working.memory.now = 5_249
    refused = working.run(report(job.key, None)).rejection
    assert (refused.code, "in state 'FAILED'" in refused.reason) == (RejectionCode.INVALID_STATE, True)
    assert (job.state, job.retries) == ("FAILED", 1)
    working.memory.now = 5_250
    assert working.run(report(job.key, None)).rejection is None


def test_a_job_that_was_given_out_after_its_backoff_is_reported_on_though_the_clock_was_set_back(working):
    working.memory.now = 5_000
    working.fail("work", retries=1, backoff_ms=250)
    key = working.job("work").key
    entry = CommandRecord(1_000, "<default>", CompleteJob(key))
    with pytest.raises(NotLoaded):
        working.memory.processor.process(entry, 5_000)
    assert working.memory.processor.process(entry, 5_000, {key: TOKEN})[0].rejection is None


def test_a_backoff_means_nothing_without_retries(working):
    working.fail("work", retries=0, backoff_ms=250)
    assert (working.job("work").lease, working.job("work").available_at) == ("closed", None)


def test_a_job_without_retries_left_is_an_incident(working):
    working.fail("work", message="boom")
    assert working.incidents == [("work", "JOB_NO_RETRIES", "boom")]
    assert working.job("work").state == "FAILED"


def test_an_incident_of_a_job_without_a_message_says_what_happened(working):
    working.fail("work", retries=-1)
    assert working.incidents == [("work", "JOB_NO_RETRIES", "No more retries left.")]


def test_an_error_that_nobody_catches_is_an_incident_of_the_job(working):
    working.throw("work", "E1", "boom", seen=1)
    assert working.incidents == [
        (
            "work",
            "UNHANDLED_ERROR_EVENT",
            "Expected to throw an error event with the code 'E1' with message 'boom', but it was not caught. "
            "No error events are available in the scope.",
        )
    ]
    job = working.job("work")
    assert (job.state, job.error_code, job.error_message, job.retries) == ("ERROR_THROWN", "E1", "boom", 3)
    assert working.variables("work") == {"seen": 1}


def test_updating_changes_retries_and_priority_only(working):
    working.fail("work", retries=1, message="boom")
    working.update("work", retries=9)
    working.update("work", priority=-5)
    job = working.job("work")
    assert (job.retries, job.priority, job.state, job.error_message) == (9, -5, "FAILED", "boom")


def test_what_was_failed_is_completed_with_its_message_kept(working):
    working.fail("work", retries=1, message="boom")
    working.complete("work")
    assert (last(working)["state"], last(working)["error_message"]) == ("COMPLETED", "boom")


# ---- rejections

REPORTS = [
    (CompleteJob, "complete"),
    (FailJob, "fail"),
    (lambda key, **more: ThrowJobError(key, "E", **more), "throw an error for"),
]


@pytest.mark.parametrize(("command", "doing"), [*REPORTS, (UpdateJob, "update")])
def test_a_job_that_is_not_there_is_not_found(working, command, doing):
    rejection = working.run(command(77)).rejection
    assert rejection.code is RejectionCode.NOT_FOUND
    assert rejection.reason == f"Expected to {doing} job with key '77', but no such job was found"


@pytest.mark.parametrize(("command", "doing"), [*REPORTS, (UpdateJob, "update")])
def test_a_completed_job_is_not_found(working, command, doing):
    key = working.job("work").key
    working.complete("work")
    rejection = working.run(command(key)).rejection
    assert rejection.reason == f"Expected to {doing} job with key '{key}', but no such job was found"


@pytest.mark.parametrize(("command", "doing"), [*REPORTS, (UpdateJob, "update")])
def test_a_job_of_another_tenant_is_not_found(working, command, doing):
    key = working.job("work").key
    rejection = working.run(command(key), tenant="other").rejection
    assert rejection.reason == f"Expected to {doing} job with key '{key}', but no such job was found"


@pytest.mark.parametrize(("command", "doing"), REPORTS)
def test_a_job_with_an_incident_cannot_be_reported_on(working, command, doing):
    working.fail("work")
    key = working.job("work").key
    rejection = working.run(command(key)).rejection
    assert rejection.code is RejectionCode.INVALID_STATE
    assert rejection.reason == f"Expected to {doing} job with key '{key}', but it is in state 'FAILED'"


def test_a_job_with_an_uncaught_error_cannot_be_completed(working):
    working.throw("work", "E")
    key = working.job("work").key
    rejection = working.run(CompleteJob(key)).rejection
    assert rejection.reason == f"Expected to complete job with key '{key}', but it is in state 'ERROR_THROWN'"


def process_with_lease(engine, command, token):
    """Handle a command as the consumer does, at 1,000, with the lease that the job has now, until 2,000."""
    entry = CommandRecord(99, "<default>", command)
    return engine.memory.processor.process(entry, 1_000, {command.key: token and Lease(token, 2_000)})[0]


@pytest.mark.parametrize(("command", "doing"), REPORTS)
@pytest.mark.parametrize("now", [None, "another"])
def test_a_lost_lease_is_told(working, command, doing, now):
    key = working.job("work").key
    rejection = process_with_lease(working, command(key, lease=TOKEN), now).rejection
    assert rejection.code is RejectionCode.INVALID_STATE
    assert rejection.reason == (
        f"Expected to {doing} job with key '{key}', but its lease was lost: the job timed out or was "
        "handed to another worker"
    )


@pytest.mark.parametrize(("command", "doing"), REPORTS)
def test_a_lease_that_holds_is_fine(working, command, doing):
    key = working.job("work").key
    assert process_with_lease(working, command(key, lease=TOKEN), TOKEN).rejection is None


def test_a_lease_gets_another_end(working):
    job = working.job("work")
    job.lease = None  # as after each save
    for timeout_ms in (500, 700):
        (updated,) = process_with_lease(working, UpdateJob(job.key, 2, None, timeout_ms), TOKEN).events
        assert updated == JobUpdated(job.key, 2, None, 1_000 + timeout_ms)
    assert (job.retries, job.lease, job.leased_until) == (2, LEASED, 1_700)


@pytest.mark.parametrize(("changes", "moot"), [({}, True), ({"retries": 2}, False), ({"priority": 0}, False)])
@pytest.mark.parametrize("lease", [None, Lease(TOKEN, 1_000)], ids=["none", "over"])
def test_without_a_lease_nothing_is_changed(working, lease, changes, moot):
    key = working.job("work").key
    entry = CommandRecord(99, "<default>", UpdateJob(key, timeout_ms=500, **changes))
    (handled,) = working.memory.processor.process(entry, 1_000, {key: lease})
    text = f"Expected to update the timeout of job with key '{key}', but it is not activated"
    assert handled.rejection == Rejection(RejectionCode.INVALID_STATE, text, (), moot)
    assert working.job("work").retries == 3


def test_a_report_without_a_lease_is_taken_from_anybody(working):
    key = working.job("work").key
    assert process_with_lease(working, CompleteJob(key), "whoever has it").rejection is None


def test_a_job_of_an_element_that_is_ending_is_not_found():
    """A quantum of one item: the cancelled instance is told first, its task later."""
    slow = Engine(StepLimits(quantum_items=1))
    slow.deploy(process(start(), task("work"), "start > work"))
    key = slow.start()
    job = slow.job("work").key
    notices = slow.memory.processor.notices
    slow.memory.handle(CancelInstance(key), "<default>", None)
    while slow.element("work").state == "ACTIVATED":
        (one,) = notices.to_inbox
        notices.to_inbox.clear()
        slow.memory.handle(one.command, one.tenant, one.request)
    rejection = slow.memory.handle(CompleteJob(job), "<default>", None)[0].rejection
    assert rejection.reason == f"Expected to complete job with key '{job}', but no such job was found"


# Withholding: a job that is too large for any answer


def withhold(engine, lease=None, size=9_000, leased=None):
    job = engine.job("work")
    command = CommandRecord(900, "<default>", WithholdJob(job.key, lease, size, 8_000), 0)
    (handled,) = engine.memory.processor.process(command, 1, {job.key: leased and Lease(leased, 2)})
    return handled


def test_a_withheld_job_is_given_to_nobody_and_named_by_an_incident(working):
    handled = withhold(working)
    assert [type(event).__name__ for event in handled.events] == ["JobWithheld", "IncidentRaised"]
    job = working.job("work")
    assert job.lease == "closed"
    incident = next(iter(job.element.waits.incidents.values()))
    assert (incident.type, incident.job) == ("MESSAGE_SIZE_EXCEEDED", job.key)
    assert "takes 9000 bytes, and an answer takes at most 8000" in incident.message


def test_a_job_that_sees_too_many_variables_is_withheld(working):
    withhold(working, size=None)
    job = working.job("work")
    assert "sees more than 8000 variables" in next(iter(job.element.waits.incidents.values())).message


def test_a_withheld_job_is_offered_again_when_its_incident_is_resolved(working):
    withhold(working)
    working.memory.processor.notices.available.clear()
    working.resolve()
    job = working.job("work")
    assert (job.state, job.lease) == ("CREATED", "ready")
    assert working.memory.processor.notices.available == {("work", "<default>"): 1}
    working.complete("work")
    assert working.state_of(working.key) == "COMPLETED"


def test_a_job_is_withheld_once(working):
    withhold(working)
    assert withhold(working).rejection.code is RejectionCode.INVALID_STATE


@pytest.mark.parametrize(("lease", "leased"), [(None, TOKEN), (TOKEN, None), (TOKEN, "other")])
def test_a_job_that_somebody_was_given_since_is_not_withheld(working, lease, leased):
    """A worker that fetches less can work it."""
    assert withhold(working, lease, leased=leased).rejection.code is RejectionCode.INVALID_STATE
    assert withhold(working, TOKEN, leased=TOKEN).rejection is None
