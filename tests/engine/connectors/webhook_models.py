"""Models with webhooks."""

from xml.sax.saxutils import quoteattr

from tests.engine.whole_engine import HEAD


def properties(path="hook", **more):
    """The properties of a webhook. Dots in names are written as two underscores."""
    given = {"inbound.type": "io.camunda:webhook:1", "inbound.context": path, "inbound.method": "any"}
    given |= {name.replace("__", "."): value for name, value in more.items()}
    items = "".join(f"<zeebe:property name={quoteattr(k)} value={quoteattr(v)}/>" for k, v in given.items())
    return f"<extensionElements><zeebe:properties>{items}</zeebe:properties></extensionElements>"


def starting(path="hook", id="p", **more):
    """A call starts the process, which ends at once."""
    return (
        f'{HEAD}<process id="{id}" isExecutable="true"><startEvent id="start">{properties(path, **more)}</startEvent>'
        f'<sequenceFlow id="a" sourceRef="start" targetRef="end"/><endEvent id="end"/></process></definitions>'
    ).encode()


def by_message(path="hook", id="p", **more):
    """A call publishes a message that starts the process."""
    return (
        f'{HEAD}<message id="m" name="{id}-called"/><process id="{id}" isExecutable="true"><startEvent id="start">'
        f'{properties(path, **more)}<messageEventDefinition messageRef="m"/></startEvent>'
        f'<sequenceFlow id="a" sourceRef="start" targetRef="end"/><endEvent id="end"/></process></definitions>'
    ).encode()


def waiting(path="hook", id="p", **more):
    """A process that waits for the call with its order."""
    more = {"correlationKeyExpression": "=request.body.order"} | more
    return (
        f'{HEAD}<message id="m" name="paid"><extensionElements><zeebe:subscription correlationKey="=order"/>'
        f'</extensionElements></message><process id="{id}" isExecutable="true"><startEvent id="start"/>'
        f'<sequenceFlow id="a" sourceRef="start" targetRef="wait"/><intermediateCatchEvent id="wait">'
        f'{properties(path, **more)}<messageEventDefinition messageRef="m"/></intermediateCatchEvent>'
        f'<sequenceFlow id="b" sourceRef="wait" targetRef="end"/><endEvent id="end"/></process></definitions>'
    ).encode()


def pending(path="hook", id="p", key="=body.order", **more):
    """Calls of two paths, `path` and `path` with a 2, start the process together."""
    more = {"correlationKeyExpression": key} | more
    return (
        f'{HEAD}{_message("m")}{_message("n")}<process id="{id}" isExecutable="true">'
        f'<startEvent id="start" parallelMultiple="true"><messageEventDefinition messageRef="m"/>'
        f'<messageEventDefinition messageRef="n"/></startEvent>'
        f'<sequenceFlow id="a" sourceRef="start" targetRef="end"/><endEvent id="end"/></process>'
        f"{_never(path, 'm', **more)}{_never(f'{path}2', 'n', **more)}</definitions>"
    ).encode()


def _message(id):
    key = '<zeebe:subscription correlationKey="=order"/>'
    return f'<message id="{id}" name="{id}"><extensionElements>{key}</extensionElements></message>'


def _never(path, message, **more):
    """A process that never waits, and publishes what its webhook gets."""
    return (
        f'<process id="of-{path}" isExecutable="true"><startEvent id="{path}-start"/>'
        f'<sequenceFlow id="{path}-a" sourceRef="{path}-start" targetRef="{path}-wait"/>'
        f'<receiveTask id="{path}-wait" messageRef="{message}">{properties(path, **more)}</receiveTask></process>'
    )
