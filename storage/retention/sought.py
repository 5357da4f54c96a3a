"""The values that an erasure looks for in records: texts anywhere in them, a variable with a value, a business id.

Records are decoded, and so is JSON within texts: a value may be spelled with escapes. A text counts as a word, so
`ann@example.org` is not found in `joann@example.org`. Encodings that only clients know (Base64, compressed files) are
not looked into.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from vivero.storage.retention.erasure import ErasureSubject
from vivero.storage.state.normal_form import normal_form

SHORTEST = 4
"""Characters of a text that is looked for everywhere. Shorter ones stand for too much else."""
_ESCAPED = re.compile(r'["\\/\x00-\x1f]')
"""Characters that JSON may write with a backslash alone."""


class Sought:
    """The texts, the variable or the business id of a subject."""

    def __init__(self, subject: ErasureSubject) -> None:
        self._business_id = subject.business_id
        self._variable: tuple[str, str] | None = None
        texts = list(subject.texts)
        if subject.business_id is not None:
            texts.append(subject.business_id)
        if subject.variable is not None:
            normal = normal_form(subject.value or "")
            self._variable = subject.variable, normal
            if normal.startswith('"'):
                texts.append(msgspec.json.decode(normal))
        self.texts: Sequence[str] = [text for text in texts if len(text) >= SHORTEST]
        clues = [*self.texts, subject.business_id, subject.variable]
        self._clues = [clue for clue in clues if clue is not None]
        self._is_plain = not any(_ESCAPED.search(clue) for clue in self._clues)
        words = "|".join(re.escape(text) for text in self.texts)
        self._words = re.compile(rf"(?<!\w)(?:{words})(?!\w)") if words else None

    def may_be_in(self, text: str) -> bool:
        """Whether a record with this JSON may have it: most have not, and need not be decoded.

        A text that JSON writes as it is stands there, or the JSON has escapes that hide it.
        """
        return not self._is_plain or "\\u" in text or "\\/" in text or any(clue in text for clue in self._clues)

    def found_in(self, value: Any, name: str = "") -> bool:
        """Whether a record, or a part of one that has this name, has what is sought."""
        if isinstance(value, str):
            return self._in_text(value, name)
        if isinstance(value, msgspec.Raw):
            return self._in_json(str(value, "utf-8"), name)
        if isinstance(value, msgspec.Struct):
            return self._in_struct(value)
        if isinstance(value, Mapping):
            return any(self._in_text(key) or self.found_in(each, key) for key, each in value.items())
        if isinstance(value, Sequence | frozenset):
            return any(self.found_in(each, name) for each in value)
        return self._is_variable(name) and self._has_value(msgspec.json.encode(value).decode())

    def _in_struct(self, record: msgspec.Struct) -> bool:
        fields = {field: getattr(record, field) for field in record.__struct_fields__}
        named = fields.get("name")
        if isinstance(named, str) and "value" in fields and self._is_variable(named):
            return self._has_value(fields["value"]) or self.found_in(fields)
        return self.found_in(fields)

    def _in_text(self, text: str, name: str = "") -> bool:
        if self._words is not None and self._words.search(text):
            return True
        if name == "business_id" and text == self._business_id:
            return True
        if self._is_variable(name) and self._has_value(text):
            return True
        return "\\" in text and text[:1] in '"[{' and self._in_json(text, name)

    def _in_json(self, text: str, name: str) -> bool:
        """Whether JSON text has it. Other text was compared as text."""
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return self._words is not None and self._words.search(text) is not None
        if self._is_variable(name) and self._has_value(text):
            return True
        return value != text and self.found_in(value, name)

    def _is_variable(self, name: str) -> bool:
        return self._variable is not None and self._variable[0] == name

    def _has_value(self, text: str) -> bool:
        return self._variable is not None and normal_form(text) == self._variable[1]
