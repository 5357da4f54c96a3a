"""Texts that other systems send, as variables can have them."""

from __future__ import annotations

from typing import Any

from vivero.core.feel import EvaluationError, from_json
from vivero.engine.connectors.outbound.http_json import without_nul


def storable(text: str) -> str:
    """A text that PostgreSQL can store: without NUL and halves of surrogate pairs."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def decoded(content: bytes | str) -> str:
    """The text of bytes in UTF-8. Wrong ones become a sign that stands for them."""
    return content if isinstance(content, str) else content.decode("utf-8", "replace")


def json_or_text(text: str) -> Any:
    """The value of JSON; any other text as it is, and null for an empty one."""
    try:
        return without_nul(from_json(text)) if text else None
    except (EvaluationError, RecursionError):
        return storable(text)
