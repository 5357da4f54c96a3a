"""docs/snapshot.schema.json is the schema of the format; `pytest tests/core --rewrite-golden` writes it anew."""

import re
from inspect import cleandoc
from pathlib import Path

import msgspec

from vivero.core.snapshots import format as entries
from vivero.core.snapshots.format import FORMAT, Entry, Snapshot

DOCS = Path(__file__).parents[3] / "docs"


def schema():
    """The text of the schema. Since 3.13, Python itself takes the indentation of docstrings away."""
    found = msgspec.json.schema(Snapshot) | {"title": f"Snapshot of an instance tree, format {FORMAT}"}
    for each in found["$defs"].values():
        if "description" in each:
            each["description"] = cleandoc(each["description"])
    return msgspec.json.format(msgspec.json.encode(found), indent=1).decode() + "\n"


def test_the_schema_is_the_published_one(request):
    path = DOCS / "snapshot.schema.json"
    if request.config.getoption("--rewrite-golden"):
        path.write_text(schema())
    assert path.read_text() == schema(), "a changed format needs a migration: see FORMAT in format.py"


def test_every_field_of_a_snapshot_is_described():
    text = (DOCS / "snapshots.md").read_text().split("## Fields\n")[1].split("\n## ")[0]
    described = set(re.findall(r"(?:^- |; )`(\w+)`(?:, of the root)?: ", text, re.MULTILINE))
    assert described == {field.encode_name for field in msgspec.structs.fields(Snapshot)}


def test_what_is_left_out_does_not_depend_on_the_identity_of_objects():
    """msgspec leaves out a default by identity: equal texts and large numbers may be several objects."""
    kinds = [kind for kind in vars(entries).values() if isinstance(kind, type) and issubclass(kind, Entry)]
    assert len(kinds) > 12
    defaults = [field.default for kind in kinds for field in msgspec.structs.fields(kind)]
    assert {default for default in defaults if default is not msgspec.NODEFAULT} <= {None, 0, 1, -1, ()}
