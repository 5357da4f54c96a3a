"""Type checkers of users see a complete type for every public name, and for each member of a public class."""

import inspect
import json
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import pytest

from tests.operations.tools import ROOT
from tests.reference import MODULES

LIBRARY = "vivero.library"
"""Its page is written by hand."""


def members(value):
    """The public members of a class, those of our bases included."""
    ours = [base for base in value.__mro__ if base.__module__.startswith("vivero.")]
    found = {name for base in ours for name in (*vars(base), *inspect.get_annotations(base))}
    return sorted(name for name in found if not name.startswith("_"))


def questions():
    """The lines of a program that asks for each type, with the name that a line asks for."""
    number = 0
    for module in (*MODULES, LIBRARY):
        yield f"import {module}", None
        found = import_module(module)
        for name in found.__all__:
            path, value = f"{module}.{name}", getattr(found, name)
            of_what = "[int]" if getattr(value, "__parameters__", ()) else ""
            yield f"reveal_type({path}{of_what})", path
            if inspect.isclass(value):
                number += 1
                yield f"def ask_{number}(it: {path}{of_what}) -> None:", None
                for member in members(value):
                    yield f"    reveal_type(it.{member})", f"{path}.{member}"
                yield "    return", None


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The file of the program, and the names by their lines."""
    lines, names = zip(*questions(), strict=True)
    file = tmp_path_factory.mktemp("program") / "program.py"
    file.write_text("\n".join(lines) + "\n")
    return file, {line: name for line, name in enumerate(names, start=1) if name is not None}


def run(*command, folder):
    return subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.long
def test_pyright_knows_every_part_of_every_public_type(program):
    if find_spec("basedpyright") is None:
        pytest.skip("basedpyright is not installed: make install")
    file, asked = program
    settings = {"typeCheckingMode": "standard", "extraPaths": [str(ROOT)], "include": [file.name]}
    (file.parent / "pyrightconfig.json").write_text(json.dumps(settings))
    done = run("basedpyright", "--outputjson", "--pythonpath", sys.executable, folder=file.parent)
    found = json.loads(done.stdout)["generalDiagnostics"]
    assert [one["message"] for one in found if one["severity"] != "information"] == []
    seen = {asked[one["range"]["start"]["line"] + 1]: one["message"] for one in found}
    assert seen.keys() == set(asked.values())
    assert {name: text for name, text in seen.items() if re.search(r"\bUnknown\b", text)} == {}


@pytest.mark.long
def test_mypy_knows_every_public_name(program):
    file, asked = program
    done = run("mypy", "--strict", "--config-file=", file.name, folder=file.parent)
    assert done.returncode == 0, done.stdout[-2000:]
    seen = {asked[int(line)] for line in re.findall(r":(\d+): note: Revealed type is", done.stdout)}
    assert seen == set(asked.values())
