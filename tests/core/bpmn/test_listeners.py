"""Execution listeners: what is read of them, where they can stand, and each thing that is refused."""

from __future__ import annotations

import pytest

from vivero.core.bpmn.elements.contents import ELEMENTS
from vivero.core.bpmn.elements.listeners import REFUSED

S = '<startEvent id="s" />'
JOB = '<zeebe:taskDefinition type="t" />'
SIGNAL = '<signalEventDefinition signalRef="news" />'
TIMER = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"
ROOTS = '<signal id="news" name="news" /><error id="bad" errorCode="B" />'


def heard(*listeners, more=""):
    """Extension elements in line 3, and each of the listeners in a line of its own from there on."""
    return (
        f"<extensionElements>{more}<zeebe:executionListeners>\n"
        + "\n".join(listeners)
        + ("</zeebe:executionListeners></extensionElements>")
    )


def listener(event="start", type="a", content="", **more):
    given = {"eventType": event, "type": type} | more
    attributes = " ".join(f'{name}="{value}"' for name, value in given.items() if value is not None)
    return f"<zeebe:executionListener {attributes}>{content}</zeebe:executionListener>"


def work(*listeners, more=JOB):
    """A service task in line 2."""
    return f'{S}<serviceTask id="x">{heard(*listeners, more=more)}</serviceTask>'


def problems(parsed):
    return [(problem.element_id, problem.line, problem.message) for problem in parsed.problems]


def told(node):
    return {event: [job.type.text for job in jobs] for event, jobs in node.listeners.items()}


def node(parsed, id="x"):
    assert problems(parsed) == []
    return parsed.processes[0].nodes[id]


# ---- what is read


def test_listeners_are_read_by_event_in_document_order(process):
    found = node(
        process(
            work(
                listener("end", "y"),
                listener("start", "a", retries="5"),
                listener("start", "=kind", retries="=n"),
                listener("end", "007"),
                listener("start", "y"),
            )
        )
    )
    assert told(found) == {"END": ["y", "007"], "START": ["a", "kind", "y"]}
    retries = [(job.retries.is_static, job.retries.text) for job in found.listeners["START"]]
    assert retries == [(True, "5"), (False, "n"), (True, "3")]
    assert found.listeners["END"][1].type.static_value == "007"
    assert {job.priority for jobs in found.listeners.values() for job in jobs} == {None}


def test_a_listener_has_the_headers_of_its_element_and_its_own_before_them(process):
    headers = '<zeebe:taskHeaders><zeebe:header key="k" value="v" />{}</zeebe:taskHeaders>'
    given = headers.format('<zeebe:header key="l" value="w" />')
    own = '<zeebe:taskHeaders><zeebe:header key="l" value="own" /></zeebe:taskHeaders>'
    found = node(process(work(listener(content=own), listener("end"), more=JOB + given)))
    assert [dict(jobs[0].headers) for jobs in found.listeners.values()] == [
        {"k": "v", "l": "own"},
        {"k": "v", "l": "w"},
    ]


def test_listeners_of_the_process(process):
    found = node(process(f"{heard(listener('start'), listener('end'))}{S}"), "p")
    assert told(found) == {"START": ["a"], "END": ["a"]}


@pytest.mark.parametrize("content", ["", "\n  ", "<!-- none -->"])
def test_an_empty_list_is_no_listener(process, content):
    holder = f"<zeebe:executionListeners>{content}</zeebe:executionListeners>"
    found = node(process(f'{S}<task id="x"><extensionElements>{holder}</extensionElements></task>'))
    assert not found.listeners


# ---- where they can stand: each element that is executed, with either event

LOOSE = {"userTask": "", "task": "", "manualTask": "", "intermediateThrowEvent": "", "endEvent": "", "startEvent": ""}
LOOSE |= dict.fromkeys(("serviceTask", "sendTask", "scriptTask", "businessRuleTask"), JOB)
LOOSE |= dict.fromkeys(("exclusiveGateway", "inclusiveGateway", "parallelGateway", "complexGateway"), "")
CALLED = '<zeebe:calledElement processId="q" />'


def element(tag, listeners):
    """A process with an element of this tag, `x`."""
    if tag in LOOSE:
        begin = "" if tag == "startEvent" else S
        return f'{begin}<{tag} id="x">{heard(*listeners, more=LOOSE[tag])}</{tag}>'
    inside = heard(*listeners, more=CALLED if tag == "callActivity" else "")
    match tag:
        case "callActivity":
            return f'{S}<callActivity id="x">{inside}</callActivity>'
        case "subProcess":
            return f'{S}<subProcess id="x">{inside}<startEvent id="i" /></subProcess>'
        case "transaction":
            return f'{S}<transaction id="x">{inside}<startEvent id="i" /></transaction>'
        case "adHocSubProcess":
            return f'{S}<adHocSubProcess id="x">{inside}<task id="i" /></adHocSubProcess>'
        case "receiveTask":
            return f'{S}<receiveTask id="x" messageRef="hello">{inside}</receiveTask>'
        case "intermediateCatchEvent":
            return f'{S}<intermediateCatchEvent id="x">{inside}{SIGNAL}</intermediateCatchEvent>'
        case "boundaryEvent":
            return f'{S}<task id="h" /><boundaryEvent id="x" attachedToRef="h">{inside}{SIGNAL}</boundaryEvent>'
        case "eventBasedGateway":
            behind = "".join(
                f'<intermediateCatchEvent id="{id}">{event}</intermediateCatchEvent>'
                f'<sequenceFlow id="f{id}" sourceRef="x" targetRef="{id}" />'
                for id, event in (("a", SIGNAL), ("b", TIMER))
            )
            return f'{S}<eventBasedGateway id="x">{inside}</eventBasedGateway>{behind}'
    raise LookupError(tag)


MESSAGE = (
    '<message id="hello" name="hello"><extensionElements><zeebe:subscription correlationKey="=1" />'
    "</extensionElements></message>"
)


@pytest.mark.parametrize("event", ["start", "end"])
@pytest.mark.parametrize("tag", ELEMENTS)
def test_every_element_has_listeners_or_a_reason_why_not(process, tag, event):
    parsed = process(element(tag, [listener(event)]), roots=ROOTS + MESSAGE)
    reason = REFUSED.get((ELEMENTS[tag].type, event))
    if reason is None:
        assert told(node(parsed)) == {event.upper(): ["a"]}
    else:
        assert problems(parsed) == [("x", 3, f"zeebe:executionListener: {reason}")]


def test_the_reasons_are_of_elements_that_there_are():
    assert {type_ for type_, _ in REFUSED} <= {kind.type for kind in ELEMENTS.values()}


@pytest.mark.parametrize("event", ["start", "end"])
def test_an_event_sub_process_has_both(process, event):
    begin = f'<startEvent id="i">{SIGNAL}</startEvent>'
    aside = f'<subProcess id="x" triggeredByEvent="true">{heard(listener(event))}{begin}</subProcess>'
    assert told(node(process(f"{S}{aside}", roots=ROOTS))) == {event.upper(): ["a"]}


def test_an_error_end_event_has_no_end_listeners(process):
    def final(event):
        definition = '<errorEventDefinition errorRef="bad" />'
        return process(f'{S}<endEvent id="x">{heard(listener(event))}{definition}</endEvent>', roots=ROOTS)

    assert told(node(final("start"))) == {"START": ["a"]}
    text = "an error end event has no end listeners: it never completes; what catches the error can have them"
    assert problems(final("end")) == [("x", 3, f"zeebe:executionListener: {text}")]


def test_listeners_of_cancellation_are_those_of_a_process(process):
    parsed = process(f"{heard(listener('cancel'), listener('cancel', type='b'))}{S}")
    assert [job.type.text for job in node(parsed, "p").listeners["CANCEL"]] == ["a", "b"]
    text = "zeebe:executionListener: only a process has cancel listeners"
    assert problems(process(work(listener("cancel")))) == [("x", 3, text)]


def test_listeners_before_all_are_those_of_a_loop(process):
    looped = "<multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics inputCollection='=x' />"
    looped += "</extensionElements></multiInstanceLoopCharacteristics>"
    content = work(listener("beforeAll")).replace("</serviceTask>", f"{looped}</serviceTask>")
    assert [job.type.text for job in node(process(content)).listeners["BEFORE_ALL"]] == ["a"]
    text = "zeebe:executionListener: only a multi-instance activity has beforeAll listeners"
    assert problems(process(work(listener("beforeAll")))) == [("x", 3, text)]
    assert problems(process(f"{heard(listener('beforeAll'))}{S}")) == [("p", 3, text)]


# ---- what is refused

REFUSALS = {
    "no event": (
        [listener(None)],
        [("x", 3, "zeebe:executionListener: eventType: '' is none of start, end, beforeAll, cancel")],
    ),
    "another event": (
        [listener("begin")],
        [("x", 3, "zeebe:executionListener: eventType: 'begin' is none of start, end, beforeAll, cancel")],
    ),
    "no type": ([listener(type=None)], [("x", 3, "zeebe:executionListener needs a type")]),
    "an empty type": ([listener(type=" ")], [("x", 3, "zeebe:executionListener needs a type")]),
    "nothing": (
        ["<zeebe:executionListener />"],
        [
            ("x", 3, "zeebe:executionListener: eventType: '' is none of start, end, beforeAll, cancel"),
            ("x", 3, "zeebe:executionListener needs a type"),
        ],
    ),
    "a type that is too long": ([listener(type="t" * 1025)], [("x", 3, "the job type has more than 1024 bytes")]),
    "a type that does not parse": ([listener(type="=1 +")], None),
    "retries that are no number": (
        [listener(retries="many")],
        [("x", 3, "retries: 'many' is not a whole number from 0 to 2147483647")],
    ),
    "negative retries": (
        [listener(), listener("end", retries="-1")],
        [("x", 4, "retries: '-1' is not a whole number from 0 to 2147483647")],
    ),
    "two of one type": (
        [listener(), listener("end"), listener(type=" a ")],
        [("x", 5, "two start listeners have the type 'a'")],
    ),
    "a stranger among them": (
        [listener(), '<zeebe:taskListener eventType="creating" type="b" />'],
        [("x", 4, "'taskListener' has no place in zeebe:executionListeners")],
    ),
    "a stranger in one": (
        [listener(content="<zeebe:script />")],
        [("x", 3, "'script' has no place in zeebe:executionListener")],
    ),
    "a header without a key": (
        [listener(content='<zeebe:taskHeaders><zeebe:header value="v" /></zeebe:taskHeaders>')],
        [("x", 3, "zeebe:header needs a key")],
    ),
}


@pytest.mark.parametrize(("listeners", "expected"), REFUSALS.values(), ids=REFUSALS)
def test_what_is_refused(process, listeners, expected):
    found = problems(process(work(*listeners)))
    if expected is None:
        ((id, line, message),) = found
        assert (id, line) == ("x", 3)
        assert message.startswith("job type: '1 +' is not valid FEEL: ")
    else:
        assert found == expected


def test_listeners_stand_once_on_an_element(process):
    twice = f"<zeebe:executionListeners>{listener()}</zeebe:executionListeners>"
    parsed = process(work(listener("end"), more=JOB + twice))
    assert [message for _, _, message in problems(parsed)] == ["zeebe:executionListeners stands here twice"]


# ---- task listeners


def person(*listeners, marker="<zeebe:userTask />"):
    """A user task with task listeners, each in a line of its own from line 3 on."""
    inside = f"{marker}<zeebe:taskListeners>\n" + "\n".join(listeners) + "</zeebe:taskListeners>"
    return f'{S}<userTask id="x">{heard(listener(type="e"), more=inside)}</userTask>'


def of_task(event="creating", type="t", more=""):
    return f"<zeebe:taskListener eventType='{event}' type='{type}' {more} />"


def test_task_listeners_have_their_own_events_and_may_repeat(process):
    events = ("creating", "assigning", "updating", "completing", "canceling", "creating")
    found = node(process(person(*map(of_task, events))))
    assert {event: len(jobs) for event, jobs in found.listeners.items()} == {
        "START": 1,
        "CREATING": 2,
        "ASSIGNING": 1,
        "UPDATING": 1,
        "COMPLETING": 1,
        "CANCELING": 1,
    }


NAMES = "creating, assigning, updating, completing, canceling"
REFUSED_OF_TASKS = {
    "no event": (of_task(""), f"zeebe:taskListener: eventType: '' is none of {NAMES}"),
    "a later event": (of_task("claiming"), f"zeebe:taskListener: eventType: 'claiming' is none of {NAMES}"),
    "an earlier name": (
        of_task("assignment"),
        f"zeebe:taskListener: eventType: 'assignment' is none of {NAMES}; it is called assigning since Camunda 8.8",
    ),
    "complete": (
        of_task("complete"),
        f"zeebe:taskListener: eventType: 'complete' is none of {NAMES}; it is called completing since Camunda 8.8",
    ),
    "an empty type": (of_task(type=" "), "zeebe:taskListener needs a type"),
    "negative retries": (
        of_task(more="retries='-1'"),
        "retries: '-1' is not a whole number from 0 to 2147483647",
    ),
    "a stranger": ("<zeebe:executionListener />", "'executionListener' has no place in zeebe:taskListeners"),
}


@pytest.mark.parametrize(("listener", "message"), REFUSED_OF_TASKS.values(), ids=REFUSED_OF_TASKS)
def test_task_listeners_that_are_refused(process, listener, message):
    assert problems(process(person(of_task(), listener))) == [("x", 4, message)]


def test_a_task_that_is_a_job_has_no_task_listeners(process):
    text = "zeebe:taskListeners has no effect without zeebe:userTask: a job has no task listeners"
    assert [message for _, _, message in problems(process(person(of_task(), marker="")))] == [text]
    assert problems(process(person(marker=""))) == []


def test_only_user_tasks_have_task_listeners(process):
    inside = f"<zeebe:taskListeners>{of_task()}</zeebe:taskListeners>"
    parsed = process(work(listener(), more=JOB + inside))
    assert [message for _, _, message in problems(parsed)] == ["zeebe:taskListeners has no effect on this element"]
