"""Task listeners: jobs at the transitions of a user task, which they can correct or deny."""

import json
from typing import Any

import pytest

from tests.core import message_models
from tests.core.engine import Engine, raw, rebuilt
from tests.core.event_models import LIMITS, boundary, loop
from tests.core.models import end, process, start, sub, task
from tests.core.task_listener_models import (
    _complete,
    agree,
    answers,
    model,
    open_listeners,
    refuse,
    task_of,
    user_task,
)
from vivero.core.records.instances import CancelInstance, SetVariables
from vivero.core.records.jobs import CompleteJob, FailJob, ThrowJobError, UserTaskResult
from vivero.core.records.messages import PublishMessage
from vivero.core.records.user_tasks import (
    AssignUserTask,
    ClaimUserTask,
    CompleteUserTask,
    GlobalListener,
    GlobalListeners,
    UpdateUserTask,
)

PREFIX = "io.camunda.zeebe:"
ASSIGN = ("assigning", lambda key: AssignUserTask(key, "ada"))
CLAIM = ("assigning", lambda key: ClaimUserTask(key, "ada", "claim"))
UNASSIGN = ("assigning", lambda key: AssignUserTask(key, None, "unassign"))
UPDATE = ("updating", lambda key: UpdateUserTask(key, {"priority": 80}))
COMPLETE = ("completing", lambda key: CompleteUserTask(key, {}, "approve"))
CHANGES = {"assign": ASSIGN, "claim": CLAIM, "unassign": UNASSIGN, "update": UPDATE, "complete": COMPLETE}


@pytest.fixture(params=LIMITS)
def engine(request):
    return Engine(LIMITS[request.param])


@pytest.fixture
def begun(engine):
    """Starts a process with one user task; the key of the instance."""

    def begin(*listeners, variables=None, **more):
        engine.deploy(model(*listeners, **more))
        return engine.start(**(variables or {}))

    return begin


def ask(engine, command):
    """Run a command whose answer may come later; its position."""
    engine.run(command)
    ours = type(command)
    return next(logged.position for logged in reversed(engine.memory.log) if type(logged.command) is ours)


def last_row(engine):
    return [row for (table, _), row in engine.rows.items() if table == "UserTask"][-1]


def headers(engine):
    (job,) = (job for job in engine.state.jobs.values() if job.kind == "TASK_LISTENER")
    return {name.removeprefix(PREFIX): value for name, value in job.headers.items()}


# ---- each event, agreed to


def test_creating_comes_before_anybody_can_work_on_the_task(engine, begun):
    key = begun("creating a", "creating b 5")
    task = task_of(engine)
    assert (task.status, open_listeners(engine), task.element.state) == ("CREATING", ["a"], "ACTIVATED")
    (job,) = engine.state.jobs.values()
    assert (job.kind, job.listener_event, job.listener_index, job.retries, job.priority) == (
        "TASK_LISTENER",
        "CREATING",
        0,
        3,
        0,
    )
    rejection = engine.run(CompleteUserTask(task.key)).rejection
    assert rejection.reason == f"Expected to complete user task with key '{task.key}', but it is in state 'CREATING'"
    agree(engine, "a")
    assert open_listeners(engine) == ["b"]
    agree(engine, "b")
    assert (task.status, open_listeners(engine), task.transition) == ("CREATED", [], None)
    engine.run(CompleteUserTask(task.key))
    assert engine.state_of(key) == "COMPLETED"


@pytest.mark.parametrize("name", CHANGES)
def test_the_request_waits_until_the_last_listener_has_agreed(engine, begun, name):
    event, command = CHANGES[name]
    begun(f"{event} a", f"{event} b")
    task = task_of(engine)
    position = ask(engine, command(task.key))
    assert (task.status, open_listeners(engine), answers(engine, position)) == (event.upper(), ["a"], [])
    agree(engine, "a")
    assert (open_listeners(engine), answers(engine, position)) == (["b"], [])
    before = (task.assignee, task.priority)
    assert before == (None, 50)
    agree(engine, "b")
    assert answers(engine, position) == ["done"]
    expected = {
        "assign": ("CREATED", "ada", 50),
        "claim": ("CREATED", "ada", 50),
        "unassign": ("CREATED", None, 50),
        "update": ("CREATED", None, 80),
        "complete": ("COMPLETED", None, 50),
    }
    row = last_row(engine)
    assert (row["state"], row["assignee"], row["priority"]) == expected[name]
    assert row["transition"] is None


def test_completing_comes_before_output_mappings_and_end_listeners(engine, begun):
    key = begun("completing a", outputs=[("=n + 1", "left")], execution=["end e"])
    ask(engine, CompleteUserTask(task_of(engine).key, raw({"n": 1})))
    assert engine.variables("decide") == {}
    agree(engine, "a")
    assert (engine.variables("decide"), engine.variables_of(key)) == ({"n": 1}, {"left": 2})
    assert [job.type for job in engine.state.jobs.values()] == ["e"]
    engine.complete("decide")
    assert engine.state_of(key) == "COMPLETED"


def test_without_output_mappings_the_variables_climb(engine, begun):
    key = begun("completing a", variables={"n": 0})
    ask(engine, CompleteUserTask(task_of(engine).key, raw({"n": 1})))
    agree(engine, "a")
    assert engine.variables_of(key) == {"n": 1}


def test_start_listeners_come_before_the_creation(engine, begun):
    begun("creating a", execution=["start s"])
    assert [job.type for job in engine.state.jobs.values()] == ["s"]
    engine.complete("decide")
    assert open_listeners(engine) == ["a"]


@pytest.mark.parametrize("local", [True, False])
def test_variables_of_the_task_are_an_update(engine, begun, local):
    key = begun("updating a", variables={"n": 0})
    task = task_of(engine)
    position = ask(engine, SetVariables(task.element.key, raw({"n": 1}), local))
    assert json.loads(headers(engine)["changedAttributes"]) == ["variables"]
    assert (task.status, engine.variables_of(key), answers(engine, position)) == ("UPDATING", {"n": 0}, [])
    again = engine.run(SetVariables(task.element.key, raw({"n": 2}), local)).rejection
    assert (
        again.reason
        == f"Expected to update variables of user task with key '{task.key}', but it is in state 'UPDATING'"
    )
    agree(engine, "a")
    assert answers(engine, position) == ["done"]
    assert (engine.variables("decide"), engine.variables_of(key)) == (({"n": 1}, {"n": 0}) if local else ({}, {"n": 1}))


def test_variables_of_the_process_are_none_of_the_task(engine, begun):
    key = begun("updating a")
    engine.set(key, n=1)
    assert (open_listeners(engine), engine.variables_of(key)) == ([], {"n": 1})


def test_without_a_listener_for_it_a_change_waits_for_nothing(engine, begun):
    key = begun("updating a")
    task = task_of(engine)
    for command in (AssignUserTask(task.key, "ada"), CompleteUserTask(task.key)):
        assert engine.run(command).rejection is None
    assert engine.state_of(key) == "COMPLETED"


# ---- what a listener sees


def test_headers_tell_the_task_as_it_will_be(engine, begun):
    begun("updating a", assignee="ada")
    task = task_of(engine)
    due = 1_893_456_000_000
    ask(engine, UpdateUserTask(task.key, {"due_at": due, "candidate_users": ("u",), "priority": 50}, "later"))
    assert headers(engine) == {
        "k": "v",
        "action": "later",
        "assignee": "ada",
        "candidateGroups": "[]",
        "candidateUsers": '["u"]',
        "changedAttributes": '["candidateUsersList","dueDate"]',
        "dueDate": "2030-01-01T00:00:00Z",
        "priority": "50",
        "userTaskKey": str(task.key),
    }


def test_the_next_listener_sees_corrections_and_what_is_corrected_back_disappears(engine, begun):
    begun("updating a", "updating b", "updating c")
    task = task_of(engine)
    ask(engine, UpdateUserTask(task.key, {"priority": 80}))
    agree(engine, "a", priority=90, candidate_groups=("g",), assignee="bob")
    told = headers(engine)
    assert (told["priority"], told["assignee"], told["candidateGroups"]) == ("90", "bob", '["g"]')
    assert told["changedAttributes"] == '["assignee","candidateGroupsList","priority"]'
    agree(engine, "b", priority=50, candidate_groups=())
    assert headers(engine)["changedAttributes"] == '["assignee"]'
    agree(engine, "c")
    assert (task.priority, task.assignee, task.candidate_groups) == (50, "bob", ())


def test_type_and_retries_are_evaluated_just_before_each_job(engine, begun):
    key = begun("completing a", 'completing ="b"+kind =many', variables={"kind": "1", "many": 2})
    ask(engine, CompleteUserTask(task_of(engine).key))
    engine.set(key, kind="2", many=7)
    agree(engine, "a")
    (job,) = engine.state.jobs.values()
    assert (job.type, job.retries) == ("b2", 7)


def test_several_of_one_event_and_type_are_allowed(engine, begun):
    key = begun("completing a", "completing a")
    ask(engine, CompleteUserTask(task_of(engine).key))
    agree(engine, "a")
    agree(engine, "a")
    assert engine.state_of(key) == "COMPLETED"


# ---- the model's assignee


def test_the_model_assignee_is_assigned_after_the_creation(engine, begun):
    begun("creating a", "assigning b", assignee="ada")
    task = task_of(engine)
    assert (headers(engine)["assignee"], headers(engine)["changedAttributes"], task.assignee) == ("ada", "[]", None)
    agree(engine, "a")
    assert (task.status, task.assignee, headers(engine)["changedAttributes"]) == ("ASSIGNING", None, '["assignee"]')
    agree(engine, "b")
    assert (task.status, task.assignee) == ("CREATED", "ada")


@pytest.mark.parametrize("listeners", [["creating a"], ["assigning a"]])
def test_one_of_the_two_suffices(engine, begun, listeners):
    begun(*listeners, assignee="ada")
    assert task_of(engine).assignee is None
    agree(engine, "a")
    assert (task_of(engine).status, task_of(engine).assignee) == ("CREATED", "ada")


def test_a_denied_assignment_of_the_creation_leaves_the_task_to_everybody(engine, begun):
    begun("assigning a", assignee="ada")
    refuse(engine, "a", "not her")
    task = task_of(engine)
    assert (task.status, task.assignee) == ("CREATED", None)
    ask(engine, ClaimUserTask(task.key, "bob"))
    agree(engine, "a")
    assert task.assignee == "bob"


def test_the_creation_may_correct_the_assignee_unless_the_model_has_one(engine, begun):
    begun("creating a")
    agree(engine, "a", assignee="bob", priority=7)
    assert (task_of(engine).assignee, task_of(engine).priority) == ("bob", 7)


def test_a_correction_of_the_model_assignee_is_refused(engine, begun):
    begun("creating a", assignee="ada")
    rejection = agree(engine, "a", assignee="bob").rejection
    assert rejection.code == "INVALID_ARGUMENT"
    assert "the assignee" in rejection.reason
    assert open_listeners(engine) == ["a"]


# ---- denial

DENIED = {
    "assign": "Assignment of the User Task",
    "claim": "Assignment of the User Task",
    "unassign": "Assignment of the User Task",
    "update": "Update of the User Task",
    "complete": "Completion of the User Task",
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_denial_undoes_everything_and_the_request_learns_why(engine, begun, name):
    event, command = CHANGES[name]
    key = begun(f"{event} a", f"{event} b", f"{event} c")
    task = task_of(engine)
    before = {name: value for name, value in last_row(engine).items() if name != "transition"}
    position = ask(engine, command(task.key))
    agree(engine, "a", priority=99)
    refuse(engine, "b", "too early")
    reason = f"{DENIED[name]} with key '{task.key}' was denied by Task Listener. Reason to deny: 'too early'"
    assert answers(engine, position) == [reason]
    assert open_listeners(engine) == []
    row = last_row(engine)
    assert (row | {"transition": None}, row["transition"]) == (before | {"transition": None}, None)
    (job,) = (row for (table, _), row in engine.rows.items() if table == "Job" and row["type"] == "b")
    assert (job["state"], job["denied_reason"]) == ("COMPLETED", "too early")
    engine.run(command(task.key))  # once more, and accepted
    for type in "abc":
        agree(engine, type)
    if name != "complete":
        ask(engine, CompleteUserTask(task.key))
    assert engine.state_of(key) == "COMPLETED"


def test_the_variables_of_a_denied_completion_are_dropped(engine, begun):
    key = begun("completing a")
    ask(engine, CompleteUserTask(task_of(engine).key, raw({"n": 1})))
    refuse(engine, "a")
    ask(engine, CompleteUserTask(task_of(engine).key, raw({"m": 2})))
    agree(engine, "a")
    assert engine.variables_of(key) == {"m": 2}


def test_denied_variables_are_not_set(engine, begun):
    key = begun("updating a")
    task = task_of(engine)
    position = ask(engine, SetVariables(task.element.key, raw({"n": 1})))
    refuse(engine, "a", "no")
    assert answers(engine, position) == [
        f"Variable update for user task instance with key '{task.element.key}' was denied by Task Listener. "
        "Reason to deny: 'no'"
    ]
    assert (engine.variables_of(key), engine.variables("decide"), task.status) == ({}, {}, "CREATED")


def test_creation_and_cancellation_cannot_be_denied(engine, begun):
    key = begun("creating a", "canceling z")
    for event, type in (("CREATING", "a"), ("CANCELING", "z")):
        rejection = refuse(engine, type, "no").rejection
        assert rejection.code == "INVALID_ARGUMENT"
        assert rejection.reason.startswith(f"Denying result is not supported for '{event}' task listener jobs ")
        assert rejection.reason.endswith(
            "Only the following listener event types support denying: [ASSIGNING, COMPLETING, UPDATING]."
        )
        assert open_listeners(engine) == [type]
        agree(engine, type)
        if type == "a":
            ask(engine, CancelInstance(key))


NONSENSE = {
    "denied and corrected": (
        UserTaskResult(True, "", {"priority": 1}),
        {},
        "with corrections, but the job result is denied",
    ),
    "variables": (None, {"n": 1}, "variables payload provided is not yet supported"),
}


@pytest.mark.parametrize(("result", "variables", "text"), NONSENSE.values(), ids=NONSENSE)
def test_nonsense_leaves_the_task_as_it_was(engine, begun, result, variables, text):
    begun("completing a")
    ask(engine, CompleteUserTask(task_of(engine).key))
    rejection = _complete(engine, "a", result, **variables).rejection
    assert rejection.code == "INVALID_ARGUMENT"
    assert text in rejection.reason
    assert (task_of(engine).status, open_listeners(engine)) == ("COMPLETING", ["a"])


def test_only_task_listeners_have_such_a_result(engine):
    engine.deploy(process(start(), task("work"), "start > work"))
    engine.start()
    rejection = _complete(engine, "work", UserTaskResult(True)).rejection
    assert rejection.code == "INVALID_ARGUMENT"
    assert "does not fit a job of kind 'BPMN_ELEMENT'" in rejection.reason
    assert engine.jobs == ["work"]


# ---- incidents

EVENTS: dict[str, Any] = {
    "creating": None,
    "assigning": ASSIGN[1],
    "updating": UPDATE[1],
    "completing": COMPLETE[1],
    "canceling": "cancel",
}


def provoke(engine, key, event):
    """Let the transition begin; the position of the request, if there is one."""
    how = EVENTS[event]
    if how is None:
        return None
    if how == "cancel":
        return ask(engine, CancelInstance(key))
    return ask(engine, how(task_of(engine).key))


@pytest.mark.parametrize("event", EVENTS)
def test_a_listener_without_retries_is_an_incident_and_it_alone_runs_again(engine, begun, event):
    key = begun(f"{event} a", f"{event} b")
    position = provoke(engine, key, event)
    agree(engine, "a")
    (job,) = engine.state.jobs
    engine.run(FailJob(job, 1, 0, "again"))
    assert not engine.incidents
    engine.run(FailJob(job, 0, 0, "boom"))
    assert engine.incidents == [("decide", "TASK_LISTENER_NO_RETRIES", "boom")]
    assert agree(engine, "b").rejection.code == "INVALID_STATE"
    engine.update("decide", retries=1)
    engine.resolve()
    assert open_listeners(engine) == ["b"]
    agree(engine, "b")
    if position is not None:
        assert answers(engine, position) == ["done"]
    assert engine.incidents == []


@pytest.mark.parametrize("event", EVENTS)
def test_a_type_that_cannot_be_evaluated_lets_all_run_again(engine, begun, event):
    key = begun(f"{event} a", f"{event} =kind")
    position = provoke(engine, key, event)
    agree(engine, "a")
    told = "Expected result of the expression 'kind' to be 'STRING', but was 'NULL'."
    assert [(id, type, text[: len(told)]) for id, type, text in engine.incidents] == [
        ("decide", "EXTRACT_VALUE_ERROR", told)
    ]
    assert engine.set(key, kind="b").rejection is None
    engine.resolve()
    assert open_listeners(engine) == ["a"]
    agree(engine, "a")
    agree(engine, "b")
    if position is not None:
        assert answers(engine, position) == ["done"]
    if event == "canceling":
        assert engine.state_of(key) == "TERMINATED"


def test_a_task_listener_cannot_throw_an_error(engine, begun):
    begun("completing a")
    ask(engine, CompleteUserTask(task_of(engine).key))
    rejection = engine.run(ThrowJobError(next(iter(engine.state.jobs)), "A")).rejection
    assert (rejection.code, "'TASK_LISTENER'" in rejection.reason) == ("INVALID_STATE", True)


# ---- interrupted


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("how", ["cancelled", "by a boundary event"])
def test_an_interrupted_transition_rejects_its_request_and_cancels_its_listener(engine, name, how):
    event, command = CHANGES[name]
    late = boundary("late", "decide", "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>")
    parts = (user_task("decide", f"{event} a", "canceling z"), late, task("after"), end(), "start > decide > end")
    engine.deploy(process(start(), *parts, "late > after"))
    key = engine.start()
    user = task_of(engine)
    position = ask(engine, command(user.key))
    if how == "cancelled":
        cancelled = ask(engine, CancelInstance(key))
    else:
        engine.fire_at(key, "p/decide", "late")
    verb = {"claim": "assign", "unassign": "assign"}.get(name, name)
    assert answers(engine, position) == [
        f"Expected to {verb} user task with key '{user.key}', but it is in state 'CANCELING'"
    ]
    assert (user.status, open_listeners(engine)) == ("CANCELING", ["z"])
    rejection = engine.run(command(user.key)).rejection
    assert rejection.reason.endswith("but it is in state 'CANCELING'")
    assert "after" not in engine.elements
    agree(engine, "z", assignee="last")
    assert (last_row(engine)["state"], last_row(engine)["assignee"]) == ("CANCELED", "last")
    if how == "cancelled":
        assert (engine.state_of(key), answers(engine, cancelled)) == ("TERMINATED", ["done"])
    else:
        assert engine.jobs == ["after"]


def test_without_canceling_listeners_an_interrupted_transition_ends_at_once(engine, begun):
    key = begun("completing a")
    position = ask(engine, CompleteUserTask(task_of(engine).key))
    engine.cancel(key)
    assert (engine.state_of(key), last_row(engine)["state"]) == ("TERMINATED", "CANCELED")
    assert len(answers(engine, position)) == 1


def test_every_ancestor_waits_for_the_canceling_listeners(engine):
    inner = sub("s", start("i"), user_task("decide", "canceling z"), "i > decide")
    engine.deploy(process(start(), inner, "start > s"))
    key = engine.start()
    position = ask(engine, CancelInstance(key))
    assert [str(engine.element(id).state) for id in ("p", "s", "decide")] == ["TERMINATING"] * 3
    assert answers(engine, position) == []
    agree(engine, "z")
    assert (engine.state_of(key), answers(engine, position)) == ("TERMINATED", ["done"])


def test_tasks_side_by_side_are_cancelled_each_with_its_listener(engine):
    tasks = [user_task(f"t{n}", f"canceling z{n}") for n in range(3)]
    engine.deploy(process(start(), *tasks, *(f"start > t{n}" for n in range(3))))
    key = engine.start()
    position = ask(engine, CancelInstance(key))
    assert sorted(open_listeners(engine)) == ["z0", "z1", "z2"]
    for n in (1, 2, 0):
        assert answers(engine, position) == []
        agree(engine, f"z{n}")
    assert (engine.state_of(key), answers(engine, position)) == ("TERMINATED", ["done"])


def test_a_second_cancellation_adds_no_listener(engine, begun):
    key = begun("canceling z")
    ask(engine, CancelInstance(key))
    ask(engine, CancelInstance(key))
    assert open_listeners(engine) == ["z"]


def test_variables_can_be_set_while_a_cancellation_waits(engine, begun):
    """A listener whose type cannot be evaluated does not hold the instance for ever."""
    key = begun("canceling =kind")
    ask(engine, CancelInstance(key))
    assert len(engine.incidents) == 1
    assert engine.run(SetVariables(task_of(engine).element.key, raw({"kind": "z"}), True)).rejection is None
    engine.resolve()
    agree(engine, "z")
    assert engine.state_of(key) == "TERMINATED"


def test_each_instance_of_a_loop_has_listeners(engine):
    text = loop(user_task("decide", "creating a", "completing b", "canceling z"))
    engine.deploy(process(start(), text, end(), "start > decide > end"))
    key = engine.start(items=[1, 2, 3])
    assert open_listeners(engine) == ["a"] * 3
    for _ in range(3):
        engine.run(_first(engine, "a"))
    first, *_ = engine.state.user_tasks
    ask(engine, CompleteUserTask(first))
    agree(engine, "b")
    position = ask(engine, CancelInstance(key))
    assert open_listeners(engine) == ["z", "z"]
    engine.run(_first(engine, "z"))
    engine.run(_first(engine, "z"))
    assert (engine.state_of(key), answers(engine, position)) == ("TERMINATED", ["done"])


def _first(engine, type):
    return CompleteJob(next(job.key for job in engine.state.jobs.values() if job.type == type))


def test_a_message_interrupts_and_its_path_waits_for_the_listener(engine):
    parts = (user_task("decide", "canceling z"), message_models.boundary("decide", "stop"), task("after"))
    engine.deploy(message_models.model(start(), *parts, "start > decide", "stop > after"))
    engine.start(k="1")
    engine.run(PublishMessage("hello", "1", 0, None, raw({"n": 1})))
    assert (open_listeners(engine), engine.elements) == (["z"], ["decide", "p"])
    agree(engine, "z")
    assert engine.jobs == ["after"]


# ---- the state


@pytest.mark.parametrize("event", EVENTS)
def test_a_transition_survives_replay_and_snapshots(engine, begun, event):
    key = begun(f"{event} a", f"{event} b")
    position = provoke(engine, key, event)
    agree(engine, "a", priority=33)
    rebuilt(engine)
    assert (open_listeners(engine), task_of(engine).status) == (["b"], event.upper())
    assert task_of(engine).transition.changes["priority"] == 33
    agree(engine, "b")
    if position is not None:
        assert answers(engine, position) == ["done"]
    assert last_row(engine)["priority"] == 33


def test_the_weight_counts_the_variables_that_wait(engine, begun):
    key = begun("completing a")
    before = engine.state.weight
    ask(engine, CompleteUserTask(task_of(engine).key, raw({"n": "x" * 1000})))
    assert engine.state.weight > before + 1000
    refuse(engine, "a")
    assert engine.state.weight == before
    engine.cancel(key)
    assert engine.state.weight == 0


# ---- listeners of the whole cluster

BEFORE, AFTER = GlobalListener("before", 2), GlobalListener("after", 4)


def of_cluster(engine, *events, before=(BEFORE,), after=(AFTER,)):
    engine.state.catalogue.task_listeners = dict.fromkeys(events, GlobalListeners(before, after))


def test_listeners_of_the_cluster_come_around_those_of_the_model(engine, begun):
    key = begun("completing a")
    of_cluster(engine, "COMPLETING")
    position = ask(engine, CompleteUserTask(task_of(engine).key))
    told = []
    while engine.state.jobs:
        (job,) = engine.state.jobs.values()
        told.append((job.type, job.retries, job.listener_index, job.headers["k"]))
        agree(engine, job.type)
    assert told == [("before", 2, 0, "v"), ("a", 3, 1, "v"), ("after", 4, 2, "v")]
    assert (answers(engine, position), engine.state_of(key)) == (["done"], "COMPLETED")


@pytest.mark.parametrize("name", CHANGES)
def test_a_model_without_listeners_has_those_of_the_cluster(engine, begun, name):
    event, command = CHANGES[name]
    begun()
    of_cluster(engine, event.upper(), after=())
    position = ask(engine, command(task_of(engine).key))
    refuse(engine, "before", "no")
    assert [text.endswith("Reason to deny: 'no'") for text in answers(engine, position)] == [True]


def test_they_hear_of_creation_and_cancellation(engine):
    engine.deploy(model(assignee="ada"))
    of_cluster(engine, "CREATING", "CANCELING", after=())
    key = engine.start()
    assert (open_listeners(engine), task_of(engine).status) == (["before"], "CREATING")
    agree(engine, "before")
    assert task_of(engine).assignee == "ada"
    ask(engine, CancelInstance(key))
    assert (open_listeners(engine), task_of(engine).status) == (["before"], "CANCELING")
    agree(engine, "before")
    assert engine.state_of(key) == "TERMINATED"


def test_a_transition_keeps_the_listeners_that_it_began_with(engine, begun):
    key = begun()
    of_cluster(engine, "COMPLETING")
    ask(engine, CompleteUserTask(task_of(engine).key))
    of_cluster(engine, "COMPLETING", before=(GlobalListener("new", 1),), after=())
    agree(engine, "before")
    rebuilt(engine)
    assert open_listeners(engine) == ["after"]
    agree(engine, "after")
    assert engine.state_of(key) == "COMPLETED"
