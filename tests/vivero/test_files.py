"""Files that people name: any encoding that a byte order mark tells, and one line for those that cannot be read."""

import io
from pathlib import Path

import pytest

from vivero.config.files import Unreadable, read_bytes, read_text, read_whole, text_of
from vivero.config.json_input import parsed

TEXT = '{"a": "ü→"}'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_is_skipped(tmp_path, encoding):
    file = tmp_path / "some.json"
    file.write_bytes(TEXT.encode(encoding))
    assert read_text(file) == TEXT
    assert parsed(file.read_bytes()) == {"a": "ü→"}


@pytest.mark.parametrize("mark", ["utf-16-be", "utf-32-be"])
def test_the_other_order(mark):
    assert text_of(f"\ufeff{TEXT}".encode(mark), "x") == TEXT


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "there is no file '"),
        (Path.mkdir, "cannot read '"),
        (lambda path: path.write_bytes(b"\xff\x00"), "is not UTF-8 text: byte 0 is wrong"),
        (lambda path: path.write_bytes(b"\xff\xfea"), "is not UTF-16 text: byte 2 is wrong"),
        (lambda path: path.symlink_to(path), "cannot read '"),
    ],
)
def test_what_cannot_be_read(tmp_path, make, said):
    make(tmp_path / "x")
    with pytest.raises(Unreadable) as refused:
        read_text(tmp_path / "x")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_name_with_nul():
    with pytest.raises(Unreadable, match="cannot read"):
        read_bytes(Path("a\0b"))


def test_a_file_that_is_too_long():
    with pytest.raises(Unreadable, match="the file is longer than 3 bytes, which is the limit"):
        read_whole(io.BytesIO(b"abcd"), "the file", 3)
    assert read_whole(io.BytesIO(b"abc"), "the file", 3) == b"abc"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": NaN}', "NaN is not a number of JSON"),
        ("[-Infinity]", "-Infinity is not a number of JSON"),
        ("1e400", "the number 1e400 is too large"),
        ("9" * 5000, "a number has 5,000 digits, and at most 4,300 are possible"),
        ('"\\ud800"', "half of a surrogate pair"),
        ("\udcff", "Expecting value"),
        ('"\udcff"', "half of a surrogate pair"),
        ("[" * 100_000, "it is nested too deeply"),
        (b'"\xff"', "it is not UTF-8 text"),
        ("", "Expecting value"),
    ],
)
def test_what_is_not_json(text, said):
    with pytest.raises(ValueError, match=said) as refused:
        parsed(text)
    assert "\n" not in str(refused.value)


def test_what_is_json():
    assert parsed('\ufeff{"a": [1, 1.5, -0, "\\ud83d\\ude00", null]}') == {"a": [1, 1.5, 0, "😀", None]}
