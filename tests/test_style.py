"""Hazards of style that a type checker does not see. (tests/core/test_tables.py checks the tables of contents.)"""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.imports import statements
from tests.sleeps import SLEEPING
from vivero.core import dispatch
from vivero.core.events.table import START_KINDS
from vivero.core.state.subscription_index import INDEXED_BY

ROOT = Path(__file__).parents[1]
CORE = ROOT / "core"
PACKAGES = ("core", "engine", "storage", "api", "vivero", "benchmarks")
SOURCES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def walk(tree: ast.AST) -> Iterator[ast.AST]:
    """As `ast.walk` in half its time."""
    todo = [tree]
    while todo:
        node = todo.pop()
        yield node
        for value in node.__dict__.values():
            if isinstance(value, ast.AST):
                todo.append(value)
            elif isinstance(value, list):
                todo += [each for each in value if isinstance(each, ast.AST)]


# ------------------------------------------------------------------------------------------- effects that vanish


def effect_functions(path: Path) -> set[str]:
    """The functions of a module that yield effects: calling one does nothing until somebody iterates."""
    text = path.read_text(encoding="utf-8")
    return {
        node.name
        for node in (statements(ast.parse(text)) if "Effects" in text else ())
        if isinstance(node, ast.FunctionDef) and node.returns is not None and "Effects" in ast.unparse(node.returns)
    }


def module_name(path: Path) -> str:
    """The name of a module in `core`, `engine`, `storage` or `api`, which `vivero` links to."""
    return ".".join(("vivero", *path.relative_to(ROOT).with_suffix("").parts))


@cache
def effects() -> dict[str, set[str]]:
    """The functions of each module of the core that yield effects."""
    return {module_name(path): effect_functions(path) for path in sorted(CORE.rglob("*.py"))}


TABLES = {
    "ELEMENTS": set(dispatch.Behaviour.__dataclass_fields__) - {"awaits"},
    "EVENT_BEHAVIOURS": {"subscribe", "throw", "follow", "open_start"},
}
"""The functions in the tables of contents that yield effects."""


def calls_of_effects(path: Path, tree: ast.Module) -> Iterator[ast.Call]:
    """The calls, in a module, of functions that yield effects."""
    names, modules = set(effects().get(module_name(path), ())), {}
    for node in statements(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                bound = alias.asname or alias.name
                if alias.name in effects().get(node.module or "", ()):
                    names.add(bound)
                if f"{node.module}.{alias.name}" in effects():
                    modules[bound] = effects()[f"{node.module}.{alias.name}"]
    for node in walk(tree):
        if isinstance(node, ast.Call) and _yields(node.func, names, modules):
            yield node


def _yields(function: ast.expr, names: set[str], modules: dict[str, set[str]]) -> bool:
    if isinstance(function, ast.Name):
        return function.id in names
    if not isinstance(function, ast.Attribute):
        return False
    owner = function.value
    if isinstance(owner, ast.Subscript):  # ELEMENTS[type].activate(…)
        table = TABLES.get(ast.unparse(owner.value))
        return table is not None and function.attr in table
    if isinstance(owner, ast.Name):
        return function.attr in modules.get(owner.id, ()) or (owner.id == "self" and function.attr in names)
    return False


ITERATES = ast.YieldFrom | ast.Starred | ast.Return | ast.Call | ast.Assign | ast.IfExp | ast.For
"""Around a call, these iterate what it yields, or pass it on."""


def vanishing(path: Path) -> list[str]:
    """Calls whose effects nobody can ever iterate, or that are yielded as they are."""
    tree = parsed(path)
    calls = set(calls_of_effects(path, tree))
    elsewhere = (node for node in walk(tree) if calls and not isinstance(node, ITERATES))
    lost = [call for node in elsewhere for call in calls.intersection(ast.iter_child_nodes(node))]
    return [f"{path}:{call.lineno}: {ast.unparse(call)}" for call in lost]


def test_no_effects_vanish():
    files = sorted(CORE.rglob("*.py"))
    assert len(files) > 300
    assert [place for path in files for place in vanishing(path)] == []


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("enter(node, scope, at)", 1),
        ("yield enter(node, scope, at)", 1),
        ("flows.enter(node, scope, at)", 1),
        ("ELEMENTS[e.type].settle(e, at)", 1),
        ("EVENT_BEHAVIOURS[type(e)].throw(e, at)", 1),
        ("if enter(node, scope, at): pass", 1),
        ("yield from enter(node, scope, at)", 0),
        ("(*enter(node, scope, at),)", 0),
        ("return flows.enter(node, scope, at)", 0),
        ("return list(enter(node, scope, at))", 0),
        ("names.update(other)", 0),
    ],
)
def test_the_check_sees(tmp_path, monkeypatch, statement, count):
    path = tmp_path / "some.py"
    path.write_text(
        "from vivero.core.shared import flows\nfrom vivero.core.shared.flows import enter\n"
        f"def f(e, node, scope, at, names, other):\n    {statement}\n"
    )
    effects()  # of the real modules, before the root is another
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert len(vanishing(path)) == count


# ----------------------------------------------------------------------------------------- names of element types

NOT_ELEMENTS = {
    ("apply", "PROCESS"): "what InstanceCreated makes is a process and nothing else",
    ("shared", "EVENT_SUB_PROCESS"): "a kind of wait, beside BOUNDARY and INTERMEDIATE",
    ("shared", "AD_HOC_SUB_PROCESS"): "a kind of job, beside BPMN_ELEMENT and EXECUTION_LISTENER",
    ("shared", "START_EVENT"): "a kind of wait, of a definition: what starts a process from outside",
}


def test_neither_appliers_nor_shared_code_know_element_types():
    found = {
        (directory, node.value)
        for directory in ("apply", "shared")
        for path in sorted((CORE / directory).rglob("*.py"))
        for node in walk(parsed(path))
        if isinstance(node, ast.Constant) and node.value in dispatch.ELEMENTS
    }
    assert found <= set(NOT_ELEMENTS)


# ----------------------------------------------------------------------------------------------- names of event types

KINDS_OF_WAITS = set(START_KINDS) | set(INDEXED_BY)
DEFINITIONS = {definition.__name__ for definition in dispatch.EVENT_BEHAVIOURS}


MAY_NAME_EVENTS = re.compile("|".join(sorted(DEFINITIONS | KINDS_OF_WAITS)))
"""Each module that names one of them has this somewhere. The others are not parsed."""


def types_of_events(text: str) -> set[str]:
    """The event definitions that a module names, and the kinds of waits that it compares something with."""
    if not MAY_NAME_EVENTS.search(text):
        return set()
    tree = ast.parse(text)
    named = {node.id for node in walk(tree) if isinstance(node, ast.Name)}
    named |= {node.attr for node in walk(tree) if isinstance(node, ast.Attribute)}
    compared = {
        constant.value
        for node in walk(tree)
        if isinstance(node, ast.Compare | ast.MatchValue)
        for constant in walk(node)
        if isinstance(constant, ast.Constant) and isinstance(constant.value, str)
    }
    return (named & DEFINITIONS) | (compared & KINDS_OF_WAITS)


def test_only_the_files_of_events_compare_event_types():
    apart = {CORE / name for name in ("events", "bpmn", "feel")}
    paths = [path for path in sorted(CORE.rglob("*.py")) if not apart & set(path.parents)]
    assert len(paths) > 50
    texts_of = {str(path.relative_to(CORE)): path.read_text(encoding="utf-8") for path in paths}
    assert {name: found for name, text in texts_of.items() if (found := types_of_events(text))} == {}


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("isinstance(event, TimerEvent)", {"TimerEvent"}),
        ("type(event) is model.LinkEvent", {"LinkEvent"}),
        ("subscription.kind == 'SIGNAL'", {"SIGNAL"}),
        ("start.kind in ('MESSAGE', 'TIMER_DATE')", {"MESSAGE", "TIMER_DATE"}),
        ("EVENT_BEHAVIOURS[type(event)].throw", set()),
    ],
)
def test_the_check_sees_event_types(statement, found):
    assert types_of_events(statement) == found


def test_the_loop_of_a_command_knows_no_element():
    tree = parsed(CORE / "execution" / "worklist.py")
    imported = {node.module or "" for node in walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not [name for name in imported if name.startswith("vivero.core.elements")]
    named = {node.value for node in walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert not named & set(dispatch.ELEMENTS)


# ---------------------------------------------------------------------------------------------------- proportions

LONG = {"core/state/instance_tree.py": "the rows of an instance tree, which refer to each other"}
MOST_LINES = 500


def test_long_files_are_few_and_known():
    """A guide: whoever makes a file this long splits it where the meaning splits, or says here why not."""
    lengths = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    too_long = {name for name, lines in lengths.items() if lines > MOST_LINES}
    assert too_long <= set(LONG)
    assert statistics.median(lines for lines in lengths.values() if lines) <= 180


FEW_LINES = 15
MAY_BE_SHORT = {
    "vivero/embedded/errors.py": "what callers catch, beside a package that imports nothing else of ours",
    "core/bpmn/elements/retention_limits.py": "settings read it, and must not import the reader of files",
    "vivero/program/ends.py": "each command of the command line imports it, and must not import the program",
}
"""Beside the files of elements, events and routes, and what Python wants in a file of its own."""


def test_no_fragment_has_a_file_of_its_own():
    """A file must be worth opening."""
    kinds = ("core/elements", "core/events", "core/bpmn/event_definitions", "api/routes")
    short = {
        str(path.relative_to(ROOT))
        for path in SOURCES
        if not path.name.startswith("__")
        and str(path.parent.relative_to(ROOT)) not in kinds
        and len(path.read_text(encoding="utf-8").splitlines()) < FEW_LINES
    }
    assert short == set(MAY_BE_SHORT)


@cache
def lengths_and_handlers() -> tuple[list[int], dict[str, bool]]:
    """The lengths of all functions, and whether each handler of exceptions swallows all: from one parse of each file,
    which takes longer than both checks."""
    lengths, handlers = [], {}
    for path in SOURCES:
        for node in statements(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lengths.append((node.end_lineno or node.lineno) - node.lineno + 1)
            elif isinstance(node, ast.ExceptHandler):
                handlers[f"{path}:{node.lineno}"] = swallows_all(node)
    return sorted(lengths), handlers


def test_functions_are_short():
    lengths, _ = lengths_and_handlers()
    assert statistics.median(lengths) <= 7
    assert lengths[int(len(lengths) * 0.9)] <= 30
    assert lengths[-1] <= 70


def swallows_all(handler: ast.ExceptHandler) -> bool:
    """Whether everything is caught, a cancellation too, and neither raised again nor passed on."""
    catches_all = handler.type is None or ast.unparse(handler.type) == "BaseException"
    goes_on = any(
        isinstance(inner, ast.Raise) or (isinstance(inner, ast.Name) and inner.id == handler.name)
        for statement in handler.body
        for inner in walk(statement)
    )
    return catches_all and not goes_on


def test_no_cancellation_is_swallowed():
    _, handlers = lengths_and_handlers()
    assert len(handlers) > 50
    assert [place for place, swallowed in handlers.items() if swallowed] == []


def test_tests_have_no_packages():
    """`tests/api/__init__.py` would make `import api` find the tests."""
    assert list((ROOT / "tests").rglob("__init__.py")) == []


# ------------------------------------------------------------------------------------------- tests that can be repeated

TESTS = sorted((ROOT / "tests").rglob("*.py"))


def texts() -> Iterator[tuple[str, str]]:
    """The names and texts of the files of tests."""
    return ((str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")) for path in TESTS)


DRAWS_FOR_ITSELF = {"tests/chaos/__main__.py", "tests/conftest.py", "tests/process/program.py"}
"""The seeds, and ports, which two sessions on one machine must not choose alike."""


def test_what_is_random_comes_of_the_seed_that_is_printed():
    draws = {str(path.relative_to(ROOT)) for path in TESTS if draws_for_itself(path)}
    assert draws == DRAWS_FOR_ITSELF, "use the fixture `seed`"


def draws_for_itself(path: Path) -> bool:
    """Whether a test draws of the module's own generator, which nobody has seeded, or of the system's."""
    text = path.read_text(encoding="utf-8")
    if "import random" not in text and "SystemRandom" not in text:
        return False  # without the second that it takes to walk through all files
    tree = ast.parse(text)
    imported = {alias.name for node in walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return any(
        (isinstance(node, ast.Name) and node.id == "SystemRandom")
        or (
            "random" in imported
            and isinstance(node, ast.Attribute)
            and ast.unparse(node.value) == "random"
            and node.attr != "Random"
        )
        for node in walk(tree)
    )


# ---------------------------------------------------------------------------------------------- tests that do not wait

SLEEPS = {"trio.sleep", "trio.sleep_until", "time.sleep", "asyncio.sleep"}


def sleeps(tree: ast.Module) -> Iterator[str]:
    """The calls, in a module, that wait for a time. `sleep(0)` waits for none."""
    own = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for node in walk(tree):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if own.get(name, name) in SLEEPS and [ast.unparse(value) for value in node.args] != ["0"]:
                yield name


def test_only_tests_of_clocks_sleep():
    found = {
        str(path.relative_to(ROOT))
        for path in TESTS
        if "sleep" in path.read_text(encoding="utf-8") and any(sleeps(parsed(path)))
    }
    assert found == set().union(*SLEEPING.values()), "the list is in tests/sleeps.py"


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("await_(trio.sleep(0.1))", ["trio.sleep"]),
        ("from time import sleep as pause\npause(delay_s)", ["pause"]),
        ("trio.sleep_until(later)", ["trio.sleep_until"]),
        ("asyncio.sleep(0)", []),
        ("trio.sleep_forever()", []),
        ("beat.sleep(1)", []),
    ],
)
def test_the_check_sees_sleeps(statement, found):
    assert list(sleeps(ast.parse(statement))) == found


# ------------------------------------------------------------------------------------ tests that look into objects

PUBLIC = {"_replace", "_make", "_asdict", "_fields", "_exit"}
"""Names of Python's own interfaces."""
LOOKS_INSIDE: dict[str, int] = {
    "tests/api/access/test_authentication.py": 4,
    "tests/api/http1/test_connection_capacity.py": 1,
    "tests/api/routes/test_job_activation.py": 1,
    "tests/api/routes/test_large_jobs.py": 2,
    "tests/api/test_deadlines.py": 1,
    "tests/api/test_long_polls.py": 2,
    "tests/api/test_shared_budget.py": 1,
    "tests/core/engine.py": 2,
    "tests/core/cluster.py": 1,
    "tests/core/commands/test_incidents.py": 1,
    "tests/core/partitions/test_crossing.py": 1,
    "tests/core/quanta.py": 2,
    "tests/engine/consumer/serial_runs.py": 1,
    "tests/engine/consumer/test_consumer.py": 3,
    "tests/engine/consumer/test_leadership.py": 4,
    "tests/engine/consumer/test_overlap.py": 2,
    "tests/engine/consumer/test_paged_loops.py": 2,
    "tests/engine/consumer/test_quanta_between_commands.py": 2,
    "tests/engine/consumer/test_very_large_variables.py": 1,
    "tests/engine/supervision/test_supervisor.py": 1,
    "tests/engine/test_several_partitions.py": 1,
    "tests/engine/timers/test_task.py": 5,
    "tests/engine/timers/test_window.py": 1,
    "tests/kept_sessions.py": 1,
    "tests/storage/postgres/test_checks.py": 1,
    "tests/storage/state/test_save.py": 5,
    "tests/storage/state/test_snapshots.py": 1,
    "tests/storage/test_late_calls.py": 2,
    "tests/vivero/embedded/test_binaries.py": 1,
    "tests/vivero/test_client.py": 1,
    "tests/vivero/web/test_served.py": 8,
}
"""Files → the number of private names of others that they use. These numbers only fall."""


MAY_BE_PRIVATE = re.compile(r"(?<!\bself)(?<!\bcls)\._(?!_)|\bfrom vivero[\w.]* import (?:\([^)]*|[^(\n]*)\b_")
"""Each file that names something private of others has this somewhere. The others are not parsed."""


def private_names(text: str) -> Iterator[str]:
    """The private attributes and imports of others that a module names."""
    if not MAY_BE_PRIVATE.search(text):
        return
    for node in walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
            owner = ast.unparse(node.value)
            if owner not in ("self", "cls", "super()") and node.attr not in PUBLIC:
                yield f"{owner}.{node.attr}"
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("vivero"):
            yield from (alias.name for alias in node.names if alias.name.startswith("_"))


def test_few_tests_look_inside_what_they_test():
    """A test of behaviour outlives a change of the inside."""
    counts = {name: len(list(private_names(text))) for name, text in texts()}
    assert {path: count for path, count in counts.items() if count > LOOKS_INSIDE.get(path, 0)} == {}
    assert {path: count for path, count in LOOKS_INSIDE.items() if count > counts.get(path, 0)} == {}, "lower the bound"


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("consumer._term.last", ["consumer._term"]),
        ("from vivero.core.execution.step import _private", ["_private"]),
        ("from vivero.core.execution.step import (\n    public,\n    _private,\n)", ["_private"]),
        ("(\n    consumer\n    ._term\n)", ["consumer._term"]),
        ("self._own, cls._own, super()._own, row._replace(a=1)", []),
        ("consumer.__class__", []),
    ],
)
def test_the_check_sees_private_names(statement, found):
    assert list(private_names(statement)) == found
