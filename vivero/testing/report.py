"""The coverage of a test session as one HTML page, with the diagram of each process and without other files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import NamedTuple

from vivero.core.bpmn.model import Process
from vivero.core.bpmn.reading.places import DiagramPlaces, read_places
from vivero.library import InvalidModel, Models
from vivero.testing.coverage import Coverage, ProcessCoverage
from vivero.testing.diagrams import Drawn, kind_of, svg_of
from vivero.testing.layouts import laid_out

STYLE = """
:root { color-scheme: light dark; --reached: #1a7f45; --missed: #c2410c; --fill: Canvas; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
figure { margin: 1rem 0; overflow-x: auto; }
svg { height: auto; max-width: 100%; }
svg text { font: 12px system-ui, sans-serif; text-anchor: middle; fill: CanvasText; }
.event, .gateway, .activity { fill: var(--fill); stroke-width: 2; }
.flow polyline { fill: none; stroke-width: 2; }
.reached { stroke: var(--reached); } .missed { stroke: var(--missed); stroke-dasharray: 6 3; }
svg text { stroke: none; } p.missed { color: var(--missed); }
.marker-reached { fill: var(--reached); } .marker-missed { fill: var(--missed); }
"""
_ARROW = (
    '<marker id="arrow-{0}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0 L10 5 L0 10 z" class="marker-{0}"/></marker>'
)
_ARROWS = _ARROW.format("reached") + _ARROW.format("missed")
MARKERS = f'<svg width="0" height="0" aria-hidden="true"><defs>{_ARROWS}</defs></svg>'


def write_report(coverage: Coverage, folder: Path) -> Path:
    """Write `index.html` into the folder, which is made if it does not exist. Returns its path. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "index.html"
    page.write_text("\n".join(_page(coverage)), encoding="utf-8")
    return page


def _page(coverage: Coverage) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>Process coverage</title>\n<style>{STYLE}</style>\n<h1>Process coverage</h1>\n{MARKERS}"
    read = cache(_read)
    for (process_id, _), found in sorted(coverage.processes.items()):
        yield from _process(process_id, found, read(found.path, found.file))
    yield "</html>"


def _process(process_id: str, found: ProcessCoverage, file: DiagramFile | None) -> Iterator[str]:
    yield f"<h2>{escape(process_id)} ({escape(found.file)}): {found.percent} %</h2>"
    diagram = None if file is None else _diagram(process_id, found, file)
    yield f"<figure>{diagram}</figure>" if diagram else "<p>The file is not there any more, or has changed.</p>"
    missed = [id for reached in (found.elements, found.flows) for id, is_reached in reached.items() if not is_reached]
    if missed:
        yield f'<p class="missed">No test has reached: {escape(", ".join(missed))}</p>'


class DiagramFile(NamedTuple):
    """A file as it is now: the places of its diagram, and its processes by their id."""

    places: DiagramPlaces
    processes: Mapping[str, Process]


def _read(path: str, name: str) -> DiagramFile | None:
    """None if the file is gone, or is not a model any more."""
    try:
        content = Path(path).read_bytes()
        resources = Models({name: content}).resources.values()
    except (OSError, InvalidModel):
        return None
    return DiagramFile(read_places(content), {id: process for each in resources for id, process in each.items()})


def _diagram(process_id: str, found: ProcessCoverage, file: DiagramFile) -> str | None:
    """The diagram of a process in the file; None if the file has another process now."""
    process = file.processes.get(process_id)
    if process is None or not found.elements.keys() <= process.nodes.keys():
        return None
    nodes, places = process.nodes, file.places
    drawn = [
        Drawn(id, kind_of(nodes[id].type), nodes[id].name or "", reached) for id, reached in found.elements.items()
    ]
    drawn += [Drawn(id, "flow", "", reached) for id, reached in found.flows.items()]
    if not found.elements.keys() <= places.bounds.keys():
        places = laid_out(process)
    return svg_of(places, drawn, f"The process {process_id}")
