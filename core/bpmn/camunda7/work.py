"""Work of Camunda 7 as jobs: delegates, external tasks, connectors, scripts, decisions, and listeners."""

from __future__ import annotations

import re

from vivero.core.bpmn.camunda7.juel import Untranslatable, feel_expression, is_expression
from vivero.core.bpmn.camunda7.mappings import map_parameters
from vivero.core.bpmn.camunda7.rewrite import Rewrite, kebab
from vivero.core.bpmn.reading.xml import BPMN, Element, split, text_of

WRITE_A_WORKER = "Write a worker for this job type"
_BEAN = re.compile(r"[$#]\{\s*([^\W\d]\w*)(?:\.([^\W\d]\w*)\s*\(.*\))?\s*\}", re.DOTALL)
_LISTENERS = {"start": "start", "end": "end"}
_TASK_LISTENERS = {
    "create": "creating",
    "assignment": "assigning",
    "update": "updating",
    "complete": "completing",
    "delete": "canceling",
}
MAX_HEADER = 20_000
"""Characters of a script that a header keeps."""


def convert_work(model: Rewrite, element: Element) -> None:
    """A service, send or business rule task, or a throwing event with a message definition."""
    source = _definition_of(element)
    decision = model.take(source, "decisionRef")
    if decision is not None:
        _decision(model, element, source, decision)
        return
    type_ = job_type(model, element, source)
    result = model.take(source, "resultVariable")
    if type_ is None:
        if result is not None:
            model.todo(
                element, f"the result goes to '{result}', and nothing says what gives it", "Add an output mapping"
            )
        return
    retries = _retries(model, element)
    model.add(element, "taskDefinition", type=type_, retries=retries)
    priority = model.take_feel(source, "taskPriority")
    if priority is not None:
        model.add(element, "jobPriorityDefinition", priority=priority)
    for field in model.take_children(source, "field"):
        _field(model, element, field)
    if result is not None:
        model.mapped(element, "output", "=result", result)
        model.check(
            element, f"the result goes to '{result}'", "Let the worker complete the job with a variable 'result'"
        )


def _definition_of(element: Element) -> Element:
    """The element with the attributes of the implementation: the event's message definition, or itself."""
    found = element.find(f"{{{BPMN}}}messageEventDefinition")
    return element if found is None else found


def job_type(model: Rewrite, element: Element, source: Element) -> str | None:
    """The type of the job that takes the place of an implementation, whose attributes are removed."""
    kind, topic = model.take(source, "type"), model.take_feel(source, "topic")
    if topic is not None:
        model.check(
            element, f"the external task of the topic {topic} is a job of this type", "Point its worker to Vivero"
        )
        return topic
    java = model.take(source, "class")
    if java is not None:
        return _noted(model, element, kebab(java), f"the Java class {java}")
    bean = model.take(source, "delegateExpression")
    expression = model.take(source, "expression")
    code = bean if bean is not None else expression
    if code is not None:
        found = _BEAN.fullmatch(code.strip())
        name = "-".join(kebab(part) for part in found.groups() if part) if found else str(element.get("id", "job"))
        return _noted(model, element, name, f"the expression {code}")
    for connector in model.take_children(source, "connector"):
        id = next((text_of(child) for child in connector if split(child)[1] == "connectorId"), "")
        for child in connector:
            if split(child)[1] == "inputOutput":
                map_parameters(model, element, child)
        model.todo(element, f"it uses the connector '{id}'", "Use the HTTP connector (docs/connectors.md), or a worker")
        return str(element.get("id", "connector"))
    if kind is not None:
        return _noted(model, element, kebab(kind), f"the built-in type '{kind}'")
    return None


def _noted(model: Rewrite, element: Element, type_: str, was: str) -> str:
    model.todo(element, f"{was} is a job of the type '{type_}'", WRITE_A_WORKER)
    return type_


def _retries(model: Rewrite, element: Element) -> str | None:
    """The number of attempts of `failedJobRetryTimeCycle`, such as `R5/PT10M`."""
    found = model.take_children(element, "failedJobRetryTimeCycle")
    text = text_of(found[0]) if found else model.take(element, "failedJobRetryTimeCycle")
    if text is None:
        return None
    cycle = re.fullmatch(r"R(\d+)/(\S+)", text.strip())
    if cycle is None:
        model.todo(element, f"failed jobs are tried again by '{text}'", "Let the worker say retries and back-off")
        return None
    model.check(
        element, f"failed jobs are tried again after {cycle[2]}", "Let the worker fail the job with this back-off"
    )
    return cycle[1]


def _field(model: Rewrite, element: Element, field: Element) -> None:
    """A field that is injected into a delegate: a header of the job if it is static, else an input."""
    name = field.get("name", "")
    texts = {split(child)[1]: text_of(child) for child in field}
    text = field.get("stringValue") or texts.get("string") or field.get("expression") or texts.get("expression") or ""
    if not is_expression(text):
        model.header(element, name, text)
        return
    feel = model.feel(element, text, f"the field '{name}'")
    if feel is not None:
        model.mapped(element, "input", feel, name)


def _decision(model: Rewrite, element: Element, source: Element, decision: str) -> None:
    id = model.feel(element, decision, "camunda:decisionRef")
    binding, tag = model.take(source, "decisionRefBinding"), model.take(source, "decisionRefVersionTag")
    version, tenant = model.take(source, "decisionRefVersion"), model.take(source, "decisionRefTenantId")
    result = model.take(source, "resultVariable")
    mapped = model.take(source, "mapDecisionResult")
    model.add(element, "calledDecision", decisionId=id, resultVariable=result or "result", **bound(binding, tag))
    if result is None:
        model.check(element, "the decision has no result variable", "Its result is in 'result'")
    if mapped != "singleEntry":
        model.check(
            element,
            f"the result was mapped by {mapped or 'resultList'}",
            "Here it is a value, a context or a list by its hit policy",
        )
    if version is not None or tenant is not None:
        model.todo(element, "the decision is named by a version or a tenant", "Use a version tag")


def bound(binding: str | None, tag: str | None) -> dict[str, str | None]:
    """The attributes of a binding. One to a version has no counterpart, and the caller notes it."""
    if binding == "versionTag":
        return {"bindingType": "versionTag", "versionTag": tag}
    return {"bindingType": "deployment" if binding == "deployment" else None}


def convert_script(model: Rewrite, element: Element) -> None:
    """A script task: FEEL and JUEL stay in the model; other languages go to a worker, with the script in a header."""
    scripts = element.findall(f"{{{BPMN}}}script")
    text, language = "".join(text_of(one) for one in scripts), (model.take_plain(element, "scriptFormat") or "").lower()
    for one in scripts:
        element.remove(one)
    result, resource = model.take(element, "resultVariable"), model.take(element, "resource")
    if language in ("feel", "juel"):
        feel = f"={text}" if language == "feel" else model.feel(element, text, "the script")
        if feel is not None:
            model.add(element, "script", expression=feel, resultVariable=result or "result")
            return
    type_ = str(element.get("id", "script"))
    model.add(element, "taskDefinition", type=type_)
    if language:
        model.header(element, "language", language)
    if resource is not None:
        model.header(element, "resource", resource)
    if len(text) > MAX_HEADER:
        model.todo(element, f"the script has {len(text)} characters", "Take it from the model of Camunda 7")
    elif text:
        model.header(element, "script", text)
    if result is not None:
        model.header(element, "resultVariable", result)
    model.todo(
        element, f"the script in {language or 'an unknown language'} is a job of the type '{type_}'", WRITE_A_WORKER
    )


def convert_listeners(model: Rewrite, element: Element) -> None:
    """Execution listeners and task listeners."""
    for listener in model.take_children(element, "executionListener"):
        _listener(model, element, listener, "executionListener", _LISTENERS)
    for listener in model.take_children(element, "taskListener"):
        _listener(model, element, listener, "taskListener", _TASK_LISTENERS)


def _listener(model: Rewrite, element: Element, listener: Element, name: str, events: dict[str, str]) -> None:
    event = listener.get("event", "start")
    if event not in events:
        model.todo(
            element, f"there is no listener of the event '{event}' here", "Move it to the element behind or before"
        )
        return
    attributes = {key: listener.get(key) for key in ("class", "delegateExpression", "expression")}
    code = next((value for value in attributes.values() if value), None)
    if code is None and name == "taskListener":
        model.extensions_of(element).append(listener)  # it stays, without effect, and gets a note as the rest does
        return
    if code is None:
        _script_listener(model, element, listener, events[event])
        return
    found = _BEAN.fullmatch(code.strip())
    type_ = "-".join(kebab(part) for part in found.groups() if part) if found else kebab(code)
    if name == "executionListener" and _assigns(model, element, code, event):
        return
    listeners = model.one(element, f"{name}s")
    model.add_to(listeners, name, eventType=events[event], type=type_)
    model.todo(element, f"the listener {code} of '{event}' is a job of the type '{type_}'", WRITE_A_WORKER)
    fields = [child.get("name", "") for child in listener.iter("{*}field")]
    if fields:
        model.todo(element, f"the listener {code} had the fields {', '.join(fields)}", "Give them to the worker")


def _script_listener(model: Rewrite, element: Element, listener: Element, event: str) -> None:
    """An execution listener that is a script: a job with the script in a header."""
    type_ = f"{element.get('id', 'element')}-{event}"
    added = model.add_to(model.one(element, "executionListeners"), "executionListener", eventType=event, type=type_)
    headers = model.add_to(added, "taskHeaders")
    for script in listener.iter("{*}script"):
        given = {
            "language": script.get("scriptFormat"),
            "resource": script.get("resource"),
            "script": text_of(script)[:MAX_HEADER],
        }
        for key, value in given.items():
            if value:
                model.add_to(headers, "header", key=key, value=value)
    model.todo(element, f"the script of a listener of '{event}' is a job of the type '{type_}'", WRITE_A_WORKER)


def _assigns(model: Rewrite, element: Element, code: str, event: str) -> bool:
    """Whether a listener only sets a variable, which a mapping does as well."""
    found = re.fullmatch(r"[$#]\{\s*execution\.setVariable\(\s*(['\"])(\w+)\1\s*,(.*)\)\s*\}", code.strip(), re.DOTALL)
    if found is None:
        return False
    try:
        feel = feel_expression(found[3])
    except Untranslatable:
        return False
    if split(element)[1] in ("process", "sequenceFlow"):
        return False
    model.mapped(element, "input" if event == "start" else "output", f"={feel}", found[2])
    if event == "start":
        model.check(element, f"the variable '{found[2]}' is local to the element now", "Map it out if others need it")
    return True
