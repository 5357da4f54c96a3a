"""Each text with which an operation on an instance, or its undo, is refused is asserted by a test.

A text is asserted if four or more words of it, which no other text has, stand in a test.
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
SOURCES = (
    *("core/modifications", "core/migration", "core/undos", "core/commands/migration.py"),
    *("core/commands/modification.py", "core/commands/suspension.py", "core/commands/business_ids.py"),
    *("core/commands/conditional_change.py", "core/shared/whole_trees.py", "api/routes/undos.py"),
)
TESTS = "tests/core/commands", "tests/core/undos", "tests/core/dry_runs", "tests/api/routes/test_undos.py"
GAP = "…"
LEAST, MOST = 4, 9
"""Words of a fragment."""
BEGINNING = re.compile("Expected to (?!.* but [a-z])[^,]*(,? but )?…?")
"""A text that only begins others."""


def trees(places):
    for place in places:
        path = ROOT / place
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            if file != Path(__file__):
                yield file, ast.parse(file.read_text(encoding="utf-8"))


def texts_in(tree):
    """Line, and the parts of each string between its values. Docstrings and the reasons of assertions do not count."""
    left_out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            left_out.add(id(node.value))
        elif isinstance(node, ast.Assert):
            left_out |= {id(one) for one in ast.walk(node.msg)} if node.msg is not None else set()
        elif isinstance(node, ast.JoinedStr):
            left_out |= {id(one) for one in node.values}
    for node in ast.walk(tree):
        if id(node) in left_out:
            continue
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, tuple(one.value for one in node.values if isinstance(one, ast.Constant))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, tuple(re.split(r"\{[^}]*\}", node.value))


def fragments(parts):
    for part in () if BEGINNING.fullmatch(GAP.join(parts)) else parts:
        words = part.split()
        for size in range(LEAST, MOST):
            yield from (" ".join(words[at : at + size]) for at in range(len(words) - size + 1))


def test_each_text_of_a_refusal_is_asserted_by_a_test():
    found = {}
    for file, tree in trees(SOURCES):
        for line, parts in texts_in(tree):
            if any(fragments(parts)):
                found.setdefault(parts, f"{file.relative_to(ROOT)}:{line}: {GAP.join(parts)}")
    assert len(found) > 80
    owners = {}
    for parts in found:
        for fragment in set(fragments(parts)):
            owners.setdefault(fragment, set()).add(parts)
    asserted = "\n".join(part for _, tree in trees(TESTS) for _, parts in texts_in(tree) for part in parts)
    missing = [
        where
        for parts, where in found.items()
        if not any(len(owners[one]) == 1 and one.strip("'.,:") in asserted for one in fragments(parts))
    ]
    assert not missing, "\n".join(missing)
