"""User tasks and forms of Camunda 7."""

from __future__ import annotations

import json
import re
from typing import Any

from vivero.core.bpmn.camunda7.juel import is_expression
from vivero.core.bpmn.camunda7.rewrite import Rewrite
from vivero.core.bpmn.camunda7.work import bound
from vivero.core.bpmn.reading.xml import Element, split

SCHEMA_VERSION = 16
"""The version of Camunda's form schema; each later viewer reads it."""
_FIELDS = {"string": "textfield", "long": "number", "boolean": "checkbox", "date": "datetime", "enum": "select"}
_DURATION = re.compile(r"P[0-9YMWDTHS.]{1,100}")
_INTEGER = re.compile(r"-?[0-9]{1,18}")
_PEOPLE = ("assignee", "candidateGroups", "candidateUsers")


def convert_user_task(model: Rewrite, element: Element) -> None:
    model.one(element, "userTask")
    people = {name: model.take_feel(element, name) for name in _PEOPLE}
    if any(value is not None for value in people.values()):
        model.add(element, "assignmentDefinition", **people)
    dates = {name: _date(model.take_feel(element, name)) for name in ("dueDate", "followUpDate")}
    if any(value is not None for value in dates.values()):
        model.add(element, "taskSchedule", **dates)
    priority = model.take_feel(element, "priority")
    if priority is not None:
        model.add(element, "priorityDefinition", priority=priority)
    convert_form(model, element)


def _date(text: str | None) -> str | None:
    """A date of a task. Camunda 7 counts a duration from the creation of the task."""
    return f'=now() + duration("{text}")' if text is not None and _DURATION.fullmatch(text) else text


def convert_form(model: Rewrite, element: Element) -> None:
    """The form of a user task or a start event."""
    id, key = model.take(element, "formRef"), model.take(element, "formKey")
    binding, version = model.take(element, "formRefBinding"), model.take(element, "formRefVersion")
    is_task = split(element)[1] == "userTask"
    for data in model.take_children(element, "formData"):
        _generated(model, element, data)
    if id is not None:
        form_id = model.feel(element, id, "camunda:formRef")
        model.add(element, "formDefinition", formId=form_id, **bound(binding, None))
        if binding == "version":
            model.todo(element, f"the form '{id}' is bound to version {version}", "Use a version tag")
    elif key is not None and key.endswith(".form"):
        name = key.rsplit(":", 1)[-1].rsplit("/", 1)[-1].removesuffix(".form")
        model.add(element, "formDefinition", formId=name)
        model.check(element, f"the form {key} is named by its id", f"Deploy a .form file with the id '{name}'")
    elif key is not None and is_task:
        reference = model.feel(element, key, "camunda:formKey")
        model.add(element, "formDefinition", externalReference=reference)
        model.check(
            element, f"the form {key} is a reference for your own task list", "Or write a .form file and name its id"
        )
    elif key is not None:
        model.todo(
            element, f"the form {key} has no counterpart", "Write a .form file, and name its id by zeebe:formDefinition"
        )


def _generated(model: Rewrite, element: Element, data: Element) -> None:
    """A generated form becomes a `.form` file."""
    fields = [child for child in data if isinstance(child.tag, str) and split(child)[1] == "formField"]
    if not fields:
        return
    id = re.sub(r"[^\w.-]+", "-", f"{element.get('id', 'form')}-form")  # a name of a file, whatever the model says
    if f"{id}.form" in model.files:
        id = f"{id}-{len(model.files) + 1}"
    form = {
        "type": "default",
        "id": id,
        "schemaVersion": SCHEMA_VERSION,
        "executionPlatform": "Camunda Cloud",
        "components": [_component(model, element, field) for field in fields],
    }
    model.files[f"{id}.form"] = json.dumps(form, indent=2, ensure_ascii=False).encode() + b"\n"
    model.add(element, "formDefinition", formId=id)
    model.check(
        element, "the generated form is a file of its own", f"Look at {id}.form, and deploy it beside the model"
    )


def _component(model: Rewrite, element: Element, field: Element) -> dict[str, Any]:
    id, type_ = field.get("id", ""), field.get("type", "string")
    component: dict[str, Any] = {"type": _FIELDS.get(type_, "textfield"), "id": f"Field_{id}", "key": id}
    component["label"] = field.get("label") or id
    if type_ not in _FIELDS:
        model.check(element, f"the field '{id}' has the type '{type_}'", "It is a text now")
    if type_ == "date":
        component |= {"subtype": "date", "dateLabel": component["label"]}
    default = field.get("defaultValue")
    if default is not None and is_expression(default):
        model.todo(element, f"the field '{id}' has the default {default}", "Set the variable before the task")
    elif default is not None:
        component["defaultValue"] = _value(type_, default)
    values: list[dict[str, str | None]] = []
    rules: dict[str, Any] = {}
    for child in field.iter():
        name = split(child)[1] if isinstance(child.tag, str) else ""
        if name == "value":
            values.append({"label": child.get("name") or child.get("id"), "value": child.get("id")})
        elif name == "constraint":
            rules |= _rule(model, element, id, child)
    if type_ == "enum":
        component["values"] = values
    if rules:
        component["validate"] = rules
    return component


def _value(type_: str, text: str) -> Any:
    if type_ == "boolean":
        return text == "true"
    return int(text) if type_ == "long" and _INTEGER.fullmatch(text) else text


def _rule(model: Rewrite, element: Element, field: str, constraint: Element) -> dict[str, Any]:
    name, config = constraint.get("name", ""), constraint.get("config") or ""
    if name == "required":
        return {"required": True}
    known = {"minlength": "minLength", "maxlength": "maxLength", "min": "min", "max": "max"}
    if name in known and _INTEGER.fullmatch(config):
        return {known[name]: int(config)}
    if name != "readonly":
        model.todo(element, f"the field '{field}' has the constraint '{name}'", "Write it into the form")
    return {}
