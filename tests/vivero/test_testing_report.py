"""The report of coverage as a page with diagrams, and the command `vivero test`."""

import re
import xml.etree.ElementTree as ET

import pytest
from click.testing import CliRunner

from tests.core.event_models import boundary, model
from tests.core.golden.recording import ROOTS
from tests.core.models import end, start, sub, task, xor
from vivero.cli import main
from vivero.core.bpmn.parser import parse
from vivero.core.bpmn.reading.places import Bounds, DiagramPlaces, read_places
from vivero.testing import Processes
from vivero.testing.coverage import Coverage, from_json, to_json
from vivero.testing.diagrams import Drawn, svg_of
from vivero.testing.layouts import laid_out
from vivero.testing.report import write_report

ERROR = '<errorEventDefinition errorRef="error-A"/>'
PLACES = """<bpmndi:BPMNDiagram xmlns:bpmndi="http://www.omg.org/spec/BPMN/20100524/DI"
 xmlns:dc="http://www.omg.org/spec/DD/20100524/DC" xmlns:di="http://www.omg.org/spec/DD/20100524/DI"><bpmndi:BPMNPlane>
 <bpmndi:BPMNShape bpmnElement="start"><dc:Bounds x="10" y="20.5" width="36" height="36"/></bpmndi:BPMNShape>
 <bpmndi:BPMNShape bpmnElement="end"><dc:Bounds x="much" y="20" width="36" height="36"/></bpmndi:BPMNShape>
 <bpmndi:BPMNShape bpmnElement="work"/>
 <bpmndi:BPMNEdge bpmnElement="go"><di:waypoint x="46" y="38"/><di:waypoint x="90" y="38"/></bpmndi:BPMNEdge>
 <bpmndi:BPMNEdge bpmnElement="on"><di:waypoint x="46"/></bpmndi:BPMNEdge>
</bpmndi:BPMNPlane></bpmndi:BPMNDiagram>"""


def process_of(*content):
    [process] = parse(model(*content, beside=(ROOTS,)), "p.bpmn").processes
    return process


def test_the_layout_of_a_file_has_the_places_that_can_be_read():
    layout = read_places(model(start(), end(), "start > end", beside=(PLACES,)))
    assert layout == DiagramPlaces({"start": Bounds(10, 20.5, 36, 36)}, {"go": [(46, 38), (90, 38)], "on": []})


def test_a_diagram_marks_what_was_reached_and_escapes_names():
    layout = DiagramPlaces({"a": Bounds(0, 0, 100, 80), "b": Bounds(150, 20, 36, 36)}, {"f": [(100, 40), (150, 40)]})
    drawn = [Drawn("a", "activity", "<script>", True), Drawn("b", "event", "", False), Drawn("f", "flow", "", False)]
    svg = ET.fromstring(svg_of(layout, [*drawn, Drawn("nowhere", "gateway", "", True)], 'A "p" & co'))
    marks = {group.find("title").text: group.get("class") for group in svg}
    assert marks == {"<script>: reached": "activity reached", "b: missed": "event missed", "f: missed": "flow missed"}
    assert svg.get("aria-label") == 'A "p" & co'
    assert svg.get("viewBox") == "-30 -30 246 168"


def test_a_process_without_places_is_laid_out():
    inner = sub("s", start("in"), task("work"), end("out"), "in > work > out")
    process = process_of(
        *(start(), inner, boundary("failed", "s", ERROR), xor("again"), task("mend"), end()),
        *("start > s > again > end", "failed > mend > again"),
    )
    layout = laid_out(process)
    assert layout.bounds.keys() == process.nodes.keys() - {process.id}
    assert layout.ways.keys() == process.flows.keys()
    place = layout.bounds
    columns = [place[id].x + place[id].width for id in ("start", "s", "mend", "again", "end")]
    assert columns == sorted(set(columns)), "each stands behind those before it"
    outer, within = place["s"], [place[id] for id in ("in", "work", "out")]
    assert all(outer.x < one.x and one.x + one.width < outer.x + outer.width for one in within)
    assert all(outer.y < one.y and one.y + one.height < outer.y + outer.height for one in within)
    assert outer.x < place["failed"].x < outer.x + outer.width
    apart = [place[id] for id in ("start", "s", "again", "mend", "end")]
    for one in apart:
        for other in apart:
            assert one is other or one.x + one.width < other.x or other.x + other.width < one.x or one.y != other.y


def test_a_way_back_ends_the_walk():
    loop = process_of(start(), task("a"), task("again"), end(), "start > a > again > end", "again > a")
    layout = laid_out(loop)
    assert layout.bounds["a"].x < layout.bounds["again"].x < layout.bounds["end"].x
    back = next(way for id, way in layout.ways.items() if loop.flows[id].target == "a" and len(way) == 6)
    assert max(y for _, y in back) > layout.bounds["a"].y + layout.bounds["a"].height


@pytest.fixture
def covered(tmp_path):
    """A session's coverage of a process, half of which was reached, as a worker hands it over."""
    (tmp_path / "p.bpmn").write_bytes(model(start(), task("work", type="do"), end(), "start > work > end"))
    coverage = Coverage()
    Processes([tmp_path], coverage).use("p.bpmn").start("p")
    return from_json(to_json(coverage))


def test_the_page_has_each_process_and_what_is_missing(covered, tmp_path):
    page = write_report(covered, tmp_path / "new" / "folder").read_text()
    assert "<h2>p (p.bpmn): 60 %</h2>" in page
    assert 'class="missed">No test has reached: end, work-end</p>' in page
    assert sorted(re.findall(r'<g class="(\w+ \w+)"><title>([^:]+): ', page)) == [
        ("activity reached", "Task work"),
        ("event missed", "end"),
        ("event reached", "start"),
        ("flow missed", "work-end"),
        ("flow reached", "start-work"),
    ]
    assert "http" not in page.replace("http://www.w3.org", ""), "the page needs nothing from elsewhere"


@pytest.mark.parametrize("change", [lambda file: file.unlink(), lambda file: file.write_bytes(b"<x/>")])
def test_a_file_that_has_changed_since_is_not_drawn(covered, tmp_path, change):
    change(tmp_path / "p.bpmn")
    page = write_report(covered, tmp_path).read_text()
    assert "The file is not there any more, or has changed." in page
    assert "No test has reached: end, work-end" in page


def test_the_command_passes_its_arguments_to_pytest(monkeypatch):
    given = []

    def noted(arguments):
        given.append(arguments)
        return 5

    monkeypatch.setattr("pytest.main", noted)
    done = CliRunner().invoke(main, ["test", "some", "--html", "cov", "--min", "90", "-k", "invoice", "-x"])
    assert done.exit_code == 5
    assert given == [["--process-coverage-min=90", "--process-coverage-html=cov", "some", "-k", "invoice", "-x"]]
