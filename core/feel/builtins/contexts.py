"""Built-in functions on contexts (DMN 1.5, 10.3.4.6). Entries keep their order, and changed entries their place."""

from __future__ import annotations

from functools import reduce
from typing import Any

from vivero.core.feel.builtins.arguments import context, items
from vivero.core.feel.semantics import message_text
from vivero.core.feel.values import FunctionFailure, IllegalArguments, Overload, Run


def get_value(run: Run, of: Any, key: Any) -> Any:
    """The entry of a key, or of a path of keys; null if there is none."""
    entries = context(of)
    if type(key) is str:
        return entries.get(key)
    path = items(run, key)
    return reduce(_entry, path, entries) if path else None


def _entry(value: Any, key: Any) -> Any:
    return value.get(key) if type(value) is dict and type(key) is str else None


def get_entries(run: Run, of: Any) -> Any:
    run.spend(len(context(of)))
    return [{"key": key, "value": value} for key, value in of.items()]


def context_put(run: Run, of: Any, key: Any, value: Any) -> Any:
    """The context with an entry added or replaced. A path of keys creates missing contexts."""
    path = [key] if type(key) is str else items(run, key)
    if not path or any(type(part) is not str for part in path):
        raise IllegalArguments
    contexts = [context(of)]
    for part in path[:-1]:
        inner = contexts[-1].get(part)
        contexts.append(inner if type(inner) is dict else {})
    run.spend(sum(map(len, contexts)) + len(path))
    for part, outer in zip(reversed(path), reversed(contexts), strict=True):
        value = {**outer, part: value}
    return value


def context_merge(run: Run, contexts: Any) -> Any:
    """One context with all entries. Of several entries with one key, the last wins."""
    parts = [contexts] if type(contexts) is dict else items(run, contexts)
    merged: dict[str, Any] = {}
    for part in parts:
        run.spend(len(context(part)))
        merged |= part
    return merged


def context_of(run: Run, entries: Any) -> Any:
    """A context from a list of `{key: …, value: …}`. Of several entries with one key, the last wins."""
    pairs = [entries] if type(entries) is dict else items(run, entries)
    for pair in pairs:
        if type(pair) is not dict or type(pair.get("key")) is not str or "value" not in pair:
            raise FunctionFailure(f"expected a context with 'key' and 'value' but found '{message_text(run, pair)}'")
    return {pair["key"]: pair["value"] for pair in pairs}


_PUT = (
    Overload(("context", "key", "value"), context_put),
    Overload(("context", "keys", "value"), context_put),
)
_MERGE = (Overload(("contexts",), context_merge, varargs=True),)

FUNCTIONS = {
    "get value": (
        Overload(("context", "key"), get_value),
        Overload(("m", "key"), get_value),
        Overload(("context", "keys"), get_value),
    ),
    "get entries": (Overload(("context",), get_entries), Overload(("m",), get_entries)),
    "context put": _PUT,
    "put": _PUT,
    "context merge": _MERGE,
    "put all": _MERGE,
    "context": (Overload(("entries",), context_of),),
}
