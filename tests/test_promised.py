"""Names that users build on stay: docs/promises.md."""

from tests import promised


def test_names_that_are_promised_are_there():
    kept = set(promised.FILE.read_text().splitlines())
    gone = sorted(kept - promised.names())
    assert gone == [], (
        "after a release, deprecate before you remove (docs/promises.md); before the first, delete the lines"
    )


def test_the_list_is_sorted_and_has_every_kind():
    lines = promised.FILE.read_text().splitlines()
    assert lines == sorted(set(lines))
    assert {line.partition(" ")[0] for line in lines} == {"command", "metric", "option", "route", "setting"}
