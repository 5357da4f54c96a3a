"""Calls, loops, conditions, events and the process itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vivero.core.bpmn.camunda7.juel import BUSINESS_KEY, feel_variable, is_expression
from vivero.core.bpmn.camunda7.notes import Care
from vivero.core.bpmn.camunda7.rewrite import SOURCES, Rewrite
from vivero.core.bpmn.camunda7.work import bound
from vivero.core.bpmn.reading.xml import BPMN, ZEEBE, Element, split, text_of


def convert_call(model: Rewrite, element: Element) -> None:
    process_id = model.take_plain(element, "calledElement")
    binding, version = model.take(element, "calledElementBinding"), model.take(element, "calledElementVersion")
    tag = model.take(element, "calledElementVersionTag")
    ins, outs = model.take_children(element, "in"), model.take_children(element, "out")
    business_id = next((one.get("businessKey") for one in ins if one.get("businessKey")), None)
    feel = None if process_id is None else model.feel(element, process_id, "calledElement")
    model.add(
        element,
        "calledElement",
        processId=feel,
        propagateAllParentVariables=_is_all(ins),
        propagateAllChildVariables=_is_all(outs),
        businessId=None if business_id is None else model.feel(element, business_id, "the business key"),
        **bound(binding, tag),
    )
    if binding == "version":
        model.todo(
            element, f"the called process is bound to version {version}", "Use a version tag, or the latest version"
        )
    for direction, mappings in (("input", ins), ("output", outs)):
        for one in mappings:
            _passed(model, element, direction, one)
    for name in ("caseRef", "variableMappingClass", "variableMappingDelegateExpression", "calledElementTenantId"):
        if model.take(element, name) is not None:
            model.todo(element, f"camunda:{name} has no counterpart", "Use zeebe:calledElement and mappings")


def _is_all(mappings: list[Element]) -> str:
    """Whether all variables pass. All local ones are those of the mappings, which pass always."""
    return "true" if any(one.get("variables") == "all" and one.get("local") != "true" for one in mappings) else "false"


def _passed(model: Rewrite, element: Element, direction: str, one: Element) -> None:
    target, source, expression = one.get("target"), one.get("source"), one.get("sourceExpression")
    if target is None:
        return
    if direction == "output" and one.get("local") == "true":
        model.check(element, f"the variable '{target}' stays in the call activity", "It leaves it here")
    feel = (
        f"={feel_variable(source)}" if source else model.feel(element, expression or "", f"the mapping to '{target}'")
    )
    if feel is not None:
        model.mapped(element, direction, feel, target)


def note_outputs(model: Rewrite, element: Element) -> None:
    """With an output mapping, the other variables of a worker or form do not leave the element."""
    extensions = element.find(f"{{{BPMN}}}extensionElements")
    if extensions is None or extensions.find(f"{{{ZEEBE}}}ioMapping/{{{ZEEBE}}}output") is None:
        return
    if any(extensions.find(f"{{{ZEEBE}}}{name}") is not None for name in ("taskDefinition", "userTask")):
        model.check(element, "only what its output mappings name leaves it", "Map out other variables of its result")


def convert_loop(model: Rewrite, element: Element) -> None:
    """Multi-instance."""
    for loop in element.findall(f"{{{BPMN}}}multiInstanceLoopCharacteristics"):
        collection, variable = model.take(loop, "collection"), model.take(loop, "elementVariable")
        if collection is not None:
            is_name = not is_expression(collection)
            feel = f"={feel_variable(collection)}" if is_name else model.feel(loop, collection, "camunda:collection")
            if feel is not None:
                model.add(loop, "loopCharacteristics", inputCollection=feel, inputElement=variable)
        for name in ("asyncBefore", "asyncAfter", "exclusive"):
            model.take(loop, name)
        inside = [text for one in element.iter("*") for text in (text_of(one), *map(str, one.attrib.values()))]
        if any("loopCounter" in text for text in inside):
            model.check(loop, "it uses loopCounter", "It begins with 1 here, with 0 there")


EXPRESSIONS = (
    "conditionExpression",
    "completionCondition",
    "loopCardinality",
    "timeDuration",
    "timeDate",
    "timeCycle",
    "condition",
)


def convert_expressions(model: Rewrite) -> None:
    """The expressions in texts of elements: conditions, timers and loops."""
    for name in EXPRESSIONS:
        for one in model.root.iter(f"{{{BPMN}}}{name}"):
            _expression(model, one, name)


def _expression(model: Rewrite, one: Element, name: str) -> None:
    text, language = text_of(one), model.take_plain(one, "language")
    resource = model.take(one, "resource")
    if language is not None or resource is not None:
        model.todo(one, f"{name} is a script in {language or resource}", "Write it in FEEL")
        return
    if not is_expression(text):
        if name == "conditionExpression" and text and not text.startswith("="):
            model.todo(one, f"the condition '{text}' is no expression", "Write it in FEEL, with = in front")
        return
    feel = model.feel(one, text, name)
    if feel is not None:
        one.text = feel


def convert_names(model: Rewrite) -> None:
    """Names of messages and signals, and codes of errors and escalations, that are expressions."""
    for tag, attribute in (
        ("message", "name"),
        ("signal", "name"),
        ("error", "errorCode"),
        ("escalation", "escalationCode"),
    ):
        for one in model.root.iter(f"{{{BPMN}}}{tag}"):
            text = one.get(attribute)
            feel = model.feel(one, text, f"the {attribute}") if text is not None and is_expression(text) else None
            if feel is not None:
                one.set(attribute, feel)


def convert_messages(model: Rewrite) -> None:
    """A correlation key for each message that a running instance waits for."""
    messages = {one.get("id"): one for one in model.root.iter(f"{{{BPMN}}}message")}
    for reference in dict.fromkeys(_awaited(model.root)):
        message = messages.get(reference)
        if message is None or message.find(f".//{{{ZEEBE}}}subscription") is not None:
            continue
        model.add(message, "subscription", correlationKey=f"={BUSINESS_KEY}")
        model.check(
            message,
            f"the message '{message.get('name')}' correlates by the business id of the instance",
            "Name another key by zeebe:subscription if its sender knows another one",
        )


def _awaited(root: Element) -> Iterator[str | None]:
    """The messages that instances wait for: not those of start events of a process."""
    for definition in root.iter(f"{{{BPMN}}}messageEventDefinition"):
        event = definition.getparent()
        assert event is not None, "a definition is not the root"
        scope = event.getparent()
        starts = split(event)[1] == "startEvent" and (scope is None or split(scope)[1] == "process")
        if split(event)[1] in ("intermediateCatchEvent", "boundaryEvent", "startEvent") and not starts:
            yield definition.get("messageRef")
    for task in root.iter(f"{{{BPMN}}}receiveTask"):
        yield task.get("messageRef")


def convert_process(model: Rewrite, element: Element) -> None:
    life, tag = model.take(element, "historyTimeToLive"), model.take(element, "versionTag")
    if tag is not None:
        model.add(element, "versionTag", value=tag)
    if life is not None:
        days = f"P{life}D" if life.isdigit() else life
        if re.fullmatch(r"P\d+D", days):
            model.add_to(model.one(element, "properties"), "property", name="vivero.retention", value=days)
        else:
            model.todo(
                element, f"camunda:historyTimeToLive is {life}", "Set the property vivero.retention (docs/retention.md)"
            )
    for name in ("candidateStarterUsers", "candidateStarterGroups"):
        if model.take(element, name) is not None:
            model.todo(
                element, f"camunda:{name} has no counterpart", "Grant CREATE_PROCESS_INSTANCE (docs/security.md)"
            )
    priority = model.take_feel(element, "taskPriority")
    if priority is not None:
        model.add(element, "jobPriorityDefinition", priority=priority)


NEEDLESS = (
    "asyncBefore",
    "asyncAfter",
    "async",
    "exclusive",
    "jobPriority",
    "isStartableInTasklist",
    "modelerTemplate",
)


def drop_needless(model: Rewrite, element: Element) -> None:
    """Attributes that tell the engine where to save: here it saves at each wait state and job."""
    dropped = [name for name in NEEDLESS if model.take(element, name) is not None]
    if dropped:
        names = ", ".join(f"camunda:{name}" for name in dropped)
        model.note(
            Care.DROPPED, element, f"{names}: nothing here needs it", "Every wait state and every job is durable"
        )


def convert_properties(model: Rewrite, element: Element) -> None:
    for properties in model.take_children(element, "properties"):
        for one in properties:
            if isinstance(one.tag, str):
                found = model.one(element, "properties")
                model.add_to(found, "property", name=one.get("name", ""), value=one.get("value", ""))


def note_rest(model: Rewrite) -> None:
    """Note the extensions that no rule has taken. They stay in the file, without effect."""
    for element in model.root.iter():
        if not isinstance(element.tag, str):
            continue
        for key in element.attrib:
            namespace, _, name = str(key).removeprefix("{").partition("}")
            if namespace in SOURCES:
                model.todo(element, f"camunda:{name} has no counterpart", "It has no effect here")
        namespace, name = split(element)
        parent = element.getparent()
        if namespace in SOURCES and (parent is None or split(parent)[0] not in SOURCES):
            model.todo(element, f"camunda:{name} has no counterpart", "It has no effect here")
