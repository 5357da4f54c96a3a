"""Events: what is read of them, and each thing that is refused with its element and line."""

from __future__ import annotations

import pytest

from vivero.core.bpmn.model import ErrorEvent, EscalationEvent, LinkEvent, SignalEvent, TerminateEvent
from vivero.core.bpmn.parser import parse

S = '<startEvent id="s" />'


def message(id, name, key):
    subscription = f"<extensionElements><zeebe:subscription correlationKey='{key}' /></extensionElements>"
    return f"<message id='{id}' name='{name}'>{subscription}</message>"


ROOTS = (
    message("m", "M", "=key")
    + message("static", "N", "key")
    + '<message id="keyless" name="K" /><message id="nameless" />'
    + '<signal id="sig" name="Sig" /><signal id="nameless-signal" name=" " />'
    + '<error id="e404" errorCode="404" /><error id="any" /><error id="said" errorCode="=code" />'
    + '<escalation id="late" escalationCode="LATE" /><escalation id="every" />'
    + '<escalation id="said-so" escalationCode="=c" />'
)
"""One line, behind the process."""

ROOT = -1
"""That line."""


def nodes(parsed):
    assert [str(problem) for problem in parsed.problems] == []
    return parsed.processes[0].nodes


def where(parsed):
    return [(problem.element_id, problem.line, problem.message) for problem in parsed.problems]


def value(expression, **variables):
    return expression.evaluate(variables).value


def definition(kind, **attributes):
    given = " ".join(f'{name}="{text}"' for name, text in attributes.items())
    return f"<{kind}EventDefinition {given} />"


def within(event, id="b", start="bs", attributes=""):
    """An event sub-process."""
    inner = f"<startEvent id='{start}' {attributes}>{event}</startEvent>"
    return f"<subProcess id='{id}' triggeredByEvent='true'>{inner}</subProcess>"


def timer(**kinds):
    children = "".join(f"<{name}>{text}</{name}>" for name, text in kinds.items())
    return f"<timerEventDefinition>{children}</timerEventDefinition>"


MESSAGE, SIGNAL = definition("message", messageRef="m"), definition("signal", signalRef="sig")
ERROR, ESCALATION = definition("error", errorRef="e404"), definition("escalation", escalationRef="late")
TERMINATE, LINK = definition("terminate"), definition("link", name="L")
DURATION = timer(timeDuration="PT1M")
EACH = {
    "message": MESSAGE,
    "timer": DURATION,
    "error": ERROR,
    "escalation": ESCALATION,
    "signal": SIGNAL,
    "terminate": TERMINATE,
    "link": LINK,
}

PLACES = {
    "start a process": "\n<startEvent id='x'>{}</startEvent>",
    "start an embedded sub-process": S + "<subProcess id='b'>\n<startEvent id='x'>{}</startEvent></subProcess>",
    "start an event sub-process": S
    + "<subProcess id='b' triggeredByEvent='true'>\n<startEvent id='x'>{}</startEvent></subProcess>",
    "be an intermediate catch event": S + "\n<intermediateCatchEvent id='x'>{}</intermediateCatchEvent>",
    "be an intermediate throw event": S
    + "<intermediateCatchEvent id='there'><linkEventDefinition name='L' /></intermediateCatchEvent>"
    "\n<intermediateThrowEvent id='x'>{}</intermediateThrowEvent>",
    "be an end event": S + "\n<endEvent id='x'>{}</endEvent>",
    "be attached to an activity": S + "<subProcess id='h'><startEvent id='hs' /></subProcess>"
    "\n<boundaryEvent id='x' attachedToRef='h'>{}</boundaryEvent>",
}
ALLOWED = {
    "start a process": {"message", "signal"},
    "start an embedded sub-process": set(),
    "start an event sub-process": {"message", "timer", "error", "escalation", "signal"},
    "be an intermediate catch event": {"message", "timer", "signal", "link"},
    "be an intermediate throw event": {"escalation", "signal", "link"},
    "be an end event": {"error", "escalation", "signal", "terminate"},
    "be attached to an activity": {"message", "timer", "error", "escalation", "signal"},
}
WITHOUT_HOW = "needs a zeebe:taskDefinition with the type of a job, or a zeebe:publishMessage"


@pytest.mark.parametrize("kind", EACH)
@pytest.mark.parametrize("place", PLACES)
def test_which_event_may_stand_where(process, place, kind):
    problems = where(process(PLACES[place].format(EACH[kind]), ROOTS))
    if kind in ALLOWED[place]:
        assert problems == []
    elif (place, kind) == ("start a process", "timer"):
        assert problems == [("x", 3, "a duration cannot start a process; a date or a cycle can")]
    elif kind == "message" and "start" not in place:
        assert problems == [("x", 3, WITHOUT_HOW)]
    else:
        article = "an" if kind[0] == "e" else "a"
        assert problems == [("x", 3, f"{article} {kind} event cannot {place}")]


# ---- what is read


def test_an_error_is_caught_by_its_code_or_every_one(process):
    events = {"exact": ERROR, "no-code": definition("error", errorRef="any")}
    found = nodes(
        process(
            S
            + "<task id='h' /><task id='h2' /><task id='h3' />"
            + "".join(
                f"<boundaryEvent id='{name}' attachedToRef='h'>{text}</boundaryEvent>" for name, text in events.items()
            )
            + f"<boundaryEvent id='none' attachedToRef='h2'>{definition('error')}</boundaryEvent>"
            + "<boundaryEvent id='prefixed' attachedToRef='bpmn:h3'>"
            + f"{definition('error', errorRef='bpmn:e404')}</boundaryEvent>",
            ROOTS,
        )
    )
    assert value(found["exact"].event.code) == "404", "a code is text, also where it looks like a number"
    assert found["no-code"].event == ErrorEvent(None)
    assert found["none"].event == ErrorEvent(None)
    assert (found["prefixed"].host, value(found["prefixed"].event.code)) == ("h3", "404")
    assert found["h"].boundaries == ("exact", "no-code")
    assert (found["exact"].host, found["exact"].scope, found["exact"].interrupting) == ("h", "p", True)


def test_codes_that_are_thrown_may_be_expressions(process):
    found = nodes(
        process(
            S
            + f"<endEvent id='a'>{definition('error', errorRef='said')}</endEvent>"
            + f"<endEvent id='b'>{definition('escalation', escalationRef='said-so')}</endEvent>"
            + f"<intermediateThrowEvent id='c'>{ESCALATION}</intermediateThrowEvent>"
            + f"<endEvent id='d'>{TERMINATE}</endEvent>",
            ROOTS,
        )
    )
    assert value(found["a"].event.code, code="X") == "X"
    assert value(found["b"].event.code, c="Y") == "Y"
    assert value(found["c"].event.code) == "LATE"
    assert found["d"].event == TerminateEvent()


def test_an_event_sub_process_has_its_start_event_and_stands_in_its_scope(process):
    found = nodes(
        process(
            S
            + within(ESCALATION, "one", "a", "isInterrupting='false'")
            + within(definition("error"), "two", "b")
            + "<subProcess id='plain'><startEvent id='c' /><subProcess id='inner' triggeredByEvent='true'>"
            + f"<startEvent id='d'>{MESSAGE}</startEvent></subProcess></subProcess>",
            ROOTS,
        )
    )
    assert (found["one"].type, found["one"].start, found["two"].start) == ("EVENT_SUB_PROCESS", "a", "b")
    assert (found["a"].interrupting, found["b"].interrupting) == (False, True)
    assert isinstance(found["a"].event, EscalationEvent)
    assert (found["p"].event_sub_processes, found["plain"].event_sub_processes) == (("one", "two"), ("inner",))
    assert (found["p"].start, found["plain"].start) == ("s", "c")
    assert value(found["d"].event.correlation_key, key=7) == 7


def test_a_message_that_starts_a_process_has_no_key_and_one_that_is_waited_for_has(process):
    found = nodes(
        process(
            f"<startEvent id='a'>{MESSAGE}</startEvent>"
            f"<startEvent id='b'>{definition('message', messageRef='keyless')}</startEvent>"
            f"<receiveTask id='c' messageRef='m' />",
            ROOTS,
        )
    )
    assert (value(found["a"].event.name), found["a"].event.correlation_key) == ("M", None)
    assert value(found["b"].event.name) == "K"
    assert value(found["c"].event.correlation_key, key="k") == "k"
    assert (found["c"].type, found["p"].start) == ("RECEIVE_TASK", None)


PUBLISH = "<zeebe:publishMessage correlationKey='=key' messageId='id-1' timeToLive='PT5M' />"


@pytest.mark.parametrize(
    "content",
    [
        f"<intermediateThrowEvent id='x'><extensionElements>{PUBLISH}</extensionElements>{MESSAGE}"
        "</intermediateThrowEvent>",
        f"<endEvent id='x'><messageEventDefinition messageRef='m'><extensionElements>{PUBLISH}</extensionElements>"
        "</messageEventDefinition></endEvent>",
        f"<sendTask id='x' messageRef='m'><extensionElements>{PUBLISH}</extensionElements></sendTask>",
    ],
    ids=["throw", "definition", "task"],
)
def test_a_message_is_published(process, content):
    event = nodes(process(S + content, ROOTS))["x"].event
    assert (value(event.name), value(event.correlation_key, key=1), value(event.message_id)) == ("M", 1, "id-1")
    assert value(event.time_to_live) == "PT5M"


@pytest.mark.parametrize("tag", ["intermediateThrowEvent", "endEvent"])
@pytest.mark.parametrize("attributes", [{}, {"messageRef": "nameless"}])
def test_a_job_that_sends_a_message_knows_which(process, tag, attributes):
    job = "<extensionElements><zeebe:taskDefinition type='mail' retries='9' /></extensionElements>"
    node = nodes(process(f"{S}<{tag} id='x'>{job}{definition('message', **attributes)}</{tag}>", ROOTS))["x"]
    assert (value(node.job.type), value(node.job.retries), node.event) == ("mail", 9, None)


def test_a_signal_has_a_name(process):
    found = nodes(process(f"{S}<endEvent id='x'>{SIGNAL}</endEvent>", ROOTS))
    assert isinstance(found["x"].event, SignalEvent)
    assert value(found["x"].event.name) == "Sig"


TIMERS = {
    "date": ("timeDate", "2030-01-31T12:00:00Z", "be an intermediate catch event"),
    "day": ("timeDate", "2030-01-31", "start a process"),
    "expression": ("timeDate", "=due", "be attached to an activity"),
    "duration": ("timeDuration", " PT-1S ", "be attached to an activity"),
    "mixed duration": ("timeDuration", "P1M2DT3H", "be an intermediate catch event"),
    "cycle": ("timeCycle", "R/PT1H", "start a process"),
    "cycle with a start": ("timeCycle", "R2/2030-01-31T12:00:00+01:00[Europe/Berlin]/P1D", "start a process"),
    "cron": ("timeCycle", "0 0/15 9-17 ? * MON#1,FRI", "start a process"),
    "daily": ("timeCycle", "@daily", "start a process"),
}


@pytest.mark.parametrize(("tag", "text", "place"), TIMERS.values(), ids=TIMERS)
def test_timers(process, tag, text, place):
    event = nodes(process(PLACES[place].format(timer(**{tag: text}))))["x"].event
    assert event.kind == {"timeDate": "date", "timeDuration": "duration", "timeCycle": "cycle"}[tag]
    assert value(event.expression, due="then") == ("then" if text == "=due" else text.strip())


@pytest.mark.parametrize("flag", ["false", "0"])
def test_a_cycle_may_stand_where_nothing_is_interrupted(process, flag):
    cycle = timer(timeCycle="R/PT1H")
    found = nodes(
        process(
            f"{S}<task id='h' /><boundaryEvent id='x' attachedToRef='h' cancelActivity='{flag}'>{cycle}</boundaryEvent>"
            + within(cycle, start="y", attributes=f"isInterrupting='{flag}'")
        )
    )
    assert (found["x"].interrupting, found["y"].interrupting) == (False, False)


def test_links_find_each_other_by_name_in_their_scope(process):
    catch = "<intermediateCatchEvent id='{}'><linkEventDefinition name='L' /></intermediateCatchEvent>"
    link = "<linkEventDefinition name=' L '><source>t1</source></linkEventDefinition>"
    throw = f"<intermediateThrowEvent id='{{}}'>{link}</intermediateThrowEvent>"
    found = nodes(
        process(
            S
            + throw.format("t1")
            + throw.format("t2")
            + catch.format("c")
            + f"<subProcess id='b'><startEvent id='bs' />{catch.format('bc')}{throw.format('bt')}</subProcess>"
        )
    )
    assert (found["t1"].event, found["t2"].event) == (LinkEvent("L", "c"), LinkEvent("L", "c"))
    assert (found["bt"].event, found["bc"].event) == (LinkEvent("L", "bc"), LinkEvent("L"))


def test_an_intermediate_throw_event_may_throw_nothing(process):
    found = nodes(process(f"{S}<intermediateThrowEvent id='x' />"))
    assert (found["x"].type, found["x"].event) == ("INTERMEDIATE_THROW_EVENT", None)


def test_definitions_need_no_ids_and_may_have_documentation(process):
    text = "<errorEventDefinition><documentation>why</documentation></errorEventDefinition>"
    assert nodes(process(f"{S}<task id='h' /><boundaryEvent id='x' attachedToRef='h'>{text}</boundaryEvent>"))


def test_behind_an_event_based_gateway(process):
    flows = "".join(f"<sequenceFlow id='f{t}' sourceRef='g' targetRef='{t}' />" for t in "abcd")
    found = nodes(
        process(
            f"{S}<eventBasedGateway id='g' eventGatewayType='Exclusive' instantiate='false' />{flows}"
            f"<intermediateCatchEvent id='a'>{MESSAGE}</intermediateCatchEvent>"
            f"<intermediateCatchEvent id='b'>{DURATION}</intermediateCatchEvent>"
            f"<intermediateCatchEvent id='c'>{SIGNAL}</intermediateCatchEvent>"
            "<receiveTask id='d' messageRef='other' />",
            ROOTS + message("other", "O", "=key"),
        )
    )
    assert (found["g"].type, found["g"].outgoing) == ("EVENT_BASED_GATEWAY", ("fa", "fb", "fc", "fd"))


# ---- what is refused


def boundary(text, attributes="", host="<task id='h' />"):
    return f"{S}{host}\n<boundaryEvent id='x' attachedToRef='h' {attributes}>\n{text}</boundaryEvent>"


def extended(extensions, event):
    return f"<endEvent id='x'><extensionElements>{extensions}</extensionElements>{event}</endEvent>"


def catch(text):
    return f"{S}<intermediateCatchEvent id='x'>\n{text}</intermediateCatchEvent>"


def gateway(targets, attributes=""):
    """An event-based gateway in line 3; the flow to the last target in line 4."""
    ids = [target.split("id='")[1].split("'")[0] for target in targets]
    flows = [f"<sequenceFlow id='f{i}' sourceRef='g' targetRef='{i}' />" for i in ids]
    start = f"{S}\n<eventBasedGateway id='g' {attributes} />"
    return f"{start}{''.join(flows[:-1])}\n{flows[-1]}\n{''.join(targets)}"


TICK = f"<intermediateCatchEvent id='a'>{DURATION}</intermediateCatchEvent>"
TOCK = f"<intermediateCatchEvent id='b'>{DURATION}</intermediateCatchEvent>"
MAIL = f"<intermediateCatchEvent id='c'>{MESSAGE}</intermediateCatchEvent>"
SOUND = f"<intermediateCatchEvent id='d'>{SIGNAL}</intermediateCatchEvent>"
SUB = "<subProcess id='h'><startEvent id='hs' /></subProcess>"
NOT_THERE = "needs an event definition: what it waits for"
BEHIND = "is no message, timer or signal event and no receive task, as behind this gateway"

REFUSED = {
    "reference to nothing": (
        catch(definition("message", messageRef="nobody")),
        [("x", 3, "messageRef 'nobody' is not a message of this file")],
    ),
    "reference to something else": (
        catch(definition("signal", signalRef="m")),
        [("x", 3, "signalRef 'm' is not a signal of this file")],
    ),
    "no message": (catch(definition("message")), [("x", 3, "needs a messageRef: the message that is meant")]),
    "no signal": (catch(definition("signal")), [("x", 3, "needs a signalRef: the signal that is meant")]),
    "error that is not there": (
        boundary(definition("error", errorRef="nobody")),
        [("x", 4, "errorRef 'nobody' is not an error of this file")],
    ),
    "message without a name": (
        catch(definition("message", messageRef="nameless")),
        [
            ("nameless", ROOT, "the message needs a name: 'x' waits for it"),
            ("nameless", ROOT, "the message needs a zeebe:subscription with a correlationKey: 'x' waits for it"),
        ],
    ),
    "message without a key": (
        f"{S}\n<receiveTask id='x' messageRef='keyless' />",
        [("keyless", ROOT, "the message needs a zeebe:subscription with a correlationKey: 'x' waits for it")],
    ),
    "receive task without a message": (
        f"{S}\n<receiveTask id='x' />",
        [("x", 3, "needs a messageRef: the message that is meant")],
    ),
    "receive task that starts a process and is reached": (
        f"{S}<receiveTask id='x' messageRef='m' instantiate='true' />"
        "\n<sequenceFlow id='f' sourceRef='s' targetRef='x' />",
        [("f", 3, "leads to 'x', which starts the process (instantiate)")],
    ),
    "receive task that starts a process from within": (
        f"{S}<subProcess id='h'><startEvent id='hs' />"
        "\n<receiveTask id='x' messageRef='m' instantiate='true' /></subProcess>",
        [("x", 3, "instantiate: it is in a sub-process, and cannot start the process")],
    ),
    "receive task that starts a process and repeats": (
        "\n<receiveTask id='x' messageRef='m' instantiate='true' startQuantity='2'>"
        "\n<standardLoopCharacteristics><loopCondition>=true</loopCondition></standardLoopCharacteristics></receiveTask>",
        [
            ("x", 3, "a receive task that starts the process cannot have a startQuantity: no flow leads to it"),
            ("x", 4, "a receive task that starts the process cannot have a loop"),
        ],
    ),
    "receive task that starts a process and compensates": (
        "\n<receiveTask id='x' messageRef='m' instantiate='true' isForCompensation='true' />",
        [("x", 3, "a receive task that starts the process compensates nothing")],
    ),
    "two that start a process by one message": (
        f"<startEvent id='s'>{MESSAGE}</startEvent>\n<receiveTask id='x' messageRef='m' instantiate='true' />",
        [("x", 3, "'s' waits for the message 'M' already")],
    ),
    "signal without a name": (
        catch(definition("signal", signalRef="nameless-signal")),
        [("nameless-signal", ROOT, "the signal needs a name: 'x' waits for it")],
    ),
    "error without a code is thrown": (
        f"{S}<endEvent id='x'>\n{definition('error', errorRef='any')}</endEvent>",
        [("any", ROOT, "the error needs an errorCode: 'x' throws it")],
    ),
    "no error is thrown": (
        f"{S}<endEvent id='x'>\n{definition('error')}</endEvent>",
        [("x", 3, "needs an errorRef: the error that is meant")],
    ),
    "escalation without a code is thrown": (
        f"{S}<endEvent id='x'>\n{definition('escalation', escalationRef='every')}</endEvent>",
        [("every", ROOT, "the escalation needs an escalationCode: 'x' throws it")],
    ),
    "error caught by an expression": (
        boundary(definition("error", errorRef="said")),
        [("x", 4, "the errorCode of an error that is caught cannot be an expression")],
    ),
    "escalation caught by an expression": (
        boundary(definition("escalation", escalationRef="said-so"), host=SUB),
        [("x", 4, "the escalationCode of an escalation that is caught cannot be an expression")],
    ),
    "error that does not interrupt": (
        boundary(ERROR, "cancelActivity='false'"),
        [("x", 4, "an error event always interrupts")],
    ),
    "error that does not interrupt an event sub-process": (
        S + within("\n" + ERROR, start="x", attributes="isInterrupting='false'"),
        [("x", 3, "an error event always interrupts")],
    ),
    "flag that is none": (
        boundary(DURATION, "cancelActivity='maybe'"),
        [("x", 3, "cancelActivity='maybe' is neither true nor false")],
    ),
    "boundary of nothing": (
        f"{S}\n<boundaryEvent id='x'>{ERROR}</boundaryEvent>",
        [("x", 3, "the boundary event needs an attachedToRef: its activity")],
    ),
    "boundary of what is not there": (
        f"{S}\n<boundaryEvent id='x' attachedToRef='h'>{ERROR}</boundaryEvent>",
        [("x", 3, "attachedToRef 'h' is not a flow node of this process")],
    ),
    "boundary of an event": (
        f"{S}\n<boundaryEvent id='x' attachedToRef='s'>{ERROR}</boundaryEvent>",
        [("x", 3, "is attached to 's', which is no activity")],
    ),
    "boundary of an event sub-process": (
        f"{S}{within(DURATION)}\n<boundaryEvent id='x' attachedToRef='b'>{ERROR}</boundaryEvent>",
        [("x", 3, "is attached to 'b', which is no activity")],
    ),
    "boundary in another scope": (
        f"{S}<subProcess id='b'><startEvent id='bs' /><task id='h' /></subProcess>"
        f"\n<boundaryEvent id='x' attachedToRef='h'>{ERROR}</boundaryEvent>",
        [("x", 3, "is attached to 'h', which is in another scope")],
    ),
    "boundary of a refused node": (
        f"{S}\n<implicitThrowEvent id='h' /><boundaryEvent id='x' attachedToRef='h'>{ERROR}</boundaryEvent>",
        [("h", 3, "an implicit throw event is not executable yet")],
    ),
    "boundary that waits for nothing": (
        f"{S}<task id='h' />\n<boundaryEvent id='x' attachedToRef='h' />",
        [("x", 3, NOT_THERE)],
    ),
    "catch event that waits for nothing": (f"{S}\n<intermediateCatchEvent id='x' />", [("x", 3, NOT_THERE)]),
    "escalation of a task": (
        boundary(ESCALATION),
        [("x", 3, "no escalation can come from 'h': it is neither a sub-process nor a call activity")],
    ),
    "parallel multiple that starts a process": (
        f"\n<startEvent id='s' parallelMultiple='true'>{MESSAGE}{SIGNAL}</startEvent>",
        [("s", 3, "signalEventDefinition: only messages start a process together (parallelMultiple), by their key")],
    ),
    "flow to a boundary event": (
        f"{S}<task id='h' /><boundaryEvent id='x' attachedToRef='h'>{ERROR}</boundaryEvent>"
        "\n<sequenceFlow id='f' sourceRef='s' targetRef='x' />",
        [("f", 3, "leads to the boundary event 'x'")],
    ),
    "flows around an event sub-process": (
        f"{S}{within(DURATION)}<task id='t' />"
        "\n<sequenceFlow id='f' sourceRef='s' targetRef='b' />\n<sequenceFlow id='g' sourceRef='b' targetRef='t' />",
        [("f", 3, "leads to the event sub-process 'b'"), ("g", 4, "leaves the event sub-process 'b'")],
    ),
    "event sub-process without a start event": (
        f"{S}\n<subProcess id='b' triggeredByEvent='true' />",
        [("b", 3, "needs a start event")],
    ),
    "event sub-process that nothing starts": (
        f"{S}<subProcess id='b' triggeredByEvent='true'>\n<startEvent id='bs' /></subProcess>",
        [("bs", 3, "needs an event definition: what starts the event sub-process")],
    ),
    "event sub-process with two start events": (
        f"{S}<subProcess id='b' triggeredByEvent='true'><startEvent id='bs'>{DURATION}</startEvent>"
        f"\n<startEvent id='bt'>{DURATION}</startEvent></subProcess>",
        [("bt", 3, "a second start event: an event sub-process has one, and 'bs' is one already")],
    ),
    "multi-instance event sub-process": (
        f"{S}<subProcess id='b' triggeredByEvent='true'>\n<multiInstanceLoopCharacteristics />"
        f"<startEvent id='bs'>{DURATION}</startEvent></subProcess>",
        [("b", 3, "an event sub-process cannot have a loop")],
    ),
    "two boundaries for one error": (
        f"{S}<task id='h' /><boundaryEvent id='a' attachedToRef='h'>{ERROR}</boundaryEvent>"
        f"\n<boundaryEvent id='b' attachedToRef='h'>{ERROR}</boundaryEvent>",
        [("b", 3, "'a' waits for the error '404' already")],
    ),
    "two boundaries for every error": (
        f"{S}<task id='h' /><boundaryEvent id='a' attachedToRef='h'>{definition('error')}</boundaryEvent>"
        f"\n<boundaryEvent id='b' attachedToRef='h'>{definition('error', errorRef='any')}</boundaryEvent>",
        [("b", 3, "'a' waits for every error already")],
    ),
    "two boundaries for one message": (
        f"{S}<task id='h' /><boundaryEvent id='a' attachedToRef='h'>{MESSAGE}</boundaryEvent>"
        f"\n<boundaryEvent id='b' attachedToRef='h' cancelActivity='false'>{MESSAGE}</boundaryEvent>",
        [("b", 3, "'a' waits for the message 'M' already")],
    ),
    "a receive task and its boundary for one message": (
        f"{S}<receiveTask id='a' messageRef='m' />\n<boundaryEvent id='b' attachedToRef='a'>{MESSAGE}</boundaryEvent>",
        [("b", 3, "'a' waits for the message 'M' already")],
    ),
    "two event sub-processes for one signal": (
        f"{S}<subProcess id='a' triggeredByEvent='true'><startEvent id='as'>{SIGNAL}</startEvent></subProcess>"
        f"\n<subProcess id='b' triggeredByEvent='true'><startEvent id='bs'>{SIGNAL}</startEvent></subProcess>",
        [("bs", 3, "'as' waits for the signal 'Sig' already")],
    ),
    "two starts for one message": (
        f"<startEvent id='a'>{MESSAGE}</startEvent>\n<startEvent id='b'>{MESSAGE}</startEvent>",
        [("b", 3, "'a' waits for the message 'M' already")],
    ),
    "no timer": (
        catch("<timerEventDefinition />"),
        [("x", 3, "a timer needs one of timeDate, timeDuration and timeCycle, and has 0")],
    ),
    "two timers": (
        catch(timer(timeDate="=a", timeDuration="=b")),
        [("x", 3, "a timer needs one of timeDate, timeDuration and timeCycle, and has 2")],
    ),
    "no date": (
        catch(timer(timeDate="tomorrow")),
        [("x", 3, "timeDate: 'tomorrow' is not a date like 2030-01-31T12:00:00Z")],
    ),
    "no duration": (catch(timer(timeDuration="")), [("x", 3, "timeDuration: '' is not a duration like PT15M")]),
    "no cycle": (
        boundary(timer(timeCycle="often"), "cancelActivity='false'"),
        [("x", 4, "timeCycle: 'often' is not a cycle like R3/PT10M or 0 0 9 * * MON-FRI")],
    ),
    "cycle without time": (
        boundary(timer(timeCycle="R/PT0S"), "cancelActivity='false'"),
        [("x", 4, "timeCycle: 'R/PT0S' repeats without any time in between")],
    ),
    "cycle that never fires": (
        boundary(timer(timeCycle="R0/PT1H"), "cancelActivity='false'"),
        [("x", 4, "timeCycle: 'R0/PT1H' never fires")],
    ),
    "cycle that fires too often": (
        boundary(timer(timeCycle="R2147483648/PT1H"), "cancelActivity='false'"),
        [("x", 4, "timeCycle: 'R2147483648/PT1H' repeats more often than 2147483647 times")],
    ),
    "cycle that fires all the time": (
        boundary(timer(timeCycle="R/PT0.5S"), "cancelActivity='false'"),
        [("x", 4, "timeCycle: 'R/PT0.5S' repeats without end at an interval shorter than a second")],
    ),
    "cycle beyond the years": (
        boundary(timer(timeCycle="R/10000-01-01T00:00:00Z/P1D"), "cancelActivity='false'"),
        [("x", 4, "timeCycle: 'R/10000-01-01T00:00:00Z/P1D' leads beyond the year 9999")],
    ),
    "date beyond the years": (
        catch(timer(timeDate="10000-01-01T00:00:00Z")),
        [("x", 3, "timeDate: '10000-01-01T00:00:00Z' leads beyond the year 9999")],
    ),
    "duration beyond the years": (
        catch(timer(timeDuration="P9000Y")),
        [("x", 3, "timeDuration: 'P9000Y' leads beyond the year 9999")],
    ),
    "cycle that is waited for": (
        catch(timer(timeCycle="R3/PT1M")),
        [("x", 3, "an intermediate timer event waits for a date or a duration, not for a cycle")],
    ),
    "cycle that interrupts": (
        boundary(timer(timeCycle="R3/PT1M")),
        [("x", 4, "a cycle needs an event that does not interrupt: it happens again and again")],
    ),
    "timer expression that is none": (
        catch(timer(timeDuration="=1 +")),
        [("x", 3, None)],
    ),
    "link without a name": (catch(definition("link")), [("x", 3, "a link event needs a name")]),
    "link to nowhere": (
        f"{S}<intermediateThrowEvent id='x'>\n{LINK}</intermediateThrowEvent>",
        [("x", 3, "no catching link event in this scope has the name 'L'")],
    ),
    "link into another scope": (
        f"{S}<subProcess id='b'><startEvent id='bs' />"
        f"<intermediateCatchEvent id='c'>{LINK}</intermediateCatchEvent></subProcess>"
        f"<intermediateThrowEvent id='x'>\n{LINK}</intermediateThrowEvent>",
        [("x", 3, "no catching link event in this scope has the name 'L'")],
    ),
    "two links of one name": (
        f"{S}<intermediateCatchEvent id='c'>{LINK}</intermediateCatchEvent>"
        f"<intermediateCatchEvent id='d'>\n{LINK}</intermediateCatchEvent>",
        [("d", 3, "a second catching link event of the name 'L': 'c' is one already")],
    ),
    "flows at the wrong side of links": (
        f"{S}<intermediateThrowEvent id='t'>{LINK}</intermediateThrowEvent>"
        f"<intermediateCatchEvent id='c'>{LINK}</intermediateCatchEvent>"
        "\n<sequenceFlow id='f' sourceRef='t' targetRef='c' />",
        [("f", 3, "leaves the throwing link event 't'"), ("f", 3, "leads to the catching link event 'c'")],
    ),
    "job and publication": (
        S + extended(f"<zeebe:taskDefinition type='t' />\n{PUBLISH}", MESSAGE),
        [("x", 3, "zeebe:taskDefinition and zeebe:publishMessage: one of them is too much")],
    ),
    "publication without a message": (
        f"{S}<endEvent id='x'><extensionElements>{PUBLISH}</extensionElements>\n<messageEventDefinition /></endEvent>",
        [("x", 3, "needs a messageRef: the message that is meant")],
    ),
    "publication without a key": (
        f"{S}<endEvent id='x'><extensionElements>\n<zeebe:publishMessage /></extensionElements>{MESSAGE}</endEvent>",
        [("x", 3, "zeebe:publishMessage needs a correlationKey")],
    ),
    "publication that lives for no time": (
        f"{S}<endEvent id='x'><extensionElements>\n<zeebe:publishMessage correlationKey='=k' timeToLive='long' />"
        f"</extensionElements>{MESSAGE}</endEvent>",
        [("x", 3, "timeToLive: 'long' is not a duration like PT15M")],
    ),
    "publication of a none event": (
        f"{S}<endEvent id='x'><extensionElements>\n{PUBLISH}</extensionElements></endEvent>",
        [("x", 3, "zeebe:publishMessage has no effect on this element")],
    ),
    "job of an error event": (
        S + extended("\n<zeebe:taskDefinition type='t' />", ERROR),
        [("x", 3, "zeebe:taskDefinition has no effect on this element")],
    ),
    "extension of a definition": (
        boundary(
            "<errorEventDefinition><extensionElements>\n<zeebe:error errorCodeVariable='c' />"
            "</extensionElements></errorEventDefinition>"
        ),
        [("x", 5, "zeebe:error: variables of a caught error are not executable yet")],
    ),
    "unknown child of a definition": (
        boundary("<errorEventDefinition>\n<task id='t' /></errorEventDefinition>"),
        [("x", 5, "the element 'task' has no place here")],
    ),
    "key that is no expression": (
        catch(definition("message", messageRef="static")),
        [("static", ROOT, "correlationKey: 'key' is not an expression: '=' and FEEL behind it")],
    ),
    "gateway with one way": (
        gateway([TICK]),
        [("g", 3, "an event-based gateway needs two outgoing flows at least, and has 1")],
    ),
    "gateway that starts a process and is reached": (
        gateway([MAIL, SOUND], "instantiate='true'") + "\n<sequenceFlow id='f' sourceRef='s' targetRef='g' />",
        [("f", 6, "leads to 'g', which starts the process (instantiate)")],
    ),
    "gateway that starts a process by a duration": (
        gateway([TICK, MAIL], "instantiate='true'"),
        [("a", 5, "a duration cannot start a process; a date or a cycle can")],
    ),
    "parallel event gateway that starts no process": (
        gateway([TICK, TOCK], "eventGatewayType='Parallel'"),
        [("g", 3, 'an event-based gateway of type Parallel starts a process: it needs instantiate="true"')],
    ),
    "event gateway of no type": (
        gateway([TICK, TOCK], "eventGatewayType='Some'"),
        [("g", 3, "eventGatewayType: 'Some' is neither Exclusive nor Parallel")],
    ),
    "signal behind a parallel gateway": (
        gateway([MAIL, SOUND], "instantiate='true' eventGatewayType='Parallel'"),
        [("fd", 4, "'d' waits for something else than one message, which a parallel gateway cannot relate")],
    ),
    "task behind the gateway": (gateway([TICK, "<task id='t' />"]), [("ft", 4, f"'t' {BEHIND}")]),
    "link behind the gateway": (
        gateway([TICK, f"<intermediateCatchEvent id='l'>{LINK}</intermediateCatchEvent>"]),
        [("fl", 4, "leads to the catching link event 'l'"), ("fl", 4, f"'l' {BEHIND}")],
    ),
    "another way behind the gateway": (
        gateway([TICK, MAIL]) + "<sequenceFlow id='z' sourceRef='s' targetRef='c' />",
        [("fc", 4, "'c' stands behind an event-based gateway and has other incoming flows")],
    ),
    "the same message behind the gateway": (
        gateway([MAIL, "<receiveTask id='r' messageRef='m' />"]),
        [("r", 5, "'c' waits for the message 'M' already")],
    ),
    "boundary event behind the gateway": (
        gateway(
            [
                TICK,
                f"<receiveTask id='r' messageRef='m' /><boundaryEvent id='x' attachedToRef='r'>{ERROR}</boundaryEvent>",
            ]
        ),
        [("fr", 4, "'r' stands behind an event-based gateway and has boundary events or a loop")],
    ),
    "condition behind the gateway": (
        gateway([TICK, TOCK]).replace(
            "targetRef='b' />", "targetRef='b'><conditionExpression>=true</conditionExpression></sequenceFlow>"
        ),
        [
            (
                "fb",
                4,
                "a condition is evaluated only on a flow that leaves an activity or an exclusive, inclusive or complex "
                "gateway",
            )
        ],
    ),
}


@pytest.mark.parametrize(("content", "problems"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(process, content, problems):
    root_line = 3 + content.count("\n")
    found = where(process(content, ROOTS))
    expected = [(element, root_line if line == ROOT else line, message) for element, line, message in problems]
    assert [problem[:2] for problem in found] == [problem[:2] for problem in expected]
    assert all(message in (None, got) for (*_, got), (*_, message) in zip(found, expected, strict=True)), found


def test_what_nobody_refers_to_is_not_checked(process):
    assert nodes(process(S, "<message id='a' /><signal id='b' /><error id='c' errorCode='=(' /><error />"))


def test_two_messages_of_one_id_are_refused(process):
    problems = where(process(S, "<message id='m' name='A' />\n<message id='m' name='B' /><signal id='m' />"))
    assert problems == [("m", 4, "the id 'm' is already taken in line 3")]


# ---- conditional events


def conditional(condition="<condition>=x &gt; y.z</condition>", given=""):
    extension = f"<extensionElements><zeebe:conditionalFilter {given}/></extensionElements>" if given else ""
    return f"<conditionalEventDefinition>{extension}{condition}</conditionalEventDefinition>"


def wait_for(event):
    return f'{S}\n<intermediateCatchEvent id="x">{event}</intermediateCatchEvent>'


@pytest.mark.parametrize(
    ("given", "variables", "changes"),
    [
        ("", {"x", "y"}, {"create", "update"}),
        ('variableEvents="create"', {"x", "y"}, {"create"}),
        ('variableEvents=" update , create"', {"x", "y"}, {"create", "update"}),
        ('variableNames="y, other"', {"y"}, {"create", "update"}),
    ],
)
def test_a_condition_and_the_changes_that_count(process, given, variables, changes):
    event = nodes(process(wait_for(conditional(given=given))))["x"].event
    assert (event.variables, event.changes) == (variables, changes)
    assert value(event.condition, x=2, y={"z": 1}) is True


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (conditional(""), "a conditional event needs one condition, and has 0"),
        (
            conditional("<condition>=a</condition><condition>=b</condition>"),
            "a conditional event needs one condition, and has 2",
        ),
        (conditional("<condition>true</condition>"), "condition: 'true' is not an expression: '=' and FEEL behind it"),
        (conditional(given='variableEvents="delete"'), "variableEvents: 'delete' is neither create nor update"),
    ],
)
def test_a_condition_that_is_no_condition(process, event, message):
    assert where(process(wait_for(event))) == [("x", 3, message)]


def test_nothing_throws_a_condition(process):
    problems = where(process(f'{S}\n<endEvent id="x">{conditional()}</endEvent>'))
    assert problems == [("x", 3, "a conditional event cannot be an end event")]


def test_two_starts_of_a_process_with_one_condition_are_refused(process):
    starts = [f'<startEvent id="{id}">{conditional(condition)}</startEvent>' for id, condition in TWO_ALIKE]
    assert where(process("\n".join(starts))) == [("c", 4, "'a' waits for this condition already")]


TWO_ALIKE = [
    ("a", "<condition>=x</condition>"),
    ("b", "<condition>=y</condition>"),
    ("c", "<condition>=x</condition>"),
]


# ---- all kinds together


@pytest.mark.parametrize("name", ["events", "activities"])
def test_a_model_with_everything_is_deployed(models, name):
    assert parse((models / f"{name}.bpmn").read_bytes(), name).problems == ()
