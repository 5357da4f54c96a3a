"""CSV (RFC 4180) for spreadsheets, in which no cell is a formula."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

MARK = "\ufeff"
"""Spreadsheets then read UTF-8."""
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)
_FORMULA = re.compile(r'\A(?=[\t\r\n])|(\A|\r?\n|[;\t\r])(?=(?:[^\S\t\r\n]|[\0\ufeff"])*[=+\-@＝＋－＠])')
"""A place where a spreadsheet would begin to calculate: the beginning of a cell, and behind `;`, a tab or a new line.

A spreadsheet that separates cells by semicolons, as in Spanish and Portuguese, takes no comma for the end of a cell,
and a quotation mark behind a semicolon for the beginning of one.
"""
_QUOTED = re.compile(r'[",\r\n;\t]')

_encode = msgspec.json.Encoder(decimal_format="number").encode


def cell(text: str) -> str:
    """A cell. A text that a spreadsheet would calculate gets an apostrophe in front; numbers are harmless."""
    harmless = text if _NUMBER.fullmatch(text) else _FORMULA.sub(r"\1'", text)
    return '"' + harmless.replace('"', '""') + '"' if _QUOTED.search(harmless) else harmless


def line(cells: Iterable[str]) -> str:
    return ",".join(map(cell, cells)) + "\r\n"


def text_of(value: object) -> str:
    """A value of JSON as the text of a cell: a list of texts with spaces between, an object as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return " ".join(value)
    return _encode(value).decode()
