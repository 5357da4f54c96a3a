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
