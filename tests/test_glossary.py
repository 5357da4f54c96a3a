"""One word, one meaning: docs/glossary.md, and identifiers that have been retired.

A retired identifier is added to `RETIRED` in the commit that renames its last use.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.imports import LAYERS, MODULES, layer_of

ROOT = Path(__file__).parents[1]
GLOSSARY = ROOT / "docs" / "glossary.md"
EVERYWHERE = frozenset(
    {
        "rider",
        "ride",
        "aside",
        "tangle",
        "residual",
        "maker",
        "switchboard",
        "board",
        "picture",
        "cut",
        "parked",
        "seal",
        "spilled",
        "touched",
        "handover",
    }
)
CORE = frozenset(
    {"tail", "alike", "slice", "beginning", "concerned", "outside", "placed", "weigh", "piece", "unread", "room"}
)
RETIRED: dict[str, frozenset[str]] = {
    "core": CORE,
    "core/bpmn": frozenset({"refuse"}),
    "engine": CORE | {"told"},
    "storage": frozenset({"told", "tail", "unread", "weigh", "alike", "slice", "piece", "relation", "refuse"}),
    "api": frozenset({"told", "tail", "alike", "wanted", "room", "channel"}),
    "vivero": frozenset({"told", "alike", "unread", "slice", "room", "wanted", "refuse", "piece"}),
}
"""By package: words that no identifier, module or parameter may contain, between underscores or capitals."""
OF_TRIO = {"EndOfChannel", "open_memory_channel", "MemorySendChannel", "MemoryReceiveChannel"}
"""Names that are not ours."""


@cache
def parts(identifier: str) -> set[str]:
    """The words of an identifier: `_next_rider` and `RiderQueue` both contain `rider`; plurals count as the word."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", identifier)
    return {word.lower().removesuffix("s") for word in words}


def identifiers(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield node.asname or node.name


def retired_in(text: str, retired: frozenset[str]) -> set[str]:
    if not any(parts(word) & retired for word in set(re.findall(r"[^\W\d]\w*", text))):
        return set()  # not even in a comment; parsing all files takes seconds
    return {name for name in identifiers(text) if name not in OF_TRIO and parts(name) & retired}


def test_retired_words_do_not_come_back():
    found = {
        (str(path.relative_to(ROOT)), name)
        for package, retired in RETIRED.items()
        for path in sorted((ROOT / package).rglob("*.py"))
        for name in retired_in(path.read_text(encoding="utf-8"), retired | EVERYWHERE)
        | ({path.stem} if parts(path.stem) & (retired | EVERYWHERE) else set())
    }
    assert found == set(), "docs/glossary.md has the words to use instead"


def test_the_check_sees():
    retired = frozenset({"rider"})
    assert retired_in("def next_rider(x): pass\nclass RiderQueue: riders = 1", retired) == {
        "next_rider",
        "RiderQueue",
        "riders",
    }
    assert retired_in("override = strides = 1", retired) == set()


SHARED_CLASS_NAMES: dict[str, str] = {"Job": "that of a snapshot in the library, and that of a worker's function"}
"""Class names that a layer may use twice, each with the reason."""


def test_a_public_class_name_is_used_once_per_layer():
    assert {name for layer in LAYERS for name in used_twice(modules_of(layer))} == SHARED_CLASS_NAMES.keys()


def modules_of(layer: str) -> list[str]:
    return [path.read_text(encoding="utf-8") for name, path in MODULES.items() if layer_of(name) == layer]


def used_twice(texts: list[str]) -> set[str]:
    """The names of public classes that several modules, or one twice, define at their top."""
    names = Counter(name for text in texts for name in re.findall(r"^class (\w+)", text, re.MULTILINE))
    return {name for name, count in names.items() if count > 1 and not name.startswith("_")}


def test_the_check_of_class_names_sees():
    assert used_twice(["class Page: pass\nclass _Row: pass", "class Page: pass\nclass _Row: pass"]) == {"Page"}
    assert len(modules_of("vivero.api")) > 50


def terms_of(text: str) -> list[str]:
    """The terms that a part of the glossary defines."""
    return re.findall(r"^- \*\*(.+?)\*\*(?: \(.+?\))?: ", text, re.MULTILINE)


def test_each_term_is_defined_once():
    definitions, _, _ = GLOSSARY.read_text(encoding="utf-8").partition("## Words that we do not use")
    terms = terms_of(definitions)
    assert len(terms) > 70
    assert len(terms) == len(re.findall("^- ", definitions, re.MULTILINE))
    assert len(terms) == len(set(terms)), [term for term in terms if terms.count(term) > 1]


def test_terms_are_sorted():
    for section in GLOSSARY.read_text(encoding="utf-8").split("\n## ")[1:-1]:
        terms = terms_of(section)
        assert terms == sorted(terms, key=str.lower), section[:30]
