"""Incidents: where a stage fails nothing of it happens, and resolving runs exactly that stage again."""

import msgspec
import pytest

from tests.core.engine import apply_by, raw, snapshot
from tests.core.models import ONE_TASK, end, flow, process, start, sub, task, xor
from vivero.core.execution.outcomes import CommandRecord
from vivero.core.needs import Lease
from vivero.core.records.catalogue import DeleteResource
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.core.records.instances import (
    CancelInstance,
    ContinueWork,
    CreateInstance,
    ElementActivating,
    IncidentRaised,
    ResolveIncident,
    SetVariables,
    VariableSet,
)
from vivero.core.records.jobs import CompleteJob, FailJob, JobReleased, JobWithheld, ThrowJobError, UpdateJob


def kinds(handled):
    return [type(event).__name__ for event in handled.events]


# ---- which expressions fail, and as what

CONDITION = process(
    start(), xor("g", default="g-b"), task("a"), task("b"), "start > g", flow("g", "a", "=x"), flow("g", "b")
)
NUMBER = "Expected result of the expression '{}' to be a whole number of 32 bits, but was '{}'."

FAILURES = {
    "input": (
        process(start(), task("work", inputs=[("=assert(x, x = 1)", "y")]), "start > work"),
        ("work", "IO_MAPPING_ERROR"),
        "inputs",
    ),
    "output": (
        process(start(), sub("s", start("i"), outputs=[("=assert(x, x = 1)", "y")]), task("work"), "start > s > work"),
        ("s", "IO_MAPPING_ERROR"),
        "outputs",
    ),
    "condition": (CONDITION, ("g", "EXTRACT_VALUE_ERROR"), "leave"),
    "type": (process(start(), task("work", type="=x"), "start > work"), ("work", "EXTRACT_VALUE_ERROR"), "activate"),
    "retries": (
        process(start(), task("work", retries="=x"), "start > work"),
        ("work", "EXTRACT_VALUE_ERROR"),
        "activate",
    ),
    "priority": (
        process(start(), task("work", priority="=x"), "start > work"),
        ("work", "EXTRACT_VALUE_ERROR"),
        "activate",
    ),
}
GOOD = {"input": 1, "output": 1, "condition": False, "type": "t", "retries": 2, "priority": 2}


@pytest.mark.parametrize("case", FAILURES)
def test_a_failing_expression_is_an_incident_and_runs_again_when_resolved(engine, case):
    model, expected, stage = FAILURES[case]
    engine.deploy(model)
    key = engine.start(x=None)
    (found,) = engine.incidents
    assert found[:2] == expected
    (incident,) = engine.state.incidents.values()
    assert incident.stage == stage
    assert engine.jobs == []
    engine.set(key, x=GOOD[case])
    assert engine.jobs == []
    resolved = engine.resolve()
    assert resolved.rejection is None
    assert kinds(resolved)[0] == "IncidentResolved"
    assert engine.incidents == []
    assert len(engine.jobs) == 1


@pytest.mark.parametrize("case", FAILURES)
def test_resolving_too_early_is_another_incident(engine, case):
    engine.deploy(FAILURES[case][0])
    engine.start(x=None)
    (before,) = engine.state.incidents
    engine.resolve()
    (after,) = engine.state.incidents
    assert after > before
    assert engine.state.elements[engine.element("p").key].incidents == 1


@pytest.mark.parametrize(
    ("attribute", "x", "message"),
    [
        ("type", 5, "Expected result of the expression 'x' to be 'STRING', but was 'NUMBER'."),
        ("type", [1], "Expected result of the expression 'x' to be 'STRING', but was 'ARRAY'."),
        ("type", {"a": 1}, "Expected result of the expression 'x' to be 'STRING', but was 'OBJECT'."),
        ("type", True, "Expected result of the expression 'x' to be 'STRING', but was 'BOOLEAN'."),
        ("retries", "1.5", NUMBER.format("x", "1.5")),
        ("retries", True, NUMBER.format("x", "BOOLEAN")),
        ("retries", None, NUMBER.format("x", "NULL")),
        ("priority", [1], NUMBER.format("x", "ARRAY")),
        ("priority", "9" * 200, NUMBER.format("x", "9" * 100)),
        ("priority", "9" * 5000, NUMBER.format("x", "9" * 100)),
        ("retries", "+-5", NUMBER.format("x", "+-5")),
        ("retries", "--5", NUMBER.format("x", "--5")),
        ("priority", 2**31, NUMBER.format("x", 2**31)),
        ("priority", -(2**31) - 1, NUMBER.format("x", -(2**31) - 1)),
        ("retries", 0.5, NUMBER.format("x", "0.5")),
    ],
)
def test_what_is_wrong_with_a_value_is_told(engine, attribute, x, message):
    engine.deploy(process(start(), task("work", **{attribute: "=x"}), "start > work"))
    engine.start(x=x)
    assert engine.incidents == [("work", "EXTRACT_VALUE_ERROR", message)]


def test_a_number_that_is_none_tells_the_warnings(engine):
    engine.deploy(process(start(), task("work", retries="=missing"), "start > work"))
    engine.start()
    (incident,) = engine.incidents
    assert incident[2] == (
        NUMBER.format("missing", "NULL") + " The evaluation reported the following warnings:\n"
        "[NO_VARIABLE_FOUND] No variable found with name 'missing'"
    )


@pytest.mark.parametrize("x", [2**31 - 1, -(2**31)])
def test_the_ends_of_the_range_are_inside(engine, x):
    engine.deploy(process(start(), task("work", priority="=x"), "start > work"))
    engine.start(x=x)
    assert engine.job("work").priority == x


def test_a_condition_that_is_no_boolean_tells_the_warnings(engine):
    engine.deploy(CONDITION)
    engine.start()
    assert engine.incidents == [
        (
            "g",
            "EXTRACT_VALUE_ERROR",
            "Expected result of the expression 'x' to be 'BOOLEAN', but was 'NULL'. The evaluation reported the "
            "following warnings:\n[NO_VARIABLE_FOUND] No variable found with name 'x'",
        )
    ]


def test_a_mapping_that_has_no_value_at_all_says_why(engine):
    engine.deploy(FAILURES["input"][0])
    engine.start(x=2)
    ((_, _, message),) = engine.incidents
    assert message.startswith("Failed to evaluate expression 'assert(x, x = 1)'. ")


# ---- a failing stage leaves nothing


def test_of_several_inputs_none_is_set_when_one_fails(engine):
    engine.deploy(process(start(), task("work", inputs=[("=1", "a"), ("=assert(x, x = 1)", "b")]), "start > work"))
    engine.start(x=2)
    assert engine.variables("work") == {}
    assert engine.element("work").state == "ACTIVATING"


def test_of_several_outputs_none_is_set_when_one_fails(engine):
    engine.deploy(process(start(), task("work", outputs=[("=1", "a"), ("=assert(x, x = 1)", "b")]), "start > work"))
    key = engine.start(x=2)
    engine.complete("work", r=1)
    assert engine.variables_of(key) == {"x": 2}
    assert engine.variables("work") == {"r": 1}
    assert engine.element("work").state == "COMPLETING"
    assert engine.jobs == []
    engine.set(key, x=1)
    engine.resolve()
    assert engine.variables_of(key) == {"x": 1, "a": 1, "b": 1}
    assert engine.state_of(key) == "COMPLETED"


def test_only_the_failed_stage_runs_again(engine):
    """Inputs are not mapped a second time when the job's type fails after them."""
    engine.deploy(process(start(), task("work", type="=t", inputs=[("=n", "m")]), "start > work"))
    key = engine.start(n=1)
    engine.set(key, n=2, t="x")
    resolved = engine.resolve()
    assert kinds(resolved) == ["IncidentResolved", "ElementActivated", "JobCreated"]
    assert engine.variables("work") == {"m": 1}


def test_everything_else_goes_on_beside_an_incident(engine):
    engine.deploy(process(start(), task("bad", type="=t"), task("good"), "start > bad", "start > good"))
    key = engine.start()
    assert engine.jobs == ["good"]
    engine.complete("good")
    assert engine.state_of(key) == "ACTIVATED"
    engine.set(key, t="x")
    engine.resolve()
    engine.complete("bad")
    assert engine.state_of(key) == "COMPLETED"


def test_a_condition_fails_for_its_token_alone_and_again_for_each(engine):
    engine.deploy(
        process(
            start(), xor("g"), task("a"), flow("start", "g", id="x"), flow("start", "g", id="y"), flow("g", "a", "=ok")
        )
    )
    key = engine.start(ok=False)
    assert [i[1] for i in engine.incidents] == ["CONDITION_ERROR"] * 2
    assert engine.element("p").incidents == 2
    engine.set(key, ok=True)
    first, second = engine.state.incidents
    engine.resolve(first)
    assert (engine.jobs, engine.element("p").incidents) == (["a"], 1)
    engine.resolve(second)
    assert (engine.jobs, engine.element("p").incidents) == (["a", "a"], 0)


# ---- flags and counters


def test_incidents_are_counted_on_all_scopes_above(engine):
    inner = sub("s", start("i"), task("deep", type="=t"), "i > deep")
    engine.deploy(process(start(), inner, task("beside"), "start > s", "start > beside"))
    engine.start()
    (incident,) = engine.state.incidents
    assert [(e.element, e.incidents, e.incident) for e in engine.state.elements.values()] == [
        ("p", 1, None),
        ("s", 1, None),
        ("beside", 0, None),
        ("deep", 1, incident),
    ]


def test_raising_and_resolving_carry_the_time(engine):
    engine.deploy(ONE_TASK)
    engine.start()
    engine.memory.now = 2_000
    engine.fail("work")
    (incident,) = engine.state.incidents
    engine.update("work", retries=1)
    engine.memory.now = 3_000
    engine.resolve(incident)
    row = engine.rows["Incident", incident]
    assert (row["created_at"], row["resolved_at"], row["state"]) == (2_000, 3_000, "RESOLVED")


# ---- incidents of jobs


def test_resolving_an_incident_of_a_job_offers_the_job_again(engine):
    engine.deploy(ONE_TASK)
    key = engine.start()
    engine.fail("work", message="boom")
    engine.update("work", retries=2)
    assert len(engine.incidents) == 1, "new retries alone resolve nothing"
    resolved = engine.resolve()
    assert [type(event) for event in resolved.events][1:] == [JobReleased]
    job = engine.job("work")
    assert (job.state, job.retries, job.lease) == ("CREATED", 2, "ready")
    engine.complete("work")
    assert engine.state_of(key) == "COMPLETED"


def test_an_incident_of_a_job_without_retries_is_not_resolved(engine):
    engine.deploy(ONE_TASK)
    engine.start()
    engine.fail("work")
    (incident,) = engine.state.incidents
    rejection = engine.resolve().rejection
    assert rejection.code is RejectionCode.INVALID_STATE
    assert rejection.reason == (
        f"Expected to resolve incident with key '{incident}', but job with key '{engine.job('work').key}' has no "
        "retries left: update its retries first"
    )
    assert len(engine.incidents) == 1


def test_an_uncaught_error_is_resolved_without_new_retries(engine):
    engine.deploy(ONE_TASK)
    key = engine.start()
    engine.throw("work", "E")
    engine.resolve()
    assert engine.job("work").state == "CREATED"
    engine.complete("work")
    assert engine.state_of(key) == "COMPLETED"


@pytest.mark.parametrize("tenant", ["<default>", "other"])
def test_an_incident_that_is_not_there_is_not_found(engine, tenant):
    engine.deploy(ONE_TASK)
    engine.start()
    engine.fail("work")
    (known,) = engine.state.incidents
    asked = known if tenant == "other" else 77
    rejection = engine.run(ResolveIncident(asked), tenant).rejection
    assert rejection.code is RejectionCode.NOT_FOUND
    assert rejection.reason == f"Expected to resolve incident with key '{asked}', but no such incident was found"


# ---- a bug of ours


@pytest.fixture
def buggy(engine, monkeypatch):
    """The applier's table with a mine in it: armed, the next entering of `end` raises after much has been changed."""

    engine.deploy(
        process(start(), task("work", outputs=[("=r", "r")]), task("next"), end(), "start > work > next", "work > end")
    )
    engine.key = engine.start(n=1)
    engine.mine = {"armed": True}

    def mined(usual, state, event):
        if engine.mine["armed"] and event.element == "end":
            raise ZeroDivisionError("a bug")
        return usual(state, event)

    apply_by(monkeypatch, ElementActivating, mined)
    return engine


def test_a_handler_that_raises_is_undone_rejected_and_quarantined(buggy):
    key = buggy.job("work").key
    handled = buggy.complete("work", r=2)
    assert handled.rejection.code is RejectionCode.PROCESSING_ERROR
    assert handled.rejection.reason == "handling the command raised ZeroDivisionError: a bug"
    withheld, event = handled.events
    job = buggy.job("work")
    assert withheld == JobWithheld(job.key), "no worker is given it until the incident is resolved"
    assert isinstance(event, IncidentRaised)
    assert (event.element, event.job) == (job.element.key, job.key)
    assert (event.stage, event.type) == ("command", "UNKNOWN")
    assert event.message == "Command 'JOB:COMPLETE' at position 3: handling the command raised ZeroDivisionError: a bug"
    position, bug = buggy.memory.processor.notices.poisoned.pop()
    assert (position, type(bug)) == (3, ZeroDivisionError)
    # but for the incident, everything is as before
    buggy.mine["armed"] = False
    state = buggy.state
    assert [e.element for e in state.elements.values()] == ["p", "work"]
    assert state.jobs[key].state == "CREATED"
    assert buggy.variables_of(buggy.key) == {"n": 1}


@pytest.mark.parametrize("held", ["other", None])
def test_a_report_without_the_lease_does_not_withhold_the_job(buggy, held):
    """Another worker may have been given it since."""
    job = buggy.job("work")
    command = CompleteJob(job.key, lease="mine")
    rejection = Rejection(RejectionCode.PROCESSING_ERROR, "refused")
    buggy.memory.processor.reject(
        CommandRecord(99, "<default>", command), 1_000, rejection, {job.key: held and Lease(held, 2_000)}
    )
    ((_, incident),) = buggy.state.incidents.items()
    assert (incident.element.key, incident.job) == (buggy.key, None)


def test_a_report_on_a_job_that_has_an_incident_does_not_withhold_it_again(buggy):
    buggy.fail("work")
    rejection = Rejection(RejectionCode.PROCESSING_ERROR, "refused")
    buggy.memory.processor.reject(CommandRecord(99, "<default>", CompleteJob(buggy.job("work").key)), 1_000, rejection)
    assert [incident.job is None for incident in buggy.state.incidents.values()] == [False, True]


def test_undo_leaves_the_state_as_it_was(buggy):
    """The same without the incident: by hand, where the processor would raise it."""
    before = snapshot(buggy.state)
    processor = buggy.memory.processor
    processor._poisoned = lambda command, bug: None
    buggy.complete("work", r=2)
    after = snapshot(buggy.state)
    assert after == before


def test_a_quarantined_command_runs_again_when_its_incident_is_resolved(buggy):
    buggy.complete("work", r=2)
    buggy.mine["armed"] = False
    resolved = buggy.resolve()
    assert resolved.rejection is None
    assert buggy.incidents == []
    assert buggy.jobs == ["next"]
    assert buggy.variables_of(buggy.key) == {"n": 1, "r": 2}
    buggy.complete("next")
    assert buggy.state_of(buggy.key) == "COMPLETED"


def test_a_quarantined_command_that_raises_again_is_quarantined_again(buggy):
    buggy.complete("work", r=2)
    (first,) = buggy.state.incidents
    buggy.resolve()
    (second,) = buggy.state.incidents
    assert second > first
    assert buggy.rows["Incident", first]["state"] == "RESOLVED"


def test_a_quarantined_command_keeps_every_digit(buggy):
    long = b"12345678901234567890.12345678901234567890"
    buggy.run(CompleteJob(buggy.job("work").key, {"r": msgspec.Raw(long)}))
    buggy.mine["armed"] = False
    buggy.resolve()
    (row,) = [
        row
        for (table, _), row in buggy.rows.items()
        if table == "Variable" and row["name"] == "r" and row["scope"] != buggy.key
    ]
    assert row["value"] == long.decode()


def test_a_quarantined_command_may_hold_numbers_beyond_floats(buggy):
    buggy.run(CompleteJob(buggy.job("work").key, {"r": msgspec.Raw(b"1e999")}))
    assert len(buggy.incidents) == 1


def test_a_bug_harms_its_own_command_alone(buggy):
    other = buggy.start(n=2)
    buggy.complete("work")
    job = next(job for job in buggy.state.jobs.values() if job.element.tree.key == other)
    buggy.mine["armed"] = False
    assert buggy.run(CompleteJob(job.key)).rejection is None
    assert buggy.run(SetVariables(buggy.key, raw({"n": 3}))).rejection is None


def test_a_bug_in_creating_leaves_nothing_but_its_rejection(engine, monkeypatch):

    engine.deploy(ONE_TASK)

    def recurse(_usual, _state, _event):
        raise RecursionError("too deep")

    apply_by(monkeypatch, VariableSet, recurse)
    before = snapshot(engine.state)
    handled = engine.run(CreateInstance("p", variables=raw({"a": 1})))
    assert handled.rejection.reason == "handling the command raised RecursionError: too deep"
    assert handled.events == []
    assert snapshot(engine.state) == before


# ---- rejected commands


def test_rejected_commands_never_move_the_key_generator(engine):
    engine.deploy(ONE_TASK)
    engine.start()
    engine.fail("work")
    job = engine.job("work").key
    (incident,) = engine.state.incidents
    before = snapshot(engine.state)
    commands = [
        CreateInstance("unknown", variables=raw({"a": 1})),
        CreateInstance(definition_key=77),
        CreateInstance("p", version=9),
        CancelInstance(77),
        CompleteJob(job, raw({"a": 1, "b": 2})),
        FailJob(job, variables=raw({"a": 1})),
        ThrowJobError(job, "E", variables=raw({"a": 1})),
        UpdateJob(77, retries=1),
        ResolveIncident(incident),
        ResolveIncident(77),
        SetVariables(77, raw({"a": 1})),
        DeleteResource(77),
        ContinueWork(77),
    ]
    for command in commands:
        handled = engine.run(command)
        assert handled.rejection is not None, command
        assert handled.events == []
        assert snapshot(engine.state) == before, command
