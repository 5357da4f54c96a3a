"""Secrets of connectors: `{{secrets.NAME}}` in a model stands for a value of the environment or of a file.

The value exists only in the request to the other system. It is replaced by `***` in whatever comes back, because
responses and errors become variables, incidents and log lines.
"""

from __future__ import annotations

import base64
import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

REFERENCE = re.compile(r"\{\{\s*secrets\.([^\s{}]+)\s*\}\}")
MASK = "***"
LEAST_MASKED = 3
"""Characters. A shorter text occurs everywhere by chance."""


class BadSecrets(Exception):
    """The file of secrets cannot be used."""


class UnknownSecret(Exception):
    """There is no secret of this name, or the model does not name it."""


def load(file: Path | None, prefix: str, environment: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """All secrets by name: those of the environment, and those of the file. Raises BadSecrets."""
    variables = os.environ if environment is None else environment
    found = {name.removeprefix(prefix): value for name, value in variables.items() if name.startswith(prefix)}
    return found if file is None else found | _from_file(file)


def _from_file(file: Path) -> dict[str, str]:
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError:
        raise BadSecrets(f"the file of secrets {file} is not valid TOML") from None  # the error may quote a secret
    except (OSError, UnicodeDecodeError) as error:
        raise BadSecrets(f"the file of secrets {file} cannot be read: {type(error).__name__}") from error
    for name, value in content.items():
        if not isinstance(value, str):
            raise BadSecrets(f"the secret '{name}' in {file} is not a text")
    return content


def named_in(texts: Iterable[str]) -> frozenset[str]:
    """The names of the secrets that texts refer to."""
    return frozenset(name for text in texts for name in REFERENCE.findall(text))


class UsedSecrets:
    """The secrets of one call: it puts them into the inputs, and masks them in what comes back."""

    def __init__(self, secrets: Mapping[str, str], allowed: Callable[[str], bool] = lambda _name: True) -> None:
        """`allowed(name)`: whether the model names this secret. Data of process instances must not name others."""
        self._secrets = secrets
        self._allowed = allowed
        self._masked: set[str] = set()

    def resolve(self, value: Any) -> Any:
        """The value with all secrets in its texts. Raises UnknownSecret."""
        if isinstance(value, str):
            return REFERENCE.sub(lambda found: self._value(found[1]), value) if "{{" in value else value
        if isinstance(value, dict):
            return {self.resolve(name): self.resolve(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self.resolve(item) for item in value]
        return value

    def _value(self, name: str) -> str:
        if not self._allowed(name):
            raise UnknownSecret(f"the element does not name the secret '{name}' in its model")
        value = self._secrets.get(name)
        if value is None:
            raise UnknownSecret(f"there is no secret '{name}'")
        self.hide(value)
        return value

    def hide(self, text: str) -> None:
        """Mask this text, too: a token, or credentials that are made from secrets."""
        encoded = base64.b64encode(text.encode()).decode()
        self._masked |= {text, quote(text, ""), quote_plus(text), json.dumps(text)[1:-1], encoded}

    def mask(self, value: Any) -> Any:
        """The value with `***` instead of each secret."""
        texts = sorted((text for text in self._masked if len(text) >= LEAST_MASKED), key=len, reverse=True)
        return _masked(value, re.compile("|".join(map(re.escape, texts)))) if texts else value


def _masked(value: Any, texts: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return texts.sub(MASK, value)
    if isinstance(value, dict):
        return {_masked(name, texts): _masked(item, texts) for name, item in value.items()}
    if isinstance(value, list):
        return [_masked(item, texts) for item in value]
    return value
