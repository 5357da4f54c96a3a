"""The budgets of the built console: bytes that a browser loads, and what must be in it."""

import json
import re
import subprocess
import sys
from shutil import copy

import pytest

from tests import element_templates
from tests.console.conftest import CONSOLE
from vivero.api.callers.permissions import RESOURCES
from vivero.engine.connectors.contents import CONTRACTS
from vivero.engine.connectors.contracts.http_json import HTTP_JSON
from vivero.engine.connectors.http.requests import WITH_BODY
from vivero.engine.connectors.work.job_commands import JOB_TIMEOUT, RETRY_BACKOFF
from vivero.engine.connectors.work.results import ERROR_EXPRESSION, RESULT_EXPRESSION, RESULT_VARIABLE
from vivero.storage.work import batch_operations

KB = 1000
FIRST_PAGE = {"js": 41, "css": 8}
FONT_KB = 49
EDITOR = {
    "editor-(?!bpmn|dmn|form|templates).*.js": 334,
    "editor-bpmn.*.js": 100,
    "editor-templates.*.js": 175,
    "editor-form.*.js": 47,
    "editor-dmn.*.js": 90,
    "(editor|modeler).*.css": 22.5,
}
"""The part that all editors share, with the panel of properties and the editor of expressions; then each kind of model.

The styles are those of all editors together, of which one loads half; that of forms has an older panel of properties.
The templates of our own connectors and agents are 3 KB of the first. Two thirds of the chunk of templates are the
compiled JSON schema that files of templates are checked against."""
OF_EDITORS = ("editor-", "modeler-", "adopted_styles-")
"""The beginnings of the names of editors' scripts."""
CHUNKS = {
    "(diagram|moddle).*.js": 62,
    "diagram.*.css": 6,
    "form.*.js": 160,
    "form.*.css": 14,
    "layout.*.js": 21,
} | EDITOR
OTHER_CHUNKS_KB = 15
ALL_KB = 1520
SCRIPT_LINES, STYLE_LINES, FILE_LINES, PACKAGES = 20_440, 2_720, 350, 137
EDITOR_LINES = 2_140
"""Lines in the layout of the formatter; locales have one for each text, and do not count.

Files in forms, cluster variables, deployed files, the tree of element instances, the placing of elements, the
editing of variables, the columns and files of lists, the filters and comments of tasks, saved views, background jobs,
figures over time, late instances, the notice of new tasks, the comparison of versions, the landscape, alert rules,
inbound connectors, the focus that is never lost, and the costs of agents are a fifth of them. Of the editor's lines, a
tenth lays out decisions
without a diagram, waits for what is being typed, and tries decisions with the files that they import.
"""


def gzipped_kb(dist, pattern):
    """The size of the compressed files whose names match."""
    return (
        sum(
            path.stat().st_size for path in (dist / "assets").glob("*.gz") if re.fullmatch(pattern + r"\.gz", path.name)
        )
        / KB
    )


def first_page(dist, ending):
    """The names of the files with this ending that a browser loads with the first page."""
    return re.findall(rf'(?:src|href)="/console/assets/([^"]+\.{ending})"', (dist / "index.html").read_text())


@pytest.mark.parametrize(("ending", "most"), FIRST_PAGE.items())
def test_the_first_page_stays_small(dist, ending, most):
    names = first_page(dist, ending)
    assert 0 < sum(gzipped_kb(dist, re.escape(name)) for name in names) <= most


def test_the_font_of_latin_letters_stays_small(dist):
    [font] = (dist / "assets").glob("inter-latin-wght-*.woff2")
    assert font.stat().st_size / KB <= FONT_KB


@pytest.mark.parametrize(("pattern", "most"), CHUNKS.items())
def test_a_chunk_stays_small(dist, pattern, most):
    assert 0 < gzipped_kb(dist, pattern) <= most


def test_no_other_chunk_is_large(dist):
    first = (re.escape(name) for ending in FIRST_PAGE for name in first_page(dist, ending))
    known = "|".join([*first, *CHUNKS])
    others = [path for path in (dist / "assets").glob("*.gz") if not re.fullmatch(f"({known})\\.gz", path.name)]
    assert {path.name: size for path in others if (size := path.stat().st_size) > OTHER_CHUNKS_KB * KB} == {}


def test_the_whole_is_small_enough_for_a_wheel(dist):
    compressed = [path for path in dist.rglob("*") if path.is_file() and path.suffix not in {".br", ".gz"}]
    smallest = (
        min(p.stat().st_size for p in (path, path.with_name(path.name + ".br")) if p.exists()) for path in compressed
    )
    assert sum(smallest) / KB <= ALL_KB


def test_the_list_of_what_pages_need_next_is_one_of_files(dist):
    ahead = json.loads((dist / "preloads.json").read_text())
    assert [name for names in ahead.values() for name in names if not (dist / name).is_file()] == []
    assert any(re.match("assets/diagram-.*js", name) for name in ahead["instances/*"])
    assert not {name for names in ahead.values() for name in names} & set(first_page(dist, "js"))


def test_nobody_who_does_not_edit_loads_the_editor(dist):
    """Its chunk is asked for by its page alone, and no other chunk has parts of it."""
    ahead = json.loads((dist / "preloads.json").read_text())
    assert not [
        name for names in ahead.values() for name in names if name.removeprefix("assets/").startswith(OF_EDITORS)
    ]
    scripts = {path.name: path.read_text() for path in (dist / "assets").glob("*.js")}
    editor = {name for name in scripts if name.startswith(OF_EDITORS)}
    importers = {
        name
        for name, text in scripts.items()
        if any(re.search(rf'(from|import)\s*"\./{re.escape(one)}"', text) for one in editor)
    }
    assert importers
    assert importers <= editor
    assert {name for name, text in scripts.items() if "bio-properties-panel" in text} <= editor


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


def texts_of(name):
    return (CONSOLE / "src" / "locales" / name).read_text()


def test_the_first_page_uses_no_text_that_comes_later(dist):
    """A text that is not loaded would be an error of the page. Keys with a part that is computed are not seen here."""
    scripts = "".join((dist / "assets" / name).read_text() for name in {*first_page(dist, "js")})
    later = re.findall(r"^  '?([\w.-]+)'?:", texts_of("later/en.ts"), re.MULTILINE)
    assert len(later) > 100
    assert [key for key in later if re.search(rf"[`'\"]{re.escape(key)}[`'\"]", scripts)] == []


def test_all_languages_have_other_words():
    """The compiler sees missing texts. This sees texts that nobody translated."""
    texts = {name: texts_of(f"{name}.ts") + texts_of(f"later/{name}.ts") for name in ("en", "es", "pt")}
    pairs = {
        name: dict(re.findall(r"(?<=[ {,])'?([\w.-]+)'?: '((?:[^'\\]|\\.)*)'", text)) for name, text in texts.items()
    }
    for name in ("es", "pt"):
        assert pairs[name].keys() == pairs["en"].keys()
        same = [key for key in pairs["en"] if pairs[name][key] == pairs["en"][key] and len(pairs["en"][key]) > 10]
        assert [key for key in same if key not in ("variables.json", "count.variables")] == []


def lines(*patterns):
    """Path → number of lines of the source files with these endings."""
    paths = (path for pattern in patterns for path in (CONSOLE / "src").rglob(pattern))
    sources = [path for path in paths if "locales" not in path.parts]
    return {path.relative_to(CONSOLE).as_posix(): len(path.read_text().splitlines()) for path in sources}


def test_source_files_stay_readable():
    scripts, styles = lines("*.ts", "*.tsx"), lines("*.css")
    assert {name: n for name, n in (scripts | styles).items() if n > FILE_LINES} == {}
    of_editor = sum(n for name, n in scripts.items() if name.startswith("src/editor/"))
    assert of_editor <= EDITOR_LINES
    assert sum(scripts.values()) - of_editor <= SCRIPT_LINES
    assert sum(styles.values()) <= STYLE_LINES


@pytest.mark.parametrize(("required", "code"), [("", 0), ("required", 1)])
def test_without_its_packages_the_console_is_not_checked(tmp_path, monkeypatch, required, code):
    copy(CONSOLE / "build.py", tmp_path)
    monkeypatch.setenv("VIVERO_CONSOLE", required)
    done = subprocess.run(
        [sys.executable, tmp_path / "build.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    assert "not installed (make console)" in done.stderr


def test_few_packages_are_shipped():
    lock = json.loads((CONSOLE / "package-lock.json").read_text())
    assert len([name for name, entry in lock["packages"].items() if name and not entry.get("dev")]) <= PACKAGES


def test_the_dialog_of_grants_knows_all_permissions():
    """The console has the table of the server, because no route tells it."""
    text = (CONSOLE / "src" / "pages" / "access" / "kinds.ts").read_text()
    crud = re.findall(r"'(\w+)'", re.search(r"const CRUD = (.+);", text)[1])
    table = text[text.index("const RESOURCES") :].partition("\n};")[0]
    listed = {
        name: set(crud if value == "CRUD" else re.findall(r"'(\w+)'", value))
        for name, value in re.findall(r"^  (\w+): (CRUD|\[.*?\]),$", table, re.MULTILINE | re.DOTALL)
    }
    assert listed == {name: set(actions) for name, actions in RESOURCES.items()}


def test_the_template_of_http_calls_has_all_of_the_contract():
    """A template that lags behind would hide an input, or offer a value that is refused."""
    template = json.loads((CONSOLE / "src" / "editor" / "bpmn" / "templates" / "http_json.json").read_text())
    bound = {tuple(each["binding"].values()): each for each in template["properties"]}
    inputs = {name: each for (kind, name), each in bound.items() if kind == "zeebe:input"}
    assert template["name"] == HTTP_JSON.name
    assert bound["zeebe:taskDefinition", "type"]["value"] in HTTP_JSON.types
    assert {name.partition(".")[0] for name in inputs} == set(HTTP_JSON.fetched)
    for name, wanted in HTTP_JSON.by_name.items():
        if wanted.choices:
            assert tuple(each["value"] for each in inputs[name]["choices"]) == wanted.choices
        if wanted.default is not None:
            assert inputs[name]["value"] == str(wanted.default).replace("True", "true").replace("False", "false")
        if wanted.required:
            assert inputs[name]["constraints"]["notEmpty"]
    only_with = [each["condition"]["oneOf"] for each in bound.values() if "oneOf" in each.get("condition", {})]
    assert all(each == list(WITH_BODY) for each in only_with)
    headers = {name for kind, name in bound if kind == "zeebe:taskHeader"}
    assert headers == {RESULT_VARIABLE, RESULT_EXPRESSION, ERROR_EXPRESSION, RETRY_BACKOFF, JOB_TIMEOUT}


def test_every_connector_has_a_template():
    """Each template that `make tables` writes from the contracts has all inputs and the type of its jobs."""
    templates = {each["name"]: each for each in json.loads(element_templates.PAGE.read_text())}
    served = [each for each in CONTRACTS if each != HTTP_JSON]
    assert list(templates) == [each.name for each in served]
    for contract in served:
        bindings = [each["binding"] for each in templates[contract.name]["properties"]]
        inputs = {each["name"].partition(".")[0] for each in bindings if each["type"] == "zeebe:input"}
        assert inputs == set(contract.fetched) - {*element_templates.OF_ENGINE}, contract.name
        assert len({tuple(each.values()) for each in bindings}) == len(bindings), "each is bound once"


def test_every_type_of_batch_operation_has_words():
    text = (CONSOLE / "src" / "pages" / "batches.tsx").read_text()
    table = re.search(r"const KINDS: .*? = \{\n(.*?)\n\};", text, re.DOTALL)[1]
    types = {value for name, value in vars(batch_operations).items() if name == value}
    assert set(re.findall(r"^  (\w+): 'batch\.\w+',$", table, re.MULTILINE)) == types
