"""Tables on terminals of any width, and plain rows for programs."""

import io

import pytest
from rich.console import Console

from vivero.terminal.terminal_tables import Column, field, fitted, plain_header, plain_row

KEY = "2251799813685255"
COLUMNS = (
    Column("key", field("key")),
    Column("state", lambda item: f"[red]{item['state']}[/]"),
    Column("worker", field("worker"), spare=2),
    Column("since", field("since"), spare=1),
    Column("message", field("message"), wraps=True),
)


def item(**changes):
    return {"key": KEY, "state": "FAILED", "worker": "w", "since": "2026-11-23 08:16:52", "message": "no"} | changes


def shown(items, width, columns=COLUMNS):
    """The lines of a table, and the columns that it leaves out."""
    found = fitted(items, columns, width)
    stream = io.StringIO()
    Console(file=stream, width=width, highlight=False).print(found.shown)
    return [line.rstrip() for line in stream.getvalue().splitlines()], found.left_out


def test_where_there_is_room_everything_is_shown():
    lines, left_out = shown([item(), item(worker=None)], 80)
    assert lines == [
        "key               state   worker  since                message",
        f"{KEY}  FAILED  w       2026-11-23 08:16:52  no",
        f"{KEY}  FAILED          2026-11-23 08:16:52  no",
    ]
    assert left_out == ()


def test_columns_that_matter_least_are_left_out_first():
    lines, left_out = shown([item(worker="w" * 30)], 60)
    assert lines[0].split() == ["key", "state", "since", "message"]
    assert left_out == ("worker",)
    assert shown([item(worker="w" * 30)], 45)[1] == ("worker", "since")


def test_an_empty_column_needs_no_room_and_is_not_missed():
    lines, left_out = shown([item(worker=None)], 58)
    assert lines[0].split() == ["key", "state", "since", "message"]
    assert left_out == ()


def test_texts_wrap_and_keys_do_not():
    lines, left_out = shown([item(message="the card was refused by the bank, which says no more than that")], 80)
    assert len(lines) == 4
    assert sum(KEY in line for line in lines) == 1
    assert left_out == ()
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("width", [10, 20, 28])
def test_what_is_too_narrow_for_a_table_is_a_card(width):
    lines, left_out = shown([item(), item(since=None)], width)
    assert left_out == ()
    assert max(map(len, lines)) <= width
    text = "".join(line.removeprefix("key").strip() for line in lines)
    assert KEY in text
    assert sum(line.startswith("since") for line in lines) == 1


@pytest.mark.parametrize("width", range(20, 200, 7))
def test_no_line_is_wider_than_the_terminal(width):
    wide = item(worker="日本語" * 5, message="x" * 100)
    lines, _ = shown([wide, item()], width)
    assert all(Console(width=width).measure(line).maximum <= width for line in lines)


def test_programs_get_tabs_and_one_line_for_each_item():
    assert plain_header(COLUMNS) == "key\tstate\tworker\tsince\tmessage"
    odd = item(message="two\nlines\tand [markup]", worker=None)
    assert plain_row(odd, COLUMNS) == f"{KEY}\tFAILED\t\t2026-11-23 08:16:52\ttwo lines and [markup]"
