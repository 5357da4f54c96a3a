"""The trees of a file that have data of a person: a business id, or a variable's value.

A file is searched for the bytes that such a row has: a business id, or the name of the variable. The lines that have
them are read whole, and their rows compared: the same bytes may stand in a document of a client, and a value has many
spellings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

import msgspec

from vivero.engine.retention.archive.lines import sift
from vivero.storage.access.tenants import Tenants
from vivero.storage.retention.erasure import ErasureSubject
from vivero.storage.retention.sought import Sought
from vivero.storage.state.normal_form import normal_form

Contents = Callable[[], Iterable[bytes]]
"""Opens the file, at its beginning."""


class _Instance(msgspec.Struct, gc=False):
    business_id: str | None = None


class _Variable(msgspec.Struct, gc=False):
    name: str
    value: str


class _Line(msgspec.Struct, rename={"root": "rootKey", "tenant": "tenantId"}):
    root: str
    tenant: str
    process_instances: list[_Instance] = []
    variables: list[_Variable] = []


_decoder = msgspec.json.Decoder(_Line)
_ESCAPED = re.compile(r'["\\\x00-\x1f]')


def trees_of(contents: Contents, subject: ErasureSubject, tenants: Tenants) -> set[int]:
    """The roots of the trees with data of the subject; blocks. `tenants`: None for all."""
    found = set[int]().union(*(candidates(contents(), wanted) for wanted in sought(subject)))
    if not found:
        return set()
    texts, roots = Sought(subject), set[int]()
    for text in _whole_lines(sift(contents(), found.__contains__)):
        line = _decoder.decode(text)
        has = texts.found_in(msgspec.Raw(text)) if subject.texts else _has(line, subject)
        if has and (tenants is None or line.tenant in tenants):
            roots.add(int(line.root))
    return roots


def sought(subject: ErasureSubject) -> list[bytes]:
    """The bytes that PostgreSQL writes for a row with the value. Of a text: its longest part without escapes."""
    if subject.texts:
        return [max(_ESCAPED.split(text), key=len).encode() for text in subject.texts]
    if subject.business_id is not None:
        return [b'"business_id":%s' % msgspec.json.encode(subject.business_id)]
    return [b'"name":%s' % msgspec.json.encode(subject.variable)]


def candidates(contents: Iterable[bytes], wanted: bytes) -> set[int]:
    """The roots of the lines that have these bytes, however the file is read."""
    found: set[int] = set()
    root, before = 0, b""

    def begin(key: int) -> bool:
        nonlocal root, before
        root, before = key, b""
        return True

    for part in sift(contents, begin):
        both = before + part
        if wanted in both:
            found.add(root)
        before = both[-len(wanted) :]
    return found


def _whole_lines(parts: Iterable[bytes]) -> Iterator[bytes]:
    line: list[bytes] = []
    for part in parts:
        line.append(part)
        if part.endswith(b"\n"):
            yield b"".join(line)
            line.clear()


def _has(line: _Line, subject: ErasureSubject) -> bool:
    if subject.business_id is not None:
        return any(each.business_id == subject.business_id for each in line.process_instances)
    wanted = normal_form(subject.value or "")
    return any(each.name == subject.variable and normal_form(each.value) == wanted for each in line.variables)
