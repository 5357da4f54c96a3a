"""The budgets of the built console: bytes that a browser loads, and what must be in it."""

import json
import re

import pytest

from tests.console.conftest import CONSOLE

KB = 1000
FIRST_PAGE = {"index.*.js": 45, "index.*.css": 8}
CHUNKS = {"diagram.*.js": 62, "diagram.*.css": 6, "form.*.js": 160, "form.*.css": 14}
OTHER_CHUNKS_KB = 15
ALL_KB = 1500


def gzipped_kb(dist, pattern):
    """The size of the compressed files whose names match."""
    return (
        sum(
            path.stat().st_size for path in (dist / "assets").glob("*.gz") if re.fullmatch(pattern + r"\.gz", path.name)
        )
        / KB
    )


@pytest.mark.parametrize(("pattern", "most"), [*FIRST_PAGE.items(), *CHUNKS.items()])
def test_a_chunk_stays_small(dist, pattern, most):
    assert 0 < gzipped_kb(dist, pattern) <= most


def test_no_other_chunk_is_large(dist):
    known = "|".join([*FIRST_PAGE, *CHUNKS])
    others = [path for path in (dist / "assets").glob("*.gz") if not re.fullmatch(f"({known})\\.gz", path.name)]
    assert {path.name: size for path in others if (size := path.stat().st_size) > OTHER_CHUNKS_KB * KB} == {}


def test_the_whole_is_small_enough_for_a_wheel(dist):
    compressed = [path for path in dist.rglob("*") if path.is_file() and path.suffix not in {".br", ".gz"}]
    smallest = (
        min(p.stat().st_size for p in (path, path.with_name(path.name + ".br")) if p.exists()) for path in compressed
    )
    assert sum(smallest) / KB <= ALL_KB


def test_texts_are_compressed_beside_the_original(dist):
    texts = [path for path in dist.rglob("*") if path.suffix in {".js", ".css", ".html", ".svg", ".txt"}]
    assert texts
    for path in texts:
        assert path.with_name(path.name + ".br").is_file(), path
        assert path.with_name(path.name + ".gz").is_file(), path


def test_the_page_has_no_inline_script_or_style(dist):
    page = (dist / "index.html").read_text()
    assert re.findall(r"<script(?![^>]* src=)", page) == []
    assert "<style" not in page
    assert " style=" not in page


def test_the_licences_of_all_packages_in_it_are_there(dist):
    text = (dist / "THIRD-PARTY.txt").read_text()
    packages = json.loads((CONSOLE / "package.json").read_text())["dependencies"]
    assert [name for name in packages if f"{name} {packages[name]} (" not in text] == []
    assert "The package has no file with its licence" not in text.split("bpmn-js 18", 1)[1][:2000]


def test_the_lock_file_names_no_registry():
    lock = json.loads((CONSOLE / "package-lock.json").read_text())
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert [name for name, entry in packages.items() if "resolved" in entry] == []
    assert [name for name, entry in packages.items() if "integrity" not in entry] == []


def test_versions_are_exact():
    package = json.loads((CONSOLE / "package.json").read_text())
    versions = package["dependencies"] | package["devDependencies"]
    assert [name for name, version in versions.items() if not re.fullmatch(r"\d+\.\d+\.\d+", version)] == []


def test_all_languages_have_other_words():
    """The compiler sees missing texts. This sees texts that nobody translated."""
    texts = {name: (CONSOLE / "src" / "locales" / f"{name}.ts").read_text() for name in ("en", "es", "pt")}
    pairs = {
        name: dict(re.findall(r"(?<=[ {,])'?([\w.]+)'?: '((?:[^'\\]|\\.)*)'", text)) for name, text in texts.items()
    }
    for name in ("es", "pt"):
        assert pairs[name].keys() == pairs["en"].keys()
        same = [key for key in pairs["en"] if pairs[name][key] == pairs["en"][key] and len(pairs["en"][key]) > 10]
        assert [key for key in same if key != "variables.json"] == []


def test_source_files_stay_readable():
    lengths = {path.name: len(path.read_text().splitlines()) for path in (CONSOLE / "src").rglob("*.ts*")}
    assert {name: n for name, n in lengths.items() if n > 300} == {}
