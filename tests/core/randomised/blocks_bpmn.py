"""Trees of blocks (`blocks.py`) as BPMN. No import from the engine."""

from tests.core.event_models import ad_hoc
from tests.core.models import end, file, flow, par, process_element, start, sub, task, xor
from tests.core.randomised.blocks import (
    CODES,
    VALUES,
    AdHoc,
    Call,
    Choice,
    Edge,
    Final,
    Fork,
    Guard,
    Incl,
    Loop,
    Many,
    Par,
    Pass,
    Race,
    Raise,
    Repeat,
    Script,
    Seq,
    Shout,
    Sub,
    Task,
    Wait,
    awaited,
)

ROOTS = "".join(
    f'<error id="error-{code}" errorCode="{code}"/><escalation id="escalation-{code}" escalationCode="{code}"/>'
    for code in CODES
)
DURATION = '<timeDuration>=duration("PT1H")</timeDuration>'
CYCLE = "<timeCycle>R/PT1H</timeCycle>"
KEY = '<extensionElements><zeebe:subscription correlationKey="=v0"/></extensionElements>'
PERSON = "<extensionElements><zeebe:userTask/></extensionElements>"


def to_bpmn(block, id="p"):
    """A file with the process whose body is the block, and those that it calls."""
    called = []
    parts = scope(block, id, called)
    roots = "".join(_root(name, on) for name, on in awaited(block))
    return file(roots, ROOTS, process_element(*parts, id=id), *called)


def _root(name, on):
    content = KEY if on == "message" else ""
    return f'<{on} id="{on}-{name}" name="{name}">{content}</{on}>'


def scope(body, name, called):
    """The parts of a process or sub-process with this body."""
    writer = Writer(called)
    writer.parts.append(start(f"{name}_start"))
    last = writer.put(body, f"{name}_start")
    if last is not None:
        writer.parts.append(end(f"{name}_end"))
        writer.join(last, f"{name}_end")
    return writer.parts


def definition(on, name=None):
    """An event definition; messages and signals have the `name` of the element that waits for them."""
    if on in {"timer", "cycle"}:
        return f"<timerEventDefinition>{DURATION if on == 'timer' else CYCLE}</timerEventDefinition>"
    if on in {"message", "signal"}:
        return f'<{on}EventDefinition {on}Ref="{on}-{name}"/>'
    kind, _, code = on.partition(":")
    reference = f' {kind}Ref="{kind}-{code}"' if code else ""
    return f"<{kind}EventDefinition{reference}/>"


def boundary(id, host, on, interrupting):
    cancels = str(interrupting).lower()
    event = definition(on, id)
    return f'<boundaryEvent id="{id}" attachedToRef="{host}" cancelActivity="{cancels}">{event}</boundaryEvent>'


def waiting(id, on, receive):
    """The element that waits for an event, on the way or behind an event-based gateway."""
    if receive:
        return f'<receiveTask id="{id}" messageRef="message-{id}"/>'
    return f'<intermediateCatchEvent id="{id}">{definition(on, id)}</intermediateCatchEvent>'


def passing(id, kind):
    match kind:
        case "parallel":
            return par(id)
        case "exclusive":
            return xor(id)
        case "inclusive":
            return f'<inclusiveGateway id="{id}"/>'
        case "manual":
            return f'<manualTask id="{id}"/>'
        case "task":
            return f'<task id="{id}"/>'
    return f'<intermediateThrowEvent id="{id}"/>'


def loop(activity, block):
    """The activity, multi-instance."""
    until = "" if block.until is None else f"=numberOfCompletedInstances >= {block.until}"
    settings = (
        f'<zeebe:loopCharacteristics inputCollection="=[{", ".join(map(str, block.items))}]" inputElement="item"'
        f' outputElement="=item + v0" outputCollection="out_{block.id}"/>'
    )
    marker = (
        f'<multiInstanceLoopCharacteristics isSequential="{str(block.sequential).lower()}">'
        f"<extensionElements>{settings}</extensionElements>"
        + (f"<completionCondition>{until}</completionCondition>" if until else "")
        + "</multiInstanceLoopCharacteristics>"
    )
    head, closing, tail = activity.rpartition("</")
    return f"{head}{marker}{closing}{tail}"


def repeated(activity, block):
    """The activity with the standard loop."""
    marker = (
        f'<standardLoopCharacteristics testBefore="{str(block.test_before).lower()}" loopMaximum="{block.most}">'
        f"<loopCondition>=again_{block.id} = 1</loopCondition></standardLoopCharacteristics>"
    )
    head, closing, tail = activity.rpartition("</")
    return f"{head}{marker}{closing}{tail}"


class Writer:
    """The elements and flows of one scope."""

    def __init__(self, called) -> None:
        self.parts = []
        self.called = called
        """Processes that are called, of the whole file."""
        self.count = 0

    def join(self, source, target, condition=None):
        """A flow; its name. `source` may carry a condition that was left open: (node, condition)."""
        if isinstance(source, tuple):
            source, condition = source
        self.count += 1
        name = f"{source}-{target}-{self.count}"
        self.parts.append(flow(source, target, condition, name))
        return name

    def node(self, source, element, id):
        """An element behind `source`."""
        self.parts.append(element)
        self.join(source, id)
        return id

    def put(self, block, source):
        """Write the block behind `source`; what the next one stands behind, None when the way ends in the block."""
        match block:
            case Seq(parts):
                for part in parts:
                    source = self.put(part, source)
                return source
            case Guard(body, handlers):
                last = self.put(body, source)
                self.parts += [self.handler(*handler) for handler in handlers]
                return last
            case Pass(id, "link"):
                link = f'<linkEventDefinition name="{id}"/>'
                self.node(
                    source, f'<intermediateThrowEvent id="{id}_from">{link}</intermediateThrowEvent>', f"{id}_from"
                )
                self.parts.append(f'<intermediateCatchEvent id="{id}">{link}</intermediateCatchEvent>')
                return id
            case Choice() | Par() | Incl() | Loop() | Race():
                return self.split(block, source)
            case Edge():
                return self.edge(block, source)
            case Fork(first, ways):
                self.put(first, source)
                for number, way in enumerate(ways):
                    last = self.put(way, first.id)
                    if last is not None and (number or last == first.id):  # the first may end without an end event
                        self.node(last, end(f"{first.id}_end{number}"), f"{first.id}_end{number}")
                return None
            case Final(id, on):
                self.node(source, f'<endEvent id="{id}">{definition(on)}</endEvent>', id)
                return None
        return self.node(source, self.element(block), block.id)

    def element(self, block):
        """The element of a block that is one."""
        match block:
            case Task(id, mapped, person):
                mappings = {}
                if mapped:
                    mappings = {"inputs": [(f"={mapped} + 1", "x")], "outputs": [(f"=modulo(x + y, {VALUES})", mapped)]}
                return f'<userTask id="{id}">{PERSON}</userTask>' if person else task(id, **mappings)
            case Script(id, variable):
                content = f'<zeebe:script expression="={variable} + 1" resultVariable="r_{id}"/>'
                return f'<scriptTask id="{id}"><extensionElements>{content}</extensionElements></scriptTask>'
            case Pass(id, kind):
                return passing(id, kind)
            case Wait(id, on, receive):
                return waiting(id, on, receive)
            case Raise(id, code):
                event = definition(f"escalation:{code}")
                return f'<intermediateThrowEvent id="{id}">{event}</intermediateThrowEvent>'
            case Shout(id, on, name):
                publish = '<extensionElements><zeebe:publishMessage correlationKey="=v0"/></extensionElements>'
                content = (publish if on == "message" else "") + definition(on, name)
                return f'<intermediateThrowEvent id="{id}">{content}</intermediateThrowEvent>'
            case Sub(id, body, local, gives):
                mappings = {"inputs": [(f"=modulo({local} + 1, {VALUES})", local)] if local else []}
                mappings["outputs"] = [(f"={local}", gives)] if gives else []
                return sub(id, *scope(body, id, self.called), **mappings)
            case AdHoc(id, body):
                inside = Writer(self.called)
                inside.parts.append(f'<task id="{id}_begin"/>')
                inside.put(body, f"{id}_begin")
                return ad_hoc(id, *inside.parts, active=f'=["{id}_begin"]')
            case Call(id, body):
                self.called.append(process_element(*scope(body, f"c_{id}", self.called), id=f"c_{id}"))
                called = f'<zeebe:calledElement processId="c_{id}"/>'
                return f'<callActivity id="{id}"><extensionElements>{called}</extensionElements></callActivity>'
            case Many(inner):
                return loop(self.element(inner), block)
            case Repeat(inner):
                return repeated(self.element(inner), block)
        raise TypeError(block)

    def split(self, block, source):
        """A block of several ways, which meet again at `<id>_end`."""
        id = block.id
        out = f"{id}_end"
        self.join(source, id)
        match block:
            case Choice(_, variable, ways, default):
                name = None if default is None else self.way(default, id, out)
                for value, way in enumerate(ways):
                    self.way(way, (id, f"={variable} = {value}"), out)
                self.parts += [xor(id, default=name), xor(out)]
            case Incl(_, ways, default):
                name = None if default is None else self.way(default, id, out)
                for variable, value, way in ways:
                    self.way(way, (id, f"={variable} = {value}"), out)
                named = "" if name is None else f' default="{name}"'
                self.parts += [f'<inclusiveGateway id="{id}"{named}/>', f'<inclusiveGateway id="{out}"/>']
            case Par(_, ways):
                for way in ways:
                    self.way(way, id, out)
                self.parts += [par(id), par(out)]
            case Race(_, ways):
                for event, on, receive, way in ways:
                    self.way(way, self.node(id, waiting(event, on, receive), event), out)
                self.parts += [f'<eventBasedGateway id="{id}"/>', xor(out)]
            case Loop(_, body):
                self.join(self.put(body, id), out)
                self.join(out, id, f"=again_{id} = 1")
                name = self.join(out, f"{id}_out")
                self.parts += [xor(id), xor(out, default=name), xor(f"{id}_out")]
                return f"{id}_out"
        return out

    def way(self, block, source, target):
        """A way from a split to its join; the name of its first flow."""
        before = len(self.parts)
        self.join(self.put(block, source), target)
        first = next(part for part in self.parts[before:] if part.startswith("<sequenceFlow"))
        return first.split('id="')[1].split('"')[0]

    def edge(self, block, source):
        """Boundary events with their handlers; all ways meet again."""
        host = block.id
        last = self.put(block.host, source)
        self.node(last, xor(f"{host}_out"), f"{host}_out")
        for id, on, beside in block.bells:
            self.parts.append(boundary(id, host, on, False))
            self.put(beside, id)
        for id, on, handler in block.catches:
            self.parts.append(boundary(id, host, on, True))
            self.join(self.put(handler, id), f"{host}_out")
        return f"{host}_out"

    def handler(self, id, on, interrupting, body):
        """An event sub-process."""
        begin, *rest = scope(body, id, self.called)
        flag = str(interrupting).lower()
        begin = f'<startEvent id="{id}_start" isInterrupting="{flag}">{definition(on, id)}</startEvent>'
        return f'<subProcess id="{id}" triggeredByEvent="true">{begin}{"".join(rest)}</subProcess>'
