"""The reference of the public Python modules, as pages of docs/reference: `make reference` writes them from the code.

A page has the names of `__all__` with their signatures and docstrings. The sources are read, so that annotations stand
there as they were written. A default that is a constant of its module is shown as its value.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

from tests.imports import ROOT

FOLDER = ROOT / "docs" / "reference"
MODULES = (
    "vivero.client",
    "vivero.jobs",
    "vivero.testing",
    "vivero.testing.background_jobs",
    "vivero.transaction",
    "vivero.worker",
)
WIDTH = 100
"""A longer signature has a line for each parameter."""
_LINK = re.compile(r"\b(docs/[\w/-]+\.md)\b")
_RAISES = re.compile(r"^    (?:(?P<name>[\w, ]+): )?(?P<text>.+)$")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def page_of(name: str) -> Path:
    return FOLDER / f"{name.rpartition('.')[2]}.md"


def text_of(name: str) -> str:
    """The page of a module."""
    module = import_module(name)
    return "\n".join(_page(name, module)).rstrip() + "\n"


def _page(name: str, module: ModuleType) -> Iterator[str]:
    yield f"# {name}\n\n`make reference` writes this page from the code.\n"
    told = re.sub(r"\n\nEntry: .*", "", inspect.getdoc(module) or "", flags=re.DOTALL)
    yield _prose(told)
    for public in sorted(module.__all__, key=str.lower):
        found = getattr(module, public)
        home = import_module(found.__module__)
        node = _definition(home, getattr(found, "__name__", public))
        if isinstance(node, ast.ClassDef):
            yield from _class(home, node)
            yield from _inherited(module, found)
        else:
            yield from _function(home, node, "##")


def _definition(home: ModuleType, name: str) -> ast.ClassDef | Function:
    tree = ast.parse(inspect.getsource(home))
    return next(one for one in tree.body if isinstance(one, ast.ClassDef | ast.FunctionDef) and one.name == name)


def _class(home: ModuleType, node: ast.ClassDef) -> Iterator[str]:
    yield f"## {node.name}\n"
    made = next((one for one in _functions(node) if one.name == "__init__"), None)
    bases = [ast.unparse(base) for base in node.bases if ast.unparse(base) != "Protocol"]
    if made is not None:
        yield _code(node.name, _parameters(home, made), "")
    elif bases:
        yield f"A kind of `{'`, `'.join(bases)}`.\n"
    yield _prose(ast.get_docstring(node) or "")
    if made is not None:
        yield _prose(ast.get_docstring(made) or "")
    yield from _attributes(home, node)
    for one in _functions(node):
        if not one.name.startswith("_"):
            yield from _function(home, one, "###", node.name)


def _inherited(module: ModuleType, public: type) -> Iterator[str]:
    """Methods of bases that are not public, and so have no text of their own."""
    own = {id(getattr(module, name)) for name in module.__all__}
    named = set(vars(public))
    for base in public.__mro__[1:]:
        if not base.__module__.startswith("vivero.") or id(base) in own:
            continue
        home = import_module(base.__module__)
        node = _definition(home, base.__name__)
        assert isinstance(node, ast.ClassDef)
        for one in _functions(node):
            if not one.name.startswith("_") and one.name not in named:
                yield from _function(home, one, "###", public.__name__)
        named |= set(vars(base))


def _functions(node: ast.ClassDef) -> list[Function]:
    return [one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]


def _function(home: ModuleType, node: ast.ClassDef | Function, level: str, owner: str = "") -> Iterator[str]:
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    name = f"{owner}.{node.name}" if owner else node.name
    yield f"{level} {name}\n"
    returned = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
    if any(ast.unparse(one) == "property" for one in node.decorator_list):
        yield f"```python\n{node.name}{returned.replace(' ->', ':')}\n```\n"
    else:
        prefix = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
        yield _code(f"{prefix}{node.name}", _parameters(home, node), returned)
    yield _prose(ast.get_docstring(node) or "")


def _attributes(home: ModuleType, node: ast.ClassDef) -> Iterator[str]:
    """The fields of a record and the members of an enumeration, with the texts below them."""
    listed = []
    for at, one in enumerate(node.body):
        if isinstance(one, ast.AnnAssign):
            text = f"{ast.unparse(one.target)}: {ast.unparse(one.annotation)}"
        elif isinstance(one, ast.Assign):
            text = f"{ast.unparse(one.targets[0])} = {ast.unparse(one.value)}"
        else:
            continue
        if text.startswith("_"):
            continue
        if isinstance(one, ast.AnnAssign) and one.value is not None:
            text += f" = {_default(home, one.value)}"
        below = node.body[at + 1] if at + 1 < len(node.body) else None
        said = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else ""
        listed.append(f"- `{text}`" + (f": {' '.join(str(said).split())}" if said else ""))
    if listed:
        yield "\n".join(listed) + "\n"


def _parameters(home: ModuleType, node: Function) -> list[str]:
    """The parameters as they are written, without `self`."""
    given, found = node.args, []
    plain = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(given.defaults)) + list(given.defaults)
    for one, default in zip(plain, defaults, strict=True):
        found.append(_parameter(home, one, default))
        if given.posonlyargs and one is given.posonlyargs[-1]:
            found.append("/")
    if given.vararg is not None:
        found.append(f"*{ast.unparse(given.vararg)}")
    elif given.kwonlyargs:
        found.append("*")
    found += [_parameter(home, one, default) for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    if given.kwarg is not None:
        found.append(f"**{ast.unparse(given.kwarg)}")
    return [one for one in found if one not in ("self", "cls")]


def _parameter(home: ModuleType, node: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(node) if default is None else f"{ast.unparse(node)} = {_default(home, default)}"


def _default(home: ModuleType, node: ast.expr) -> str:
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("field"):
        given = {one.arg: one.value for one in node.keywords}
        factory = given.get("default_factory")
        return f"{ast.unparse(factory)}()" if factory is not None else _default(home, given["default"])
    return repr(getattr(home, node.id)) if isinstance(node, ast.Name) else ast.unparse(node)


def _code(name: str, parameters: list[str], returned: str) -> str:
    line = f"{name}({', '.join(parameters)}){returned}"
    if len(line) > WIDTH:
        line = f"{name}(\n" + "".join(f"    {one},\n" for one in parameters) + f"){returned}"
    return f"```python\n{line}\n```\n"


def _prose(text: str) -> str:
    """A docstring as Markdown: what it raises is a list."""
    lines, raises = [], False
    for line in text.splitlines():
        if line == "Raises:":
            raises = True
            lines += ["Raises:", ""]
        elif raises and (found := _RAISES.match(line)):
            lines.append(f"- `{found['name']}`: {found['text']}" if found["name"] else f"  {found['text'].strip()}")
        else:
            lines.append(line)
    linked = _LINK.sub(lambda found: f"[{found[1]}](../{found[1].removeprefix('docs/')})", "\n".join(lines))
    return f"{linked}\n" if linked else ""


def write() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in MODULES:
        page_of(name).write_text(text_of(name), encoding="utf-8")


if __name__ == "__main__":
    write()
