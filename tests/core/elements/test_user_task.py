"""User tasks that the engine keeps: what is evaluated, assigning, claiming, updating, completing, cancelling."""

import json
from xml.sax.saxutils import quoteattr

import pytest

from tests.core.engine import document, raw
from tests.core.models import end, process, start, sub, task
from vivero.core.records.catalogue import DeleteResource
from vivero.core.records.codec import decode_command, decode_events, encode_command, encode_events
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import SetVariables
from vivero.core.records.user_tasks import (
    AssignUserTask,
    ClaimUserTask,
    CompleteUserTask,
    UpdateUserTask,
    UserTaskChanged,
    UserTaskCreated,
    UserTaskEnded,
)
from vivero.core.state import eviction
from vivero.core.state.state import State

MS_2030 = 1_893_456_000_000


def user(id="decide", headers=(), mapping="", loop="", native=True, **extensions):
    """A user task; extensions: `assignment`, `schedule`, `priority` or `form`, each a dictionary of attributes."""
    names = {"assignment": "assignmentDefinition", "schedule": "taskSchedule", "priority": "priorityDefinition"}
    names["form"] = "formDefinition"
    content = "<zeebe:userTask/>" if native else ""
    for name, attributes in extensions.items():
        content += f"<zeebe:{names[name]} {' '.join(f'{k}={quoteattr(v)}' for k, v in attributes.items())}/>"
    if headers:
        content += f"<zeebe:taskHeaders>{''.join(_header(*pair) for pair in headers)}</zeebe:taskHeaders>"
    return f'<userTask id="{id}" name="Decide">{_extensions(content + mapping)}{loop}</userTask>'


def _header(key, value):
    return f"<zeebe:header key={quoteattr(key)} value={quoteattr(value)}/>"


def _extensions(content):
    return f"<extensionElements>{content}</extensionElements>"


def model(*arguments, **more):
    return process(start(), user(*arguments, **more), end(), "start > decide > end")


@pytest.fixture
def open_task(engine):
    """Starts a process with one user task; the task."""

    def make(variables=None, **more):
        engine.deploy(model(**more))
        engine.instance = engine.start(**(variables or {}))
        return only(engine)

    return make


def only(engine):
    (task,) = engine.state.user_tasks.values()
    return task


def last(engine):
    """The last row of a user task that was written."""
    return [row for (table, _), row in engine.rows.items() if table == "UserTask"][-1]


# ---- creation


def test_a_task_without_anything_is_for_everybody(engine, open_task):
    engine.memory.now = 5_000
    task = open_task()
    assert document(task) | {"element": "decide", "key": 0} == {
        "key": 0,
        "element": "decide",
        "assignee": None,
        "candidate_groups": (),
        "candidate_users": (),
        "due_at": None,
        "follow_up_at": None,
        "priority": 50,
        "headers": {},
        "external_form": None,
        "form_key": None,
        "business_id": None,
        "created_at": 5_000,
        "transition": None,
        "state": "CREATED",
        "ended_at": None,
    }
    assert engine.jobs == []
    assert task.element.state == "ACTIVATED"


def test_everything_may_be_an_expression(open_task):
    task = open_task(
        {"who": "ada", "groups": ["a", "b"], "due": "2030-01-01T00:00:00Z", "urgent": 80},
        assignment={"assignee": "=who", "candidateGroups": "=groups", "candidateUsers": '=["u1"]'},
        schedule={"dueDate": "=due", "followUpDate": '=date and time("2030-01-01T01:00:00+01:00")'},
        priority={"priority": "=urgent + 1"},
        form={"externalReference": '="form-" + who'},
    )
    assert (task.assignee, task.candidate_groups, task.candidate_users) == ("ada", ("a", "b"), ("u1",))
    assert (task.due_at, task.follow_up_at, task.priority) == (MS_2030, MS_2030, 81)
    assert task.external_form == "form-ada"


def test_everything_may_be_written_down(open_task):
    task = open_task(
        assignment={"assignee": "ada", "candidateGroups": "a, b", "candidateUsers": "u1"},
        schedule={"dueDate": "2030-01-01T00:00:00Z"},
        priority={"priority": "0"},
        form={"formKey": "legacy"},
        headers=[("color", "red")],
    )
    assert (task.assignee, task.candidate_groups, task.candidate_users) == ("ada", ("a", "b"), ("u1",))
    assert (task.due_at, task.priority, task.external_form, task.headers) == (MS_2030, 0, "legacy", {"color": "red"})


def test_null_and_empty_are_no_date_and_an_empty_assignee_is_nobody(open_task):
    task = open_task(
        {"nothing": ""}, assignment={"assignee": "=nothing"}, schedule={"dueDate": "=nothing", "followUpDate": "=null"}
    )
    assert (task.assignee, task.due_at, task.follow_up_at) == (None, None, None)


WRONG = [
    (
        {"assignment": {"assignee": "=x"}},
        "Expected result of the expression 'x' to be 'STRING', but was 'NULL'."
        " The evaluation reported the following warnings:\n[NO_VARIABLE_FOUND] No variable found with name 'x'",
    ),
    ({"assignment": {"assignee": "=5"}}, "Expected result of the expression '5' to be 'STRING', but was 'NUMBER'."),
    (
        {"assignment": {"candidateGroups": '="a"'}},
        "Expected result of the expression '\"a\"' to be 'ARRAY', but was 'STRING'.",
    ),
    (
        {"assignment": {"candidateUsers": '=["a", 1]'}},
        "Expected result of the expression '[\"a\", 1]' to be 'ARRAY' containing 'STRING' items, but was 'ARRAY'"
        " containing at least one non-'STRING' item.",
    ),
    (
        {"assignment": {"candidateUsers": '=for i in 1..1001 return "u"'}},
        "The expression 'for i in 1..1001 return \"u\"' gives 1001 names, more than 1000.",
    ),
    ({"schedule": {"dueDate": '="soon"'}}, "Invalid date-time format 'soon' for expression '\"soon\"'."),
    (
        {"schedule": {"dueDate": '=string join(for i in 1..200 return "x")'}},
        f"Invalid date-time format '{'x' * 100}' for expression 'string join(for i in 1..200 return \"x\")'.",
    ),
    ({"schedule": {"followUpDate": "=5"}}, "Invalid date-time format '5' for expression '5'."),
    (
        {"schedule": {"dueDate": '="1969-01-01T00:00:00Z"'}},
        "The date '1969-01-01T00:00:00Z' of the expression '\"1969-01-01T00:00:00Z\"' is not in the years 1970 to"
        " 9999.",
    ),
    ({"priority": {"priority": "=101"}}, "Expected priority to be in the range [0,100] but was '101'."),
    ({"priority": {"priority": "=-1"}}, "Expected priority to be in the range [0,100] but was '-1'."),
    (
        {"priority": {"priority": '="high"'}},
        "Expected result of the expression '\"high\"' to be a whole number of 32 bits, but was 'high'.",
    ),
]


@pytest.mark.parametrize(("more", "message"), WRONG, ids=[str(more) for more, _ in WRONG])
def test_what_is_no_name_date_or_priority_is_an_incident(engine, more, message):
    engine.deploy(model(**more))
    engine.start()
    assert engine.incidents == [("decide", "EXTRACT_VALUE_ERROR", message)]
    assert engine.state.user_tasks == {}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x" * 1025, "to have names of at most 1024 bytes, but was"),
        ("a\0b", "to be a text without NUL characters, but"),
    ],
    ids=["long", "NUL"],
)
def test_names_that_cannot_be_stored_are_an_incident(engine, name, expected):
    engine.deploy(model(assignment={"assignee": "=who"}))
    engine.start(who=name)
    ((element, kind, message),) = engine.incidents
    assert (element, kind) == ("decide", "EXTRACT_VALUE_ERROR")
    assert message.startswith(f"Expected result of the expression 'who' {expected}")


def test_candidates_that_are_too_long_together_are_an_incident(engine):
    engine.deploy(model(assignment={"candidateUsers": "=who"}))
    engine.start(who=["x" * 1000] * 101)
    text = "The names that the expression 'who' gives have more than 100000 characters together."
    assert engine.incidents == [("decide", "EXTRACT_VALUE_ERROR", text)]
    engine.start(who=["x" * 1000] * 100)
    assert len(engine.incidents) == 1


def test_resolving_evaluates_again(engine):
    engine.deploy(model(assignment={"assignee": "=who"}))
    key = engine.start()
    engine.run(SetVariables(key, raw({"who": "ada"})))
    engine.resolve()
    assert only(engine).assignee == "ada"
    assert engine.incidents == []


@pytest.mark.parametrize("native", [True, False], ids=["native", "job"])
@pytest.mark.parametrize("form_id", ["invoice", '="in" + what'])
def test_a_form_that_is_not_deployed_is_an_incident(engine, native, form_id):
    engine.deploy(model(native=native, form={"formId": form_id}))
    engine.start(what="voice")
    text = "Expected to find a form with id 'invoice', but none is found. Deploy it, and resolve the incident."
    assert engine.incidents == [("decide", "FORM_NOT_FOUND", text)]
    assert (engine.jobs, engine.state.user_tasks) == ([], {})


@pytest.mark.parametrize("native", [True, False], ids=["native", "job"])
def test_a_task_has_the_form_that_was_the_latest_when_it_was_created(engine, native):
    """A form of a later deployment is for later tasks, and so is a deletion."""
    engine.deploy(model(native=native, form={"formId": "=which"}))
    first = deploy_form(engine, "one")
    engine.start(which="invoice")
    second = deploy_form(engine, "two")
    engine.start(which="invoice")
    engine.run(DeleteResource(second))
    engine.start(which="invoice")
    if native:
        found = [task.form_key for task in engine.state.user_tasks.values()]
    else:
        found = [int(job.headers["io.camunda.zeebe:formKey"]) for job in engine.state.jobs.values()]
    assert found == [first, second, first]
    assert engine.incidents == []


def test_the_incident_of_a_missing_form_is_resolved_by_deploying_it(engine):
    engine.deploy(model(form={"formId": "invoice"}))
    engine.start()
    form = deploy_form(engine)
    engine.resolve()
    assert only(engine).form_key == form
    assert last(engine)["form_key"] == form


def test_a_form_of_another_tenant_is_unknown(engine):
    engine.deploy(model(form={"formId": "invoice"}))
    deploy_form(engine, tenant="other")
    engine.start()
    assert [type for _, type, _ in engine.incidents] == ["FORM_NOT_FOUND"]


@pytest.mark.parametrize(
    ("binding", "text"),
    [
        ({"bindingType": "versionTag", "versionTag": "v2"}, " and version tag 'v2', but none is found. Deploy it, and"),
        ({"bindingType": "deployment"}, " in the deployment of the process, but it has none. Deploy the process with"),
    ],
    ids=["versionTag", "deployment"],
)
def test_the_binding_selects_the_version_of_a_form(engine, binding, text):
    content = model(form={"formId": "invoice", **binding})
    engine.deploy(content)
    deploy_form(engine, "one", tag="v1")
    engine.start()
    expected = "Expected to find a form with id 'invoice'" + text
    ((_, type, message),) = engine.incidents
    assert (type, message[: len(expected)]) == ("FORM_NOT_FOUND", expected)
    tagged = deploy_form(engine, "two", tag="v2")
    deploy_form(engine, "three", tag="v3")
    together = deploy_together(engine, content + b"<!-- new -->", form("four"))
    engine.start()
    assert only(engine).form_key == (tagged if "versionTag" in binding else together)


def form(label="label", tag=None):
    document = {"id": "invoice", "components": [{"type": "text", "text": label}], "versionTag": tag}
    return json.dumps(document).encode()


def deploy_form(engine, label="label", tag=None, tenant="<default>"):
    """The key of a new version of the form `invoice`."""
    (deployed,) = engine.memory.deploy(form(label, tag), "invoice.form", tenant).forms
    return deployed.form_key


def deploy_together(engine, model, form):
    """The key of a form that is deployed with a process."""
    return engine.memory.deploy_all({"p.bpmn": model, "invoice.form": form}).forms[0].form_key


def test_the_id_of_a_form_is_a_text(engine):
    engine.deploy(model(form={"formId": "=what"}))
    engine.start(what=7)
    message = "Expected result of the expression 'what' to be 'STRING', but was 'NUMBER'."
    assert engine.incidents == [("decide", "EXTRACT_VALUE_ERROR", message)]


def test_without_the_marker_it_is_a_job(engine):
    engine.deploy(
        model(native=False, headers=[("color", "red")], assignment={"assignee": "=who", "candidateGroups": "a,b"})
    )
    engine.start(who="ada")
    job = engine.job("decide")
    assert (job.type, job.retries, engine.state.user_tasks) == ("io.camunda.zeebe:userTask", 1, {})
    assert job.headers == {
        "color": "red",
        "io.camunda.zeebe:assignee": "ada",
        "io.camunda.zeebe:candidateGroups": '["a","b"]',
    }
    engine.complete("decide")
    assert engine.state_of(engine.memory.log[1].handled[0].root) == "COMPLETED"


DAY = "2030-01-31T12:00:00+01:00"


def test_a_job_says_for_whom_until_when_and_with_which_form(engine):
    assignment = {"candidateGroups": "=groups", "candidateUsers": "=[]"}
    engine.deploy(model(native=False, assignment=assignment, schedule={"dueDate": "=day"}, form={"formKey": "=form"}))
    engine.start(groups=["a", "b"], day=DAY, form="invoice")
    prefix = "io.camunda.zeebe:"
    assert engine.job("decide").headers == {
        f"{prefix}candidateGroups": '["a","b"]',
        f"{prefix}candidateUsers": "[]",
        f"{prefix}dueDate": DAY,
        f"{prefix}formKey": "invoice",
    }


@pytest.mark.parametrize(
    "part",
    [
        {"assignment": {"assignee": "=empty"}},
        {"schedule": {"dueDate": "=empty"}},
        {"schedule": {"followUpDate": "=gone"}},
    ],
)
def test_a_job_does_not_say_what_is_empty(engine, part):
    engine.deploy(model(native=False, **part))
    engine.start(empty="", gone=None)
    assert engine.job("decide").headers == {}


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (
            {"assignment": {"assignee": "=what"}},
            "Expected result of the expression 'what' to be 'STRING', but was 'NUMBER'.",
        ),
        (
            {"assignment": {"candidateUsers": "=what"}},
            "Expected result of the expression 'what' to be 'ARRAY', but was 'NUMBER'.",
        ),
        ({"schedule": {"dueDate": "=what"}}, "Invalid date-time format '7' for expression 'what'."),
    ],
)
def test_a_job_that_cannot_say_it_is_an_incident_until_it_can(engine, part, message):
    """Like a task that the engine keeps."""
    engine.deploy(model(native=False, **part))
    key = engine.start(what=7)
    assert engine.incidents == [("decide", "EXTRACT_VALUE_ERROR", message)]
    assert engine.jobs == []
    engine.set(key, what=["ada"] if "candidateUsers" in str(part) else DAY)
    engine.resolve()
    assert engine.jobs == ["decide"]


# ---- assigning


def test_a_task_is_given_to_one_and_to_another_and_to_nobody(engine, open_task):
    task = open_task()
    for assignee in ("ada", "bob", None):
        assert engine.run(AssignUserTask(task.key, assignee)).rejection is None
        assert only(engine).assignee == assignee
        assert last(engine)["assignee"] == assignee


def test_claiming_takes_what_nobody_has(engine, open_task):
    task = open_task()
    assert engine.run(ClaimUserTask(task.key, "ada")).rejection is None
    assert engine.run(ClaimUserTask(task.key, "ada")).rejection is None
    rejection = engine.run(ClaimUserTask(task.key, "bob")).rejection
    assert rejection.code is RejectionCode.INVALID_STATE
    assert rejection.reason == f"Expected to claim user task with key '{task.key}', but it has already been assigned"
    assert task.assignee == "ada"


def test_what_is_not_named_stays_and_none_takes_away(engine, open_task):
    task = open_task(
        assignment={"assignee": "ada", "candidateGroups": "a"},
        schedule={"dueDate": "2030-01-01T00:00:00Z", "followUpDate": "2030-01-01T00:00:00Z"},
    )
    engine.run(UpdateUserTask(task.key, {"due_at": None, "candidate_users": ("u1", "u2"), "priority": 7}))
    assert (task.due_at, task.candidate_users, task.priority) == (None, ("u1", "u2"), 7)
    assert (task.assignee, task.candidate_groups, task.follow_up_at) == ("ada", ("a",), MS_2030)
    engine.run(UpdateUserTask(task.key, {"candidate_groups": (), "follow_up_at": 1_000}))
    assert (task.candidate_groups, task.follow_up_at, task.due_at) == ((), 1_000, None)


def test_commands_survive_the_log():
    for command in (
        AssignUserTask(1, None),
        ClaimUserTask(1, "ada"),
        UpdateUserTask(1, {"due_at": None, "candidate_users": ("u",)}, "later"),
        CompleteUserTask(1, raw({"x": 1})),
    ):
        assert decode_command(command.intent, encode_command(command)) == command


def test_events_survive_the_log():
    events = (
        UserTaskCreated(1, 2, None, ("g",), (), None, 5, 50, {"a": "b"}),
        UserTaskChanged(1, {"candidate_groups": ("x",), "due_at": None}, "update"),
        UserTaskEnded(1, "COMPLETED", "approve"),
    )
    assert decode_events(encode_events(list(events))) == events


# ---- ending


def test_completing_takes_the_variables_and_goes_on(engine, open_task):
    task = open_task({"x": 1})
    engine.memory.now = 9_000
    assert engine.run(CompleteUserTask(task.key, raw({"x": 2, "y": 3}), "approve")).rejection is None
    assert engine.state_of(engine.instance) == "COMPLETED"
    assert engine.variables("p") == {"x": 2, "y": 3}
    assert (last(engine)["state"], last(engine)["ended_at"]) == ("COMPLETED", 9_000)
    assert engine.state.user_tasks == {}
    assert UserTaskEnded(task.key, "COMPLETED", "approve") in engine.memory.log[-1].handled[0].events


def test_output_mappings_choose_what_leaves(engine, open_task):
    mapping = '<zeebe:ioMapping><zeebe:output source="=y" target="z"/></zeebe:ioMapping>'
    engine.run(CompleteUserTask(open_task(mapping=mapping).key, raw({"y": 3})))
    assert engine.variables("p") == {"z": 3}


def test_a_cancelled_instance_cancels_its_task(engine, open_task):
    task = open_task()
    engine.cancel(engine.instance)
    assert (task.state, engine.state.user_tasks, engine.state.weight) == ("CANCELED", {}, 0)
    assert last(engine)["state"] == "CANCELED"


def test_a_boundary_event_cancels_the_task(engine):
    parts = start(), sub("sub", start("inner"), user(), task("fail"), "inner > decide", "inner > fail"), end()
    catch = '<boundaryEvent id="catch" attachedToRef="sub"><errorEventDefinition id="d"/></boundaryEvent>'
    engine.deploy(process(*parts, catch, task("after"), "start > sub > end", "catch > after"))
    engine.start()
    engine.throw("fail", "E")
    assert last(engine)["state"] == "CANCELED"
    assert engine.elements == ["after", "p"]


def test_every_instance_of_a_loop_has_a_task(engine):
    loop = "<multiInstanceLoopCharacteristics>" + _extensions(
        '<zeebe:loopCharacteristics inputCollection="=people" inputElement="who"/>'
    )
    engine.deploy(model(assignment={"assignee": "=who"}, loop=loop + "</multiInstanceLoopCharacteristics>"))
    key = engine.start(people=["ada", "bob"])
    assert [task.assignee for task in engine.state.user_tasks.values()] == ["ada", "bob"]
    for task_key in list(engine.state.user_tasks):
        engine.run(CompleteUserTask(task_key))
    assert engine.state_of(key) == "COMPLETED"


COMMANDS = [
    (lambda key: AssignUserTask(key, "ada"), "assign"),
    (lambda key: ClaimUserTask(key, "ada"), "claim"),
    (lambda key: UpdateUserTask(key, {}), "update"),
    (CompleteUserTask, "complete"),
]


@pytest.mark.parametrize(("command", "doing"), COMMANDS, ids=[doing for _, doing in COMMANDS])
def test_a_task_that_is_not_open_is_not_found(engine, open_task, command, doing):
    task = open_task()
    for key, tenant in ((77, "<default>"), (task.key, "other")):
        rejection = engine.run(command(key), tenant=tenant).rejection
        assert rejection.code is RejectionCode.NOT_FOUND
        assert rejection.reason == f"Expected to {doing} user task with key '{key}', but no such user task was found"
    engine.run(CompleteUserTask(task.key))
    rejection = engine.run(command(task.key)).rejection
    assert rejection.reason == f"Expected to {doing} user task with key '{task.key}', but no such user task was found"


@pytest.mark.parametrize(("command", "doing"), COMMANDS, ids=[doing for _, doing in COMMANDS])
def test_a_task_whose_element_is_ending_cannot_be_worked_on(engine, open_task, command, doing):
    task = open_task()
    task.element.state = task.element.state.TERMINATING
    rejection = engine.run(command(task.key)).rejection
    assert rejection.code is RejectionCode.INVALID_STATE
    assert rejection.reason == f"Expected to {doing} user task with key '{task.key}', but it is in state 'CANCELING'"


# ---- the state


def test_undoing_leaves_no_trace(engine, open_task):
    """A command that raises half-way: the task is there as before, and so is the weight."""
    task = open_task()
    weight = engine.state.weight
    engine.run(CompleteUserTask(task.key, {"x": None}))  # no bytes: raises
    assert only(engine) is task
    assert (task.state, task.element.waits.user_tasks, task.ended_at) == ("CREATED", {task.key: task}, None)
    assert engine.state.weight >= weight


def test_a_tree_that_is_evicted_takes_its_task_along(engine, open_task):
    open_task()
    eviction.evict(engine.state, 0)
    assert (engine.state.user_tasks, engine.state.weight) == ({}, 0)


def test_a_replay_makes_the_same_rows(engine, open_task):
    from vivero.core.replay import Recorded, replay

    task = open_task({"who": "ada"}, assignment={"assignee": "=who"})
    engine.run(UpdateUserTask(task.key, {"priority": 3, "candidate_users": ("u",)}))
    again = State(1)
    rows = [
        [Recorded(logged.position, logged.now, decode_events(encode_events(one.events))) for one in logged.handled]
        for logged in engine.memory.log
    ]
    replay(again, rows)
    assert document(again.user_tasks[task.key]) == document(task)
    assert again.weight == engine.state.weight
