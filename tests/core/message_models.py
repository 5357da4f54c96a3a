"""Words for models with messages and signals. Messages and signals are elements of the file: before the processes."""

from tests.core.models import file, process_element


def message(name="hello", key="=k", id="m"):
    """A message that waits for the value of `key`; None: for a start event, which needs none."""
    key = "" if key is None else f'<extensionElements><zeebe:subscription correlationKey="{key}"/></extensionElements>'
    return f'<message id="{id}" name="{name}">{key}</message>'


def signal(name="alarm", id="s"):
    return f'<signal id="{id}" name="{name}"/>'


def model(*parts, id="p", roots=None):
    """A file with one process; `roots`: by default the message `hello` and the signal `alarm`."""
    return file(*(roots or (message(), signal())), process_element(*parts, id=id))


def _definition(kind):
    reference = {"message": "m", "signal": "s"}.get(kind, kind)
    tag = "signal" if reference.startswith("s") else "message"
    return f'<{tag}EventDefinition {tag}Ref="{reference}"/>'


def starts(id="start", on="message"):
    return f'<startEvent id="{id}">{_definition(on)}</startEvent>'


def receive(id="receive", message="m"):
    return f'<receiveTask id="{id}" messageRef="{message}"/>'


def catch(id="catch", on="message", extensions=""):
    return f'<intermediateCatchEvent id="{id}">{extensions}{_definition(on)}</intermediateCatchEvent>'


def throw(id="throw", on="signal", extensions="", tag="intermediateThrowEvent"):
    """A thrown message is published natively, or by a job, as `extensions` say."""
    extensions = f"<extensionElements>{extensions}</extensionElements>" if extensions else ""
    return f'<{tag} id="{id}">{extensions}{_definition(on)}</{tag}>'


def publish(key="=k", ttl=None, id=None):
    more = (f' timeToLive="{ttl}"' if ttl else "") + (f' messageId="{id}"' if id else "")
    return f'<zeebe:publishMessage correlationKey="{key}"{more}/>'


def inputs(**sources):
    items = "".join(f'<zeebe:input source="{source}" target="{target}"/>' for target, source in sources.items())
    return f"<zeebe:ioMapping>{items}</zeebe:ioMapping>"


def outputs(**sources):
    items = "".join(f'<zeebe:output source="{source}" target="{target}"/>' for target, source in sources.items())
    return f"<extensionElements><zeebe:ioMapping>{items}</zeebe:ioMapping></extensionElements>"


def boundary(host, id="boundary", on="message", interrupting=True, extensions=""):
    cancels = str(interrupting).lower()
    return (
        f'<boundaryEvent id="{id}" attachedToRef="{host}" cancelActivity="{cancels}">{extensions}{_definition(on)}'
        "</boundaryEvent>"
    )


def event_sub(id, *parts, on="message", interrupting=True):
    """An event sub-process; its start event is `{id}-start`."""
    from tests.core.models import _parts

    start = f'<startEvent id="{id}-start" isInterrupting="{str(interrupting).lower()}">{_definition(on)}</startEvent>'
    return f'<subProcess id="{id}" triggeredByEvent="true">{start}{_parts(parts)}</subProcess>'
