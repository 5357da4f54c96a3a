"""`camunda:inputOutput` as mappings: texts, expressions, lists and maps."""

from __future__ import annotations

from vivero.core.bpmn.camunda7.juel import quoted
from vivero.core.bpmn.camunda7.rewrite import Rewrite
from vivero.core.bpmn.reading.xml import Element, split, text_of


def convert_mappings(model: Rewrite, element: Element) -> None:
    if split(element)[1].endswith("Gateway"):
        return  # a gateway of Camunda 8 has no mappings: they stay, with a note
    for mappings in model.take_children(element, "inputOutput"):
        map_parameters(model, element, mappings)


def map_parameters(model: Rewrite, element: Element, mappings: Element) -> None:
    """Add the mappings of an `inputOutput`, the element's own or that of its connector."""
    for one in mappings:
        name = split(one)[1] if isinstance(one.tag, str) else ""
        if name not in ("inputParameter", "outputParameter"):
            continue
        source = _source(model, element, one)
        if source is not None:
            model.mapped(element, name.removesuffix("Parameter"), source, one.get("name", ""))


def _source(model: Rewrite, element: Element, parameter: Element) -> str | None:
    children = [child for child in parameter if isinstance(child.tag, str)]
    what = f"the parameter '{parameter.get('name')}'"
    if not children:
        return model.feel(element, text_of(parameter), what)
    literal = _literal(model, element, children[0], what)
    return None if literal is None else f"={literal}"


def _literal(model: Rewrite, element: Element, child: Element, what: str) -> str | None:
    """A list or map as FEEL."""
    kind = split(child)[1]
    if kind == "script":
        model.todo(element, f"{what} is a script", "Write it in FEEL, or let a worker compute it")
        return None
    inner = [one for one in child if isinstance(one.tag, str)]
    values = [_item(model, element, one, what) for one in inner]
    if any(value is None for value in values):
        return None
    if kind == "list":
        return f"[{', '.join(map(str, values))}]"
    keys = (quoted(one.get("key", "")) for one in inner)
    return "{" + ", ".join(f"{key}: {value}" for key, value in zip(keys, values, strict=True)) + "}"


def _item(model: Rewrite, element: Element, one: Element, what: str) -> str | None:
    children = [child for child in one if isinstance(child.tag, str)]
    if children:
        return _literal(model, element, children[0], what)
    text = model.feel(element, text_of(one), what)
    if text is None:
        return None
    return text[1:] if text.startswith("=") else quoted(text)
