"""BPMN files in a few words.

    process(start("s"), task("a"), end("e"), "s > a > e")

Parts are snippets of XML; a text with `>` is a chain of sequence flows, each named `source-target`.
"""

import itertools
from xml.sax.saxutils import quoteattr

HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="https://example.org/tests"'
    ' xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">'
)


def file(*processes):
    """A BPMN file of these processes."""
    return f"{HEAD}{''.join(processes)}</definitions>".encode()


def process(*parts, id="p", tag=None):
    """A file with one executable process."""
    return file(process_element(*parts, id=id, tag=tag))


def process_element(*parts, id="p", tag=None):
    extensions = f'<extensionElements><zeebe:versionTag value="{tag}"/></extensionElements>' if tag else ""
    return f'<process id="{id}" name="Process {id}" isExecutable="true">{extensions}{_parts(parts)}</process>'


def start(id="start", **mappings):
    return f'<startEvent id="{id}">{_extensions(**mappings)}</startEvent>'


def end(id="end", **mappings):
    return f'<endEvent id="{id}">{_extensions(**mappings)}</endEvent>'


def task(id, type=None, retries=None, priority=None, headers=(), inputs=(), outputs=()):
    """A service task; its job's type is its id unless `type` says otherwise. Mappings: (source, target) pairs."""
    definition = f"<zeebe:taskDefinition type={quoteattr(type or id)}{_attribute('retries', retries)}/>"
    if headers:
        items = "".join(f"<zeebe:header key={quoteattr(k)} value={quoteattr(v)}/>" for k, v in headers)
        definition += f"<zeebe:taskHeaders>{items}</zeebe:taskHeaders>"
    if priority is not None:
        definition += f"<zeebe:jobPriorityDefinition{_attribute('priority', priority)}/>"
    return f'<serviceTask id="{id}" name="Task {id}">{_extensions(definition, inputs, outputs)}</serviceTask>'


def xor(id, default=None):
    return f'<exclusiveGateway id="{id}"{_attribute("default", default)}/>'


def par(id):
    return f'<parallelGateway id="{id}"/>'


def sub(id, *parts, inputs=(), outputs=()):
    """An embedded sub-process."""
    return f'<subProcess id="{id}">{_extensions("", inputs, outputs)}{_parts(parts)}</subProcess>'


def flow(source, target, condition=None, id=None):
    text = f"<conditionExpression>{_escape(condition)}</conditionExpression>" if condition else ""
    name = _attribute("id", id or f"{source}-{target}")
    return f'<sequenceFlow{name} sourceRef="{source}" targetRef="{target}">{text}</sequenceFlow>'


def chain(text):
    """`a > b > c`: a flow from each to the next."""
    names = [name.strip() for name in text.split(">")]
    return "".join(flow(source, target) for source, target in itertools.pairwise(names))


def _parts(parts):
    return "".join(part if part.startswith("<") else chain(part) for part in parts)


def _extensions(content="", inputs=(), outputs=()):
    pairs = [("input", pair) for pair in inputs] + [("output", pair) for pair in outputs]
    if pairs:
        items = "".join(f"<zeebe:{kind} source={quoteattr(s)} target={quoteattr(t)}/>" for kind, (s, t) in pairs)
        content += f"<zeebe:ioMapping>{items}</zeebe:ioMapping>"
    return f"<extensionElements>{content}</extensionElements>" if content else ""


def _attribute(name, value):
    return "" if value is None else f" {name}={quoteattr(str(value))}"


def _escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


ONE_TASK = process(start(), task("work"), end(), "start > work > end")
