"""Every log call of the program passes harmless fields only: no variables, bodies, headers, credentials or URLs.

The walk finds all uses of a logger, so a call in a form that it does not know fails, too.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from vivero.engine.log_levels import LEVELS

ROOT = Path(__file__).parents[3]
METHODS = {*LEVELS, "exception"}
OF_OUTAGES = {"failed", "works"}
"""Methods of `OutageLog`: the event, the error, and fields."""

ERRORS = {"error", "reason", "problem", "problems", "why"}
"""Fields that tell of errors: through a function that leaves data out."""
TELLERS = {"describe", "describe_failure", "reason"}
HARMLESS = {
    # what is counted and measured
    *("after_s", "allowed", "asked", "attempt", "attempts", "before", "computed_s", "count", "delay_s", "failures"),
    *("first", "grace_s", "items", "last", "lasted_s", "lines", "needed", "open_connections", "partitions", "port"),
    *("records", "seconds", "silent_s", "size", "so_far", "status", "timeline", "timers", "took_s"),
    *("background_jobs", "kind", "limit", "pool_size", "processes", "processor", "withheld"),
    "place",  # a file and a line
    # keys, positions and digests
    *(
        "batch",
        "because_of",
        "cause",
        "definition",
        "epoch",
        "event_id",
        "execution",
        "job",
        "key",
        "partition",
        "position",
        "sha256",
    ),
    # words of ours
    *("build", "child", "counts", "detail", "did_you_mean", "endpoint", "final", "group", "intent", "job_type"),
    *(
        "method",
        "operation",
        "outcome",
        "provider",
        "route",
        "seen",
        "signal",
        "state",
        "store",
        "task",
        "tool",
        "type",
        "variable",
    ),
    # nodes, files, people and their machines
    *("address", "file", "host", "leader", "node", "pid", "username", "usernames", "version"),
    # names in models
    *("element", "path", "process"),
    "exc_info",
}
FORBIDDEN = {
    *("variables", "variable_value", "value", "values", "payload", "body", "content", "document", "headers", "query"),
    *("password", "secret", "secrets", "token", "credentials", "authorization", "cookie", "dsn", "url", "conninfo"),
    *("message", "messages", "text", "result", "response_body", "correlation_key", "raw_path", "query_string"),
}
"""Names that no expression of a field contains, except to count them."""
CALLS = {*TELLERS, "len", "round", "str", "_bug", "_port", "address", "mask", "Signals", "get"}


@cache
def sources() -> list[tuple[str, ast.Module]]:
    return list(parsed())


def parsed() -> Iterator[tuple[str, ast.Module]]:
    for top in ("core", "engine", "storage", "api", "vivero"):
        for path in sorted((ROOT / top).rglob("*.py")):
            name = str(path.relative_to(ROOT))
            if not name.startswith(("vivero/core/", "vivero/engine/", "vivero/storage/", "vivero/api/")):
                text = path.read_text(encoding="utf-8")
                if any(word in text for word in ("get_logger", "outage", "getLogger", "print(", "stderr")):
                    yield name, ast.parse(text)


def loggers(module: ast.Module) -> set[str]:
    """The names that a module gives to its loggers."""
    return {
        target.id
        for node in module.body
        if isinstance(node, ast.Assign) and "get_logger(" in ast.unparse(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def tellers(module: ast.Module, names: set[str]) -> set[str]:
    """Local names for methods of a logger, such as `tell = log.info if … else log.warning`."""
    return {
        target.id
        for node in ast.walk(module)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.IfExp)
        and all(is_method(each, names) for each in (node.value.body, node.value.orelse))
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def is_method(node: ast.expr, names: set[str]) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in names
        and node.attr in METHODS
    )


def calls(module: ast.Module) -> Iterator[ast.Call]:
    names = loggers(module)
    local = tellers(module, names)
    for node in ast.walk(module):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        if (
            is_method(function, names)
            or is_outage(function)
            or (isinstance(function, ast.Name) and function.id in local)
        ):
            yield node


def is_outage(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in OF_OUTAGES and "outage" in ast.unparse(node.value).lower()


def wrong(call: ast.Call) -> Iterator[str]:
    """The faults of a log call."""
    event, *errors = call.args or [ast.Constant(None)]
    if not all(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in branches(event)):
        yield f"the event is not a constant text: {ast.unparse(event)}"
    for each in errors:
        yield from wrong_error("error", each)
    for keyword in call.keywords:
        if keyword.arg is None:
            yield "its fields are not listed"
        elif keyword.arg in ERRORS:
            yield from wrong_error(keyword.arg, keyword.value)
        elif keyword.arg not in HARMLESS and not keyword.arg.endswith(("_s", "_ms", "_bytes")):
            yield f"the field {keyword.arg} is not known to be harmless"
        else:
            yield from wrong_value(keyword.arg, keyword.value)


def branches(node: ast.expr) -> list[ast.expr]:
    return [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node]


def wrong_error(name: str, value: ast.expr) -> Iterator[str]:
    inner = value.args[0] if isinstance(value, ast.Call) and called(value) == "mask" else value
    if not (isinstance(inner, ast.Call) and called(inner) in TELLERS):
        yield f"{name} tells an error with its data: {ast.unparse(value)}"


def wrong_value(name: str, value: ast.expr) -> Iterator[str]:
    if isinstance(value, ast.Call) and called(value) == "len":
        return
    for node in ast.walk(value):
        if isinstance(node, ast.JoinedStr | ast.BinOp | ast.Dict | ast.Lambda):
            allowed = isinstance(node, ast.BinOp) and name.endswith("_s")
            if not allowed:
                yield f"{name} is composed: {ast.unparse(value)}"
        elif isinstance(node, ast.Call) and called(node) not in CALLS | {"current_time"}:
            yield f"{name} calls {ast.unparse(node.func)}"
        elif {getattr(node, "id", None), getattr(node, "attr", None)} & FORBIDDEN:
            yield f"{name} may show data: {ast.unparse(value)}"


def called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


PASSES_ON = {
    "storage/postgres/outage_log.py": "it tells what its callers pass, and these calls are checked",
    "vivero/program/program.py": "the texts of `budget`, which are made of numbers",
}
"""Files with a call that the rules reject, and why it is harmless all the same."""


def test_every_log_call_passes_harmless_fields():
    found = {
        f"{name}:{call.lineno}": problems
        for name, module in sources()
        for call in calls(module)
        if (problems := list(wrong(call)))
    }
    files = {place.partition(":")[0] for place in found}
    assert {place: problems for place, problems in found.items() if place.partition(":")[0] not in PASSES_ON} == {}
    assert files == set(PASSES_ON), "an exception that nobody needs"
    assert sum(place.startswith("vivero/program/program.py") for place in found) == 1


def test_no_use_of_a_logger_escapes_the_walk():
    escaped = []
    for name, module in sources():
        names = loggers(module)
        nodes = list(ast.walk(module))
        known = sum(is_method(node, names) for node in nodes if isinstance(node, ast.expr))
        uses = [node for node in nodes if isinstance(node, ast.Name) and node.id in names]
        read = sum(isinstance(node.ctx, ast.Load) for node in uses)
        if known != read or (names and not known):
            escaped.append((name, known, read))
    assert escaped == []


def test_python_s_own_logging_and_printing_are_not_used():
    """Except where lines of libraries are taken over, where a command speaks to its user, and in programs of users."""
    users = {
        name
        for name, module in sources()
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("logging.getLogger", "print", "sys.stderr.write")
    }
    assert {name for name in users if not name.startswith(("vivero/cli/", "vivero/embedded/"))} == {
        *("vivero/logs/__init__.py", "engine/supervision/watchdog.py", "vivero/program/access.py"),
        *("vivero/tracing/export.py", "vivero/worker/worker.py"),
    }


def test_the_walk_sees_what_is_wrong():
    text = """
log = structlog.get_logger(__name__)
tell = log.info if x else log.debug
def f():
    log.info(f"{x}")
    log.warning("a", error=str(error))
    log.error("a", unheard_of=1)
    tell("a", key=request.body)
    log.debug("a", state=f"{variables}")
    self._outage.failed("a", str(error))
    log.exception("a", **fields)
    log.info("fine", count=len(body), error=describe(error), silent_s=round(a - b, 1))
"""
    found = [list(wrong(call)) for call in calls(ast.parse(text))]
    assert [len(each) > 0 for each in found] == [*[True] * 7, False]
