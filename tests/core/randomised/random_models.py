"""Random models without any structure, in which everything meets: scopes in scopes, event sub-processes, boundary
events of every kind, loops, calls, throws that are caught by what is around them, ways back and joins that never fill.

No oracle says what they come to; `random_model_checks.py` says what must hold whatever it is.
"""

from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from tests.core.decision_models import file as decisions
from tests.core.dmn.models import decision, table
from tests.core.event_models import ROOTS, ad_hoc
from tests.core.models import file, flow

NAMES = ("one", "two", "three")
CODES = ("A", "B")
WAITED_FOR = "".join(
    f'<message id="m-{name}" name="{name}"><extensionElements><zeebe:subscription correlationKey="=k"/>'
    f'</extensionElements></message><signal id="s-{name}" name="{name}"/>'
    for name in NAMES
)

COMPENSATION = "<compensateEventDefinition/>"
DEFINITIONS = {
    "message": '<messageEventDefinition messageRef="m-{name}"/>',
    "signal": '<signalEventDefinition signalRef="s-{name}"/>',
    "timer": "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>",
    "cycle": "<timerEventDefinition><timeCycle>R2/PT1H</timeCycle></timerEventDefinition>",
    "error": '<errorEventDefinition errorRef="error-{code}"/>',
    "any error": "<errorEventDefinition/>",
    "escalation": '<escalationEventDefinition escalationRef="escalation-{code}"/>',
    "any escalation": "<escalationEventDefinition/>",
    "terminate": "<terminateEventDefinition/>",
    "compensation": COMPENSATION,
    "condition": "<conditionalEventDefinition><condition>=v{number} = 1</condition></conditionalEventDefinition>",
}
"""Every `{name}`, `{code}` and `{number}` is drawn."""
CAUGHT = ("message", "signal", "timer", "condition")
AT_TASKS = (*CAUGHT, "cycle", "error", "any error")
AT_SCOPES = (*AT_TASKS, "escalation", "any escalation")
PUBLISH = '<extensionElements><zeebe:publishMessage correlationKey="=k"{ttl}/></extensionElements>'

ACTIVITIES = {
    "task": '<serviceTask id="{id}"><extensionElements><zeebe:taskDefinition type="t"/></extensionElements>'
    "</serviceTask>",
    "person": '<userTask id="{id}"><extensionElements><zeebe:userTask/></extensionElements></userTask>',
    "receive": '<receiveTask id="{id}" messageRef="m-{name}"></receiveTask>',
    "script": '<scriptTask id="{id}"><extensionElements><zeebe:script expression="=modulo(v0 + v1 + 1, 2)"'
    ' resultVariable="v{number}"/></extensionElements></scriptTask>',
    "manual": '<manualTask id="{id}"></manualTask>',
    "rule": '<businessRuleTask id="{id}"><extensionElements><zeebe:calledDecision decisionId="D"'
    ' resultVariable="v{number}"/></extensionElements></businessRuleTask>',
}
DECISIONS = decisions(decision("D", table(["v0", "v1"], ["r"], [("0", "-", "1"), ("-", "1", "0")])))
"""The decision of business rule tasks. It fails if both of its rules match."""
EVENTS = {
    "catch": ("intermediateCatchEvent", CAUGHT),
    "throw": ("intermediateThrowEvent", ("message", "signal", "escalation", *("compensation",) * 3)),
    "end": ("endEvent", ("", "message", "signal", "error", "escalation", "terminate", *("compensation",) * 2)),
}
GATEWAYS = {
    "exclusive": "exclusiveGateway",
    "inclusive": "inclusiveGateway",
    "parallel": "parallelGateway",
    "complex": "complexGateway",
}
CHOOSE = ("exclusive", "inclusive", "complex")
ACTIVATIONS = ("=activationCount >= 1", "=activationCount >= 2", "=v0 = 1", "=activationCount > v0 + v1", "=o")
"""Activation conditions of complex gateways; the last one is no boolean."""
QUANTITIES = ' startQuantity="2"', ' completionQuantity="2"', ' startQuantity="2" completionQuantity="3"'
LISTENED = ("task", "manual", "script", "receive", "person", "rule")
FORKS = (*ACTIVITIES, "sub", "ad-hoc", "call")
"""Elements that may have conditional flows beside one without a condition."""
KINDS = ("task",) * 4 + (
    *ACTIVITIES,
    *EVENTS,
    *EVENTS,
    *GATEWAYS,
    *GATEWAYS,
    "parallel",
    "complex",
    "sub",
    "sub",
    "ad-hoc",
    "call",
    "race",
    "link",
)
IN_AD_HOC = tuple(kind for kind in KINDS if kind != "end")
UNTIL = ("", "", "=v0 = 1", "=v0 = v1", "=o")
"""Completion conditions of ad-hoc sub-processes; the last one is no boolean."""
WAITING = ("task", "person", "receive", "catch", "race")
"""Ways back lead to these alone, so that few models spin."""


@dataclass
class Scope:
    parts: list = field(default_factory=list)
    order: list = field(default_factory=list)
    """(id, kind) of the nodes; ways lead to later ones."""
    ways: list = field(default_factory=list)
    entered: set = field(default_factory=set)
    """Nodes that no flow leads to, but those in `ways` already."""
    closed: set = field(default_factory=set)
    """Nodes that no other flow leaves."""

    def add(self, id, kind, xml):
        self.order.append((id, kind))
        self.parts.append(xml)


def random_model(random, size):
    """A file: the process `p`, and those of `q` and `r` that it calls. The others would only cost their reading."""
    calling, *others = (ModelBuilder(random, id, size).process() for id in "pqr")
    called = (process for id, process in zip("qr", others, strict=True) if f'processId="{id}"' in calling)
    return file(calling, *called, ROOTS, WAITED_FOR)


class ModelBuilder:
    def __init__(self, random, process, size) -> None:
        self.random, self.process_id, self.size, self.count = random, process, size, 0

    def process(self):
        depth = 2 if self.process_id == "p" else 1
        return f'<process id="{self.process_id}" isExecutable="true">{self.scope(depth)}</process>'

    def id(self, stem):
        self.count += 1
        return f"{self.process_id}-{stem}-{self.count}"

    def drawn(self, text, **given):
        random = self.random
        more = {"name": random.choice(NAMES), "code": random.choice(CODES), "number": random.randrange(3)}
        return text.format(**more, **given)

    def scope(self, depth, begin="<startEvent id='{id}'/>", cancels=""):
        scope, id = Scope(), self.id("start")
        scope.add(id, "start", begin.format(id=id))
        for _ in range(self.random.randint(2, self.size)):
            self.node(scope, self.random.choice(KINDS), depth)
        if cancels:
            end = cancels.partition('id="')[2].partition('"')[0]
            scope.add(end, "end", cancels)
            scope.closed.add(end)
        self.connect(scope)
        taken = set()
        for _ in range(self.random.choice((0, 0, 1, 1, 2)) if depth else 0):
            self.event_sub_process(scope, depth, taken)
        return "".join(scope.parts)

    # ---- nodes

    def node(self, scope, kind, depth):
        id = self.id(kind)
        if kind in ACTIVITIES or kind in ("sub", "ad-hoc", "call"):
            self.activity(scope, id, kind, depth)
        elif kind in EVENTS:
            tag, definitions = EVENTS[kind]
            scope.add(id, kind, self.event(tag, id, self.random.choice(definitions)))
            if kind == "end":
                scope.closed.add(id)
        elif kind in GATEWAYS:
            scope.order.append((id, kind))  # its default flow is not known yet
        elif kind == "race":
            self.race(scope, id)
        else:
            self.link(scope, id)

    def event(self, tag, id, definition):
        thrown = definition == "message" and tag != "intermediateCatchEvent"
        ttl = self.random.choice(("", ' timeToLive="PT1H"'))
        extensions = PUBLISH.format(ttl=ttl) if thrown else ""
        content = self.drawn(DEFINITIONS[definition]) if definition else ""
        if tag == "intermediateCatchEvent" and definition != "timer" and self.random.random() < 0.15:
            return f'<{tag} id="{id}" parallelMultiple="true">{content}{DEFINITIONS["timer"]}</{tag}>'
        return f'<{tag} id="{id}">{extensions}{content}</{tag}>'

    def activity(self, scope, id, kind, depth):
        if kind == "sub" and depth:
            xml = self.transaction(scope, id, depth) if self.random.random() < 0.3 else self.sub_process(id, depth)
        elif kind == "ad-hoc" and depth:
            xml = self.ad_hoc(id, depth - 1)
        elif kind == "call" and self.process_id == "p":
            called = f'<zeebe:calledElement processId="{self.random.choice("qr")}"/>'
            xml = f'<callActivity id="{id}"><extensionElements>{called}</extensionElements></callActivity>'
        else:
            kind = kind if kind in ACTIVITIES else "task"
            xml = self.drawn(ACTIVITIES[kind], id=id)
        if kind in LISTENED and self.random.random() < 0.1:
            xml = self.listened(xml, kind)
        if self.random.random() < 0.08:
            xml = xml.replace(" id=", f"{self.random.choice(QUANTITIES)} id=", 1)
        scope.add(id, kind, self.looped(xml) if self.random.random() < 0.15 else xml)
        if kind not in ("script", "manual"):
            self.boundaries(scope, id, kind)
        if self.random.random() < 0.3:
            self.compensated(scope, id)

    def sub_process(self, id, depth):
        return f'<subProcess id="{id}">{self.scope(depth - 1)}</subProcess>'

    def transaction(self, scope, id, depth):
        """A transaction that may be cancelled in the end, with its boundary event."""
        cancels = self.id("cancels")
        inside = self.scope(depth - 1, cancels=f'<endEvent id="{cancels}"><cancelEventDefinition/></endEvent>')
        self.boundary(scope, id, "true", "<cancelEventDefinition/>")
        return f'<transaction id="{id}">{inside}</transaction>'

    def listened(self, xml, kind):
        """The activity with execution listeners, and task listeners of a user task."""
        random = self.random
        events = random.sample(("start", "end"), random.randint(1, 2))
        added = "".join(f'<zeebe:executionListener eventType="{event}" type="t"/>' for event in events)
        added = f"<zeebe:executionListeners>{added}</zeebe:executionListeners>"
        if kind == "person":
            events = random.sample(("creating", "completing", "canceling"), random.randint(1, 3))
            listeners = "".join(f'<zeebe:taskListener eventType="{event}" type="t"/>' for event in events)
            added += f"<zeebe:taskListeners>{listeners}</zeebe:taskListeners>"
        if "<extensionElements>" in xml:
            return xml.replace("<extensionElements>", f"<extensionElements>{added}", 1)
        return xml.replace("></", f"><extensionElements>{added}</extensionElements></", 1)

    def compensated(self, scope, host):
        """A compensation boundary event and its handler, which no flow connects."""
        event, handler = self.id("compensates"), self.id("handler")
        kind = self.random.choice(("task", "manual", "script", "person"))
        association = self.id("association")
        scope.parts += [
            f'<boundaryEvent id="{event}" attachedToRef="{host}">{COMPENSATION}</boundaryEvent>',
            f'<association id="{association}" sourceRef="{event}" targetRef="{handler}"/>',
            self.drawn(ACTIVITIES[kind], id=handler).replace(" id=", ' isForCompensation="true" id=', 1),
        ]

    def ad_hoc(self, id, depth):
        """A block that begins with a collection, or with a job whose worker decides. No flow leads into it."""
        random, scope = self.random, Scope()
        for kind in ("manual", *random.choices(IN_AD_HOC, k=random.randint(1, self.size))):
            self.node(scope, kind, depth)
        self.connect(scope)
        if random.random() < 0.3:
            self.event_sub_process(scope, depth, set())
        return ad_hoc(id, "".join(scope.parts), **self.decided(scope))

    def decided(self, scope):
        random = self.random
        chosen = {"output": "=o", "into": "results"} if random.random() < 0.5 else {}
        if random.random() < 0.3:
            return chosen | {"job": "t"}
        reached = scope.entered | {target for _, target in scope.ways}
        loose = [id for id, _ in scope.order if id not in reached]
        active = ", ".join(f'"{id}"' for id in random.choices(loose, k=random.randint(0, 3)))
        cancels, ordering = random.choice(("true", "false")), random.choice(("Parallel", "Parallel", "Sequential"))
        chosen |= {"active": f"=[{active}]", "until": random.choice(UNTIL)}
        return chosen | {"cancelRemainingInstances": cancels, "ordering": ordering}

    def looped(self, xml):
        random = self.random
        sequential = random.choice(("", ' isSequential="true"'))
        output = random.choice(("", ' outputElement="=o" outputCollection="results"'))
        until = random.choice(("", "<completionCondition>=numberOfCompletedInstances = 2</completionCondition>"))
        settings = f'<zeebe:loopCharacteristics inputCollection="=items" inputElement="item"{output}/>'
        head, closing, tail = xml.rpartition("</")
        marker = "multiInstanceLoopCharacteristics"
        inside = f"<extensionElements>{settings}</extensionElements>{until}"
        kind = random.choice(("collection", "collection", "cardinality", "standard"))
        if kind == "standard":
            marker = "standardLoopCharacteristics"
            sequential = random.choice(("", ' testBefore="true"')) + random.choice(("", ' loopMaximum="3"'))
            inside = f"<loopCondition>=v{random.randrange(3)} = 1</loopCondition>"
        elif kind == "cardinality":
            inside = f"<loopCardinality>={random.choice(('v0 + 1', 'count(items)'))}</loopCardinality>{until}"
        if kind != "standard" and random.random() < 0.4:
            sequential += ' behavior="Complex"'
            inside += "".join(self.thrown() for _ in range(random.randint(1, 2)))
        return f"{head}<{marker}{sequential}>{inside}</{marker}>{closing}{tail}"

    def thrown(self):
        """An event that inner instances throw, with its condition."""
        event = self.drawn(DEFINITIONS[self.random.choice(("signal", "escalation"))])
        condition = self.random.choice(("=true", "=v0 = 1", "=numberOfCompletedInstances = 2", "=o"))
        inside = f"<condition>{condition}</condition><event>{event}</event>"
        return f"<complexBehaviorDefinition>{inside}</complexBehaviorDefinition>"

    def boundaries(self, scope, host, kind):
        taken = _all_of("message") if kind == "receive" else set()  # which waits for one itself
        for _ in range(self.random.choice((0, 0, 1, 1, 2))):
            found = self.definition(AT_SCOPES if kind in ("sub", "ad-hoc", "call") else AT_TASKS, taken)
            if found is not None:
                self.boundary(scope, host, *found)

    def boundary(self, scope, host, cancels, definition):
        id = self.id("boundary")
        head = f'<boundaryEvent id="{id}" attachedToRef="{host}" cancelActivity="{cancels}">'
        scope.add(id, "boundary", f"{head}{definition}</boundaryEvent>")
        scope.entered.add(id)

    def definition(self, kinds, taken):
        """Whether it interrupts, and the definition; None if what was drawn stands there already."""
        kind = self.random.choice(kinds)
        definition = self.drawn(DEFINITIONS[kind])
        if definition in taken and kind not in ("timer", "cycle"):
            return None
        taken.add(definition)
        fixed = {"error": "true", "any error": "true", "cycle": "false"}
        return fixed.get(kind) or self.random.choice(("true", "false")), definition

    def race(self, scope, id):
        """An event-based gateway."""
        scope.add(id, "race", f'<eventBasedGateway id="{id}"/>')
        scope.closed.add(id)
        for definition in self.random.sample(CAUGHT, 2):
            event = self.id("event")
            scope.add(event, "event", self.event("intermediateCatchEvent", event, definition))
            scope.ways.append((id, event))
            scope.entered.add(event)

    def link(self, scope, id):
        target = self.id("target")
        definition = f'<linkEventDefinition name="{target}"/>'
        scope.add(id, "link", f'<intermediateThrowEvent id="{id}">{definition}</intermediateThrowEvent>')
        scope.add(target, "target", f'<intermediateCatchEvent id="{target}">{definition}</intermediateCatchEvent>')
        scope.closed.add(id)
        scope.entered.add(target)

    def event_sub_process(self, scope, depth, taken):
        found = self.definition(AT_SCOPES, taken)
        if found is not None:
            begin = f"<startEvent id='{{id}}' isInterrupting='{found[0]}'>{found[1]}</startEvent>"
            inner = self.scope(self.random.choice((0, depth - 1)), begin)
            scope.parts.append(f'<subProcess id="{self.id("handler")}" triggeredByEvent="true">{inner}</subProcess>')

    # ---- ways

    def connect(self, scope):
        back = [id for id, kind in scope.order if kind in WAITING and id not in scope.entered]
        for place, (id, kind) in enumerate(scope.order):
            there = [later for later, _ in scope.order[place + 1 :] if later not in scope.entered] + back
            if id not in scope.closed and there:
                number = self.random.choice((1, 2, 3) if kind in GATEWAYS else (1, 1, 1, 2))
                scope.ways += [(id, target) for target in dict.fromkeys(self.random.choices(there, k=number))]
        last = dict(scope.ways)
        for id, kind in scope.order:
            if kind in GATEWAYS:
                default = f' default="{id}-{last[id]}"' if kind in CHOOSE and id in last else ""
                tag, inside = GATEWAYS[kind], self.activation(scope, id, kind)
                scope.parts.append(f'<{tag} id="{id}"{default}>{inside}</{tag}>')
        kinds = dict(scope.order)
        for source, target in scope.ways:
            chooses = kinds[source] in CHOOSE or (kinds[source] in FORKS and self.random.random() < 0.5)
            conditional = chooses and last[source] != target
            condition = f"=v{self.random.randrange(3)} = {self.random.randrange(2)}" if conditional else None
            if kinds[source] == "complex" and conditional:
                condition = self.random.choice((condition, None, "=waitingForStart", "=not(waitingForStart)"))
            scope.parts.append(flow(source, target, condition))

    def activation(self, scope, id, kind):
        if kind != "complex" or sum(target == id for _, target in scope.ways) < 2:
            return ""
        condition = escape(self.random.choice(ACTIVATIONS))
        return f"<activationCondition>{condition}</activationCondition>"


def _all_of(kind):
    return {DEFINITIONS[kind].format(name=name) for name in NAMES}
