"""More BPMN in a few words: events, event sub-processes, calls, loops, gateways that include.

model(start(), sub("s", start("i"), end("x", error("A")), "i > x"), boundary("b", "s", error("A")), …)
"""

from xml.sax.saxutils import escape, quoteattr

from tests.core.models import chain, file, process_element
from vivero.core.execution.step import StepLimits

LIMITS = {"whole": StepLimits(quantum_items=500), "quanta": StepLimits(quantum_items=1)}
"""Tests run with both: cut into quanta of one item, everything must come to the same."""


def run(engine, *files, **variables):
    """Deploy, and start the process `p`; its key."""
    engine.deploy(*files)
    return engine.start(**variables)


def states(engine, id):
    """The states that instances of an element ended in, or are in."""
    return [row["state"] for (table, _), row in engine.rows.items() if table == "Element" and row["element"] == id]


def ended(engine, key):
    """The state of an instance in an engine in which nothing lives any more; else what lives."""
    return engine.state_of(key) if not engine.state.elements else engine.elements


CODES = ("A", "B", "C")
ROOTS = "".join(
    f'<error id="error-{code}" errorCode="{code}"/><escalation id="escalation-{code}" escalationCode="{code}"/>'
    for code in CODES
)
ROOTS += '<error id="error-said" errorCode="=code"/><escalation id="escalation-said" escalationCode="=code"/>'


def model(*parts, id="p", tag=None, beside=()):
    """A file with one process, and those `beside` it."""
    return file(process_element(*parts, id=id, tag=tag), *beside, ROOTS)


def error(code=None):
    """The definition; without a code every error. `said`: the variable `code` says it."""
    return _definition("error", code)


def escalation(code=None):
    return _definition("escalation", code)


def _definition(kind, code):
    reference = "" if code is None else f' {kind}Ref="{kind}-{code}"'
    return f"<{kind}EventDefinition{reference}/>"


TERMINATE = "<terminateEventDefinition/>"


def link(name):
    return f'<linkEventDefinition name="{name}"/>'


def final(id, event, inputs=()):
    """An end event."""
    return f'<endEvent id="{id}">{mapped(inputs=inputs)}{event}</endEvent>'


def throw(id, event="", inputs=()):
    return f'<intermediateThrowEvent id="{id}">{mapped(inputs=inputs)}{event}</intermediateThrowEvent>'


def catch(id, event, inputs=()):
    return f'<intermediateCatchEvent id="{id}">{mapped(inputs=inputs)}{event}</intermediateCatchEvent>'


def boundary(id, host, event, interrupting=True, inputs=(), outputs=()):
    flag = "" if interrupting else ' cancelActivity="false"'
    mappings = mapped(inputs=inputs, outputs=outputs)
    return f'<boundaryEvent id="{id}" attachedToRef="{host}"{flag}>{mappings}{event}</boundaryEvent>'


def on(event, id, *parts, interrupting=True, inputs=(), outputs=()):
    """An event sub-process whose start event is `ID-start`."""
    flag = "" if interrupting else ' isInterrupting="false"'
    mappings = mapped(inputs=inputs, outputs=outputs)
    begin = f'<startEvent id="{id}-start"{flag}>{mappings}{event}</startEvent>'
    return f'<subProcess id="{id}" triggeredByEvent="true">{begin}{"".join(map(_part, parts))}</subProcess>'


def together(event):
    """The event, which waits until all of its definitions have occurred."""
    tag = next(tag for tag in ("intermediateCatchEvent", "boundaryEvent", "startEvent") if f"<{tag} " in event)
    return event.replace(f"<{tag} ", f'<{tag} parallelMultiple="true" ', 1)


def _part(part):
    return part if part.startswith("<") else chain(part)


def mapped(content="", inputs=(), outputs=()):
    """Extension elements with mappings: (source, target) pairs."""
    pairs = [("input", pair) for pair in inputs] + [("output", pair) for pair in outputs]
    items = "".join(f"<zeebe:{kind} source={quoteattr(s)} target={quoteattr(t)}/>" for kind, (s, t) in pairs)
    content += f"<zeebe:ioMapping>{items}</zeebe:ioMapping>" if items else ""
    return f"<extensionElements>{content}</extensionElements>" if content else ""


def call(id, process_id, inputs=(), outputs=(), **attributes):
    """A call activity; attributes as of zeebe:calledElement."""
    given = "".join(f" {name}={quoteattr(str(value))}" for name, value in attributes.items())
    called = f"<zeebe:calledElement processId={quoteattr(process_id)}{given}/>"
    return f'<callActivity id="{id}">{mapped(called, inputs, outputs)}</callActivity>'


def script(id, expression, result, inputs=(), outputs=()):
    content = f"<zeebe:script expression={quoteattr(expression)} resultVariable={quoteattr(result)}/>"
    return f'<scriptTask id="{id}">{mapped(content, inputs, outputs)}</scriptTask>'


def inc(id, default=None):
    return f'<inclusiveGateway id="{id}"{"" if default is None else f" default={quoteattr(default)}"}/>'


def complex_gateway(id, activation=None, default=None):
    """`activation`: the activation condition."""
    of_default = "" if default is None else f" default={quoteattr(default)}"
    inside = "" if activation is None else f"<activationCondition>{escape(activation)}</activationCondition>"
    return f'<complexGateway id="{id}"{of_default}>{inside}</complexGateway>'


def loop(activity, collection="=items", item=None, output=None, into=None, until=None, sequential=False):
    """The activity, multi-instance."""
    given = {"inputCollection": collection, "inputElement": item, "outputElement": output, "outputCollection": into}
    attributes = "".join(f" {name}={quoteattr(value)}" for name, value in given.items() if value is not None)
    settings = f"<extensionElements><zeebe:loopCharacteristics{attributes}/></extensionElements>"
    condition = "" if until is None else f"<completionCondition>{until.replace('<', '&lt;')}</completionCondition>"
    flag = ' isSequential="true"' if sequential else ""
    marker = f"<multiInstanceLoopCharacteristics{flag}>{settings}{condition}</multiInstanceLoopCharacteristics>"
    head, closing, tail = activity.rpartition("</")
    return f"{head}{marker}{closing}{tail}"


def ad_hoc(id, *parts, active=None, output=None, into=None, until=None, job=None, inputs=(), outputs=(), **attributes):
    """An ad-hoc sub-process; with `job`, a type, its worker decides. Attributes as of the element."""
    given = {"activeElementsCollection": active, "outputElement": output, "outputCollection": into}
    settings = "".join(f" {name}={quoteattr(value)}" for name, value in given.items() if value is not None)
    extensions = (f"<zeebe:adHoc{settings}/>" if settings else "") + (
        f"<zeebe:taskDefinition type={quoteattr(job)}/>" if job else ""
    )
    condition = f"<completionCondition>{until.replace('<', '&lt;')}</completionCondition>" if until else ""
    said = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
    content = mapped(extensions, inputs, outputs) + "".join(map(_part, parts)) + condition
    return f'<adHocSubProcess id="{id}"{said}>{content}</adHocSubProcess>'
