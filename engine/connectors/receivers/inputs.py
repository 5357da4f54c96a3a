"""The inputs of an inbound connector: properties of its element, with variables and secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from vivero.core.bpmn.reading.secret_references import marked
from vivero.core.feel import FeelError
from vivero.engine.connectors.contract import InboundContract
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.inbound.elements import InboundElement
from vivero.engine.connectors.work.results import compiled
from vivero.engine.connectors.work.secrets import UnknownSecret, UsedSecrets

_MARK = re.compile("\0([0-9a-f]+)\0")
"""A mark begins and ends with NUL, which no variable can contain: only the author of the model wrote it."""


def variables_of(contract: InboundContract, element: InboundElement) -> list[str]:
    """The names of the variables that the inputs may read. Raises ParseError."""
    texts = (element.get(name) for name in _names(contract, element))
    return sorted({name for text in texts if text.startswith("=") for name in compiled(text).variables})


def _names(contract: InboundContract, element: InboundElement) -> list[str]:
    """The properties of the element that are inputs, or lie in one: `authentication.token`."""
    return [name for name in element.properties if any(_is_below(name, each.name) for each in contract.inputs)]


def _is_below(name: str, path: str) -> bool:
    return f"{name}.".startswith(f"{path}.")


def inputs_of(
    contract: InboundContract, element: InboundElement, variables: Mapping[str, Any], used: UsedSecrets
) -> Mapping[str, Any]:
    """The values of the inputs, in contexts as their dots lead. Raises ConnectorError without values of variables.

    References to secrets are replaced where the author of the model wrote them, in the inputs that get secrets.
    """
    values: dict[str, Any] = {}
    for name in _names(contract, element):
        if text := element.get(name):
            *outer, last = name.split(".")
            place = values
            for part in outer:
                place = place.setdefault(part, {})
                if not isinstance(place, dict):
                    raise ConnectorError("INVALID_INPUT", f"the property {name} lies in one that is no context")
            place[last] = _value(name, text, variables, used, _gets_secrets(contract, name))
    return values


def _gets_secrets(contract: InboundContract, name: str) -> bool:
    return contract.secrets is None or any(_is_below(name, path) for path in contract.secrets)


def _value(name: str, text: str, variables: Mapping[str, Any], used: UsedSecrets, has_secrets: bool) -> Any:
    try:
        if not text.startswith("="):
            return used.resolve(text) if has_secrets else text
        value = compiled(marked(text) if has_secrets else text).evaluate(variables).value
        return _with_secrets(value, used)
    except FeelError as error:
        raise ConnectorError("INVALID_INPUT", f"the property {name} has no value") from error
    except UnknownSecret as error:
        raise ConnectorError("UNKNOWN_SECRET", f"the property {name}: {error}") from error


def _with_secrets(value: Any, used: UsedSecrets) -> Any:
    if isinstance(value, str):
        return _MARK.sub(lambda found: used.resolve(bytes.fromhex(found[1]).decode()), value)
    if isinstance(value, dict):
        return {_with_secrets(name, used): _with_secrets(item, used) for name, item in value.items()}
    return [_with_secrets(item, used) for item in value] if isinstance(value, list) else value
